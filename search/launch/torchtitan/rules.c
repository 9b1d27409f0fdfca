/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/torchtitan/torchtitan.h"

#include "base/util.h"
#include "search/launch/rules.h"

/* torch.distributed.pipelining: interleaved 1F1B wants whole rounds of about as many microbatches as stages. */
static bool torchtitan_rounds(const PlanFacts *facts) {
    int64_t microbatches = facts->plan->knobs.microbatches;
    if (facts->plan->knobs.schedule != SCHEDULE_INTERLEAVED) return true;
    return microbatches % max_whole(1, microbatches / facts->pipeline) == 0;
}

/* parallel_dims.py: ep divides dp_shard * cp * tp and takes whole experts; as an axis of its own it is taken where
 * there are no ranks of cp and tp to borrow. */
static bool torchtitan_experts(const PlanFacts *facts) {
    const ExpertGrid *grid = &facts->methods->grid;
    if (facts_folded(facts))
        return grid->expert_tensor <= 1 && facts->fsdp * facts->sequence * facts->tensor % grid->expert == 0;
    return facts->expert == 1 || facts->tensor * facts->sequence == 1;
}

const char *torchtitan_refuses_degrees(const PlanFacts *facts) {
    REFUSE_UNLESS(facts_heads_divide(facts), REFUSES_HEADS);
    REFUSE_UNLESS(facts_kv_heads_divide(facts, false), REFUSES_KV_HEADS); /* models/common/decoder.py */
    REFUSE_UNLESS(facts->seq % facts->tensor == 0 &&
                      facts->seq / facts->tensor % (2 * facts->sequence) == 0 /* for cp = 1 too */,
                  "the sequence has to be a multiple of tensor x 2 x sequence");
    REFUSE_UNLESS(!facts->model->tied || facts->pipeline == 1,
                  "it ties no embeddings over pipeline stages"); /* models/common/decoder.py */
    return NULL;
}

/* GPipe, 1F1B, Interleaved1F1B, and LoopedBFS, which is our circular one; of zero-bubble schedules those in a V, which
 * are others than ours. */
const char *torchtitan_refuses(const PlanFacts *facts) {
    REFUSE_UNLESS(facts_runs(facts, 1u << SCHEDULE_GPIPE | 1u << SCHEDULE_1F1B | 1u << SCHEDULE_INTERLEAVED |
                                        1u << SCHEDULE_CIRCULAR),
                  "it runs GPipe, 1F1B, Interleaved1F1B and LoopedBFS (gpipe, 1f1b, interleaved, circular)");
    REFUSE_UNLESS(torchtitan_rounds(facts), "interleaved 1F1B wants whole rounds of microbatches");
    REFUSE_UNLESS(facts->sequence == 1 || facts->methods->context == CONTEXT_ALL_GATHER,
                  "context parallelism runs on FlexAttention, which gathers keys and values"); /* decoder.py */
    REFUSE_UNLESS(facts->sequence == 1 || facts_sequence_shards(facts),
                  "FSDP shards over dp_shard x cp: sequence shards too");
    REFUSE_UNLESS(facts->plan->knobs.zero_stage == 0, "replicas (dp_replicate) keep everything: ZeRO-0 over data");
    REFUSE_UNLESS(torchtitan_experts(facts),
                  "experts fold onto whole ranks of dp_shard, cp and tp, each expert in one piece");
    return NULL;
}

/* enable_cpu_offload is a part of FSDP. */
bool torchtitan_offloads_optimizer(const PlanFacts *facts) { return facts->fsdp * facts->sequence > 1; }
