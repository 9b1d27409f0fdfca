/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/graph/starts.h"

#include "base/util.h"

#include <math.h>
#include <string.h>

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
