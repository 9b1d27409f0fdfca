/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/report/text/parts.h"

#include "base/json.h"
#include "search/answer/search_end.h"
#include "search/launch/launcher.h"

/* What was requested around plan 1: the other launchers, a free layout, headroom. */
static bool add_subproblems(cJSON *to, const Report *report) {
    const SearchResult *result = &report->result;
    char launcher[LAUNCHER_NAMES_SIZE];
    if (result->subproblem_count == 0) return true;
    cJSON *list = json_add_array(to, "launchers");
    bool ok = list != NULL;
    for (int i = 0; i < result->subproblem_count && ok; i++) {
        const SubproblemAnswer *answer = &result->subproblems[i];
        if (!answer->searched) continue;
        cJSON *json = json_add_object(list, NULL);
        LauncherSet set = answer->request->space.launchers;
        ok = json_add_text(json, "launcher", set ? launcher_names(set, ",", ",", launcher, sizeof launcher) : "any") &&
             json_add_text(json, "stack", answer->request->question.profile.stack) &&
             json_add_text(json, "proof", answer->end.kind == END_GAP ? "gap" : "optimal") &&
             json_add_text(json, "end", search_end_name(answer->end.kind)) && json_add_real(json, "gap", answer->gap) &&
             json_add_count(json, "plans_covered", answer->plans_covered) &&
             (answer->best ? json_add_real(json, "seconds", answer->best->estimate.time.seconds)
                           : json_add_text(json, "seconds", NULL));
    }
    return ok;
}

bool around_add_json(cJSON *to, const Report *report) {
    bool ok = add_subproblems(to, report);
    if (ok && report->has_free) {
        char notation[NOTATION_SIZE];
        cJSON *json = json_add_object(to, "free_layout");
        ok =
            json_add_text(json, "notation",
                          plan_notation(&report->free.plan.degrees, &report->free.plan.knobs, false, notation)) &&
            json_add_real(json, "seconds", report->free.estimate.time.seconds) &&
            json_add_real(json, "relative", report->free.ranked_seconds / report->result.plans[0].ranked_seconds - 1) &&
            json_add_bool(json, "proven", !report->free_or_less);
    }
    cJSON *list = ok && report->headroom_count > 0 ? json_add_array(to, "headroom") : NULL;
    for (int i = 0; i < report->headroom_count && ok; i++) {
        cJSON *json = json_add_object(list, NULL);
        ok = json_add_real(json, "free_share", report->headroom[i].free_share) &&
             json_add_bool(json, "found", report->headroom[i].found) &&
             (!report->headroom[i].found ||
              json_add_real(json, "relative_seconds_per_token", report->headroom[i].relative));
    }
    return ok;
}

bool measured_add_json(cJSON *to, const Report *report) {
    const MeasuredRun *run = report->measured;
    if (!run) return true;
    cJSON *json = json_add_object(to, "nearest_run");
    return json_add_text(json, "id", run->id) && json_add_text(json, "source", run->source) &&
           json_add_text(json, "framework", run->framework) && json_add_text(json, "model", run->model) &&
           json_add_text(json, "chip", run->chip) && json_add_text(json, "precision", run->precision) &&
           json_add_text(json, "plan", run->plan) && json_add_whole(json, "chips", run->chips) &&
           json_add_whole(json, "seq", run->seq) && json_add_real(json, "flops_per_token", run->flops_per_token) &&
           json_add_real(json, "measured_tokens_per_second_per_chip", run->measured) &&
           json_add_real(json, "predicted_tokens_per_second_per_chip", run->predicted) &&
           json_add_real(json, "claim", report_claim(report, report->result.plans));
}
