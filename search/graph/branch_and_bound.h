/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/graph/branch_and_bound.h: branch and bound over a small core, to the proof: it dives along the state that a
 * node most clearly prefers, puts the rest of its states aside with the bound they have, and when the dive is cut,
 * goes on with the part with the least bound. Every cut is by a bound in whole numbers (certify.c; docs/search.md, "The
 * graph solver"). */
#pragma once

#include "search/graph/core.h"
#include "search/graph/descent.h"

/* dual.c: bounds from below. The memory limit is priced per moment (a Lagrangian), which leaves a pairwise problem;
 * sequential tree-reweighted messages (Kolmogorov 2006) bound that problem, and the volume algorithm (Barahona and
 * Anbil 2000) moves the prices. All numbers are doubles: guides and guesses, which certify.c turns into a proof. */

typedef struct {
    const Core *core;
    double *message;       /* along each arc, by arc.message: the owner's message to the other */
    double *price;         /* times: cost of a byte at that moment, >= 0 */
    double *sums;          /* times + 1: prices summed from the first moment on */
    double *priced;        /* by core->at: price of the memory that a state takes */
    double *unary;         /* theta + priced + blocked */
    const double *blocked; /* by core->at: a cost that makes a state as good as forbidden; NULL means that no state
                            * is blocked */
    double offset;         /* sum over times of price * slack: the value that the limit gives back */
    double *hat, *rest;    /* scratch of one node */
    /* State of the volume algorithm. */
    double *best_price, *average, best_bound, step;
    int64_t *profile;
    int failures;
} Dual;

/* Writes the price of the memory that each state takes, by core->at. `sums` has times + 1 entries and gets the prices
 * summed from the first moment on. */
void price_states(const Core *core, const double *price, double *sums, double *priced);

/* Starts without messages and without prices. */
Dual *dual_new(const Core *core, Workspace *space);
/* Puts prices into `priced`, `unary` and `offset`. */
void dual_price(Dual *dual, const double *price);
/* Puts the best prices of another core of the same reduction in force, each at its own moment or at the next one
 * that there is. */
void dual_price_as(Dual *dual, const Dual *before);
/* Puts the best prices of volume_step in force; without such a call, the prices stay as they are. */
void dual_price_best(Dual *dual);
/* Sends messages forward and back. Returns the bound on cost less core->constant, for the prices in force. `rounding`
 * is NULL, or gets a choice made on the way forward. */
double dual_sweep(Dual *dual, int *rounding);

/* Sets a first step length for volume_step, from a guess of the gap. */
void volume_start(Dual *dual, double gap);
/* Changes prices once and makes the sweeps; `choice` gets the rounding, whose usage moves the prices next. Returns the
 * bound of this step; the best one so far is in best_bound, its prices in best_price. */
double volume_step(Dual *dual, int sweeps, int *choice);

/* certify.c: the worth of the messages and prices of dual.c, made in doubles, in exact arithmetic. They are rounded to
 * fractions of 2^-shift; one pass backward then moves whole numbers between nodes and edges, so that the value that
 * remains at each is >= 0, and the sum of the values taken is a bound whatever the messages were. */

typedef struct {
    const Core *core;
    int shift;
    __int128 bound;   /* on the cost of every choice without a blocked state, in 2^-shift; with core->constant */
    bool infeasible;  /* there is no choice at all */
    __int128 *belief; /* by core->at: what remains at a state, >= 0; UNREACHABLE means blocked, or without partners */
    __int128 *early;  /* by edge, state of v: the message of u to v, less the value that v handed back */
    __int128 *late;   /* by edge, state of u: the message of v to u */
    size_t *early_start, *late_start;
    __int128 *price;   /* times + 1: summed */
    __int128 *reduced; /* by core->at: how far above `bound` every choice with that state is */
} ExactBound;

ExactBound *certify_new(const Core *core, Workspace *space);
/* `blocked` is indexed by core->at, and true excludes the state; NULL means that no state is blocked. */
void certify(ExactBound *certificate, const Dual *dual, const bool *blocked);
/* The bound as a cost, rounded up because costs are whole. INT64_MAX means that there is no choice. */
int64_t certified_cost(const ExactBound *certificate);
/* Fills `reduced`. */
void certify_reduced(ExactBound *certificate);
/* Whether every choice with that state costs at least `cost`; call it after certify_reduced. */
bool certified_above(const ExactBound *certificate, int node, int state, int64_t cost);
/* Forbids in the reduction the pairs that every choice cheaper than `cost` avoids, and leaves out such states; returns
 * the number of both. Call it after certify_reduced. */
int64_t certify_fix(ExactBound *certificate, int64_t cost, Reduction *reduction);

/* What the search needs of its caller. */
typedef struct {
    void *context;
    bool (*stop)(void *context);
    /* Receives a choice of core states that may be better; returns the least cost known since, with core->constant. */
    int64_t (*take_choice)(void *context, const int *choice);
} BranchHooks;

typedef struct {
    bool finished;    /* no part is open: no choice is cheaper than the best known */
    int64_t bound;    /* on the cost of any choice cheaper than the best known; INT64_MAX means that there is none */
    int64_t branches; /* the number of branches looked at */
} BranchResult;

/* What the search works with: `dual` has prices and messages to start from; `descent` betters what is found. */
typedef struct {
    Dual *dual;
    ExactBound *exact;
    Descent *descent;
    Workspace *space;
} BranchTools;

/* Looks for choices that cost less than `cutoff` (with core->constant), in at most `branches_max` steps. */
BranchResult branch_and_bound(const BranchTools *tools, int64_t cutoff, int64_t branches_max, const BranchHooks *hooks);
