/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a plan sends: bytes of each role and of each group of chips. */
#include "search/answer/plan_words.h"
#include "search/report/text/parts.h"

#include "base/json.h"
#include "cost/time/step_terms.h"

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
