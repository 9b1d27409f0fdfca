/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/graph/anneal.h"

#include "base/util.h"

#include <math.h>

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

void anneal_cycle(Anneal *anneal, double hot, int64_t chunk, const AnnealAsks *asks) {
    const Core *core = anneal->core;
    double offered = INFINITY, first = 0, at;
    int64_t work = 0;
    const Descent *best = anneal_best(anneal);
    if (core->nodes == 0) return;
    if (best) first = hot * best->best_cost / core->nodes;
    for (int w = 0; w < anneal->workers; w++)
        if (best) descent_start(anneal->descent[w], best->best);
    while ((at = asks->progress(asks->context, work)) < 1) {
        for (int w = 0; w < anneal->workers; w++)
            anneal->descent[w]->temperature = at < COOLING_SHARE ? first * pow(COLD, at / COOLING_SHARE) : 0;
        run_chunk(anneal, chunk);
        work += chunk;
        best = anneal_best(anneal);
        if (!best || best->best_cost >= offered) continue;
        offered = best->best_cost;
        asks->offer(asks->context, best->best);
    }
    meet(anneal);
    best = anneal_best(anneal);
    if (best && best->best_cost < offered) asks->offer(asks->context, best->best);
}
