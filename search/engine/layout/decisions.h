/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/layout/decisions.h: a branch's program as what has to be decided: how many layers of which activations are in
 * which state, and what each does to the step's time, written as a few linear forms from below. Internal to
 * engine/layout. */
#pragma once

#include "search/engine/layout/branch.h"
#include "search/engine/layout/program.h"

/* The step is not below F (everything but the host link, with what offloads expose) nor P (the host link and its lane),
 * both with the tail. Ways to write F without its maxima:
 * as the relaxation weighs their forms (tight at its solution, which often lies where two are equal), by the last form
 * of each alone, and by what they are at least. */
enum { SIDES = 3 };

/* Activations that are alike in all their states: their layers are one pool. */
typedef struct {
    int members[ACTIVATION_COUNT][STRATEGIES_MAX - 1]; /* items, by state */
    int member_count, item_count;
    double layers; /* of one member */
    int64_t left;  /* of all, not yet given a state */
} Pool;

/* An item of a pool: what one layer of it does. */
typedef struct {
    int pool, at;          /* at: which of the pool's items */
    double seconds[SIDES]; /* in each F; of an offload: [0], in P, of which F has the rule's host_exposed */
    double bytes;          /* freed */
    double not_offloaded;  /* in P, of what is no offload: its part of the tail */
    int64_t start, most;   /* relaxation's count; largest */
    bool free;             /* costs nothing, in time and layers: no reason for less than most */
    int64_t count;
} Choice;

typedef struct {
    const Branch *branch;
    Pool pools[ACTIVATION_COUNT];
    int pool_count;
    Choice choices[ITEMS_MAX],
        offloads[ITEMS_MAX]; /* offloads appear in P, by their exposed share in F, and in memory; choices: all others */
    int choice_count, offload_count;
    int by_price[SIDES][ITEMS_MAX]; /* choices, seconds per byte rising */
    double offload_price;           /* least seconds per byte */
    bool one_price;                 /* all offloads free the same bytes per second */
    int regular;                    /* offloads from here on have bytes that are whole multiples of the divisor */
    double divisor;
    double missing, base_f[SIDES], base_p; /* with everything saved */
    bool one_row;                          /* of memory: `missing` is exact, but for rounding */
} Decisions;

void decisions_make(const StepRule *rule, const Branch *branch, const Program *program, const Multipliers *multipliers,
                    Decisions *out);

/* The counts of the choices and offloads as they stand, item by item of the branch. */
void decisions_counts(const Decisions *decisions, int64_t counts[ITEMS_MAX]);

/* Which sums bounded numbers of given sizes make. Internal to engine/layout. */

enum { SUMS_LIMIT = 1 << 19 }; /* the largest sum that is requested */

/* One bit per sum, for each number of sizes used. */
typedef struct {
    uint64_t *bits; /* (ITEMS_MAX + 1) rows of SUMS_LIMIT / 64 + 1 */
} SumTable;

bool sum_table_make(SumTable *table); /* false: memory is out */
void sum_table_free(SumTable *table);

/* `count` sizes >= 1, each with the number of times that it may be taken at most. */
typedef struct {
    const int64_t *sizes, *most;
    int count;
} BoundedSizes;

/* The least sum from `low` to `high` (0 <= low <= high <= SUMS_LIMIT) of counts[i] x sizes[i] with 0 <= counts[i] <=
 * most[i]; -1 means that there is none. It is exact: subset sums by shifting bits. */
int64_t least_sum(SumTable *table, const BoundedSizes *of, int64_t low, int64_t high, int64_t *counts);

/* The best layer counts of a branch: GLPK's relaxation and the search around it. Internal to engine/layout. */

typedef struct {
    bool found; /* counts that fit and take less than the cutoff */
    double seconds;
    double bound_seconds; /* no counts that fit take less than this, or than the cutoff; INFINITY: none fit */
    int64_t counts[ITEMS_MAX];
    int solver_calls; /* linear programs solved: by GLPK, or as a sum */
    int64_t work;     /* bounds that the search of the counts made */
} BranchSolution;

/* A call that needs GLPK brings up its own environment in this thread and takes it down. False: a defect of GLPK,
 * memory included. */
bool branch_solve(const StepRule *rule, const Branch *branch, const Rates *rates, double cutoff, BranchSolution *out,
                  Error *error);

/* counts_search.c: the best layer counts of a branch, exactly, by branch and bound around the linear relaxation's
 * solution.
 *
 * Why not GLPK's: offloading any activation frees the same bytes per second, so the linear programs of its tree hardly
 * differ and it walks through all ways of making up the same bytes (10^5 nodes and seconds where this takes 10^3 and
 * less than a millisecond). */

/* A branch with its linear program, and what the relaxation gave of it. Multipliers are only hints: any values give
 * right answers. */
typedef struct {
    const Branch *branch;
    const Program *program;
    const Multipliers *multipliers;
} RelaxedBranch;

/* Improves best->seconds and best->counts (the best so far; INFINITY means none) to the best, and sets best->found
 * where it did. True means that nothing that fits is faster, to 1e-10; false that the limit on nodes was reached. */
bool counts_search(const StepRule *rule, const Rates *rates, const RelaxedBranch *relaxed, BranchSolution *best);

/* Whole layer counts near given ones: made to fit, then improved, in exact doubles. What the
 * solver returns passes through here, so that its tolerances decide nothing. Internal to engine/layout. */

/* Rounds `values` (one per item) down, takes layers as they cost least per missing byte until memory fits, then gives
 * back and exchanges single layers while the step gets shorter. False: it does not come to fit. */
bool counts_near(const StepRule *rule, const Branch *branch, const Rates *rates, const double *values,
                 int64_t counts[ITEMS_MAX], double *seconds);

/* counts_table.c: the best layer counts of a branch by a table of all bytes that may be freed: which layers free at
 * least so many units for the least seconds. */

/* Improves best->seconds and best->counts to what the table finds, where that is better, and sets best->found. True
 * means that nothing that fits is faster, to 1e-10. False: the table does not serve (several moments limit memory,
 * bytes have no common unit), or a maximum in the step, such as the host link, decides; then it says nothing. */
bool counts_table(const StepRule *rule, const Rates *rates, const RelaxedBranch *relaxed, BranchSolution *best);

/* relax_sum.c: the linear relaxation of a branch whose step is a sum: no maximum is left in its program and at most
 * one row of memory. Layers are then a continuous knapsack with a choice of states for each activation, which taking
 * the least seconds per byte first solves exactly, without a linear program. */

bool relax_is_sum(const Branch *branch, const Program *program);
/* Counts and the multiplier of memory into `out`; false: nothing fits, which the multiplier then proves. */
bool relax_sum(const Branch *branch, const Program *program, Multipliers *out);
