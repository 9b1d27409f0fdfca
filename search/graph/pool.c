/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/graph/pool.h"

#include "base/util.h"

#include <math.h>
#include <string.h>

/* ---- annealing ---- */

/* A cycle ends at this share of its first temperature; the rest of its work is descent. */
static const double COLD = 1e-3, COOLING_SHARE = 0.93;
static const double WANDER = 0.001;

Anneal *anneal_new(const Core *core, int workers, int threads, Workspace *space) {
    Anneal *anneal = WORKSPACE_NEW(space, Anneal, 1);
    *anneal = (Anneal){.core = core, .workers = workers < ANNEAL_WORKERS_MAX ? workers : ANNEAL_WORKERS_MAX};
    anneal->threads = threads < anneal->workers ? threads : anneal->workers;
    for (int w = 0; w < anneal->workers; w++) {
        anneal->descent[w] = descent_new(core, space, UINT64_C(0x9E3779B97F4A7C15) * (uint64_t)(w + 1));
        anneal->descent[w]->wander = WANDER;
    }
    return anneal;
}

const Descent *anneal_best(const Anneal *anneal) {
    const Descent *best = NULL;
    for (int w = 0; w < anneal->workers; w++)
        if (isfinite(anneal->descent[w]->best_cost) && (!best || anneal->descent[w]->best_cost < best->best_cost))
            best = anneal->descent[w];
    return best;
}

static void run_chunk(Anneal *anneal, int64_t chunk) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(anneal->threads)
    for (int w = 0; w < anneal->workers; w++) {
        descent_run(anneal->descent[w], chunk);
        descent_renew(anneal->descent[w]);
    }
}

/* Every worker goes on from its best choice, improved by pieces of the best of all. */
static void meet(Anneal *anneal) {
    const Descent *best = anneal_best(anneal);
    if (!best) return;
    for (int w = 0; w < anneal->workers; w++) {
        Descent *descent = anneal->descent[w];
        descent->temperature = 0;
        if (isfinite(descent->best_cost)) descent_start(descent, descent->best);
        if (descent != best) descent_cross(descent, best->best);
        descent_renew(descent);
    }
}

void anneal_cycle(Anneal *anneal, double hot, int64_t chunk, const AnnealHooks *hooks) {
    const Core *core = anneal->core;
    double reported = INFINITY, first = 0, at;
    int64_t work = 0;
    const Descent *best = anneal_best(anneal);
    if (core->nodes == 0) return;
    if (best) first = hot * best->best_cost / core->nodes;
    for (int w = 0; w < anneal->workers; w++)
        if (best) descent_start(anneal->descent[w], best->best);
    while ((at = hooks->progress(hooks->context, work)) < 1) {
        for (int w = 0; w < anneal->workers; w++)
            anneal->descent[w]->temperature = at < COOLING_SHARE ? first * pow(COLD, at / COOLING_SHARE) : 0;
        run_chunk(anneal, chunk);
        work += chunk;
        best = anneal_best(anneal);
        if (!best || best->best_cost >= reported) continue;
        reported = best->best_cost;
        hooks->take_choice(hooks->context, best->best);
    }
    meet(anneal);
    best = anneal_best(anneal);
    if (best && best->best_cost < reported) hooks->take_choice(hooks->context, best->best);
}

/* ---- the pool ---- */

/* An annealing ends at this share of its first temperature, and then goes on without any. */
static const double POOL_COLD = 1e-2;
enum { COOLING_STEPS = 30, ANNEAL_STEPS = 32 };
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
    for (int k = 0; k < ANNEAL_STEPS && !pool->stop(pool->context); k++) {
        descent->temperature = k < COOLING_STEPS ? first * pow(POOL_COLD, (double)k / COOLING_STEPS) : 0;
        descent_run(descent, max_whole(work / ANNEAL_STEPS, 1));
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

/* ---- first choices ---- */

/* Prices rise where memory is short, by half each time and by a share of the cost over the largest slack; the share
 * grows. */
static const double RISE = 1.5, FIRST_SHARE = 1e-3, SHARE_RISE = 1.3;
enum { RISES = 64 /* the number of rises in the work of a repair */ };

Starts *starts_new(ChoicePool *pool, Workspace *space) {
    const Core *core = pool->anneal->core;
    size_t nodes = (size_t)core->nodes + 1, times = (size_t)core->times + 1, states = (size_t)core->at[core->nodes] + 1;
    Starts *starts = WORKSPACE_NEW(space, Starts, 1);
    *starts = (Starts){.pool = pool};
    for (int w = 0; w < pool->anneal->workers; w++) {
        starts->rounding[w] = WORKSPACE_NEW(space, int, nodes);
        starts->price[w] = WORKSPACE_NEW(space, double, times);
        starts->sums[w] = WORKSPACE_NEW(space, double, times + 1);
        starts->priced[w] = WORKSPACE_NEW(space, double, states);
    }
    return starts;
}

void starts_repair(Starts *starts, int w, const Dual *dual, int64_t work) {
    const Core *core = dual->core;
    Descent *descent = starts->pool->anneal->descent[w];
    double *price = starts->price[w], most = 1;
    int64_t end = descent->work + work, step = max_whole(work / RISES, 1);
    for (int t = 0; t < core->times; t++) most = max_real(most, (double)core->slack[t]);
    memcpy(price, dual->price, (size_t)core->times * sizeof *price);
    descent->priced = starts->priced[w];
    descent->temperature = 0;
    descent->best_cost = INFINITY;
    descent_start(descent, starts->rounding[w]);
    double unit = FIRST_SHARE * (fabs(descent->cost) + 1) / most;
    while (!isfinite(descent->best_cost) && descent->work < end && !starts->pool->stop(starts->pool->context)) {
        for (int t = 0; t < core->times && !descent->fits; t++)
            if (descent->over[t] > 0) price[t] = RISE * price[t] + unit;
        price_states(core, price, starts->sums[w], starts->priced[w]);
        unit *= SHARE_RISE;
        descent_run(descent, step);
        descent_renew(descent);
    }
    descent->priced = dual->priced;
}

void starts_round(Starts *starts, const Dual *dual, int64_t repair, int64_t descent) {
    Anneal *anneal = starts->pool->anneal;
#pragma omp parallel for schedule(dynamic, 1) num_threads(anneal->threads)
    for (int w = 0; w < anneal->workers; w++) {
        starts_repair(starts, w, dual, repair);
        if (!isfinite(anneal->descent[w]->best_cost)) continue;
        descent_run(anneal->descent[w], descent);
        descent_renew(anneal->descent[w]);
    }
    for (int w = 0; w < anneal->workers; w++)
        if (isfinite(anneal->descent[w]->best_cost)) pool_add(starts->pool, anneal->descent[w]);
}
