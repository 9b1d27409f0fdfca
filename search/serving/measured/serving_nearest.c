/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/serving/measured/serving_nearest.h"

#include "base/util.h"
#include "models/parameters.h"
#include "search/serving/measured/replay_inside.h"

#include <math.h>
#include <string.h>

static double steps(double a, double b) { return a > 0 && b > 0 ? fabs(log2(a / b)) : 1; }

double serving_distance(const ServingQuestion *question, const ServingPoint *point, const Model *model,
                        const ServingRun *run) {
    const ServingPool *pool = &point->pools[point->pool_count - 1];
    Parameters own = model_parameters(&question->model), other = model_parameters(model);
    bool spec = run->spec[0] && strcmp(run->spec, "none") != 0;
    double size = steps((double)own.active, (double)other.active);
    bool waited = run->ttft_seconds > run->tpot_seconds * (run->output - 1);
    if (spec || waited || !(run->tpot_seconds > 0) || strcmp(run->mode, "closed-loop") != 0) return INFINITY;
    if (model_has_experts(&question->model) != model_has_experts(model) || size > 1) return INFINITY;
    int64_t devices = max_whole(1, run->worker.tensor) * max_whole(1, run->worker.attention_data) *
                      max_whole(1, run->worker.pipeline);
    double workers = max_real(1, (double)run->worker.workers);
    double away = strcmp(question->model.name, model->name) == 0 ? 0 : 1 + size;
    away += steps(run->prompt, question->request.prompt) + steps(run->output, question->request.output);
    away += steps((double)devices, (double)pool->on.box->devices);
    away += steps(run->concurrency / workers, (double)pool->batch);
    if (served_engine(run->engine) != pool->on.engine) away += 2;
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
        const ReplayPlace *place = served_place(with, run->chip, engine, error);
        const ReplayModel *model = place ? served_model(with, run->model, error) : NULL;
        if (!place || !model) return false;
        if (!place->known || !model->known || strcmp(place->chip.name, question->chip.name) != 0) continue;
        double away = serving_distance(question, point, &model->model, run);
        if (served_weights(with, run) != own) away += 1.5;
        if (away < least) least = away, best = run;
    }
    return !best || serving_replay(with, best, out, error);
}
