/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/deepspeed/deepspeed.h"

#include "search/launch/rules.h"

#define REFUSES_CONTEXT                                                                                                \
    "context parallelism is Ulysses without tensor and pipeline, its heads and KV heads multiples of it"
#define REFUSES_EXPERTS "expert ranks (ep_size) are whole data ranks beside nothing else: a folded grid of data alone"
#define REFUSES_PIPELINE "PipelineModule goes with ZeRO-0 or 1, no fsdp"
#define REFUSES_GROUPS                                                                                                 \
    "fsdp is ZeRO-3, which excludes autotp and shards over all data ranks (its groups, MiCS, are gone): data=1"

static bool deepspeed_alone(const PlanFacts *facts) { return facts->tensor == 1 && facts->pipeline == 1; }

/* runtime/engine.py: autotp up to ZeRO-2; ZeRO-3 in groups of ranks (MiCS) is refused by runtime/config.py since 0.19,
 * and hpZ keeps a second copy, not the first, in groups. Context parallelism there is Ulysses, taken without tensor and
 * pipeline here. */
const char *deepspeed_refuses_degrees(const PlanFacts *facts) {
    REFUSE_UNLESS(facts_heads_divide(facts), REFUSES_HEADS);
    REFUSE_UNLESS(facts_kv_heads_divide(facts, true), REFUSES_KV_COPIES);
    REFUSE_UNLESS(facts->sequence == 1 || deepspeed_alone(facts), REFUSES_CONTEXT);
    REFUSE_UNLESS(facts->expert == 1, REFUSES_EXPERTS);
    REFUSE_UNLESS(facts->fsdp == 1 || facts->pipeline == 1, REFUSES_PIPELINE);
    REFUSE_UNLESS(facts->fsdp == 1 || (facts->tensor == 1 && facts->data == 1), REFUSES_GROUPS);
    return NULL;
}

/* PipelineModule up to ZeRO-1 and one chunk a stage (1F1B). Expert ranks are data ranks that replicate dense weights
 * (ep_size): a folded grid of data alone. */
const char *deepspeed_refuses(const PlanFacts *facts) {
    int zero = facts->plan->knobs.zero_stage;
    bool sharded = facts->fsdp > 1 || facts_sequence_shards(facts);
    REFUSE_UNLESS(facts->sequence == 1 || (facts->methods->context == CONTEXT_ULYSSES && facts_ulysses_divides(facts)),
                  REFUSES_CONTEXT);
    REFUSE_UNLESS(!facts_folded(facts) || (deepspeed_alone(facts) && facts->sequence == 1 && !sharded &&
                                           facts->methods->grid.expert_tensor <= 1),
                  REFUSES_EXPERTS);
    REFUSE_UNLESS(facts_runs(facts, 1u << SCHEDULE_1F1B), "PipelineModule runs 1f1b, one chunk a stage");
    REFUSE_UNLESS(!facts->methods->tensor_overlap, "autotp has no collective matmul");
    REFUSE_UNLESS(facts->pipeline == 1 || (!sharded && zero <= 1), REFUSES_PIPELINE);
    REFUSE_UNLESS(!sharded || (facts->tensor == 1 && facts->data == 1), REFUSES_GROUPS);
    return NULL;
}

/* offload_optimizer is a part of ZeRO, stages 1 to 3. */
bool deepspeed_offloads_optimizer(const PlanFacts *facts) {
    return facts->fsdp > 1 || facts_sequence_shards(facts) || facts->plan->knobs.zero_stage >= 1;
}
