/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/megatron/megatron.h"

#include "search/launch/rules.h"

/* Parameters are sharded over data-parallel and context ranks by Megatron-FSDP alone (optim_grads_params; ZeRO-2 is its
 * optim_grads), and that, like --use-torch-fsdp2, which asks for pp == 1 (arguments.py), is taken without pipeline
 * here. Over an outer `data` it leaves state whole or shards the optimizer (--outer-dp-sharding-strategy no_shard |
 * optim). */
static bool megatron_sharding(const PlanFacts *facts) {
    bool sharded = facts->fsdp * facts->expert > 1 || facts_sequence_shards(facts);
    int zero = facts->plan->knobs.zero_stage;
    return (facts->pipeline == 1 || (!sharded && zero <= 1)) && (!sharded || zero <= 1);
}

/* arguments.py: seq_length % (2 * cp) == 0; sequence parallelism, which goes with tensor, wants (seq / cp) % tp == 0.
 * --cp-comm-type p2p, allgather, a2a, a2a+p2p: all four ways; those that exchange heads deal them whole. */
static bool megatron_tokens(const PlanFacts *facts) {
    if (facts->sequence > 1 && facts->seq % (2 * facts->sequence) != 0) return false;
    return facts->seq % facts->sequence == 0 && facts->seq / facts->sequence % facts->tensor == 0;
}

#define REFUSES_SHARDS                                                                                                 \
    "Megatron-FSDP shards without pipeline, and with ZeRO-0 or 1 over data; beside a pipeline data has ZeRO-0 or 1"
#define REFUSES_TOKENS                                                                                                 \
    "seq-length has to be a multiple of 2 x sequence and of sequence x tensor, heads that are exchanged of "           \
    "tensor x ulysses"

/* core/transformer/transformer_layer.py: attention, then the MLP; core/models/gpt: rope, learned or no positions. */
static bool megatron_has_layers(const Model *model) {
    for (int i = 0; i < model->kind_count; i++)
        if (model->kinds[i].parallel_block) return false;
    return model->positions != POSITIONS_ALIBI;
}

/* Experts re-use dense ranks there (etp x ep x edp); an axis of their own, which shards dense weights too, it does not
 * know. */
const char *megatron_refuses_degrees(const PlanFacts *facts) {
    REFUSE_UNLESS(facts_heads_divide(facts), REFUSES_HEADS);
    REFUSE_UNLESS(facts_kv_heads_divide(facts, true), REFUSES_KV_COPIES); /* transformer_config.py */
    REFUSE_UNLESS(facts->pipeline == 1 || facts->fsdp * facts->expert == 1, REFUSES_SHARDS);
    REFUSE_UNLESS(megatron_tokens(facts), REFUSES_TOKENS);
    REFUSE_UNLESS(facts->expert == 1, "experts re-use dense ranks there: an expert grid (folded), no axis of its own");
    REFUSE_UNLESS(megatron_has_layers(facts->model),
                  "it has no ALiBi, and no layer whose attention and MLP read the same input");
    return NULL;
}

/* pipeline_parallel/schedules.py has 1F1B and its interleaving. */
const char *megatron_refuses(const PlanFacts *facts) {
    REFUSE_UNLESS(facts_runs(facts, 1u << SCHEDULE_1F1B | 1u << SCHEDULE_INTERLEAVED),
                  "it runs 1f1b and interleaved 1f1b");
    REFUSE_UNLESS(megatron_sharding(facts), REFUSES_SHARDS);
    REFUSE_UNLESS(facts->methods->ulysses <= 1 || facts_ulysses_divides(facts), REFUSES_TOKENS);
    REFUSE_UNLESS(facts->fsdp == 1 || facts->sequence == 1 || facts_sequence_shards(facts),
                  "Megatron-FSDP shards parameters over context ranks too");
    REFUSE_UNLESS(facts->plan->knobs.regather, REFUSES_KEPT_WEIGHTS);
    return NULL;
}

/* --optimizer-cpu-offload wants the distributed optimizer (arguments.py, by --use-precision-aware-optimizer). */
bool megatron_offloads_optimizer(const PlanFacts *facts) {
    return facts->fsdp > 1 || facts_sequence_shards(facts) || facts->plan->knobs.zero_stage >= 1;
}
