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
