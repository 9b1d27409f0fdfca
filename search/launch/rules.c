/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each launcher refuses. A rule stands here when the framework raises on it, or when it has no words for the plan;
 * the file that raises is named. What a rule is silent on the launcher takes.
 *
 * Only degrees, knobs and padding are looked at: whether a launcher can put roles where the plan has them is a matter of
 * its own (launch_placement.h). A plan is taken as our roles mean it: sequence and expert shard parameters and optimizer
 * as fsdp does.
 *
 * Sources, at the commits as read: MaxText e591f30cb and the release 0.2.5, JAX cec06d116c, Megatron-LM d98e8a64dd,
 * torchtitan b5bcd76c, DeepSpeed edaa72212 and the release 0.19.8. */
#include "search/launch/rules.h"

#include "base/util.h"
#include "search/answer/parameter_shards.h"

typedef struct {
    const Model *model;
    const Plan *plan;
    const Methods *methods; /* the plan's */
    bool tpu;
    int64_t tensor, expert, sequence, fsdp, data, pipeline;
    int64_t seq;
    int64_t chunks; /* pipeline stages, virtual ones counted */
} Facts;

/* heads % tensor, for every kind of layer. */
static bool heads_divide(const Facts *facts) {
    for (int i = 0; i < facts->model->kind_count; i++)
        if (facts->model->kinds[i].heads % facts->tensor != 0) return false;
    return true;
}

/* KV heads % tensor; `copies`: or tensor % KV heads, every chip with a copy of the head it needs. Latent attention has
 * no KV heads of its own: each query head has its keys and values. */
static bool kv_heads_divide(const Facts *facts, bool copies) {
    for (int i = 0; i < facts->model->kind_count; i++) {
        const LayerKind *kind = &facts->model->kinds[i];
        if (kind->attention == ATTENTION_LATENT || kind->kv_heads <= 0 || kind->kv_heads % facts->tensor == 0) continue;
        if (!copies || facts->tensor % kind->kv_heads != 0) return false;
    }
    return true;
}

static bool has_windows_or_sinks(const Model *model) {
    for (int i = 0; i < model->kind_count; i++)
        if (model->kinds[i].window > 0 || model->kinds[i].sinks) return true;
    return false;
}

static bool has_latents(const Model *model) {
    for (int i = 0; i < model->kind_count; i++)
        if (model->kinds[i].attention == ATTENTION_LATENT) return true;
    return false;
}

/* Heads that stay on a chip of a tensor group can be dealt to the chips that exchange them; KV heads likewise. */
static bool ulysses_divides(const Facts *facts) {
    int64_t ways = facts->tensor * max_whole(1, facts->methods->ulysses);
    for (int i = 0; i < facts->model->kind_count; i++) {
        const LayerKind *kind = &facts->model->kinds[i];
        bool latent = kind->attention == ATTENTION_LATENT || kind->kv_heads <= 0;
        if (kind->heads % ways != 0 || (!latent && kind->kv_heads % ways != 0)) return false;
    }
    return true;
}

/* Whether one of these schedules runs; without stages there is none. */
static bool runs(const Facts *facts, unsigned schedules) {
    return ((1u << SCHEDULE_NONE | schedules) >> facts->plan->knobs.schedule & 1) != 0;
}

/* Whether sequence shards parameters, as fsdp does. */
static bool sequence_shards(const Facts *facts) { return facts->sequence > 1 && !facts->methods->sequence_replicates; }
static bool folded(const Facts *facts) { return facts->methods->grid.expert > 0; }

static bool even_stages(const Facts *facts) { return facts->model->layers % facts->chunks == 0; }

/* What a launcher says no to, as a sentence about the plan; NULL: it takes it. */
#define REFUSE_UNLESS(holds, sentence)                                                                                 \
    do {                                                                                                               \
        if (!(holds)) return (sentence);                                                                               \
    } while (0)

static const char HEADS[] = "heads stay whole on a chip: tensor has to divide the number of heads";
static const char KV_HEADS[] = "KV heads are split over tensor: tensor has to divide their number";
static const char KV_COPIES[] =
    "KV heads are split or copied over tensor: one of the two numbers has to divide the other";
static const char EVEN[] = "stages are equal: pipeline x virtual stages has to divide the layers";

/* configs/types.py: stages * repeats * layers_per_stage == layers; microbatches % stages == 0. Its loop over stages is a
 * scan that JAX differentiates as a whole, so all forwards come before all backwards: GPipe with one repeat, circular with
 * more. A stage is one kind of layer (layers/nnx_decoders.py): DeepSeek's dense layers stand before the pipeline. */
static const char *maxtext_pipeline(const Facts *facts) {
    REFUSE_UNLESS(runs(facts, 1u << SCHEDULE_GPIPE | 1u << SCHEDULE_CIRCULAR),
                  "its pipeline is one scan, all forwards first: schedule gpipe or circular");
    REFUSE_UNLESS(even_stages(facts), EVEN);
    REFUSE_UNLESS(facts->pipeline == 1 || facts->plan->knobs.microbatches % facts->pipeline == 0,
                  "num_pipeline_microbatches has to be a multiple of the stages");
    REFUSE_UNLESS(facts->pipeline == 1 || facts->model->kind_count == 1,
                  "its pipeline stages are made of one kind of layer, and this model has several");
    return NULL;
}

/* configs/types.py. Load balance, which rings and gathers here assume, cuts a sequence into 2 * context pieces. Ring runs
 * on a flash kernel that knows neither windows nor sinks, and splits its blocks again: max_target_length % context^2 == 0.
 * Ulysses is for TPUs and global attention; with a ring outside (usp), both have to be above 1. base.yml shards weights
 * over context. */
static const char *maxtext_context(const Facts *facts) {
    ContextMethod context = facts->methods->context;
    if (facts->sequence == 1) return NULL;
    REFUSE_UNLESS(!facts->methods->sequence_replicates, "its context axis shards parameters too");
    REFUSE_UNLESS(facts->seq % facts->sequence == 0, "max_target_length has to be a multiple of context");
    if (context == CONTEXT_ULYSSES || context == CONTEXT_ULYSSES_RING) {
        REFUSE_UNLESS(facts->tpu, "it exchanges heads (ulysses, usp) on TPUs alone");
        REFUSE_UNLESS(!has_windows_or_sinks(facts->model) && !has_latents(facts->model),
                      "it exchanges heads (ulysses, usp) for global attention alone: no windows, sinks or latents");
        REFUSE_UNLESS(ulysses_divides(facts), "heads and KV heads have to be multiples of tensor x ulysses");
        return NULL;
    }
    REFUSE_UNLESS(facts->sequence % 2 == 0 && facts->seq % (2 * facts->sequence) == 0,
                  "context_parallel_load_balance cuts a sequence into 2 x context pieces, context even");
    if (context != CONTEXT_RING) return NULL;
    REFUSE_UNLESS(facts->seq / facts->sequence % facts->sequence == 0,
                  "its ring wants max_target_length to be a multiple of context x context");
    REFUSE_UNLESS(!has_windows_or_sinks(facts->model), "its ring knows no windows and no sinks");
    return NULL;
}

/* types.py: per_device_batch_size * max_target_length % num_vocab_tiling == 0, with one tile: so many tokens a device are
 * a whole number. Sequences of one pass are gradient_accumulation_steps apart; those of a pipeline go in together. */
static bool maxtext_whole_tokens(const Facts *facts) {
    int64_t inside = facts->tensor * facts->sequence * facts->pipeline, passes = 1;
    if (facts->pipeline > 1) passes = facts->plan->knobs.microbatches % inside;
    return facts->plan->knobs.microbatch_sequences % inside * (facts->seq % inside) % inside * passes % inside == 0;
}

/* Of MaxText base.yml, where fsdp, context and expert shard the d_model side of weights; JAX refuses a rest. */
static bool weights_divide(const Facts *facts) {
    return facts->model->d_model % facts->fsdp == 0 &&
           facts->model->d_model / facts->fsdp % (facts->sequence * facts->expert) == 0;
}

static const char *maxtext_refuses(const Facts *facts) {
    REFUSE_UNLESS(heads_divide(facts), HEADS);
    REFUSE_UNLESS(kv_heads_divide(facts, false), KV_HEADS); /* a sharded dimension: JAX rejects a rest */
    const char *refusal = maxtext_pipeline(facts);
    if (!refusal) refusal = maxtext_context(facts);
    if (refusal) return refusal;
    REFUSE_UNLESS(!folded(facts), "expert is an axis of its own there: it does not fold experts onto other ranks");
    REFUSE_UNLESS(facts->plan->knobs.zero_stage <= 1, "shard_optimizer_over_data is ZeRO-1; it has no ZeRO-2");
    REFUSE_UNLESS(facts->plan->knobs.zero_stage == 0 || facts->fsdp == 1,
                  "shard_optimizer_over_data (ZeRO-1) excludes fsdp");
    REFUSE_UNLESS(weights_divide(facts), "d_model has to be a multiple of fsdp x sequence x expert, which shard it");
    REFUSE_UNLESS(maxtext_whole_tokens(facts), "per_device_batch_size x max_target_length has to be a whole number");
    return NULL;
}

/* Some other dimension of each matrix may do as well. */
static bool jax_weights_divide(const Facts *facts) {
    ParameterShards specs[PARAMETERS_MAX];
    const char *undivided;
    parameter_shards(facts->model, facts->plan, specs, &undivided);
    return !undivided;
}

/* One writes the program oneself: what divides can be said. Stages are one stacked array, so they are even; nobody has
 * written ZB-H1 or DualPipe in it. */
static const char *jax_refuses(const Facts *facts) {
    REFUSE_UNLESS(
        runs(facts, 1u << SCHEDULE_GPIPE | 1u << SCHEDULE_1F1B | 1u << SCHEDULE_INTERLEAVED | 1u << SCHEDULE_CIRCULAR),
        "nobody has written this schedule in JAX: gpipe, 1f1b, interleaved or circular");
    REFUSE_UNLESS(heads_divide(facts), HEADS);
    REFUSE_UNLESS(kv_heads_divide(facts, true), KV_COPIES);
    REFUSE_UNLESS(even_stages(facts), EVEN);
    REFUSE_UNLESS(facts->seq % facts->sequence == 0, "sequence has to divide the tokens of a sequence");
    REFUSE_UNLESS(weights_divide(facts) || jax_weights_divide(facts),
                  "a sharded dimension has to divide: fsdp, sequence or expert divides none of some matrix");
    return NULL;
}

/* Parameters are sharded over data-parallel and context ranks by Megatron-FSDP alone (optim_grads_params; ZeRO-2 is its
 * optim_grads), and that, like --use-torch-fsdp2, which asks for pp == 1 (arguments.py), is taken without pipeline
 * here. Over an outer `data` it leaves state whole or shards the optimizer (--outer-dp-sharding-strategy no_shard |
 * optim). */
static bool megatron_sharding(const Facts *facts) {
    bool sharded = facts->fsdp * facts->expert > 1 || sequence_shards(facts);
    int zero = facts->plan->knobs.zero_stage;
    return (facts->pipeline == 1 || (!sharded && zero <= 1)) && (!sharded || zero <= 1);
}

/* arguments.py: seq_length % (2 * cp) == 0; sequence parallelism, which goes with tensor, wants (seq / cp) % tp == 0.
 * --cp-comm-type p2p, allgather, a2a, a2a+p2p: all four ways; those that exchange heads deal them whole. */
static bool megatron_tokens(const Facts *facts) {
    if (facts->sequence > 1 && facts->seq % (2 * facts->sequence) != 0) return false;
    if (facts->methods->ulysses > 1 && !ulysses_divides(facts)) return false;
    return facts->seq % facts->sequence == 0 && facts->seq / facts->sequence % facts->tensor == 0;
}

/* core/transformer/transformer_layer.py: attention, then the MLP; core/models/gpt: rope, learned or no positions. */
static bool megatron_has_layers(const Model *model) {
    for (int i = 0; i < model->kind_count; i++)
        if (model->kinds[i].parallel_block) return false;
    return model->positions != POSITIONS_ALIBI;
}

/* pipeline_parallel/schedules.py has 1F1B and its interleaving. Experts re-use dense ranks there (etp x ep x edp); an
 * axis of their own, which shards dense weights too, it does not know. */
static const char *megatron_refuses(const Facts *facts) {
    REFUSE_UNLESS(heads_divide(facts), HEADS);
    REFUSE_UNLESS(kv_heads_divide(facts, true), KV_COPIES); /* transformer_config.py */
    REFUSE_UNLESS(runs(facts, 1u << SCHEDULE_1F1B | 1u << SCHEDULE_INTERLEAVED), "it runs 1f1b and interleaved 1f1b");
    REFUSE_UNLESS(megatron_sharding(facts),
                  "Megatron-FSDP shards without pipeline, and with ZeRO-0 or 1 over data; beside a pipeline data has "
                  "ZeRO-0 or 1");
    REFUSE_UNLESS(
        megatron_tokens(facts),
        "seq-length has to be a multiple of 2 x sequence and of sequence x tensor, heads that are exchanged of "
        "tensor x ulysses");
    REFUSE_UNLESS(facts->expert == 1, "experts re-use dense ranks there: an expert grid (folded), no axis of its own");
    REFUSE_UNLESS(facts->fsdp == 1 || facts->sequence == 1 || sequence_shards(facts),
                  "Megatron-FSDP shards parameters over context ranks too");
    REFUSE_UNLESS(megatron_has_layers(facts->model),
                  "it has no ALiBi, and no layer whose attention and MLP read the same input");
    return NULL;
}

/* torch.distributed.pipelining: interleaved 1F1B wants whole rounds of about as many microbatches as stages. */
static bool torchtitan_rounds(const Facts *facts) {
    int64_t microbatches = facts->plan->knobs.microbatches;
    if (facts->plan->knobs.schedule != SCHEDULE_INTERLEAVED) return true;
    return microbatches % max_whole(1, microbatches / facts->pipeline) == 0;
}

/* parallel_dims.py: ep divides dp_shard * cp * tp and takes whole experts; as an axis of its own it is taken where there
 * are no ranks of cp and tp to borrow. */
static bool torchtitan_experts(const Facts *facts) {
    const ExpertGrid *grid = &facts->methods->grid;
    if (folded(facts))
        return grid->expert_tensor <= 1 && facts->fsdp * facts->sequence * facts->tensor % grid->expert == 0;
    return facts->expert == 1 || facts->tensor * facts->sequence == 1;
}

/* GPipe, 1F1B, Interleaved1F1B, and LoopedBFS, which is our circular one; of zero-bubble schedules those in a V, which
 * are others than ours. */
static const char *torchtitan_refuses(const Facts *facts) {
    REFUSE_UNLESS(heads_divide(facts), HEADS);
    REFUSE_UNLESS(kv_heads_divide(facts, false), KV_HEADS); /* models/common/decoder.py */
    REFUSE_UNLESS(
        runs(facts, 1u << SCHEDULE_GPIPE | 1u << SCHEDULE_1F1B | 1u << SCHEDULE_INTERLEAVED | 1u << SCHEDULE_CIRCULAR),
        "it runs GPipe, 1F1B, Interleaved1F1B and LoopedBFS (gpipe, 1f1b, interleaved, circular)");
    REFUSE_UNLESS(facts->seq % facts->tensor == 0 &&
                      facts->seq / facts->tensor % (2 * facts->sequence) == 0 /* for cp = 1 too */,
                  "the sequence has to be a multiple of tensor x 2 x sequence");
    REFUSE_UNLESS(torchtitan_rounds(facts), "interleaved 1F1B wants whole rounds of microbatches");
    REFUSE_UNLESS(facts->sequence == 1 || facts->methods->context == CONTEXT_ALL_GATHER,
                  "context parallelism runs on FlexAttention, which gathers keys and values"); /* decoder.py */
    REFUSE_UNLESS(facts->sequence == 1 || sequence_shards(facts),
                  "FSDP shards over dp_shard x cp: sequence shards too");
    REFUSE_UNLESS(facts->plan->knobs.zero_stage == 0, "replicas (dp_replicate) keep everything: ZeRO-0 over data");
    REFUSE_UNLESS(!facts->model->tied || facts->pipeline == 1,
                  "it ties no embeddings over pipeline stages"); /* models/common/decoder.py */
    REFUSE_UNLESS(torchtitan_experts(facts),
                  "experts fold onto whole ranks of dp_shard, cp and tp, each expert in one piece");
    return NULL;
}

/* runtime/engine.py: autotp up to ZeRO-2; ZeRO-3 in groups of ranks (MiCS) is refused by runtime/config.py since 0.19, and
 * hpZ keeps a second copy, not the first, in groups; PipelineModule up to ZeRO-1 and one chunk a stage (1F1B). Context parallelism
 * there is Ulysses, taken without tensor and pipeline here. Expert ranks are data ranks that replicate dense weights
 * (ep_size): a folded grid of data alone. */
static const char *deepspeed_refuses(const Facts *facts) {
    int zero = facts->plan->knobs.zero_stage;
    bool sharded = facts->fsdp > 1 || sequence_shards(facts);
    bool alone = facts->tensor == 1 && facts->pipeline == 1;
    REFUSE_UNLESS(heads_divide(facts), HEADS);
    REFUSE_UNLESS(kv_heads_divide(facts, true), KV_COPIES);
    REFUSE_UNLESS(facts->sequence == 1 ||
                      (facts->methods->context == CONTEXT_ULYSSES && alone && ulysses_divides(facts)),
                  "context parallelism is Ulysses without tensor and pipeline, its heads and KV heads multiples of it");
    REFUSE_UNLESS(facts->expert == 1 && (!folded(facts) || (alone && facts->sequence == 1 && !sharded &&
                                                            facts->methods->grid.expert_tensor <= 1)),
                  "expert ranks (ep_size) are whole data ranks beside nothing else: a folded grid of data alone");
    REFUSE_UNLESS(runs(facts, 1u << SCHEDULE_1F1B), "PipelineModule runs 1f1b, one chunk a stage");
    REFUSE_UNLESS(!facts->methods->tensor_overlap, "autotp has no collective matmul");
    REFUSE_UNLESS(facts->pipeline == 1 || (!sharded && zero <= 1), "PipelineModule goes with ZeRO-0 or 1, no fsdp");
    REFUSE_UNLESS(!sharded || (facts->tensor == 1 && facts->data == 1),
                  "fsdp is ZeRO-3, which excludes autotp and shards over all data ranks (its groups, MiCS, are gone): "
                  "data=1");
    return NULL;
}

/* The optimizer's state on the host: MaxText by optimizer_memory_host_offload, JAX by memory kinds; Megatron's
 * --optimizer-cpu-offload wants the distributed optimizer (arguments.py, by --use-precision-aware-optimizer); DeepSpeed's
 * offload_optimizer is a part of ZeRO, stages 1 to 3, and torchtitan's enable_cpu_offload one of FSDP. */
static bool offloads_optimizer(Launcher launcher, const Facts *facts) {
    bool sharded = facts->fsdp > 1 || sequence_shards(facts);
    if (launcher == LAUNCHER_TORCHTITAN) return facts->fsdp * facts->sequence > 1;
    if (launcher != LAUNCHER_DEEPSPEED && launcher != LAUNCHER_MEGATRON) return true;
    return sharded || facts->plan->knobs.zero_stage >= 1;
}

/* Uneven stages: Megatron by --pipeline-model-parallel-layout, torchtitan by module_fqns_per_model_part, DeepSpeed by
 * its partitioning of layers. Vocabulary: Megatron pads to 128 * tp (build_tokenizer.py). */
static const struct {
    const char *name;
    bool gpus_only; /* they speak NCCL */
    PaddingSet pads;
    const char *(*refuses)(const Facts *facts);
} LAUNCHERS[LAUNCHER_COUNT] = {
    [LAUNCHER_MAXTEXT] = {"maxtext", false, 0, maxtext_refuses},
    [LAUNCHER_JAX] = {"jax", false, 0, jax_refuses},
    [LAUNCHER_MEGATRON] = {"megatron", true, 1u << PAD_STAGES | 1u << PAD_VOCAB, megatron_refuses},
    [LAUNCHER_TORCHTITAN] = {"torchtitan", true, 1u << PAD_STAGES, torchtitan_refuses},
    [LAUNCHER_DEEPSPEED] = {"deepspeed", true, 1u << PAD_STAGES, deepspeed_refuses},
};

const char *launcher_name(Launcher launcher) { return LAUNCHERS[launcher].name; }

static bool is_tpu(const Mesh *mesh) {
    for (int i = 0; i < mesh->axis_count; i++)
        if (mesh->axes[i].level == LEVEL_ICI || mesh->axes[i].level == LEVEL_DCN) return true;
    return false;
}

PaddingRule padding_on(PaddingRule rule, LauncherSet launchers, const Mesh *mesh) {
    PaddingSet pads = 0;
    if (rule == PADDING_NONE || (rule == PADDING_ANY && launchers == 0)) return rule;
    for (Launcher launcher = 0; launcher < LAUNCHER_COUNT; launcher++) {
        bool asked = launchers == 0 || (launchers >> launcher & 1);
        if (asked && !(LAUNCHERS[launcher].gpus_only && is_tpu(mesh))) pads |= LAUNCHERS[launcher].pads;
    }
    return pads == 0 ? PADDING_NONE : rule;
}

static Facts facts_of(const Model *model, const Work *work, const Plan *plan, const Mesh *mesh) {
    const int64_t *degree = plan->degrees.of;
    return (Facts){.model = model,
                   .plan = plan,
                   .methods = &plan->knobs.methods,
                   .tpu = is_tpu(mesh),
                   .tensor = degree[ROLE_TENSOR],
                   .expert = degree[ROLE_EXPERT],
                   .sequence = degree[ROLE_SEQUENCE],
                   .fsdp = degree[ROLE_FSDP],
                   .data = degree[ROLE_DATA],
                   .pipeline = degree[ROLE_PIPELINE],
                   .seq = work->seq,
                   .chunks = degree[ROLE_PIPELINE] * max_whole(1, plan->knobs.virtual_stages)};
}

static const char *refusal_of(Launcher launcher, const Facts *facts, PaddingSet padding) {
    REFUSE_UNLESS(!LAUNCHERS[launcher].gpus_only || !facts->tpu, "it speaks NCCL: for GPUs alone");
    REFUSE_UNLESS((padding & ~LAUNCHERS[launcher].pads) == 0, "sizes do not divide, and it does not pad them");
    REFUSE_UNLESS(!facts->plan->knobs.offload_optimizer || offloads_optimizer(launcher, facts),
                  "it offloads the optimizer's state only where that is sharded");
    return LAUNCHERS[launcher].refuses(facts);
}

const char *launch_refusal(Launcher launcher, const Model *model, const Work *work, const Plan *plan,
                           PaddingSet padding, const Mesh *mesh) {
    Facts facts = facts_of(model, work, plan, mesh);
    return refusal_of(launcher, &facts, padding);
}

LauncherSet plan_launchers(const Model *model, const Work *work, const Plan *plan, PaddingSet padding,
                           const Mesh *mesh) {
    Facts facts = facts_of(model, work, plan, mesh);
    LauncherSet set = 0;
    for (Launcher launcher = 0; launcher < LAUNCHER_COUNT; launcher++)
        if (!refusal_of(launcher, &facts, padding)) set |= 1u << launcher;
    return set;
}
