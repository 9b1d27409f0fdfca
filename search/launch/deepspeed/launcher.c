/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/deepspeed/deepspeed.h"

#include "search/launch/rules.h"

#include <inttypes.h>

/* ---- what it refuses ---- */

#define REFUSES_CONTEXT                                                                                                \
    "context parallelism is Ulysses without tensor and pipeline, its heads and KV heads multiples of it"
#define REFUSES_EXPERTS "expert ranks (ep_size) are whole data ranks beside nothing else: a folded grid of data alone"
#define REFUSES_PIPELINE "PipelineModule goes with ZeRO-0 or 1, no fsdp"
#define REFUSES_GROUPS                                                                                                 \
    "fsdp is ZeRO-3, which excludes autotp and shards over all data ranks (its groups, MiCS, are gone): data=1"

static bool alone(const PlanFacts *facts) { return facts->tensor == 1 && facts->pipeline == 1; }

/* runtime/engine.py: autotp up to ZeRO-2; ZeRO-3 in groups of ranks (MiCS) is refused by runtime/config.py since 0.19,
 * and hpZ keeps a second copy, not the first, in groups. Context parallelism there is Ulysses, taken without tensor and
 * pipeline here. */
static const char *refuses_degrees(const PlanFacts *facts) {
    REFUSE_UNLESS(facts_heads_divide(facts), REFUSES_HEADS);
    REFUSE_UNLESS(facts_kv_heads_divide(facts, true), REFUSES_KV_COPIES);
    REFUSE_UNLESS(facts->sequence == 1 || alone(facts), REFUSES_CONTEXT);
    REFUSE_UNLESS(facts->expert == 1, REFUSES_EXPERTS);
    REFUSE_UNLESS(facts->fsdp == 1 || facts->pipeline == 1, REFUSES_PIPELINE);
    REFUSE_UNLESS(facts->fsdp == 1 || (facts->tensor == 1 && facts->data == 1), REFUSES_GROUPS);
    return NULL;
}

/* PipelineModule up to ZeRO-1 and one chunk a stage (1F1B). Expert ranks are data ranks that replicate dense weights
 * (ep_size): a folded grid of data alone. */
static const char *refuses(const PlanFacts *facts) {
    int zero = facts->plan->knobs.zero_stage;
    bool sharded = facts->fsdp > 1 || facts_sequence_shards(facts);
    REFUSE_UNLESS(facts->sequence == 1 || (facts->methods->context == CONTEXT_ULYSSES && facts_ulysses_divides(facts)),
                  REFUSES_CONTEXT);
    REFUSE_UNLESS(!facts_folded(facts) ||
                      (alone(facts) && facts->sequence == 1 && !sharded && facts->methods->grid.expert_tensor <= 1),
                  REFUSES_EXPERTS);
    REFUSE_UNLESS(facts_runs(facts, 1u << SCHEDULE_1F1B), "PipelineModule runs 1f1b, one chunk a stage");
    REFUSE_UNLESS(!facts->methods->tensor_overlap, "autotp has no collective matmul");
    REFUSE_UNLESS(facts->pipeline == 1 || (!sharded && zero <= 1), REFUSES_PIPELINE);
    REFUSE_UNLESS(!sharded || (facts->tensor == 1 && facts->data == 1), REFUSES_GROUPS);
    return NULL;
}

/* offload_optimizer is a part of ZeRO, stages 1 to 3. */
static bool offloads_optimizer(const PlanFacts *facts) {
    return facts->fsdp > 1 || facts_sequence_shards(facts) || facts->plan->knobs.zero_stage >= 1;
}

/* ---- a plan as people who run it say it ---- */

static void plan_words(const LaunchJob *job, Prose *out) {
    prose_add(out, "ZeRO stage %d", job->shards ? 3 : job->knobs->zero_stage);
    if (job->tensor > 1) prose_item(out, ", ", "AutoTP %" PRId64, job->tensor);
    if (job->sequence > 1) prose_item(out, ", ", "sequence_parallel_size %" PRId64, job->sequence);
    if (job->pipeline > 1) prose_item(out, ", ", "%" PRId64 " stages", job->pipeline);
    if (job->expert > 1) prose_item(out, ", ", "ep_size %" PRId64, job->expert);
    prose_item(out, ", ", "micro-batch %" PRId64 ", %" PRId64 " accumulation step%s, batch %" PRId64,
               job->knobs->microbatch_sequences, job->knobs->microbatches, job->knobs->microbatches > 1 ? "s" : "",
               job->batch);
    int64_t remade = job_dropped_most(job);
    if (remade > 0)
        prose_item(out, ", ", "checkpointing of %" PRId64 " layers", remade);
    else
        prose_item(out, ", ", "no activation checkpointing");
    if (job->knobs->offload_optimizer) prose_item(out, ", ", "optimizer on the CPU");
}

/* Nothing or full. */
static void remat_rules(RematList *list, const Model *model) {
    (void)model;
    remat_list_add_none(list);
    remat_list_add_full(list, 0);
}

/* Order: runtime/pipe/topology.py: pipe, data, model, which is Megatron's. Uneven stages by its partitioning of
 * layers. */
const Launcher DEEPSPEED_LAUNCHER = {
    .name = "deepspeed",
    .usual_on_gpus = true,
    .nestings = {{.name = "megatron",
                  .order = {{ROLE_TENSOR, ROLE_SEQUENCE, ROLE_EXPERT, ROLE_FSDP, ROLE_DATA, ROLE_PIPELINE}}}},
    .gpus_only = true,
    .pads = 1u << PAD_STAGES,
    .refuses_degrees = refuses_degrees,
    .refuses = refuses,
    .offloads_optimizer = offloads_optimizer,
    .host_update = HOST_UPDATE_ON_CPU,
    .remat = remat_rules,
    .plan_words = plan_words,
    .signs = {"zero_optimization.", "train_micro_batch_size_per_gpu", "train_batch_size", "zero_optimization"},
    .import_work = deepspeed_work,
    .import_plan = deepspeed_plan,
    .formats = {{"deepspeed", deepspeed_write, deepspeed_notes, "a JSON file for DeepSpeed", "ds_config.json",
                 deepspeed_cannot}},
};
