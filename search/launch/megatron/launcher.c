/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/megatron/megatron.h"

#include "search/launch/rules.h"

#include <inttypes.h>
#include <string.h>

/* ---- what it refuses ---- */

/* Parameters are sharded over data-parallel and context ranks by Megatron-FSDP alone (optim_grads_params; ZeRO-2 is its
 * optim_grads), and that, like --use-torch-fsdp2, which asks for pp == 1 (arguments.py), is taken without pipeline
 * here. Over an outer `data` it leaves state whole or shards the optimizer (--outer-dp-sharding-strategy no_shard |
 * optim). */
static bool sharding(const PlanFacts *facts) {
    bool sharded = facts->fsdp * facts->expert > 1 || facts_sequence_shards(facts);
    int zero = facts->plan->knobs.zero_stage;
    return (facts->pipeline == 1 || (!sharded && zero <= 1)) && (!sharded || zero <= 1);
}

/* arguments.py: seq_length % (2 * cp) == 0; sequence parallelism, which goes with tensor, wants (seq / cp) % tp == 0.
 * --cp-comm-type p2p, allgather, a2a, a2a+p2p: all four ways; those that exchange heads deal them whole. */
static bool tokens(const PlanFacts *facts) {
    if (facts->sequence > 1 && facts->seq % (2 * facts->sequence) != 0) return false;
    return facts->seq % facts->sequence == 0 && facts->seq / facts->sequence % facts->tensor == 0;
}

#define REFUSES_SHARDS                                                                                                 \
    "Megatron-FSDP shards without pipeline, and with ZeRO-0 or 1 over data; beside a pipeline data has ZeRO-0 or 1"
#define REFUSES_TOKENS                                                                                                 \
    "seq-length has to be a multiple of 2 x sequence and of sequence x tensor, heads that are exchanged of "           \
    "tensor x ulysses"

/* core/transformer/transformer_layer.py: attention, then the MLP; core/models/gpt: rope, learned or no positions. */
static bool has_layers(const Model *model) {
    for (int i = 0; i < model->kind_count; i++)
        if (model->kinds[i].parallel_block) return false;
    return model->positions != POSITIONS_ALIBI;
}

/* Experts re-use dense ranks there (etp x ep x edp); an axis of their own, which shards dense weights too, it does not
 * know. */
static const char *refuses_degrees(const PlanFacts *facts) {
    REFUSE_UNLESS(facts_heads_divide(facts), REFUSES_HEADS);
    REFUSE_UNLESS(facts_kv_heads_divide(facts, true), REFUSES_KV_COPIES); /* transformer_config.py */
    REFUSE_UNLESS(facts->pipeline == 1 || facts->fsdp * facts->expert == 1, REFUSES_SHARDS);
    REFUSE_UNLESS(tokens(facts), REFUSES_TOKENS);
    REFUSE_UNLESS(facts->expert == 1, "experts re-use dense ranks there: an expert grid (folded), no axis of its own");
    REFUSE_UNLESS(has_layers(facts->model),
                  "it has no ALiBi, and no layer whose attention and MLP read the same input");
    return NULL;
}

/* pipeline_parallel/schedules.py has 1F1B and its interleaving. */
static const char *refuses(const PlanFacts *facts) {
    REFUSE_UNLESS(facts_runs(facts, 1u << SCHEDULE_1F1B | 1u << SCHEDULE_INTERLEAVED),
                  "it runs 1f1b and interleaved 1f1b");
    REFUSE_UNLESS(sharding(facts), REFUSES_SHARDS);
    REFUSE_UNLESS(facts->methods->ulysses <= 1 || facts_ulysses_divides(facts), REFUSES_TOKENS);
    REFUSE_UNLESS(facts->fsdp == 1 || facts->sequence == 1 || facts_sequence_shards(facts),
                  "Megatron-FSDP shards parameters over context ranks too");
    REFUSE_UNLESS(facts->plan->knobs.regather, REFUSES_KEPT_WEIGHTS);
    return NULL;
}

/* --optimizer-cpu-offload wants the distributed optimizer (arguments.py, by --use-precision-aware-optimizer). */
static bool offloads_optimizer(const PlanFacts *facts) {
    return facts->fsdp > 1 || facts_sequence_shards(facts) || facts->plan->knobs.zero_stage >= 1;
}

/* ---- a plan as people who run it say it ---- */

static void add_parallel(const LaunchJob *job, Prose *out) {
    prose_add(out, "TP %" PRId64, job->tensor);
    if (job->pipeline > 1 && job->virtual_stages > 1)
        prose_item(out, ", ", "PP %" PRId64 " with %" PRId64 " virtual stages", job->pipeline, job->virtual_stages);
    else
        prose_item(out, ", ", "PP %" PRId64, job->pipeline);
    prose_item(out, ", ", "CP %" PRId64, job->sequence);
    if (model_layers_with(job->model, true) > 0)
        prose_item(out, ", ", "EP %" PRId64 " ETP %" PRId64, job->expert, job->expert_tensor);
    prose_item(out, ", ", "DP %" PRId64, job->replicas);
}

static void add_sharding(const LaunchJob *job, Prose *out) {
    int zero = job->knobs->zero_stage;
    if (job->shards && job->data > 1)
        prose_item(out, ", ", "Megatron-FSDP in %" PRId64 " groups%s", job->data,
                   zero == 1 ? " with the optimizer over all" : "");
    else if (job->shards)
        prose_item(out, ", ", "Megatron-FSDP over all of it (ZeRO-3)");
    else if (zero == 2)
        prose_item(out, ", ", "Megatron-FSDP of gradients and optimizer (ZeRO-2)");
    else if (zero == 1)
        prose_item(out, ", ", "distributed optimizer (ZeRO-1)");
    if (job->knobs->offload_optimizer) prose_item(out, ", ", "optimizer on the CPU");
}

static void plan_words(const LaunchJob *job, Prose *out) {
    char text[REMAT_TEXT_SIZE];
    add_parallel(job, out);
    add_sharding(job, out);
    prose_item(out, ", ", "micro-batch %" PRId64 " in %" PRId64 " microbatch%s, global batch %" PRId64,
               job->knobs->microbatch_sequences, job->knobs->microbatches, job->knobs->microbatches > 1 ? "es" : "",
               job->batch);
    const char *remat = megatron_remat_words(job->model, &job->ranked->plan.layout, text);
    prose_item(out, ", ", "%s", remat && remat[0] ? remat : "no recomputation");
}

/* Order: d98e8a64dd core/parallel_state.py, tp-cp-ep-dp-pp, and tp-cp-ep-pp-dp with --use-tp-pp-dp-mapping; its data
 * ranks are our fsdp inside our data. Padding: uneven stages by --pipeline-model-parallel-layout; the vocabulary to
 * 128 * tp (build_tokenizer.py). */
const Launcher MEGATRON_LAUNCHER = {
    .name = "megatron",
    .usual_on_gpus = true,
    .nestings = {{.name = "megatron",
                  .order = {{ROLE_TENSOR, ROLE_SEQUENCE, ROLE_EXPERT, ROLE_FSDP, ROLE_DATA, ROLE_PIPELINE}}},
                 {.name = "megatron-pp-dp",
                  .order = {{ROLE_TENSOR, ROLE_SEQUENCE, ROLE_EXPERT, ROLE_PIPELINE, ROLE_FSDP, ROLE_DATA}},
                  .option = "--use-tp-pp-dp-mapping"}},
    .gpus_only = true,
    .pads = 1u << PAD_STAGES | 1u << PAD_VOCAB,
    .refuses_degrees = refuses_degrees,
    .refuses = refuses,
    .offloads_optimizer = offloads_optimizer,
    .host_update = HOST_UPDATE_ON_CPU,
    .remat = megatron_remat_rules,
    .remat_by_chunk = true,
    .remat_words = megatron_remat_words,
    .plan_words = plan_words,
    .signs = {"tensor-model-parallel-size", "pipeline-model-parallel-size", "micro-batch-size", "num-layers",
              "global-batch-size", "context-parallel-size", "use-distributed-optimizer"},
    .signs_yield = true,
    .keys = MEGATRON_KEYS,
    .import_work = megatron_work,
    .import_plan = megatron_plan,
    .formats = {{"megatron", megatron_write, megatron_notes, "a bash script that runs Megatron-LM", "train.sh",
                 megatron_cannot}},
};
