/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A request as the options that make it again: what a report carries, so that it can be planned once more. */
#include "search/request/request.h"

#include "base/json.h"

#include <stdio.h>
#include <string.h>

/* The machine in the option that named it; the default machine by what it is. */
static bool add_machine(const Request *request, cJSON *to) {
    const MachineRequest *asked = &request->machine_request;
    if (!json_add_text(to, "chip", request->chip.name)) return false;
    if (request->chip.oversubscription > 1 && !json_add_real(to, "oversubscription", request->chip.oversubscription))
        return false;
    if (asked->slice)
        return json_add_text(to, "slice", asked->slice) &&
               (asked->slices == 0 || json_add_whole(to, "slices", asked->slices));
    if (asked->chips > 0) return json_add_whole(to, "chips", asked->chips);
    if (asked->nodes > 0 || chip_has_domains(&request->chip))
        return json_add_whole(to, "nodes", asked->nodes > 0 ? asked->nodes : 1);
    return json_add_whole(to, "pods", asked->pods > 0 ? asked->pods : 1);
}

static bool add_launchers(const Request *request, cJSON *to) {
    char text[96] = "";
    for (Launcher launcher = 0; launcher < LAUNCHER_COUNT; launcher++) {
        size_t length = strlen(text);
        if (!(request->launchers & 1u << launcher)) continue;
        snprintf(text + length, sizeof text - length, "%s%s", length > 0 ? "," : "", launcher_name(launcher));
    }
    return text[0] == '\0' || json_add_text(to, "for", text);
}

bool request_add_json(const Request *request, cJSON *to) {
    char required[REQUIREMENTS_TEXT_SIZE], dtypes[STATE_TEXT_SIZE], remat[REMAT_TEXT_SIZE];
    char schedules[SCHEDULES_TEXT_SIZE];
    requirements_text(request, required);
    return json_add_text(to, "model", request->model_argument) && add_machine(request, to) &&
           json_add_whole(to, "batch", (int64_t)request->requested_batch_tokens) &&
           json_add_whole(to, "seq", request->work.seq) && json_add_real(to, "tokens", request->training_tokens) &&
           (required[0] == '\0' || json_add_text(to, "require", required)) && add_launchers(request, to) &&
           json_add_real(to, "max_idle", request->max_idle) &&
           json_add_real(to, "batch_tolerance", request->batch_tolerance) &&
           json_add_text(to, "padding", padding_rule_name(request->padding)) &&
           json_add_text(to, "nesting", request->nesting_name) &&
           json_add_text(to, "schedules", schedules_text(request->schedules, schedules)) &&
           json_add_text(to, "objective", objective_name(request->objective)) &&
           json_add_whole(to, "top", request->top) && json_add_bool(to, "variants", request->variants) &&
           json_add_text(to, "precision", precision_name(request->precision)) &&
           json_add_text(to, "optimizer", request->optimizer_argument[0] ? request->optimizer_argument : "adamw") &&
           json_add_text(to, "state_dtypes", state_dtypes_text(&request->state_dtypes, dtypes)) &&
           json_add_text(to, "remat", remat_text(&request->remat, remat)) &&
           json_add_real(to, "hbm_reserve", request->hbm_reserve) &&
           json_add_text(to, "profile", request->profile_argument) &&
           (request->profile.stack[0] == '\0' || json_add_text(to, "stack", request->profile.stack)) &&
           json_add_bool(to, "brute_force", request->brute_force) &&
           (request->time_limit_seconds == 0 || json_add_real(to, "time_limit", request->time_limit_seconds));
}
