/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/bound/admitted.h"

#include "search/launch/launcher.h"

/* The schedules of a search: those of whole stages, then those of chunks; none without a pipeline. */
static Schedule schedule_at(const Offers *offers, bool pipelined, int index) {
    if (!pipelined) return SCHEDULE_NONE;
    return index < offers->whole_count ? offers->whole[index] : offers->chunked[index - offers->whole_count];
}

bool methods_admitted(const Bounds *bounds, const Degrees *degrees, const Methods *methods, StageSplit split) {
    const CostContext *context = bounds->context;
    const Offers *offers = bounds->offers;
    bool pipelined = degrees->of[ROLE_PIPELINE] > 1;
    int schedules = pipelined ? offers->whole_count + offers->chunked_count : 1;
    if (bounds->launchers == 0) return true;
    for (int i = 0; i < schedules; i++) {
        Knobs like = {.schedule = schedule_at(offers, pipelined, i), .stages = split, .methods = *methods};
        if (launchers_taking_some(bounds->launchers, context->model, &context->work, degrees, &like, bounds->mesh))
            return true;
    }
    return false;
}

bool contexts_admitted(const Bounds *bounds, const Degrees *degrees, const MethodSpace *space, const Methods *methods,
                       StageSplit split) {
    Methods one = *methods;
    for (int i = 0; i < space->context_count; i++) {
        one.context = space->contexts[i].method;
        one.ulysses = space->contexts[i].ulysses;
        if (methods_admitted(bounds, degrees, &one, split)) return true;
    }
    return false;
}
