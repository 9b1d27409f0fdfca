/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/graph/pool.h: choices that fit, and better ones: descents side by side, each with its own draws; first
 * choices; and a pool of a few good ones that differ. Workers meet after amounts of work, not of time, so that their
 * answer does not depend on the number of threads. */
#pragma once

#include "search/graph/branch_and_bound.h"
#include "search/graph/descent.h"

/* ---- annealing: a cycle cools from a temperature to zero; at its end each descent takes from the best one the pieces
 * that are better (a crossover that cannot lose) ---- */

enum { ANNEAL_WORKERS_MAX = 16 };

typedef struct {
    void *context;
    /* The share of this cycle that is over, given the work done in it: 1 ends it. */
    double (*progress)(void *context, int64_t work);
    /* Receives a choice of core states that fits. */
    void (*take_choice)(void *context, const int *choice);
} AnnealHooks;

typedef struct {
    const Core *core;
    int workers, threads;
    Descent *descent[ANNEAL_WORKERS_MAX];
} Anneal;

Anneal *anneal_new(const Core *core, int workers, int threads, Workspace *space);
/* Runs one cycle from the best of all, from `hot` times the mean cost of a node down; 0 is descent alone. */
void anneal_cycle(Anneal *anneal, double hot, int64_t chunk, const AnnealHooks *hooks);
/* The worker with the least cost; NULL means that nothing fits yet. */
const Descent *anneal_best(const Anneal *anneal);

/* ---- the pool: one choice after another is annealed for a short while and then takes from all others the connected
 * pieces that improve it, which costs nothing and loses nothing: where limits on memory freeze a single choice, the
 * pool combines the parts on which several agree and the parts where each is good ---- */

enum { POOL_MAX = 8 };

typedef struct {
    Anneal *anneal;              /* each of its workers anneals one member */
    bool (*stop)(void *context); /* called from any thread */
    void *context;
    int count;
    int *choice[POOL_MAX]; /* of core states; all choices fit */
    double cost[POOL_MAX];
    int next; /* the next member in turn */
} ChoicePool;

ChoicePool *pool_new(Anneal *anneal, bool (*stop)(void *), void *context, Workspace *space);
/* Takes in the best choice of a descent, in place of the worst where the pool is full, unless that one is better. */
void pool_add(ChoicePool *pool, const Descent *descent);
/* Works on the next members, one for each worker: each is annealed from `hot` times the mean cost of a node down (0
 * means not at all), for `work` entries, then improved by pieces of the others; an improved member stays. */
void pool_turn(ChoicePool *pool, double hot, int64_t work);
/* The cheapest member; -1 means that there is none. */
int pool_best(const ChoicePool *pool);

/* ---- first choices that fit: a rounding of the bound's messages takes too much memory; prices are raised where it
 * does, and descent follows, until the choice fits. The rounding decides how good a choice descent can reach from
 * there, and roundings differ by tens of percent: so many are tried for a short time, the best few are kept ---- */

typedef struct {
    ChoicePool *pool; /* each worker of its annealing makes one start; good starts go there */
    int *rounding[ANNEAL_WORKERS_MAX];
    double *price[ANNEAL_WORKERS_MAX], *sums[ANNEAL_WORKERS_MAX], *priced[ANNEAL_WORKERS_MAX];
} Starts;

Starts *starts_new(ChoicePool *pool, Workspace *space);
/* Takes worker `w` from its rounding to a choice that fits, with prices beginning at `dual`'s; its descent's best_cost
 * is infinite if none was found within `work`. */
void starts_repair(Starts *starts, int w, const Dual *dual, int64_t work);
/* Takes all workers from their roundings to choices, each improved for `descent` of work; good ones go into the
 * pool. */
void starts_round(Starts *starts, const Dual *dual, int64_t repair, int64_t descent);
