/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/torchtitan/torchtitan.h"

#include "base/util.h"
#include "search/launch/rules.h"

#include <inttypes.h>
#include <string.h>

/* ---- what it refuses ---- */

/* torch.distributed.pipelining: interleaved 1F1B wants whole rounds of about as many microbatches as stages. */
static bool rounds(const PlanFacts *facts) {
    int64_t microbatches = facts->plan->knobs.microbatches;
    if (facts->plan->knobs.schedule != SCHEDULE_INTERLEAVED) return true;
    return microbatches % max_whole(1, microbatches / facts->pipeline) == 0;
}

/* parallel_dims.py: ep divides dp_shard * cp * tp and takes whole experts; as an axis of its own it is taken where
 * there are no ranks of cp and tp to borrow. */
static bool experts(const PlanFacts *facts) {
    const ExpertGrid *grid = &facts->methods->grid;
    if (facts_folded(facts))
        return grid->expert_tensor <= 1 && facts->fsdp * facts->sequence * facts->tensor % grid->expert == 0;
    return facts->expert == 1 || facts->tensor * facts->sequence == 1;
}

static const char *refuses_degrees(const PlanFacts *facts) {
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
static const char *refuses(const PlanFacts *facts) {
    REFUSE_UNLESS(facts_runs(facts, 1u << SCHEDULE_GPIPE | 1u << SCHEDULE_1F1B | 1u << SCHEDULE_INTERLEAVED |
                                        1u << SCHEDULE_CIRCULAR),
                  "it runs GPipe, 1F1B, Interleaved1F1B and LoopedBFS (gpipe, 1f1b, interleaved, circular)");
    REFUSE_UNLESS(rounds(facts), "interleaved 1F1B wants whole rounds of microbatches");
    REFUSE_UNLESS(facts->sequence == 1 || facts->methods->context == CONTEXT_ALL_GATHER,
                  "context parallelism runs on FlexAttention, which gathers keys and values"); /* decoder.py */
    REFUSE_UNLESS(facts->sequence == 1 || facts_sequence_shards(facts),
                  "FSDP shards over dp_shard x cp: sequence shards too");
    REFUSE_UNLESS(facts->plan->knobs.zero_stage == 0, "replicas (dp_replicate) keep everything: ZeRO-0 over data");
    REFUSE_UNLESS(experts(facts), "experts fold onto whole ranks of dp_shard, cp and tp, each expert in one piece");
    return NULL;
}

/* enable_cpu_offload is a part of FSDP. */
static bool offloads_optimizer(const PlanFacts *facts) { return facts->fsdp * facts->sequence > 1; }

/* ---- what it can express ---- */

/* What torchtitan can be told to recompute: nothing, selective (op by op), full. Source: activation_checkpoint
 * (b5bcd76c). */

static const char *remat_words(const Model *model, const Layout *layout, char text[REMAT_TEXT_SIZE]) {
    int64_t layers;
    const char *policy = remat_policy(model, layout, &layers);
    if (!policy || layers > 0) return NULL;
    if (strcmp(policy, "none") == 0) return strcpy(text, "no activation_checkpoint");
    if (strcmp(policy, "selective_by_op") == 0) return strcpy(text, "activation_checkpoint=SelectiveAC");
    return strcmp(policy, "full") == 0 ? strcpy(text, "activation_checkpoint=FullAC") : NULL;
}

static void remat_rules(RematList *list, const Model *model) {
    (void)model;
    ActivationState selective[ACTIVATION_COUNT];
    for (Activation a = 0; a < ACTIVATION_COUNT; a++) selective[a] = remat_selective_by_op(a);
    remat_list_add_none(list);
    remat_list_add(list, selective, 0);
    remat_list_add_full(list, 0);
}

/* Order: b5bcd76c distributed/parallel_dims.py (pp, dp_replicate, dp_shard, cp, tp; ep innermost of dp_shard). Uneven
 * stages by module_fqns_per_model_part. */
const Launcher TORCHTITAN_LAUNCHER = {
    .name = "torchtitan",
    .usual_on_gpus = true,
    .nestings = {{.name = "torchtitan",
                  .order = {{ROLE_TENSOR, ROLE_SEQUENCE, ROLE_EXPERT, ROLE_FSDP, ROLE_DATA, ROLE_PIPELINE}}}},
    .gpus_only = true,
    .pads = 1u << PAD_STAGES,
    .refuses_degrees = refuses_degrees,
    .refuses = refuses,
    .offloads_optimizer = offloads_optimizer,
    .host_update = HOST_UPDATE_ON_CPU,
    .counts_microbatches = true,
    .remat = remat_rules,
    .remat_words = remat_words,
    .plan_words = torchtitan_plan_words,
    .signs = {"parallelism.", "training.", "activation_checkpoint."},
    .keys = TITAN_KEYS,
    .import_work = torchtitan_work,
    .import_plan = torchtitan_plan,
    .formats = {{"torchtitan", torchtitan_write, torchtitan_notes, "a bash script that runs torchtitan 0.3", "train.sh",
                 torchtitan_cannot},
                {"torchtitan-toml", torchtitan_toml_write, torchtitan_toml_notes,
                 "a TOML file for torchtitan up to 0.2", "train.toml", torchtitan_toml_cannot, "torchtitan 0.2"}},
};
