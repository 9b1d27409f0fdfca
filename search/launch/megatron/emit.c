/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A bash script that runs Megatron-LM's pretrain_gpt.py under torchrun: one array of flags for each concern. */
#include "search/launch/megatron/megatron.h"

#include "base/util.h"
#include "cost/state/state.h"
#include "models/mixer.h"

#include <inttypes.h>

/* Of the kinds of layers the first with experts, and the first with an MLP and no experts (of hybrids many layers have
 * neither); NULL: there is none. */
static const LayerKind *kind_with(const Model *model, bool experts) {
    for (int i = 0; i < model->kind_count; i++)
        if (experts ? model->kinds[i].experts > 0 : model->kinds[i].experts == 0 && model->kinds[i].d_ff > 0)
            return &model->kinds[i];
    return NULL;
}

/* Vocabulary is padded to a multiple of this x tensor (build_tokenizer.py). */
enum { MEGATRON_VOCAB_DIVISOR = 128 };

/* ---- its keys ---- */

KEY_WORDS(CONTEXTS, {"p2p", CONTEXT_RING}, {"all_gather", CONTEXT_ALL_GATHER}, {"allgather", CONTEXT_ALL_GATHER},
          {"a2a", CONTEXT_ULYSSES}, {"a2a+p2p", CONTEXT_ULYSSES_RING});
KEY_WORDS(STRATEGIES, {"no_shard", STRATEGY_NONE}, {"optim", STRATEGY_OPTIM}, {"optim_grads", STRATEGY_GRADS},
          {"optim_grads_params", STRATEGY_ALL});
KEY_WORDS(GRANULARITIES, {"selective", GRANULARITY_SELECTIVE}, {"full", GRANULARITY_FULL});
KEY_WORDS(DISPATCHERS, {"allgather", DISPATCHER_ALL_GATHER}, {"alltoall", DISPATCHER_ALL_TO_ALL},
          {"flex", DISPATCHER_FLEX});
KEY_WORDS(BACKENDS, {"deepep", BACKEND_DEEPEP}, {"hybridep", BACKEND_HYBRIDEP});
KEY_WORDS(ROUTERS, {"fp32", DTYPE_FP32});
KEY_WORDS(DTYPES, {"fp32", DTYPE_FP32}, {"fp16", DTYPE_FP16}, {"bf16", DTYPE_BF16}, {"fp8", DTYPE_FP8});
KEY_WORDS(METHODS, {"uniform", METHOD_UNIFORM}, {"block", METHOD_BLOCK});

/* p2p is a ring, a2a Ulysses. The core field and Transformer Engine spell all_gather with the underscore. */
const LaunchKey MEGATRON_KEYS[] = {
    KEY_COUNT('m', "num-layers", TERM_LAYERS, 0),
    KEY_NUMBER('m', "hidden-size", TERM_D_MODEL, 1, INT64_C(1) << 31, 0),
    KEY_NUMBER('m', "ffn-hidden-size", TERM_D_FF, 1, INT64_C(1) << 31, 0),
    KEY_NUMBER('m', "num-attention-heads", TERM_HEADS, 1, INT64_C(1) << 31, 0),
    KEY_FLAG('q', "group-query-attention", TERM_GROUPED),
    KEY_NUMBER('q', "num-query-groups", TERM_KV_HEADS, 1, INT64_C(1) << 31, 0),
    KEY_COUNT('e', "num-experts", TERM_EXPERTS, 0),
    KEY_NAME('f', "moe-token-dispatcher-type", TERM_DISPATCHER, DISPATCHER_ALL_GATHER, DISPATCHERS),
    {"moe-flex-dispatcher-backend", TERM_BACKEND, 'f', KEY_WORD, 0, 0, BACKEND_DEEPEP, BACKENDS,
     " # of the library DeepEP, which has to be there"},
    KEY_NAME('f', "moe-router-dtype", TERM_ROUTER, DTYPE_DEFAULT, ROUTERS),
    KEY_FLAG('f', "moe-permute-fusion", TERM_PERMUTE_FUSED),
    KEY_FLAG('f', "moe-router-fusion", TERM_ROUTER_FUSED),
    KEY_FLAG('f', "overlap-moe-expert-parallel-comm", TERM_EXPERTS_OVERLAP),
    KEY_DEGREE('p', "tensor-model-parallel-size", ROLE_TENSOR),
    KEY_DEGREE('p', "pipeline-model-parallel-size", ROLE_PIPELINE),
    KEY_DEGREE('p', "context-parallel-size", ROLE_SEQUENCE),
    KEY_DEGREE('x', "expert-model-parallel-size", ROLE_EXPERT),
    KEY_NUMBER('x', "expert-tensor-parallel-size", TERM_EXPERT_TENSOR, 1, 1 << 24, 0),
    KEY_FLAG('a', "sequence-parallel", TERM_ALONG),
    KEY_FLAG('a', "tp-comm-overlap", TERM_OVERLAP),
    KEY_FLAG('a', "use-tp-pp-dp-mapping", TERM_STAGES_INSIDE),
    KEY_NAME('c', "cp-comm-type", TERM_CONTEXT, CONTEXT_RING, CONTEXTS),
    KEY_FLAG('s', "account-for-embedding-in-pipeline-split", TERM_EMBEDDING_SLOT),
    KEY_FLAG('s', "account-for-loss-in-pipeline-split", TERM_LOSS_SLOT),
    KEY_COUNT('v', "num-virtual-stages-per-pipeline-rank", TERM_VIRTUAL_STAGES, 0),
    KEY_FLAG('d', "use-megatron-fsdp", TERM_BY_FSDP),
    KEY_FLAG('\0', "use-custom-fsdp", TERM_BY_FSDP), /* its older name */
    KEY_FLAG('d', "use-distributed-optimizer", TERM_DISTRIBUTED),
    KEY_NAME('d', "data-parallel-sharding-strategy", TERM_STRATEGY, STRATEGY_ALL, STRATEGIES),
    KEY_COUNT('d', "num-distributed-optimizer-instances", TERM_INSTANCES, 1),
    KEY_NAME('d', "outer-dp-sharding-strategy", TERM_OUTER, STRATEGY_NONE, STRATEGIES),
    KEY_SIZE('b', "seq-length", TERM_SEQ),
    KEY_NUMBER('b', "micro-batch-size", TERM_MICRO, 1, IMPORT_BATCH_MAX, 0),
    KEY_NUMBER('b', "global-batch-size", TERM_BATCH, 1, IMPORT_BATCH_MAX, 0),
    KEY_FLAG('o', "optimizer-cpu-offload", TERM_OFFLOAD),
    KEY_NAME('y', "main-params-dtype", TERM_MASTER, DTYPE_DEFAULT, DTYPES),
    KEY_NAME('y', "exp-avg-dtype", TERM_FIRST, DTYPE_DEFAULT, DTYPES),
    KEY_NAME('y', "exp-avg-sq-dtype", TERM_SECOND, DTYPE_DEFAULT, DTYPES),
    KEY_FLAG('h', "grad-reduce-in-bf16", TERM_HALF),
    KEY_FLAG('n', "fp8-param-gather", TERM_NARROW),
    KEY_FLAG('n', "reuse-grad-buf-for-mxfp8-param-ag", TERM_REUSES),
    KEY_NAME('g', "recompute-granularity", TERM_GRANULARITY, GRANULARITY_NONE, GRANULARITIES),
    KEY_FLAG('\0', "recompute-activations", TERM_SELECTIVE),
    KEY_NAME('r', "recompute-method", TERM_METHOD, METHOD_NONE, METHODS),
    KEY_COUNT('r', "recompute-num-layers", TERM_RECOMPUTED, 0),
    {NULL},
};

/* Why a fused dispatcher cannot be requested; NULL: it can. DeepEP knows so many ranks (deep_ep/buffer.py,
 * get_dispatch_config()), and pads no expert to a capacity (transformer_config.py). */
static const char *not_fused(const LaunchJob *job) {
    static const int64_t RANKS[] = {2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 144, 160};
    int64_t ranks = job->expert * job->expert_tensor;
    bool known = false;
    if (ranks == 1) return "no token leaves its rank";
    if (job->model->training.capacity_factor > 0) return "DeepEP does not pad experts to a capacity";
    for (size_t i = 0; i < COUNT_OF(RANKS); i++) known = known || RANKS[i] == ranks;
    return known ? NULL : "DeepEP has no kernels for so many ranks";
}

static bool priced_fused(const LaunchJob *job) { return job->request->question.profile.dispatch_per_node > 0.5; }

/* Exchanges of experts alongside the compute of another microbatch, where they were priced so. transformer_config.py
 * and schedules.py: experts on several ranks, stages in chunks or none, no whole layer recomputed. */
static bool priced_overlapped(const LaunchJob *job) {
    const Profile *profile = &job->request->question.profile;
    return job->expert > 1 && profile->expert_exposed <= profile->expert_overlapped;
}
static bool can_overlap(const LaunchJob *job) {
    char text[REMAT_TEXT_SIZE];
    const char *remat = megatron_remat_words(job->model, &job->ranked->plan.layout, text);
    return (job->pipeline == 1 || job->virtual_stages > 1) && remat && !strstr(remat, "full");
}

/* How tokens go to experts: by what was priced. HybridEP is for racks (moe/README.md); both want probabilities in fp32
 * (token_dispatcher.py). */
static void set_dispatcher(const LaunchJob *job, int64_t of[TERM_COUNT]) {
    const Chip *chip = &job->request->question.chip;
    bool fused = priced_fused(job), flex = fused && !not_fused(job);
    of[TERM_DISPATCHER] = flex ? DISPATCHER_FLEX : DISPATCHER_ALL_TO_ALL;
    if (flex) of[TERM_BACKEND] = chip->domain_chips > chip->chips_per_host ? BACKEND_HYBRIDEP : BACKEND_DEEPEP;
    if (flex) of[TERM_ROUTER] = DTYPE_FP32;
    of[TERM_PERMUTE_FUSED] = of[TERM_ROUTER_FUSED] = fused;
    of[TERM_EXPERTS_OVERLAP] = priced_overlapped(job) && can_overlap(job);
}

/* Whether weights were costed in fp8 alone: as its recipes have them (cost/stage/memory.c), or as was requested. */
static bool priced_narrow(const LaunchJob *job) {
    const Question *question = &job->request->question;
    const Profile *profile = &question->profile;
    Dtype said = question->state_dtypes.parameters;
    bool fp8 = question->precision == PRECISION_FP8 || question->precision == PRECISION_MXFP8;
    bool of_recipe = said == DTYPE_DEFAULT && profile->low_parameters > 0.5 && profile->low_copies > 0.5 &&
                     !job->knobs->offload_optimizer;
    return fp8 && !job->shards && (of_recipe || said == DTYPE_FP8);
}

/* Why it cannot keep them so; NULL: it can (arguments.py: fp8_param_gather, optimizer_cpu_offload). */
static const char *not_narrow(const LaunchJob *job) {
    if (job->knobs->offload_optimizer) return "not with the optimizer on the CPU";
    return job->knobs->zero_stage == 0 && job->replicas * job->sequence > 1 ? "only with a distributed optimizer"
                                                                            : NULL;
}

/* Weights that fsdp or sequence shard, and gradients that data shards (ZeRO-2), are Megatron-FSDP's; the optimizer's
 * state over data alone (ZeRO-1) is the distributed optimizer's. Gradients: bf16 where the cost model has them so
 * (of the software, requested, or, where neither says, scattered by FSDP or of one microbatch), else fp32, its
 * default. */
static LaunchTerms terms_of(const LaunchJob *job) {
    LaunchTerms terms = launch_terms(job);
    const LayerKind *kind = model_attending(job->model), *dense = kind_with(job->model, false);
    const LayerKind *mixture = kind_with(job->model, true);
    CostContext setting = request_cost_context(job->request);
    Dtype gradients = cost_context_gradient_dtype(&setting);
    const StateDtypes *dtypes = &job->request->question.state_dtypes;
    int zero = job->knobs->zero_stage;
    int64_t *of = terms.of;
    of[TERM_D_FF] = dense ? dense->d_ff : mixture ? mixture->d_ff_expert : TERM_SILENT;
    if (mixture) of[TERM_EXPERTS] = mixture->experts;
    if (mixture) set_dispatcher(job, of);
    of[TERM_GROUPED] = kind->kv_heads != kind->heads;
    if (!of[TERM_GROUPED]) of[TERM_KV_HEADS] = TERM_SILENT;
    /* moe_layer.py raises for a mixture over tensor without it */
    bool along = job->ranked->plan.layout.sharding.residual == RESIDUAL_SEQUENCE || mixture;
    of[TERM_ALONG] = job->tensor > 1 && (along || of[TERM_OVERLAP]);
    of[TERM_STAGES_INSIDE] = job->option != NULL;
    if (of[TERM_CONTEXT] == CONTEXT_NONE) of[TERM_CONTEXT] = CONTEXT_RING;
    of[TERM_EMBEDDING_SLOT] = of[TERM_LOSS_SLOT] = job->knobs->stages == STAGES_SLOTS;
    of[TERM_BY_FSDP] = job->shards || zero == 2;
    of[TERM_NARROW] = priced_narrow(job) && !not_narrow(job);
    of[TERM_REUSES] = of[TERM_NARROW] && job->request->question.precision == PRECISION_MXFP8;
    of[TERM_DISTRIBUTED] = of[TERM_BY_FSDP] || zero == 1 || of[TERM_NARROW];
    if (of[TERM_BY_FSDP]) of[TERM_STRATEGY] = job->shards ? STRATEGY_ALL : STRATEGY_GRADS;
    if (job->shards && job->data > 1) {
        of[TERM_INSTANCES] = job->data;
        of[TERM_OUTER] = zero == 1 ? STRATEGY_OPTIM : STRATEGY_NONE;
    }
    if (dtypes->master) of[TERM_MASTER] = dtypes->master;
    if (dtypes->first) of[TERM_FIRST] = dtypes->first;
    if (dtypes->second) of[TERM_SECOND] = dtypes->second;
    of[TERM_HALF] =
        gradients == DTYPE_BF16 || (gradients == DTYPE_DEFAULT && (job->shards || job->knobs->microbatches == 1));
    return terms;
}

/* ---- the model ---- */

static int64_t layers_without_window(const Model *model) {
    int64_t layers = 0;
    for (int i = 0; i < model->kind_count; i++) layers += model->kinds[i].window == 0 ? model->kinds[i].count : 0;
    return layers;
}

static int64_t widest_window(const Model *model) {
    int64_t window = 0;
    for (int i = 0; i < model->kind_count; i++)
        if (model->kinds[i].window > window) window = model->kinds[i].window;
    return window;
}

static bool biased(const Model *model) {
    for (int i = 0; i < model->kind_count; i++)
        if (model->kinds[i].out_bias || model->kinds[i].mlp_bias || model->kinds[i].expert_bias) return true;
    return false;
}

static bool alternates(const Model *model) { return model_layers_with(model, true) == model_layers_with(model, false); }

static void write_attention(const LayerKind *kind, const LaunchTerms *terms, FILE *out) {
    if (kind->attention == ATTENTION_LATENT) {
        fprintf(out, "    --multi-latent-attention\n");
        if (kind->q_lora_rank > 0) fprintf(out, "    --q-lora-rank %" PRId64 "\n", kind->q_lora_rank);
        fprintf(out,
                "    --kv-lora-rank %" PRId64 "\n    --qk-head-dim %" PRId64 "\n    --qk-pos-emb-head-dim %" PRId64
                "\n    --v-head-dim %" PRId64 "\n",
                kind->kv_lora_rank, kind->qk_nope_head_dim, kind->qk_rope_head_dim, kind->v_head_dim);
    } else {
        fprintf(out, "    --kv-channels %" PRId64 "\n", kind->head_dim);
        keys_write(MEGATRON_KEYS, "q", terms, KEYS_FLAGS, out);
    }
    if (kind->attention == ATTENTION_LATENT && kind->index_top_k > 0) /* transformer_config.py: no fused rope with it */
        fprintf(out,
                "    --experimental-attention-variant dsa\n    --dsa-indexer-n-heads %" PRId64
                "\n    --dsa-indexer-head-dim %" PRId64 "\n    --dsa-indexer-topk %" PRId64 "\n    --no-rope-fusion\n",
                kind->index_heads, kind->index_head_dim, kind->index_top_k);
    /* the norms of latents are of the same flag: gpt_layer_specs.py, multi_latent_attention */
    if (kind->qk_norm_parameters > 0 || kind->attention == ATTENTION_LATENT) fprintf(out, "    --qk-layernorm\n");
    if (kind->sinks) fprintf(out, "    --softmax-type learnable\n");
}

static void write_positions(const Model *model, FILE *out) {
    const char *type = model->positions == POSITIONS_ROTARY    ? "rope"
                       : model->positions == POSITIONS_LEARNED ? "learned_absolute"
                                                               : "none";
    fprintf(out, "    --position-embedding-type %s\n", type);
    if (model->positions != POSITIONS_ROTARY) return;
    if (model->rope.theta > 0) fprintf(out, "    --rotary-base %.0f\n", model->rope.theta);
    if (model->rope.share > 0 && model->rope.share < 1) fprintf(out, "    --rotary-percent %.9g\n", model->rope.share);
}

/* Windows everywhere, or everywhere but in every so many-th layer. */
static void write_windows(const Model *model, FILE *out) {
    int64_t window = widest_window(model), full = layers_without_window(model);
    if (window == 0) return;
    fprintf(out, "    --window-size %" PRId64 ",0\n", window - 1);
    if (full > 0) fprintf(out, "    --window-attn-skip-freq %" PRId64 "\n", (model->layers + full / 2) / full);
}

/* Which layers have experts: dense ones first (DeepSeek-V3, Kimi K2), or in turns where there are as many of each. */
static void write_experts(const Model *model, const LaunchTerms *terms, FILE *out) {
    const LayerKind *mixture = kind_with(model, true);
    int64_t dense = model_layers_with(model, false);
    if (!mixture) return;
    keys_write(MEGATRON_KEYS, "e", terms, KEYS_FLAGS, out);
    fprintf(out, "    --moe-router-topk %" PRId64 "\n    --moe-ffn-hidden-size %" PRId64 "\n", mixture->top_k,
            mixture->d_ff_expert);
    fprintf(out, "    --moe-grouped-gemm\n");
    keys_write(MEGATRON_KEYS, "f", terms, KEYS_FLAGS, out);
    if (mixture->top_k == 1) fprintf(out, "    --moe-router-pre-softmax\n");
    if (mixture->d_ff_shared > 0)
        fprintf(out, "    --moe-shared-expert-intermediate-size %" PRId64 "\n", mixture->d_ff_shared);
    if (dense > 0 && alternates(model))
        fprintf(out, "    --moe-layer-freq '([0,1]*%" PRId64 ")'\n", dense);
    else if (dense > 0)
        fprintf(out, "    --moe-layer-freq '([0]*%" PRId64 "+[1]*%" PRId64 ")'\n", dense, model->layers - dense);
    if (model->training.capacity_factor > 0)
        fprintf(out,
                "    --moe-router-load-balancing-type aux_loss\n    --moe-expert-capacity-factor %.9g\n"
                "    --moe-pad-expert-input-to-capacity\n",
                model->training.capacity_factor);
}

static void write_model(const LaunchJob *job, const LaunchTerms *terms, FILE *out) {
    const Model *model = job->model;
    const LayerKind *kind = model_attending(model), *mixture = kind_with(model, true);
    bool bias = biased(model);
    fprintf(out, "\nMODEL=(\n");
    keys_write(MEGATRON_KEYS, "m", terms, KEYS_FLAGS, out);
    write_attention(kind, terms, out);
    write_positions(model, out);
    write_windows(model, out);
    fprintf(out,
            "    --max-position-embeddings %" PRId64 "\n    --normalization %s\n    --vocab-size %" PRId64
            " # of NullTokenizer, which adds one; others bring their own\n"
            "    --make-vocab-size-divisible-by %d\n",
            model->max_seq > job->ranked->work.seq ? model->max_seq : job->ranked->work.seq,
            model->norm == NORM_RMS ? "RMSNorm" : "LayerNorm", model->vocab - 1, MEGATRON_VOCAB_DIVISOR);
    if (mixture ? mixture->gated : kind->gated) fprintf(out, "    --swiglu\n");
    if (!bias) fprintf(out, "    --disable-bias-linear\n");
    if (!bias && kind->qkv_bias) fprintf(out, "    --add-qkv-bias\n");
    if (!model->tied) fprintf(out, "    --untie-embeddings-and-output-weights\n");
    write_experts(model, terms, out);
    fprintf(out, "    --attention-dropout 0.0\n    --hidden-dropout 0.0\n)\n");
}

static void note_model(const LaunchJob *job, EmitNotes *notes) {
    const Model *model = job->model;
    for (int i = 0; i < model->kind_count; i++)
        if (model->kinds[i].chunked) {
            emit_note(notes, "attention in fixed chunks was costed; --window-size slides, at the same cost");
            break;
        }
    if (layers_without_window(model) > 0 && widest_window(model) > 0)
        emit_note(notes, "which layers attend without a window (--window-attn-skip-freq) is taken as evenly spaced");
    if (kind_with(model, true) && priced_fused(job) && not_fused(job) && job->expert * job->expert_tensor > 1)
        emit_note(notes, "a fused dispatcher was costed, and alltoall is requested, which is slower: %s",
                  not_fused(job));
    if (kind_with(model, true) && priced_overlapped(job) && !can_overlap(job))
        emit_note(notes,
                  "exchanges of experts alongside compute were costed; Megatron has them with stages in chunks, or "
                  "none, and no whole layer recomputed");
    if (kind_with(model, true) && kind_with(model, false))
        emit_note(notes,
                  "layers with experts are taken %s (--moe-layer-freq); how the router scores and balances "
                  "is yours to say",
                  alternates(model) ? "in turns with dense ones" : "behind the dense ones");
}

/* ---- the plan ---- */

static void write_sizes(const LaunchJob *job, const LaunchTerms *terms, FILE *out) {
    const Methods *methods = &job->knobs->methods;
    keys_write(MEGATRON_KEYS, model_layers_with(job->model, true) > 0 ? "pxa" : "pa", terms, KEYS_FLAGS, out);
    if (job->sequence == 1) return;
    keys_write(MEGATRON_KEYS, "c", terms, KEYS_FLAGS, out);
    if (methods->context == CONTEXT_ULYSSES_RING) /* the first is the group that exchanges heads */
        fprintf(out, "    --hierarchical-context-parallel-sizes %" PRId64 " %" PRId64 "\n", methods->ulysses,
                job->sequence / methods->ulysses);
}

static void write_layers(int64_t layers, FILE *out) {
    if (layers > 2)
        fprintf(out, "t*%" PRId64, layers);
    else
        fputs(layers == 2 ? "tt" : layers == 1 ? "t" : "", out);
}

/* "Et*8|(t*8|)*2t*6L": E the embedding, t a layer, L the loss, | between chunks, (...)*n what repeats
 * (core/transformer/pipeline_parallel_layer_layout.py). */
static void write_layout(const LaunchJob *job, FILE *out) {
    fputc('E', out);
    write_layers(job_chunk_layers(job, 0), out);
    fputc('|', out);
    for (int64_t chunk = 1, end; chunk < job->chunks - 1; chunk = end) {
        int64_t layers = job_chunk_layers(job, chunk);
        for (end = chunk + 1; end < job->chunks - 1 && job_chunk_layers(job, end) == layers;) end++;
        if (end - chunk > 1) fputc('(', out);
        write_layers(layers, out);
        fputc('|', out);
        if (end - chunk > 1) fprintf(out, ")*%" PRId64, end - chunk);
    }
    write_layers(job_chunk_layers(job, job->chunks - 1), out);
    fputc('L', out);
}

static void write_stages(const LaunchJob *job, const LaunchTerms *terms, FILE *out) {
    if (job->pipeline == 1) return;
    keys_write(MEGATRON_KEYS, "s", terms, KEYS_FLAGS, out);
    if (job->even || terms->of[TERM_LOSS_SLOT]) {
        if (job->virtual_stages > 1) keys_write(MEGATRON_KEYS, "v", terms, KEYS_FLAGS, out);
        return;
    }
    fprintf(out, "    --pipeline-model-parallel-layout '");
    write_layout(job, out);
    fprintf(out, "'\n");
}

static void write_sharding(const LaunchJob *job, const LaunchTerms *terms, FILE *out) {
    bool shared = job->replicas * job->sequence > 1;
    keys_write(MEGATRON_KEYS, "d", terms, KEYS_FLAGS, out);
    if (terms->of[TERM_BY_FSDP])
        fprintf(out, "    --no-gradient-accumulation-fusion\n    --ckpt-format fsdp_dtensor\n");
    if (shared) fprintf(out, "    --overlap-grad-reduce\n");
    if (shared && terms->of[TERM_DISTRIBUTED]) fprintf(out, "    --overlap-param-gather\n");
}

static void write_optimizer(const LaunchJob *job, const LaunchTerms *terms, FILE *out) {
    const char *optimizer = launcher_optimizer(job->launcher, job->request);
    if (strcmp(optimizer, "adam") != 0) fprintf(out, "    --optimizer %s\n", optimizer);
    keys_write(MEGATRON_KEYS, "o", terms, KEYS_FLAGS, out);
    if (job->knobs->offload_optimizer) fprintf(out, "    --optimizer-offload-fraction 1.0\n");
    const int64_t *of = terms->of;
    if (job->knobs->offload_optimizer || of[TERM_MASTER] > 0 || of[TERM_FIRST] > 0 || of[TERM_SECOND] > 0)
        fprintf(out, "    --use-precision-aware-optimizer\n");
    keys_write(MEGATRON_KEYS, "y", terms, KEYS_FLAGS, out);
}

static void write_precision(const LaunchJob *job, const LaunchTerms *terms, FILE *out) {
    fprintf(out, "\nPRECISION=(\n    --bf16\n");
    keys_write(MEGATRON_KEYS, "h", terms, KEYS_FLAGS, out);
    switch (job->request->question.precision) {
    case PRECISION_FP8:
        fprintf(out, "    --fp8-format hybrid\n    --fp8-recipe tensorwise\n");
        break;
    case PRECISION_MXFP8:
        fprintf(out, "    --fp8-format e4m3\n    --fp8-recipe mxfp8\n");
        break;
    case PRECISION_NVFP4:
        fprintf(out, "    --fp4-format e2m1\n    --fp4-recipe nvfp4\n");
        break;
    default:
        break;
    }
    keys_write(MEGATRON_KEYS, "n", terms, KEYS_FLAGS, out);
    fprintf(out, ")\n");
}

/* arguments.py: tensor and context parallelism want one connection, so that kernels start in the order of their calls;
 * FSDP wants more than one. */
static void write_environment(const LaunchJob *job, const LaunchTerms *terms, FILE *out) {
    if (terms->of[TERM_BY_FSDP])
        fprintf(out, "unset CUDA_DEVICE_MAX_CONNECTIONS # FSDP overlaps on several\n");
    else if (job->tensor > 1 || job->sequence > 1)
        fprintf(out, "export CUDA_DEVICE_MAX_CONNECTIONS=1 # kernels start in the order of their calls\n");
}

static void write_run(const LaunchJob *job, const LaunchTerms *terms, FILE *out) {
    fprintf(out,
            "\n# Data, tokenizer, learning rate and checkpoints are yours: arguments of this script, which take the "
            "place of\n# these steps on mock data, to time them.\nDATA=(--mock-data --tokenizer-type NullTokenizer "
            "--lr 1e-4 --train-iters 20 --log-interval 1 --log-throughput)\nif [ $# -gt 0 ]; then DATA=(\"$@\"); fi\n");
    write_environment(job, terms, out);
    fprintf(out, "\nexec ");
    job_write_torchrun(job, out);
    fprintf(out,
            "\"${MEGATRON:-.}/pretrain_gpt.py\" \\\n    --transformer-impl transformer_engine "
            "--cross-entropy-loss-fusion --distributed-timeout-minutes 60 \\\n"
            /* else gpt_dataset.py makes one of seq x seq for each sample, which Transformer Engine does not read */
            "    --no-create-attention-mask-in-dataloader \\\n    \"${MODEL[@]}\" "
            "\"${PARALLEL[@]}\" \"${BATCH[@]}\" \"${MEMORY[@]}\" \"${PRECISION[@]}\" \"${DATA[@]}\"\n");
}

void megatron_notes(const LaunchJob *job, EmitNotes *notes) {
    const Request *request = job->request;
    const Sharding *sharding = &job->ranked->plan.layout.sharding;
    int64_t block = MEGATRON_VOCAB_DIVISOR * job->tensor, padded = divide_up(job->model->vocab, block) * block;
    megatron_note_activations(job, notes);
    note_model(job, notes);
    for (int i = 0; i < job->model->kind_count; i++)
        if (job->model->kinds[i].mixer ||
            (job->model->kinds[i].index_top_k > 0 && job->model->kinds[i].attention != ATTENTION_LATENT)) {
            emit_note(notes, "flags of mixers and of sparse attention (--hybrid-override-pattern, --mamba-*, "
                             "--linear-*, --csa-*, --enable-hyper-connections) are the model's: add them");
            break;
        }
    if (priced_narrow(job) && not_narrow(job))
        emit_note(notes,
                  "weights in fp8 alone were costed; Megatron has that (--fp8-param-gather) %s, and keeps bf16 "
                  "ones next to their casts: 2 bytes more of a weight",
                  not_narrow(job));
    if (padded != job->model->vocab)
        emit_note(notes, "the vocabulary of %" PRId64 " is padded to %" PRId64 ", a multiple of %d x tensor",
                  job->model->vocab, padded, MEGATRON_VOCAB_DIVISOR);
    if (job->tensor > 1 && sharding->mlp == MLP_GATHERED)
        emit_note(notes, "weights of the MLP gathered over tensor were costed; Megatron moves activations");
    if (job->tensor > 1 && sharding->kv == KV_GATHERED)
        emit_note(notes, "keys and values computed once and gathered over tensor were costed; Megatron makes copies");
    if (job->tensor > 1 && (sharding->embedding == TABLE_D_MODEL || sharding->logits == TABLE_D_MODEL))
        emit_note(notes, "a table split by d_model was costed; Megatron splits embedding and logits by vocabulary");
    if (terms_of(job).of[TERM_HALF] && job->knobs->microbatches > 1 &&
        request->question.state_dtypes.gradients == DTYPE_DEFAULT)
        emit_note(notes,
                  "gradients are accumulated and reduced in bf16, as Megatron-Bridge's recipes have it and as was "
                  "costed; without --grad-reduce-in-bf16 both are fp32 and take twice the bytes");
    if (request->question.profile.effort == EFFORT_TUNED && model_layers_with(job->model, true) > 0)
        emit_note(notes, "a tuned recipe was costed, with CUDA graphs over the step and routing made even; this script "
                         "switches neither on and runs as --as-is says");
    if (request->question.tuning.what.on)
        emit_note(notes, "without arguments it times steps of random weights; to fine-tune, give it --load CHECKPOINT "
                         "--finetune --sft --tokenizer-type SFTTokenizer --tokenizer-model MODEL --data-path FILE --lr "
                         "1e-5 --train-iters N");
}

bool megatron_write(const LaunchJob *job, const EmitNotes *notes, FILE *out, Error *error) {
    (void)error;
    fprintf(out, "#!/usr/bin/env bash\n");
    emit_header(job, notes, out);
    fprintf(out, "set -euo pipefail\n");
    job_write_hosts(job, out);
    LaunchTerms terms = terms_of(job);
    write_model(job, &terms, out);
    fprintf(out, "\nPARALLEL=(\n");
    write_sizes(job, &terms, out);
    write_stages(job, &terms, out);
    write_sharding(job, &terms, out);
    fprintf(out, ")\n\nBATCH=(\n");
    keys_write(MEGATRON_KEYS, "b", &terms, KEYS_FLAGS, out);
    fprintf(out, ")\n\nMEMORY=(\n");
    megatron_write_activations(job, out);
    write_optimizer(job, &terms, out);
    fprintf(out, ")\n");
    write_precision(job, &terms, out);
    write_run(job, &terms, out);
    return true;
}
