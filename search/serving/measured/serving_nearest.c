/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/serving/measured/serving_replay.h"

#include "base/util.h"
#include "models/parameters.h"

#include <math.h>
#include <string.h>

static double steps(double a, double b) { return a > 0 && b > 0 ? fabs(log2(a / b)) : 1; }

/* How far the way it was served is from the point's: chips and sequences of a worker, one pool or two. What was
 * queued at once has no number of sequences that was measured. */
static double way_distance(const ServingPoint *point, const ServingRun *run) {
    const ServingPool *pool = &point->pools[point->pool_count - 1];
    bool two = strcmp(run->mode, "disagg") == 0, once = strcmp(run->mode, "offline-max") == 0;
    const RunWorker *worker = two ? &run->decode : &run->worker;
    int64_t devices =
        max_whole(1, worker->tensor) * max_whole(1, worker->attention_data) * max_whole(1, worker->pipeline);
    double away = steps((double)devices, (double)pool->on.submesh->devices) + (two != (point->pool_count == 2));
    double workers = max_real(1, (double)worker->workers);
    return away + (once ? 3 : steps(run->concurrency / workers, (double)pool->batch));
}

/* A first token that takes longer than all others waited for a slot: the time of a token is of another batch. */
static bool says_something(const ServingRun *run) {
    bool waited = run->ttft_seconds > run->tpot_seconds * (run->output - 1);
    if (strcmp(run->mode, "offline-max") == 0) return run->tokens_per_second > 0;
    bool steady = strcmp(run->mode, "closed-loop") == 0 || strcmp(run->mode, "disagg") == 0;
    return steady && run->tpot_seconds > 0 && run->concurrency > 0 && !waited;
}

double serving_distance(const ServingQuestion *question, const ServingPoint *point, const Model *model,
                        const ServingRun *run) {
    double size = steps((double)model_active_parameters(&question->model), (double)model_active_parameters(model));
    if (run->not_replayed[0] || !says_something(run)) return INFINITY;
    if (model_has_experts(&question->model) != model_has_experts(model) || size > 3) return INFINITY;
    double away = strcmp(question->model.name, model->name) == 0 ? 0 : 4 + 2 * size;
    away += steps(run->prompt, question->request.prompt) + steps(run->output, question->request.output);
    away += way_distance(point, run) + (run->drafts_unknown ? 1.5 : 0);
    if (served_engine(run->engine) != point->pools[0].on.engine) away += 2;
    return away;
}

bool serving_nearest(ServingReplay *with, const ServingRuns *runs, const ServingQuestion *question,
                     const ServingPoint *point, ServingOutcome *out, Error *error) {
    const ServingRun *best = NULL;
    double least = INFINITY;
    StoredType own = point->pools[point->pool_count - 1].on.layout.weights;
    *out = (ServingOutcome){0};
    for (int64_t i = 0; i < runs->count; i++) {
        const ServingRun *run = &runs->runs[i];
        int engine = served_engine(run->engine);
        if (engine < 0) continue;
        const ReplayPlace *place = served_place(with, run, engine, error);
        const ReplayModel *model = place ? served_model(with, run->model, false, error) : NULL;
        if (!place || !model) return false;
        if (!place->known || !model->known || strcmp(place->chip.name, question->chip.name) != 0) continue;
        double away = serving_distance(question, point, &model->model, run);
        if (served_weights(with, run) != own) away += 1.5;
        if (away < least) least = away, best = run;
    }
    return !best || serving_replay(with, best, out, error);
}
