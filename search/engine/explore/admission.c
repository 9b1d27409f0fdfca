/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/explore/admission.h"

#include "search/launch/launcher.h"

SizesVerdict knobs_sizes(const TupleNode *tuple, const Knobs *knobs) {
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

bool knobs_admitted(const TupleNode *tuple, const Knobs *knobs, Admission *out) {
    SizesVerdict sizes = knobs_sizes(tuple, knobs);
    return knobs_admitted_of_sizes(tuple, knobs, &sizes, out);
}

bool knobs_admitted_of_sizes(const TupleNode *tuple, const Knobs *knobs, const SizesVerdict *sizes, Admission *out) {
    const ExploreProblem *problem = tuple->problem;
    const CostContext *setting = &problem->setting;
    LauncherSet asked = problem->request->space.launchers;
    out->able_launchers = ANY_LAUNCHER;
    if (!request_admits_knobs(problem->request, knobs)) return refused(out, PRUNED_REQUIRE);
    if (!sizes->allow) return refused(out, PRUNED_INDIVISIBLE);
    out->shard = sizes->shard;
    if (knobs_redundant(setting->model, &problem->domain, knobs, &out->shard)) return refused(out, PRUNED_EQUAL);
    PaddingSet padding = out->shard.padding;
    bool padded = problem->padding == PADDING_LAUNCHABLE && padding != 0;
    if (asked == 0 && !padded) return true;
    Plan plan = {.degrees = *tuple->degrees, .knobs = *knobs};
    LauncherSet able = plan_launchers(setting->model, &setting->work, &plan, padding, problem->catalog_mesh);
    out->able_launchers = asked ? able & asked : able;
    return out->able_launchers != 0 || refused(out, asked ? PRUNED_REQUIRE : PRUNED_INDIVISIBLE);
}
