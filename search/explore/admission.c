/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/explore/admission.h"

#include "search/launch/launcher.h"

/* Whether the sizes divide, or may be padded. */
static bool sizes_allow(const OpenTuple *tuple, const Knobs *knobs, Shard *shard) {
    const ExploreProblem *problem = tuple->problem;
    return schedule_allowed(knobs->schedule, tuple->degrees->of[ROLE_PIPELINE], knobs->microbatches,
                            knobs->virtual_stages) &&
           shard_of_plan(problem->setting.model, &problem->setting.work, tuple->degrees, knobs, problem->padding,
                         shard);
}

static bool refused(Admission *out, PruneReason reason) {
    out->reason = reason;
    return false;
}

bool knobs_admitted(const OpenTuple *tuple, const Knobs *knobs, Admission *out) {
    const ExploreProblem *problem = tuple->problem;
    const CostContext *setting = &problem->setting;
    LauncherSet asked = problem->request->space.launchers;
    out->able_launchers = ANY_LAUNCHER;
    if (!request_admits_knobs(problem->request, knobs)) return refused(out, PRUNED_REQUIRE);
    if (!sizes_allow(tuple, knobs, &out->shard)) return refused(out, PRUNED_INDIVISIBLE);
    if (knobs_redundant(setting->model, &problem->offers, knobs, &out->shard)) return refused(out, PRUNED_EQUAL);
    PaddingSet padding = out->shard.padding;
    bool padded = problem->padding == PADDING_LAUNCHABLE && padding != 0;
    if (asked == 0 && !padded) return true;
    Plan plan = {.degrees = *tuple->degrees, .knobs = *knobs};
    LauncherSet able = plan_launchers(setting->model, &setting->work, &plan, padding, problem->catalog_mesh);
    out->able_launchers = asked ? able & asked : able;
    return out->able_launchers != 0 || refused(out, asked ? PRUNED_REQUIRE : PRUNED_INDIVISIBLE);
}
