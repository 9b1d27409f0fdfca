/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/explore/admission.h"

#include "search/launch/launcher.h"

SizesVerdict knobs_sizes(const OpenTuple *tuple, const Knobs *knobs) {
    const ExploreProblem *problem = tuple->problem;
    SizesVerdict out;
    out.allow = schedule_allowed(knobs->schedule, tuple->degrees->of[ROLE_PIPELINE], knobs->microbatches,
                                 knobs->virtual_stages) &&
                shard_of_plan(problem->setting.model, &problem->setting.work, tuple->degrees, knobs, problem->padding,
                              &out.shard);
    return out;
}

static bool refused(Admission *out, PruneReason reason) {
    out->reason = reason;
    return false;
}

bool knobs_admitted(const OpenTuple *tuple, const Knobs *knobs, Admission *out) {
    SizesVerdict sizes = knobs_sizes(tuple, knobs);
    return knobs_admitted_of_sizes(tuple, knobs, &sizes, out);
}

bool knobs_admitted_of_sizes(const OpenTuple *tuple, const Knobs *knobs, const SizesVerdict *sizes, Admission *out) {
    const ExploreProblem *problem = tuple->problem;
    const CostContext *setting = &problem->setting;
    LauncherSet asked = problem->request->space.launchers;
    out->able_launchers = ANY_LAUNCHER;
    if (!request_admits_knobs(problem->request, knobs)) return refused(out, PRUNED_REQUIRE);
    if (!sizes->allow) return refused(out, PRUNED_INDIVISIBLE);
    out->shard = sizes->shard;
    if (knobs_redundant(setting->model, &problem->offers, knobs, &out->shard)) return refused(out, PRUNED_EQUAL);
    PaddingSet padding = out->shard.padding;
    bool padded = problem->padding == PADDING_LAUNCHABLE && padding != 0;
    if (asked == 0 && !padded) return true;
    Plan plan = {.degrees = *tuple->degrees, .knobs = *knobs};
    LauncherSet able = plan_launchers(setting->model, &setting->work, &plan, padding, problem->catalog_mesh);
    out->able_launchers = asked ? able & asked : able;
    return out->able_launchers != 0 || refused(out, asked ? PRUNED_REQUIRE : PRUNED_INDIVISIBLE);
}

/* The schedules of a problem's tuples: those of whole stages, then those of chunks; none without a pipeline. */
static Schedule schedule_at(const Offers *offers, bool pipelined, int index) {
    if (!pipelined) return SCHEDULE_NONE;
    return index < offers->whole_count ? offers->whole[index] : offers->chunked[index - offers->whole_count];
}

bool methods_admitted(const ExploreProblem *problem, const Degrees *degrees, const Methods *methods, StageSplit split) {
    const CostContext *setting = &problem->setting;
    const Offers *offers = &problem->offers;
    LauncherSet asked = problem->request->space.launchers;
    bool pipelined = degrees->of[ROLE_PIPELINE] > 1;
    int schedules = pipelined ? offers->whole_count + offers->chunked_count : 1;
    if (asked == 0) return true;
    for (int i = 0; i < schedules; i++) {
        Knobs like = {.schedule = schedule_at(offers, pipelined, i), .stages = split, .methods = *methods};
        if (launchers_taking_some(asked, setting->model, &setting->work, degrees, &like, problem->catalog_mesh))
            return true;
    }
    return false;
}

bool contexts_admitted(const ExploreProblem *problem, const Degrees *degrees, const MethodSpace *space,
                       const Methods *methods, StageSplit split) {
    Methods one = *methods;
    for (int i = 0; i < space->context_count; i++) {
        one.context = space->contexts[i].method;
        one.ulysses = space->contexts[i].ulysses;
        if (methods_admitted(problem, degrees, &one, split)) return true;
    }
    return false;
}
