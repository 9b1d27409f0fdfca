/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plan as people who run MaxText say it. */
#include "search/answer/plan_words.h"
#include "search/launch/maxtext/maxtext.h"
#include "search/launch/maxtext/mesh.h"

#include <inttypes.h>

static const char *axis_name(Role role, const Sharding *sharding) {
    static const char *const NAMES[ROLE_COUNT] = {
        [ROLE_DATA] = "data",     [ROLE_FSDP] = "fsdp",         [ROLE_SEQUENCE] = "context",
        [ROLE_TENSOR] = "tensor", [ROLE_PIPELINE] = "pipeline", [ROLE_EXPERT] = "expert"};
    bool along = role == ROLE_TENSOR && sharding->residual == RESIDUAL_SEQUENCE;
    return along ? "tensor_sequence" : NAMES[role];
}

void maxtext_plan_words(const Request *request, const RankedPlan *ranked, Prose *to) {
    static const Role ORDER[] = {ROLE_DATA, ROLE_PIPELINE, ROLE_FSDP, ROLE_SEQUENCE, ROLE_TENSOR, ROLE_EXPERT};
    MaxtextDivision division = maxtext_division(ranked);
    const Knobs *knobs = &ranked->plan.knobs;
    char text[REMAT_TEXT_SIZE];
    for (int i = 0; i < ROLE_COUNT; i++)
        if (division.across[ORDER[i]] > 1)
            prose_item(to, ", ", "dcn_%s %" PRId64, axis_name(ORDER[i], &ranked->plan.layout.sharding),
                       division.across[ORDER[i]]);
    for (int i = 0; i < ROLE_COUNT; i++)
        if (division.inside[ORDER[i]] > 1)
            prose_item(to, ", ", "ici_%s %" PRId64, axis_name(ORDER[i], &ranked->plan.layout.sharding),
                       division.inside[ORDER[i]]);
    if (to->used == 0) prose_add(to, "one device");
    int64_t stages = ranked->plan.degrees.of[ROLE_PIPELINE], passes = stages > 1 ? 1 : knobs->microbatches;
    int64_t sequences =
        knobs->microbatch_sequences * degrees_replicas(&ranked->plan.degrees) * (stages > 1 ? knobs->microbatches : 1);
    prose_item(to, ", ", "per_device_batch_size %.6g, gradient_accumulation_steps %" PRId64,
               (double)sequences / (double)ranked->machine.mesh.devices, passes);
    const char *remat = maxtext_remat_words(&request->question.model, &ranked->plan.layout, text);
    prose_item(to, ", ", "%s", remat ? remat : "a custom remat_policy");
    if (knobs->offload_optimizer) prose_item(to, ", ", "optimizer_memory_host_offload");
}
