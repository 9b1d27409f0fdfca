/* SPDX-License-Identifier: GPL-3.0-or-later */
/* torchtitan: the TOML of its releases of 2025, or the flags of the same names. Keys, defaults and what it raises on:
 * torchtitan 01424cb2 and b5bcd76c, config/job_config.py, distributed/parallel_dims.py,
 * distributed/pipeline_parallel.py, models/common/decoder.py (docs/launch.md has the commits). */
#include "base/util.h"
#include "search/launch/torchtitan/torchtitan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char IGNORED[] =
    "job.* profiling.* metrics.* optimizer.* lr_scheduler.* checkpoint.* validation.* comm.* "
    "fault_tolerance.* experimental.* training.dataset* training.steps training.max_norm training.seed "
    "training.gc_* training.deterministic training.disable_cuda_graphs training.debug* debug.* "
    "model.hf_assets_path model.tokenizer* model.print_* float8.* quantize.* memory_estimation.* mx.* module "
    "config compile.* training.compile parallelism.enable_compiled_autograd "
    "parallelism.disable_loss_parallel activation_checkpoint.* training.warmup* hf_transformers.* (*";

/* What a config function of HEAD says of recomputation, where a script has it with it; NULL: nothing. */
static const char *function_mode(ConfigFile *file) {
    static const struct {
        const char *words, *mode;
    } MODES[] = {{"activation_checkpoint = FullAC", "full"},    {"activation_checkpoint=FullAC", "full"},
                 {"activation_checkpoint = SelectiveAC", "op"}, {"activation_checkpoint=SelectiveAC", "op"},
                 {"activation_checkpoint = None", "none"},      {"activation_checkpoint=None", "none"}};
    const char *text = config_text(file, "(text)", "");
    for (size_t i = 0; i < COUNT_OF(MODES); i++)
        if (strstr(text, MODES[i].words)) return MODES[i].mode;
    return NULL;
}

/* "llama3" and "70B" of `from torchtitan.models.llama3 import` and model_registry("70B"). */
static bool function_model(ConfigFile *file, const char **name, const char **flavor) {
    const char *text = config_text(file, "(text)", ""), *module = strstr(text, "from torchtitan.models."), *registry;
    while (module && strncmp(module, "from torchtitan.models.common", 29) == 0)
        module = strstr(module + 1, "from torchtitan.models.");
    registry = strstr(text, "model_registry(\"");
    if (!module || !registry) return false;
    module += strlen("from torchtitan.models.");
    registry += strlen("model_registry(\"");
    *name = config_copy(file, module, strcspn(module, " .\n"));
    *flavor = config_copy(file, registry, strcspn(registry, "\"\n"));
    return *name && *flavor;
}

/* "llama3" and "70B" are llama3.1-70b of the zoo: torchtitan's Llama 3 is 3.1. */
static const char *model_name(ConfigFile *file) {
    const char *name = config_text(file, "model.name", NULL), *flavor = config_text(file, "model.flavor", NULL);
    static const struct {
        const char *name, *flavor, *ours;
    } MODELS[] = {{"llama4", "17bx16e", "llama4-scout-17b-16e"}, {"llama4", "17bx128e", "llama4-maverick-17b-128e"},
                  {"deepseek_v3", "671B", "deepseek-v3"},        {"deepseek_v3", "16B", "deepseek-v2-lite"},
                  {"qwen3", "30B-A3B", "qwen3-30b-a3b"},         {"qwen3", "235B-A22B", "qwen3-235b-a22b"}};
    if ((!name || !flavor) && !function_model(file, &name, &flavor)) return NULL;
    for (size_t i = 0; i < COUNT_OF(MODELS); i++)
        if (strcmp(name, MODELS[i].name) == 0 && strcasecmp(flavor, MODELS[i].flavor) == 0) return MODELS[i].ours;
    return arena_format(file->arena, "%s-%s", strcmp(name, "llama3") == 0 ? "llama3.1" : name, flavor);
}

bool torchtitan_work(ConfigFile *file, ImportedWork *out, Error *error) {
    out->model = model_name(file);
    if (!config_number_text(file, "training.seq_len", &out->seq, error) ||
        (!out->seq && !config_number_text(file, "training.max_context_length", &out->seq, error)))
        return false;
    if (!out->seq) {
        out->seq = "2048";
        config_note(file, "training.seq_len is not given: torchtitan's 2048");
    }
    const char *converters = config_text(file, "model.converters", "");
    bool mx = text_has(converters, "mx");
    if (mx || text_has(converters, "float8")) out->precision = mx ? "mxfp8" : "fp8";
    const char *reduce = config_text(file, "training.mixed_precision_reduce", NULL);
    if (reduce) out->state_dtypes = strcmp(reduce, "bfloat16") == 0 ? "gradients=bf16" : "gradients=fp32";
    config_text(file, "training.mixed_precision_param", "");
    config_text(file, "training.dtype", "");
    const char *optimizer = config_text(file, "optimizer.name", "AdamW");
    if (strncasecmp(optimizer, "adam", 4) != 0) out->optimizer = strcasecmp(optimizer, "muon") == 0 ? "muon" : NULL;
    return true;
}

static bool read_degrees(ConfigFile *file, const Request *request, ImportedPlan *plan, Error *error) {
    int64_t *of = plan->degrees.of, shard, left;
    if (!config_whole(file, "parallelism.tensor_parallel_degree", 1, 1 << 24, 1, &of[ROLE_TENSOR], error) ||
        !config_whole(file, "parallelism.pipeline_parallel_degree", 1, 1 << 24, 1, &of[ROLE_PIPELINE], error) ||
        !config_whole(file, "parallelism.context_parallel_degree", 1, 1 << 24, 1, &of[ROLE_SEQUENCE], error) ||
        !config_whole(file, "parallelism.data_parallel_replicate_degree", 1, 1 << 24, 1, &of[ROLE_DATA], error) ||
        !config_whole(file, "parallelism.data_parallel_shard_degree", -1, 1 << 24, -1, &shard, error))
        return false;
    of[ROLE_FSDP] = max_whole(1, shard);
    if (!import_left_over(file, request, "parallelism", plan, &left, error)) return false;
    if (shard == -1) of[ROLE_FSDP] = left;
    if (shard == -1 || left == 1) return true;
    return config_wrong(file, NULL, "parallelism", error,
                        "the degrees multiply to %" PRId64 ", not to the %" PRId64
                        " devices of %s; name the machine it "
                        "runs on",
                        request->question.machine.mesh.devices / left, request->question.machine.mesh.devices,
                        request->question.machine.text);
}

/* Experts borrow ranks of dp_shard, cp and tp. */
static bool read_experts(ConfigFile *file, const Request *request, ImportedPlan *plan, Error *error) {
    static const char KEY[] = "parallelism.expert_parallel_degree";
    const int64_t *of = plan->degrees.of;
    int64_t ways, width, experts = import_experts(request), lent = of[ROLE_FSDP] * of[ROLE_SEQUENCE] * of[ROLE_TENSOR];
    if (!config_whole(file, KEY, 1, 1 << 24, 1, &ways, error) ||
        !config_whole(file, "parallelism.expert_tensor_parallel_degree", 1, 1 << 24, 1, &width, error))
        return false;
    if (ways == 1 || experts == 0) return true;
    if (experts % ways != 0 || lent % ways != 0)
        return config_wrong(file, NULL, KEY, error,
                            "%" PRId64 " does not divide the %" PRId64 " experts and the %" PRId64
                            " ranks of dp_shard x cp x tp; give one that does",
                            ways, experts, lent);
    import_knob(plan, KNOB_FOLDED_EXPERT, ways);
    import_knob(plan, KNOB_FOLDED_EXPERT_TENSOR, width);
    return true;
}

/* The schedule, by its class in torch.distributed.pipelining. */
static bool read_schedule(ConfigFile *file, const Request *request, ImportedPlan *plan, Error *error) {
    static const struct {
        const char *name;
        Schedule ours;
        bool chunks;
        const char *said;
    } SCHEDULES[] = {
        {"GPipe", SCHEDULE_GPIPE, false, NULL},
        {"1F1B", SCHEDULE_1F1B, false, NULL},
        {"Interleaved1F1B", SCHEDULE_INTERLEAVED, true, NULL},
        {"LoopedBFS", SCHEDULE_CIRCULAR, true, NULL},
        {"InterleavedZeroBubble", SCHEDULE_INTERLEAVED, true,
         "InterleavedZeroBubble is priced as Interleaved1F1B: a larger bubble"},
        {"ZBVZeroBubble", SCHEDULE_ZB_H1, false, "ZBVZeroBubble is priced as ZB-H1: a larger bubble"},
        {"DualPipeV", SCHEDULE_DUALPIPE, false, "DualPipeV is priced as DualPipe, which holds parameters twice"},
    };
    int64_t stages = plan->degrees.of[ROLE_PIPELINE], layers = request->question.model.layers, of_stage, first, last,
            chunks;
    const char *name = config_text(file, "parallelism.pipeline_parallel_schedule", "1F1B");
    if (!config_whole(file, "parallelism.pipeline_parallel_layers_per_stage", 1, layers + 2, 0, &of_stage, error) ||
        !config_whole(file, "parallelism.pipeline_parallel_first_stage_less_layers", 0, layers, 1, &first, error) ||
        !config_whole(file, "parallelism.pipeline_parallel_last_stage_less_layers", 0, layers, 1, &last, error))
        return false;
    const char *split = config_text(file, "parallelism.module_fqns_per_model_part", NULL);
    if (!split) split = config_text(file, "parallelism.pipeline_parallel_split_points", NULL);
    if (config_text(file, "parallelism.pipeline_parallel_schedule_csv", NULL))
        config_note(file, "the schedule's own CSV is not read: priced as %s", name);
    if (stages == 1) return true;
    size_t found = 0;
    while (found < COUNT_OF(SCHEDULES) && strcasecmp(name, SCHEDULES[found].name) != 0) found++;
    if (found == COUNT_OF(SCHEDULES))
        return config_wrong(file, NULL, "parallelism.pipeline_parallel_schedule", error,
                            "\"%.40s\" is no schedule that is known; give 1F1B, Interleaved1F1B, GPipe or LoopedBFS",
                            name);
    if (SCHEDULES[found].said) config_note(file, "%s", SCHEDULES[found].said);
    chunks = SCHEDULES[found].chunks ? 2 : 1;
    if (of_stage > 0) {
        int64_t all = divide_up(layers + first + last, of_stage);
        if (all % stages != 0 ||
            (SCHEDULES[found].chunks ? all / stages < 2 : all != stages && chunks == 1 && found < 2))
            return config_wrong(file, NULL, "parallelism.pipeline_parallel_layers_per_stage", error,
                                "%" PRId64 " makes %" PRId64 " stages of %" PRId64
                                " layers: no whole number on each of %" PRId64 " ranks that %s takes",
                                of_stage, all, layers, stages, name);
        chunks = SCHEDULES[found].chunks ? all / stages : 1;
    }
    if (split && SCHEDULES[found].chunks) { /* a list of lists: one for each chunk */
        int64_t lists = -1;
        for (const char *at = split; *at; at++) lists += *at == '[';
        if (lists > stages && lists % stages == 0) chunks = lists / stages;
    }
    if (stages * chunks > layers + (of_stage > 0 ? first + last : 0))
        return config_wrong(file, NULL, "parallelism.pipeline_parallel_degree", error,
                            "%" PRId64 " stages are more than the %" PRId64 " layers of %s; give fewer",
                            stages * chunks, layers, request->question.model.name);
    import_knob(plan, KNOB_SCHEDULE, SCHEDULES[found].ours);
    import_knob(plan, KNOB_VIRTUAL_STAGES, chunks);
    /* stages differ by a layer at most, the first and the last with less: that is balanced, but where all have as many
     * slots and two are taken */
    bool slots = of_stage > 0 && first == 1 && last == 1 && !split &&
                 slots_of_stage(&request->question.model, stages) == of_stage * chunks;
    if (slots)
        import_knob(plan, KNOB_STAGES, STAGES_SLOTS);
    else if (layers % (stages * chunks) != 0)
        import_knob(plan, KNOB_STAGES, STAGES_BALANCED);
    else if (split)
        config_note(file, "the given split of layers is priced as an even one");
    return true;
}

/* What is not given by its number of tokens (HEAD) is by sequences. */
static bool read_batch(ConfigFile *file, const Request *request, ImportedPlan *plan, Error *error) {
    int64_t replicas = degrees_replicas(&plan->degrees), stages = plan->degrees.of[ROLE_PIPELINE], local, global, micro;
    int64_t tokens, step_tokens, passes, seq = request->question.work.seq;
    const char *key = config_has(file, "training.batch_size") ? "training.batch_size" : "training.local_batch_size";
    if (!config_whole(file, key, 1, IMPORT_BATCH_MAX, 8, &local, error) ||
        !config_whole(file, "training.global_batch_size", -1, IMPORT_BATCH_MAX, -1, &global, error) ||
        !config_whole(file, "parallelism.pipeline_parallel_microbatch_size", 1, IMPORT_BATCH_MAX, 1, &micro, error) ||
        !config_whole(file, "parallelism.num_pp_microbatches", 1, 1 << 20, 1, &passes, error) ||
        !config_whole(file, "training.num_tokens_per_microbatch_per_dp_rank", 1, IMPORT_BATCH_MAX, 0, &tokens, error) ||
        !config_whole(file, "training.num_tokens_per_train_step", -1, IMPORT_BATCH_MAX, -1, &step_tokens, error))
        return false;
    if (tokens > 0) {
        micro = max_whole(1, tokens / seq);
        local = micro * passes;
        if (tokens % seq != 0)
            return config_wrong(file, NULL, "training.num_tokens_per_microbatch_per_dp_rank", error,
                                "%" PRId64 " tokens are no whole sequences of %" PRId64, tokens, seq);
        if (step_tokens > 0) global = step_tokens / seq;
    } else if (!config_has(file, key) && request->asked.batch_origin != FROM_OPTION) {
        config_note(file, "training.local_batch_size is not given: torchtitan's 8");
    }
    if (local > IMPORT_BATCH_MAX)
        return config_wrong(file, NULL, key, error, "%" PRId64 " sequences are no batch of one rank; give fewer",
                            local);
    if (global == -1) global = local * replicas;
    if (global < local || global % (local * replicas) != 0)
        return config_wrong(file, NULL, "training.global_batch_size", error,
                            "%" PRId64 " is no multiple of %" PRId64 " sequences on each of %" PRId64 " data ranks",
                            global, local, replicas);
    if (stages == 1 && tokens == 0) micro = local;
    if (local % micro != 0)
        return config_wrong(file, NULL, "parallelism.pipeline_parallel_microbatch_size", error,
                            "%" PRId64 " does not divide the local batch of %" PRId64, micro, local);
    if (stages > 1 && global > local * replicas)
        config_note(file, "gradient accumulation is priced as more microbatches: the pipeline drains once a step");
    return import_batch(file, request, "training.global_batch_size", global, micro, plan, error);
}

/* Modes none, selective ("op", or every so many layers), full. */
static bool read_remat(ConfigFile *file, const Request *request, ImportedPlan *plan, Error *error) {
    const char *function = function_mode(file), *mode = config_text(file, "activation_checkpoint.mode", "selective");
    const char *option = config_text(file, "activation_checkpoint.selective_ac_option", "2");
    if (function) mode = strcmp(function, "op") == 0 ? "selective" : function, option = function;
    int64_t stages = plan->degrees.of[ROLE_PIPELINE], layers = divide_up(request->question.model.layers, stages);
    if (strcmp(mode, "none") == 0 || strcmp(mode, "full") == 0) {
        snprintf(plan->remat, sizeof plan->remat, "%s", mode);
    } else if (strcmp(mode, "selective") == 0 && strcmp(option, "op") == 0) {
        RematRule rule = {.required = true};
        for (Activation a = 0; a < ACTIVATION_COUNT; a++) rule.state[a] = remat_selective_by_op(a);
        remat_text(&rule, plan->remat);
    } else if (strcmp(mode, "selective") == 0) {
        int64_t every;
        if (!config_whole(file, "activation_checkpoint.selective_ac_option", 1, 1 << 20, 2, &every, error))
            return false;
        snprintf(plan->remat, sizeof plan->remat, "full:%" PRId64, max_whole(1, layers / every));
    } else if (strcmp(mode, "memory_budget") == 0) {
        config_note(file, "activation_checkpoint.mode=memory_budget: what is recomputed is chosen best");
    } else {
        return config_wrong(file, NULL, "activation_checkpoint.mode", error,
                            "\"%.40s\" is no mode that is known; give none, selective or full", mode);
    }
    return true;
}

bool torchtitan_plan(ConfigFile *file, const Request *request, ImportedPlan *plan, Error *error) {
    const int64_t *of = plan->degrees.of;
    bool async, compile, older, offload;
    if (!import_check_gpus(file, request, "torchtitan", error) || !read_degrees(file, request, plan, error) ||
        !import_check_heads(file, request, "parallelism.tensor_parallel_degree", of[ROLE_TENSOR], false, error) ||
        !import_check_seq(file, request, "training.seq_len", of[ROLE_TENSOR] * 2 * of[ROLE_SEQUENCE], error) ||
        !read_experts(file, request, plan, error) || !read_schedule(file, request, plan, error) ||
        !read_batch(file, request, plan, error) || !read_remat(file, request, plan, error) ||
        !config_flag(file, "parallelism.enable_async_tensor_parallel", false, &async, error) ||
        !config_flag(file, "compile.enable_async_tensor_parallel", async, &async, error) ||
        !config_flag(file, "compile.enable", false, &compile, error) ||
        !config_flag(file, "training.compile", compile, &older, error) ||
        !config_flag(file, "training.enable_cpu_offload", false, &offload, error))
        return false;
    if (of[ROLE_SEQUENCE] > 1) {
        bool rotates =
            strcmp(config_text(file, "parallelism.context_parallel_rotate_method", "allgather"), "alltoall") == 0;
        import_knob(plan, KNOB_CONTEXT_METHOD, rotates ? CONTEXT_RING : CONTEXT_ALL_GATHER);
        import_knob(plan, KNOB_SEQUENCE_PARAMETERS, false);
    }
    config_text(file, "parallelism.context_parallel_load_balancer", "");
    const char *reshard = config_text(file, "parallelism.fsdp_reshard_after_forward", "default");
    bool again = strcmp(reshard, "always") == 0 || (strcmp(reshard, "never") != 0 && of[ROLE_PIPELINE] == 1);
    if (of[ROLE_FSDP] * of[ROLE_SEQUENCE] > 1) import_knob(plan, KNOB_REGATHER, again);
    if (of[ROLE_DATA] > 1) import_knob(plan, KNOB_ZERO_STAGE, 0);
    import_overlap(file, request, async && (compile || older), plan);
    import_offload(file, request, offload, plan);
    if (offload) config_note(file, "enable_cpu_offload is priced for the optimizer's state; parameters lie in HBM");
    bool sequence;
    if (!config_flag(file, "parallelism.enable_sequence_parallel", true, &sequence, error)) return false;
    if (!sequence) config_note(file, "without sequence parallelism: how the residual stream lies is chosen best");
    config_ignore(file, IGNORED);
    return true;
}
