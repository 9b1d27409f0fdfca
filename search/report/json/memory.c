/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What lies in HBM, in the JSON report. */
#include "search/report/text/parts.h"

#include "base/json.h"

#include <stdio.h>

static bool add_rows(cJSON *json, const MemoryRows *rows) {
    return json_add_real(json, "total_bytes", memory_total(rows)) &&
           json_add_real(json, "parameters_bytes", rows->parameters_bytes) &&
           json_add_real(json, "gradients_bytes", rows->gradients_bytes) &&
           json_add_real(json, "optimizer_bytes", rows->optimizer_bytes) &&
           json_add_real(json, "activations_bytes", rows->activations_bytes) &&
           json_add_real(json, "gathered_bytes", rows->gathered_bytes) &&
           json_add_real(json, "logits_bytes", rows->logits_bytes) &&
           json_add_real(json, "transient_bytes", rows->transient_bytes);
}

bool memory_add_json(cJSON *to, const char *key, const MemoryRows *rows, double limit, double reserve) {
    cJSON *json = json_add_object(to, key);
    return json_add_real(json, "limit_bytes", limit) && add_rows(json, rows) &&
           json_add_real(json, "reserve_bytes", reserve);
}

bool memory_add_moments(cJSON *to, const Request *request, const RankedPlan *ranked) {
    bool stages = ranked->plan.degrees.of[ROLE_PIPELINE] > 1;
    CostContext setting = ranked_cost_context(request, ranked);
    cJSON *json = json_add_array(to, "memory_moments");
    bool ok = json != NULL;
    for (int i = 0; i < MOMENT_COUNT && ok; i++) {
        if (i == MOMENT_LAST_BACKWARD && !stages) continue; /* the first stage's */
        MemoryRows rows;
        plan_memory(&setting, &ranked->estimate.shard, &ranked->plan, (Moment)i, &rows);
        cJSON *item = json_add_object(json, NULL);
        ok = json_add_text(item, "moment", moment_text((Moment)i, stages)) && add_rows(item, &rows);
    }
    return ok;
}

/* What each row is made of, at the peak; what the reserve has to hold, and the host. */
bool memory_add_detail(cJSON *json, const Request *request, const RankedPlan *ranked) {
    const Estimate *estimate = &ranked->estimate;
    MemoryPart parts[MEMORY_PARTS_MAX];
    double in_flight;
    int count = peak_parts(request, ranked, parts, &in_flight);
    cJSON *detail = json_add_object(json, "memory_detail"), *row = NULL;
    bool ok =
        json_add_text(detail, "moment", moment_text(estimate->moment, ranked->plan.degrees.of[ROLE_PIPELINE] > 1)) &&
        json_add_real(detail, "free_bytes", estimate->memory_limit_bytes - memory_total(&estimate->memory)) &&
        json_add_real(detail, "microbatches_in_flight", in_flight);
    for (int i = 0; i < count && ok; i++) {
        char key[64];
        snprintf(key, sizeof key, "%s_bytes", parts[i].name);
        if (i == 0 || parts[i].row != parts[i - 1].row) row = json_add_object(detail, memory_row_name(parts[i].row));
        ok = row && json_add_real(row, key, parts[i].bytes);
    }
    return ok;
}
