/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/util.h"
#include "cost/measured/replay.h"
#include "cost/measured/run.h"
#include "mesh/host_link.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Adapters where a row says nothing of them: the defaults of its source's scripts. */
static const struct {
    const char *framework;
    double rank;
    unsigned targets;
} USUAL[] = {
    /* lora_r = 8, lora_query and lora_value (litgpt 8641822 finetune/lora.py); trainable_params agree */
    {"litgpt", 8, 1 << TARGET_QUERY | 1 << TARGET_VALUE},
    /* lora_rank = 64, "all" but o_proj (fsdp_qlora 02586ac7 train.py) */
    {"fsdp_qlora", 64, TARGETS_ALL & ~(1 << TARGET_OUTPUT)},
    {"AutoModel", 8, TARGETS_ALL}, /* dim 8, *_proj (its recipes of llm_benchmark) */
};

/* Rank, matrices and format of a row's adapters. */
static bool read_adapters(Replay *replay, Tuning *out) {
    const Run *run = replay->run;
    const char *list = run->targets;
    char word[32];
    out->rank = run->adapter_rank > 0 ? (double)run->adapter_rank : TUNING_RANK;
    out->frozen = FROZEN_ALL;
    for (size_t i = 0; i < COUNT_OF(USUAL) && !run->targets[0]; i++)
        if (text_has(run->framework, USUAL[i].framework)) out->rank = USUAL[i].rank, out->targets = USUAL[i].targets;
    while (tuning_next_word(&list, word, sizeof word)) /* c_attn is GPT-2's query, key and value */
        out->targets |= strcmp(word, "c_attn") == 0 ? TARGETS_ATTENTION : tuning_target_bits(word);
    if (!out->targets) out->targets = TARGETS_ALL;
    if (!run->quantised[0]) return true;
    out->stored_bytes = tuning_format_bytes(run->quantised);
    return out->stored_bytes > 0 || replay_skip(replay, "its format of weights is not known");
}

/* Hugging Face's and PEFT's scripts load a checkpoint in 16 bits and train it so, without a master. */
static bool trains_as_loaded(const Run *run) {
    bool upcast = text_has(run->id, "_liger") && text_has(run->fsdp, "fsdp"); /* what FSDP trains, accelerate casts */
    return !upcast && (text_has(run->framework, "SFTTrainer") || text_has(run->framework, "peft"));
}

/* What a row of fine-tuning trains, and the dtypes of its state; a row of another kind leaves both alone. */
static bool read_tuning(Replay *replay, StateDtypes *dtypes, Tuning *out) {
    const Run *run = replay->run;
    *out = (Tuning){0};
    if (!run->method[0]) return true;
    bool full = strncasecmp(run->method, "full", 4) == 0, quantised = strcasecmp(run->method, "qlora") == 0;
    if (!full && !quantised && strcasecmp(run->method, "lora") != 0)
        return replay_skip(replay, "adapters of another kind than LoRA");
    if (text_has(run->id, "dora")) return replay_skip(replay, "adapters of another kind than LoRA");
    if (strcmp(run->result, "N/A") == 0) return replay_skip(replay, "its source does not run it");
    if (text_has(run->framework, "-ep") && text_has(run->framework, "moe"))
        return replay_skip(replay, "experts in kernels and groups of their own (ScatterMoE), which no profile has");
    out->on = true;
    out->on_host = text_has(run->notes, "CPU offload True");
    if (!full) return read_adapters(replay, out);
    if (trains_as_loaded(run))
        *dtypes =
            (StateDtypes){.gradients = DTYPE_BF16, .master = DTYPE_NONE, .first = DTYPE_BF16, .second = DTYPE_BF16};
    return true;
}

/* ---- degrees ---- */

static bool on_torus(const Replay *replay) { return !chip_has_domains(&replay->chip); }

/* Whether the column leaves the sharding of parameters open. */
static bool sharding_unknown(const Run *run) { return run->fsdp[0] == '\0' || text_has(run->fsdp, "unknown"); }

/* The number of ranks that share parameters, out of `ranks` that hold a replica of the model's other degrees: "256
 * (zero3)", "zero3 over 384", "512 devices (zero3, ...)". Without a number it is all of them, but with hybrid sharding
 * those that `dp` copies leave; 0 means that they are not sharded. */
static int64_t shard_group(const Replay *replay, int64_t ranks) {
    const Run *run = replay->run;
    const char *over = strstr(run->fsdp, "over ");
    bool sharded = (run->fsdp[0] == '\0' && on_torus(replay)) || run_is_sharded(run) || text_has(run->fsdp, "zero2") ||
                   text_has(run->fsdp, "zero-2");
    if (!sharded) return sharding_unknown(run) && replay_on_torch(replay) ? ranks : 0;
    if (over && isdigit((unsigned char)over[5])) return max_whole(1, strtoll(over + 5, NULL, 10));
    if (isdigit((unsigned char)run->fsdp[0])) return max_whole(1, strtoll(run->fsdp, NULL, 10));
    bool hybrid = text_has(run->fsdp, "hsdp") && run->data > 1 && run->data < ranks && ranks % run->data == 0;
    return hybrid ? ranks / run->data : ranks;
}

static bool set_degrees(Replay *replay) {
    const Run *run = replay->run;
    Degrees *degrees = &replay->plan.degrees;
    int64_t devices = replay->mesh.devices, tensor = max_whole(1, run->tensor), context = max_whole(1, run->context),
            stages = max_whole(1, run->pipeline);
    bool roles = on_torus(replay) && run->expert > 1; /* expert is an axis of its own there */
    int64_t expert = roles ? run->expert : 1, left = devices, of[] = {tensor, context, stages, expert};
    for (size_t i = 0; i < COUNT_OF(of); i++) left = left % of[i] == 0 ? left / of[i] : 0;
    if (left == 0) return replay_skip(replay, "its plan does not multiply to its %lld devices", (long long)devices);
    /* ZeRO-2 in a pipeline gathers weights once a step, as ZeRO-1 does */
    bool once = stages > 1 && text_has(run->fsdp, "zero2");
    int64_t rest = left, fsdp = once ? 1 : max_whole(1, shard_group(replay, rest));
    if (sharding_unknown(run) && rest > 1 && !on_torus(replay))
        replay_note(replay, true, fsdp > 1 ? "sharded parameters assumed" : "replicated parameters assumed");
    if (rest % fsdp != 0) {
        /* the group counts the other roles that shard: context, or experts */
        fsdp = rest % (fsdp / context > 0 ? fsdp / context : 1) == 0 ? max_whole(1, fsdp / context) : rest;
        replay_note(replay, true, "shard group taken as %lld", (long long)fsdp);
    }
    *degrees = (Degrees){.of = {[ROLE_TENSOR] = tensor,
                                [ROLE_EXPERT] = expert,
                                [ROLE_SEQUENCE] = context,
                                [ROLE_FSDP] = fsdp,
                                [ROLE_DATA] = rest / fsdp,
                                [ROLE_PIPELINE] = stages}};
    return true;
}

/* ---- knobs ---- */

static int64_t year_of(const Run *run) {
    for (const char *at = run->version; *at; at++)
        if (strncmp(at, "20", 2) == 0 && isdigit((unsigned char)at[2]) && isdigit((unsigned char)at[3]))
            return strtoll(at, NULL, 10);
    return 2024;
}

static void set_microbatches(Replay *replay) {
    const Run *run = replay->run;
    Knobs *knobs = &replay->plan.knobs;
    int64_t replicas = degrees_replicas(&replay->plan.degrees);
    int64_t of_replica = divide_up(run->global_batch, replicas), micro = run->micro_batch;
    if (micro <= 0) {
        /* the usual size: one sequence of a large model, more of a small one */
        double hidden = (double)replay->model.d_model;
        micro = hidden <= 2304                                               ? 16
                : hidden <= 3072                                             ? 8
                : hidden <= 4096 && replay->plan.degrees.of[ROLE_TENSOR] < 8 ? 4
                                                                             : 1;
        if (year_of(run) >= 2023) micro = 1;
        while (micro > 1 && of_replica % micro != 0) micro /= 2;
        replay_note(replay, true, "microbatch of %lld assumed", (long long)micro);
    }
    knobs->microbatch_sequences = min_whole(micro, of_replica);
    knobs->microbatches = divide_up(of_replica, knobs->microbatch_sequences);
    replay->work = (Work){.sequences = run->global_batch, .seq = run->seq};
}

/* Chunks that a source does not tell: at most six, and of one number of layers, as one would choose them. */
static int64_t chunks_assumed(int64_t layers) {
    int64_t most = min_whole(6, layers), chunks = most;
    while (chunks > 1 && layers % chunks != 0) chunks--;
    return chunks > 1 ? chunks : most;
}

static void set_schedule(Replay *replay) {
    const Run *run = replay->run;
    Knobs *knobs = &replay->plan.knobs;
    int64_t stages = replay->plan.degrees.of[ROLE_PIPELINE], layers = replay->model.layers, chunks = run->chunks;
    knobs->virtual_stages = 1;
    knobs->schedule = stages > 1 ? SCHEDULE_1F1B : SCHEDULE_NONE;
    knobs->stages = stages > 1 ? STAGES_BALANCED : STAGES_EVEN;
    if (stages <= 1) return;
    /* Megatron's stages are equal unless the embedding and the logits take a layer's place each. */
    bool slots = (layers + 2) % stages == 0 && layers % stages != 0;
    if (slots && (text_has(run->version, "MLPerf") || text_has(run->framework, "Megatron")))
        knobs->stages = STAGES_SLOTS;
    bool equal = text_has(run->framework, "Megatron-DeepSpeed") || text_has(run->framework, "Megatron-LM");
    if (equal && layers % stages == 0) knobs->stages = STAGES_EVEN;
    if (chunks <= 0) {
        chunks = year_of(run) >= 2023 ? chunks_assumed(divide_up(layers, stages)) : 1;
        if (replay_on_torch(replay)) chunks = text_has(run->notes, "interleaved") ? 2 : 1; /* torchtitan's two a rank */
        replay_note(replay, true, "%lld chunks a stage assumed", (long long)chunks);
    }
    if (chunks > 1 && layers / stages >= chunks) {
        knobs->schedule = SCHEDULE_INTERLEAVED;
        knobs->virtual_stages = chunks;
    }
    if (text_has(run->notes, "dualpipe")) knobs->schedule = SCHEDULE_DUALPIPE, knobs->virtual_stages = 1;
    if (text_has(run->notes, "zero-bubble") || text_has(run->notes, "zero bubble")) knobs->schedule = SCHEDULE_ZB_H1;
}

static void set_methods(Replay *replay) {
    const Run *run = replay->run;
    const Degrees *degrees = &replay->plan.degrees;
    Knobs *knobs = &replay->plan.knobs;
    bool torus = on_torus(replay);
    int64_t context = degrees->of[ROLE_SEQUENCE];
    if (context > 1) {
        knobs->methods.context = torus || text_has(run->notes, "all-gather") ? CONTEXT_ALL_GATHER : CONTEXT_RING;
        if (text_has(run->notes, "ulysses")) knobs->methods.context = CONTEXT_ULYSSES;
        /* FSDP2 shards over context ranks too */
        bool shards = replay_on_torch(replay) && run_is_sharded(run);
        knobs->methods.sequence_replicates = !torus && degrees->of[ROLE_FSDP] == 1 && !shards;
    }
    /* torchtitan keeps weights of stages by default (fsdp_reshard_after_forward) */
    bool kept = text_has(run->fsdp, "zero2") || text_has(run->fsdp, "not re-sharded") ||
                (text_has(run->framework, "torchtitan") && run->pipeline > 1);
    knobs->regather = degrees->of[ROLE_FSDP] == 1 || !kept;
    bool sharded =
        text_has(run->fsdp, "zero1") || text_has(run->fsdp, "zero2") || (sharding_unknown(run) && year_of(run) >= 2022);
    int64_t replicas = degrees->of[ROLE_DATA] * (knobs->methods.sequence_replicates ? context : 1);
    knobs->zero_stage = replicas > 1 && sharded ? 1 : 0;
    if (!torus && run->expert > 1 && model_layers_with(&replay->model, true) > 0)
        knobs->methods.grid = (ExpertGrid){run->expert, 1};
}

/* ---- remat ---- */

static void state(Replay *replay, Activation activation, ActivationState to) { replay->remat.state[activation] = to; }

/* The tensors that MaxText's custom policies name are kept; all others are recomputed. */
static void custom_remat(Replay *replay, const char *text) {
    for (int a = 1; a < ACTIVATION_COUNT; a++) state(replay, (Activation)a, STATE_RECOMPUTED);
    ActivationState kept = text_has(text, "offload") ? STATE_OFFLOADED : STATE_SAVED;
    if (text_has(text, "decoder input") && !text_has(text, "decoder input kept"))
        state(replay, ACTIVATION_LAYER_INPUT, kept);
    if (text_has(text, "qkv_proj") || text_has(text, "qkv projections") || text_has(text, "q/k/v"))
        state(replay, ACTIVATION_QKV, text_has(text, "q/k/v recomputed") ? STATE_RECOMPUTED : kept);
    /* "k/v kept": queries, which are much larger, are made again with the rest */
    /* mlpwo, the last matmul's product, is not used in backward */
    if (text_has(text, "out proj")) state(replay, ACTIVATION_MIDDLE, kept);
}

static const struct {
    const char *word, *policy;
} POLICIES[] = {
    {"minimal_with_context", "minimal_with_context"},
    {"save_dot_except_mlpwi", "save_dot_except_mlpwi"},
    {"save_dot_except_logits_ffn1", "save_dot_except_mlpwi"}, /* MLPerf's name for it */
    {"save_dot_except_logits", "minimal"},
    {"minimal", "minimal"},
    {"qkv_proj_offloaded", "qkv_proj_offloaded"},
    {"save_qkv_proj", "save_qkv_proj"},
    {"mla_up_proj+mlp", "mlp"},
};

/* torchtitan's selective checkpointing by op. Releases with matmuls of their own for q, k and v make k again too, which
 * is not counted. */
static void op_remat(Replay *replay) {
    for (Activation a = 0; a < ACTIVATION_COUNT; a++) state(replay, a, remat_selective_by_op(a));
}

static void recompute(Replay *replay, int64_t layers) {
    for (int a = 1; a < ACTIVATION_COUNT; a++) state(replay, (Activation)a, STATE_RECOMPUTED);
    replay->remat.layers = layers;
}

/* "every other layer", "every 3 layers": one layer in this many is recomputed whole; 0 means that the text says no such
 * thing. */
static int64_t every_so_many(const char *text) {
    if (text_has(text, "every other")) return 2;
    const char *every = strstr(text, "every ");
    return every && isdigit((unsigned char)every[6]) ? strtoll(every + 6, NULL, 10) : 0;
}

static void selective_remat(Replay *replay, const char *text) {
    Error error = {0};
    bool named = false;
    for (size_t i = 0; i < COUNT_OF(POLICIES) && !named; i++)
        named = text_has(text, POLICIES[i].word) && remat_parse(POLICIES[i].policy, "remat", &replay->remat, &error);
    if (text_has(text, "layernorm"))
        state(replay, ACTIVATION_ATTENTION_INPUT, STATE_RECOMPUTED),
            state(replay, ACTIVATION_MLP_INPUT, STATE_RECOMPUTED);
    if (text_has(text, "moe_act")) state(replay, ACTIVATION_PRODUCT, STATE_RECOMPUTED);
    if (text_has(text, "mla_up_proj")) state(replay, ACTIVATION_QKV, STATE_RECOMPUTED);
    /* Megatron's selective recomputation, where no modules are named, applies to attention's core */
    bool bare = !strchr(text, '(') && !replay_on_jax(replay) && !replay_on_torch(replay);
    if (bare || text_has(text, "core attention") || text_has(text, "core_attn") || text_has(text, "(attention)"))
        state(replay, ACTIVATION_CONTEXT, STATE_RECOMPUTED);
    if (replay_on_torch(replay)) op_remat(replay);
}

static void set_remat(Replay *replay) {
    const char *text = replay->run->remat;
    const char *blocks = strstr(text, "full block for "), *offloaded = strstr(text, "activations of ");
    int64_t every = every_so_many(text), of_stage = replay->model.layers / max_whole(1, replay->run->pipeline);
    replay->remat = (RematRule){.required = true};
    if (offloaded) {
        for (int a = 0; a < ACTIVATION_COUNT; a++) state(replay, (Activation)a, STATE_OFFLOADED);
        replay->remat.layers = max_whole(1, strtoll(offloaded + 15, NULL, 10));
    } else if (strncasecmp(text, "none", 4) == 0) {
        return;
    } else if (text_has(text, "custom")) {
        custom_remat(replay, text);
    } else if (blocks) {
        recompute(replay, max_whole(1, strtoll(blocks + 15, NULL, 10)));
    } else if (every > 1) {
        recompute(replay, max_whole(1, of_stage / every));
    } else if (strncasecmp(text, "full", 4) == 0) {
        recompute(replay, 0);
    } else if (text_has(text, "selective") || text_has(text, "minimal")) {
        selective_remat(replay, text);
    } else if (text_has(text, "unknown") || text[0] == '\0') {
        replay_note(replay, true, "no recomputation assumed");
    }
}

/* Offloaded bytes move alongside the step; where the catalog has no rate for that, they move for free. */
static void price_offload(Replay *replay) {
    if (host_is_known(&replay->chip)) return;
    replay->chip.pcie_bytes_per_second.value = 1e15;
    replay->chip.host_bytes.value = 1e15;
}

/* Whether tensor ranks split the sequence between matmuls: torch's plans always do; Megatron's recipes do since 2023
 * unless the source says otherwise. */
static bool along_sequence(const Replay *replay) {
    const Run *run = replay->run;
    if (run->sequence_parallel >= 0 && !on_torus(replay)) return run->sequence_parallel == 1;
    bool recipes = text_has(run->framework, "Megatron") || text_has(run->framework, "NeMo");
    return on_torus(replay) || replay_on_torch(replay) || (recipes && year_of(run) >= 2023);
}

/* Writes the rows of a rule as a layout holds them. */
void replay_layout(Replay *replay) {
    Layout *layout = &replay->plan.layout;
    Degrees *degrees = &replay->plan.degrees;
    int64_t fullest = replay->model.layers, last = fullest, stages = degrees->of[ROLE_PIPELINE];
    bool along = degrees->of[ROLE_TENSOR] > 1 && along_sequence(replay);
    bool copies = false;
    for (int i = 0; i < replay->model.kind_count; i++)
        copies = copies ||
                 (replay->model.kinds[i].kv_heads > 0 && replay->model.kinds[i].kv_heads < degrees->of[ROLE_TENSOR]);
    if (replay->plan.knobs.methods.grid.expert > 0 && degrees->of[ROLE_TENSOR] > 1) along = true;
    layout->sharding = (Sharding){.residual = along ? RESIDUAL_SEQUENCE : RESIDUAL_REPLICATED,
                                  .mlp = MLP_TENSOR,
                                  .kv = copies ? KV_REPLICATED : KV_SPLIT,
                                  .embedding = TABLE_VOCABULARY,
                                  .logits = TABLE_VOCABULARY};
    if (stages > 1) layers_per_stage(&replay->model, &replay->work, stages, replay->plan.knobs.stages, &fullest, &last);
    for (int a = 0; a < ACTIVATION_COUNT; a++) remat_layers(&replay->remat, (Activation)a, fullest, layout->layers[a]);
}

/* ---- precision and state ---- */

static void set_precision(Replay *replay) {
    const char *text = replay->run->precision;
    replay->precision = text_has(text, "fp4")                               ? PRECISION_NVFP4
                        : text_has(text, "mxfp8")                           ? PRECISION_MXFP8
                        : text_has(text, "fp8") || text_has(text, "float8") ? PRECISION_FP8
                        : text_has(text, "int8")                            ? PRECISION_INT8
                                                                            : PRECISION_BF16;
    if (text_has(text, " or ")) replay_note(replay, true, "%s taken", precision_name(replay->precision));
    if (precision_peak(&replay->chip, replay->precision) > 0) return;
    if (replay->precision == PRECISION_MXFP8 && precision_peak(&replay->chip, PRECISION_FP8) > 0) {
        replay->precision = PRECISION_FP8;
        return;
    }
    replay_note(replay, true, "%s has no figure of %s: bf16", replay->chip.name, precision_name(replay->precision));
    replay->precision = PRECISION_BF16;
}

static bool set_state(const Optimizer *optimizer, Replay *replay) {
    StateDtypes dtypes = {0};
    Tuning tuning;
    const char *framework = replay->run->framework, *version = replay->run->version, *text = replay->run->precision;
    if (text_has(framework, "torchtitan")) dtypes.gradients = DTYPE_FP32; /* its mixed_precision_reduce */
    if (text_has(replay->run->notes, "PURE") || text_has(text, "bf16 reduce")) dtypes.gradients = DTYPE_BF16;
    if (text_has(replay->run->notes, "fp32 reduce") || text_has(text, "fp32 reduce")) dtypes.gradients = DTYPE_FP32;
    /* recipes of NeMo, Megatron-Bridge and MLPerf reduce gradients in bf16; from MLPerf 4.0 on weights are fp8 too */
    bool recipes = text_has(framework, "NeMo") || text_has(framework, "Bridge") || text_has(version, "MLPerf");
    if (recipes) dtypes.gradients = DTYPE_BF16;
    if (text_has(version, "MLPerf") && !text_has(version, "v3") && replay->precision == PRECISION_FP8)
        dtypes.parameters = DTYPE_FP8, dtypes.master = DTYPE_FP32;
    /* DeepSpeed's ZeRO-1 sums gradients in the dtype of the weights; its BF16_Optimizer, which BigScience used from
     * "Rebalancing layers" on, sums them in fp32. */
    bool summed = text_has(replay->run->source, "Rebalancing layers") || text_has(replay->run->source, "README");
    if (text_has(framework, "Megatron-DeepSpeed")) dtypes.gradients = summed ? DTYPE_FP32 : DTYPE_BF16;
    /* MaxText's moments have the dtype of the weights, which have no other copy. */
    if (text_has(text, "bf16 weights"))
        dtypes.master = DTYPE_NONE, dtypes.first = dtypes.second = dtypes.gradients = DTYPE_BF16;
    if (text_has(text, "fp16")) dtypes.gradients = DTYPE_FP16;
    if (!read_tuning(replay, &dtypes, &tuning)) return false;
    replay->state = training_state(&replay->model, optimizer, &dtypes);
    replay->state.tuning = tuning;
    return true;
}

bool replay_plan(const Optimizer *optimizer, Replay *replay) {
    const Run *run = replay->run;
    if (text_has(run->notes, "LoRA") && !run->method[0])
        return replay_skip(replay, "most of its weights are frozen (LoRA), which is not priced");
    if (run->seq <= 0) return replay_skip(replay, "no sequence length");
    if (run->global_batch <= 0) return replay_skip(replay, "no global batch");
    if (run->seq > INT64_C(1) << 24 || run->global_batch > INT64_C(1) << 32)
        return replay_skip(replay, "an absurd batch");
    if (!set_degrees(replay)) return false;
    set_microbatches(replay);
    set_schedule(replay);
    set_methods(replay);
    set_remat(replay);
    price_offload(replay);
    set_precision(replay);
    replay_layout(replay);
    return set_state(optimizer, replay);
}
