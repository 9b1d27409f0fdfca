/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the whole training takes and costs, without failures and with them. */
#include "base/json.h"
#include "search/answer/plan_words.h"
#include "search/report/text/parts.h"

/* The same training with failures; null where nothing fails or nothing is known. */
static bool add_failing(cJSON *to, const Request *request, const RankedPlan *ranked) {
    Failing failing = failing_of(request, ranked);
    if (!(failing.mtbf_seconds > 0)) return json_add_text(to, "failures", NULL);
    cJSON *json = json_add_object(to, "failures");
    return json_add_real(json, "mtbf_seconds", failing.mtbf_seconds) &&
           json_add_real(json, "checkpoint_bytes", failing.checkpoint_bytes) &&
           json_add_real(json, "checkpoint_write_seconds", failing.write_seconds) &&
           json_add_real(json, "checkpoint_blocking_seconds", failing.blocking_seconds) &&
           json_add_real(json, "checkpoint_interval_seconds", failing.interval_seconds) &&
           json_add_real(json, "restart_seconds", failing.restart_seconds) &&
           json_add_real(json, "goodput", failing.goodput) && json_add_real(json, "seconds", failing.seconds) &&
           json_add_real(json, "chip_hours", failing.chip_hours) &&
           (failing.usd >= 0 ? json_add_real(json, "cost_usd", failing.usd) : json_add_text(json, "cost_usd", NULL)) &&
           json_add_whole(json, "hosts", failing.hosts) && json_add_whole(json, "idle_hosts", failing.idle_hosts) &&
           json_add_whole(json, "spare_hosts_for_95_percent", failing.spares) &&
           json_add_real(json, "whole_with_idle_hosts", failing.whole);
}

bool training_add_json(const Request *request, const RankedPlan *ranked, cJSON *to) {
    Training training = training_of(request, ranked);
    cJSON *json = json_add_object(to, "training");
    return json_add_real(json, "tokens", training.tokens) && json_add_real(json, "steps", training.steps) &&
           json_add_real(json, "seconds", training.seconds) && json_add_real(json, "chip_hours", training.chip_hours) &&
           (training.usd >= 0 ? json_add_real(json, "cost_usd", training.usd)
                              : json_add_text(json, "cost_usd", NULL)) &&
           (training.reserved_usd < 0 || json_add_real(json, "reserved_cost_usd", training.reserved_usd)) &&
           add_failing(json, request, ranked);
}
