/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/bound/admitted.h"

#include "search/launch/launcher.h"

/* The schedules of a search: those of whole stages, then those of chunks; none without a pipeline. */
static void list_schedules(const KnobDomain *domain, bool pipelined, PlainPlans *out) {
    if (!pipelined) out->schedules[out->schedule_count++] = SCHEDULE_NONE;
    for (int i = 0; i < domain->whole_count && pipelined; i++) out->schedules[out->schedule_count++] = domain->whole[i];
    for (int i = 0; i < domain->chunked_count && pipelined; i++)
        out->schedules[out->schedule_count++] = domain->chunked[i];
}

static bool one_admitted(const Bounds *bounds, const Degrees *degrees, const Methods *methods, int count,
                         StageSplit split) {
    PlainPlans plans = {.model = bounds->context->model,
                        .work = &bounds->context->work,
                        .mesh = bounds->mesh,
                        .degrees = degrees,
                        .split = split,
                        .methods = methods,
                        .method_count = count};
    list_schedules(bounds->domain, degrees->of[ROLE_PIPELINE] > 1, &plans);
    return launchers_take_one(bounds->launchers, &plans);
}

bool degrees_admitted(const Bounds *bounds, const Degrees *degrees) {
    return bounds->launchers == 0 || launchers_of_degrees(bounds->launchers, bounds->context->model,
                                                          &bounds->context->work, degrees, bounds->mesh) != 0;
}

bool methods_admitted(const Bounds *bounds, const Degrees *degrees, const Methods *methods, StageSplit split) {
    return bounds->launchers == 0 || one_admitted(bounds, degrees, methods, 1, split);
}

bool contexts_admitted(const Bounds *bounds, const Degrees *degrees, const MethodSpace *space, const Methods *methods,
                       StageSplit split) {
    Methods each[CONTEXTS_MAX];
    if (bounds->launchers == 0) return true;
    for (int i = 0; i < space->context_count; i++) {
        each[i] = *methods;
        each[i].context = space->contexts[i].method;
        each[i].ulysses = space->contexts[i].ulysses;
    }
    return one_admitted(bounds, degrees, each, space->context_count, split);
}
