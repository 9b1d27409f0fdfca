/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/graph/pool.h"

#include "base/util.h"

#include <math.h>
#include <string.h>

/* An annealing ends at this share of its first temperature, and then goes on without any. */
static const double COLD = 1e-2;
enum { COOLING_STEPS = 30, STEPS = 32 };
/* The descent after taking pieces of each other member, as a share of the annealing. */
static const int64_t CROSSING_PARTS = 64;

ChoicePool *pool_new(Anneal *anneal, bool (*stop)(void *), void *context, Workspace *space) {
    ChoicePool *pool = WORKSPACE_NEW(space, ChoicePool, 1);
    *pool = (ChoicePool){.anneal = anneal, .stop = stop, .context = context};
    for (int k = 0; k < POOL_MAX; k++) pool->choice[k] = WORKSPACE_NEW(space, int, anneal->core->nodes + 1);
    return pool;
}

static void put(ChoicePool *pool, int at, const Descent *descent) {
    pool->cost[at] = descent->best_cost;
    memcpy(pool->choice[at], descent->best, (size_t)descent->core->nodes * sizeof *descent->best);
}

void pool_add(ChoicePool *pool, const Descent *descent) {
    int worst = 0;
    for (int k = 0; k < pool->count; k++) {
        if (fabs(pool->cost[k] - descent->best_cost) < 0.5) return; /* very probably the same choice */
        if (pool->cost[k] > pool->cost[worst]) worst = k;
    }
    if (pool->count < POOL_MAX)
        put(pool, pool->count++, descent);
    else if (descent->best_cost < pool->cost[worst])
        put(pool, worst, descent);
}

int pool_best(const ChoicePool *pool) {
    int best = pool->count > 0 ? 0 : -1;
    for (int k = 1; k < pool->count; k++)
        if (pool->cost[k] < pool->cost[best]) best = k;
    return best;
}

static void anneal_member(const ChoicePool *pool, Descent *descent, double first, int64_t work) {
    for (int k = 0; k < STEPS && !pool->stop(pool->context); k++) {
        descent->temperature = k < COOLING_STEPS ? first * pow(COLD, (double)k / COOLING_STEPS) : 0;
        descent_run(descent, max_whole(work / STEPS, 1));
        descent_renew(descent);
    }
    descent->temperature = 0;
    descent_start(descent, descent->best);
}

static void work_on_member(const ChoicePool *pool, int member, Descent *descent, double hot, int64_t work) {
    descent->best_cost = INFINITY;
    descent->temperature = 0;
    descent_start(descent, pool->choice[member]);
    if (hot > 0) anneal_member(pool, descent, hot * descent->best_cost / pool->anneal->core->nodes, work);
    for (int k = 1; k < pool->count && !pool->stop(pool->context); k++) {
        descent_cross(descent, pool->choice[(member + k) % pool->count]);
        descent_run(descent, work / CROSSING_PARTS + 1);
    }
    descent_renew(descent);
}

void pool_turn(ChoicePool *pool, double hot, int64_t work) {
    Anneal *anneal = pool->anneal;
    int at_once = anneal->workers < pool->count ? anneal->workers : pool->count, first = pool->next;
    if (pool->count == 0) return;
#pragma omp parallel for schedule(dynamic, 1) num_threads(anneal->threads)
    for (int w = 0; w < at_once; w++) work_on_member(pool, (first + w) % pool->count, anneal->descent[w], hot, work);
    for (int w = 0; w < at_once; w++) {
        int member = (first + w) % pool->count;
        if (anneal->descent[w]->best_cost < pool->cost[member]) put(pool, member, anneal->descent[w]);
    }
    pool->next = (first + at_once) % pool->count;
}
