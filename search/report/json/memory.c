/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What lies in HBM, in the JSON report. */
#include "base/json.h"
#include "cost/time/step_terms.h"
#include "search/answer/plan_words.h"
#include "search/report/text/parts.h"

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

/* What a plan sends: bytes of each role and of each group of chips. */

/* Over a step, both phases. */
static Traffic group_step_traffic(const Estimate *estimate, Group group) {
    double times = step_moves_once(group) ? 1 : estimate->rule.microbatches;
    Traffic forward = group_traffic(estimate, group, PHASE_FORWARD);
    Traffic backward = group_traffic(estimate, group, PHASE_BACKWARD);
    return (Traffic){times * (forward.messages + backward.messages), times * (forward.bytes + backward.bytes)};
}

bool traffic_add_roles(const Estimate *estimate, cJSON *to) {
    cJSON *json = json_add_object(to, "communication_bytes");
    bool ok = json != NULL;
    for (int role = 0; role < ROLE_COUNT && ok; role++) {
        double bytes = 0;
        for (int group = 0; group < GROUP_COUNT; group++)
            if (group_role((Group)group) == (Role)role) bytes += group_step_traffic(estimate, (Group)group).bytes;
        ok = json_add_real(json, role_name((Role)role), bytes);
    }
    return ok;
}

bool traffic_add_groups(const RankedPlan *ranked, cJSON *to) {
    static const char *const NAMES[GROUP_COUNT] = {
        [GROUP_TENSOR] = "tensor",
        [GROUP_EXPERT_TENSOR] = "expert_tensor",
        [GROUP_EXPERT] = "expert",
        [GROUP_SEQUENCE] = "sequence",
        [GROUP_ULYSSES] = "ulysses",
        [GROUP_PIPELINE] = "pipeline",
        [GROUP_WEIGHTS] = "weights",
        [GROUP_EXPERT_WEIGHTS] = "expert_weights",
        [GROUP_TENSOR_WEIGHTS] = "tensor_weights",
        [GROUP_DATA] = "data",
        [GROUP_EXPERT_DATA] = "expert_data",
    };
    const Estimate *estimate = &ranked->estimate;
    cJSON *json = json_add_array(to, "communication");
    bool ok = json != NULL;
    for (int i = 0; i < GROUP_COUNT && ok; i++) {
        Group group = (Group)i;
        Traffic step = group_step_traffic(estimate, group);
        if (step.bytes <= 0) continue;
        cJSON *item = json_add_object(json, NULL);
        ok = json_add_text(item, "group", NAMES[i]) && json_add_text(item, "role", role_name(group_role(group))) &&
             json_add_whole(item, "chips", group_degree(group, &ranked->plan.degrees, &ranked->plan.knobs.methods)) &&
             json_add_real(item, "messages", step.messages) && json_add_real(item, "bytes", step.bytes) &&
             json_add_real(item, "seconds", estimate->time.group_seconds[i]) &&
             json_add_real(item, "exposed_seconds", estimate->time.group_exposed_seconds[i]);
    }
    return ok;
}
