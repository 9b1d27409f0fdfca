/* SPDX-License-Identifier: GPL-3.0-or-later */
/* torchtitan: the TOML of its releases of 2025, or the flags of the same names. Keys, defaults and what it raises on:
 * torchtitan 01424cb2 and b5bcd76c, config/job_config.py, distributed/parallel_dims.py,
 * distributed/pipeline_parallel.py, models/common/decoder.py (docs/launch.md has the commits). */
#include "base/util.h"
#include "search/launch/rules.h"
#include "search/launch/torchtitan/torchtitan.h"

#include <inttypes.h>
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

/* The precision that its converters make. */
static const char *function_precision(ConfigFile *file) {
    static const char *const MADE[][2] = {{"MXFP8LinearConverter.Config(", "mxfp8"},
                                          {"NVFP4LinearConverter.Config(", "nvfp4"},
                                          {"Float8LinearConverter.Config(", "fp8"}};
    const char *text = config_text(file, "(text)", "");
    for (size_t i = 0; i < COUNT_OF(MADE); i++)
        if (strstr(text, MADE[i][0])) return MADE[i][1];
    return NULL;
}

/* The list of modules of stages that it sets, from its bracket on; NULL: none. */
static const char *function_split(ConfigFile *file) {
    const char *text = config_text(file, "(text)", ""), *key = strstr(text, "module_fqns_per_model_part = ");
    return key ? strchr(key, '[') : NULL;
}

/* How many lists are in a list, up to its closing bracket. */
static int64_t lists_in(const char *text) {
    int64_t lists = 0;
    int depth = 0;
    for (; *text; text++) {
        if (*text == '[' && ++depth == 2) lists++;
        if (*text == ']' && --depth == 0) break;
    }
    return lists;
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

/* "llama3" and "70B" are llama3.1-70b of the zoo: torchtitan's Llama 3 is 3.1; a module's name has no dot. */
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
    const char *family = strcmp(name, "llama3") == 0 ? "llama3.1" : strcmp(name, "qwen3_5") == 0 ? "qwen3.5" : name;
    return arena_format(file->arena, "%s-%s", family, flavor);
}

/* components/optimizer (0.3): no flag chooses one, so that none but AdamW is written. */
static OPTIMIZER_WORDS(OPTIMIZERS, {"AdamW", "adamw"}, {"Adam", "adamw"}, {"Muon", "muon"});

static bool read_work(ConfigFile *file, ImportedWork *out, Error *error) {
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
    out->precision = mx ? "mxfp8" : text_has(converters, "float8") ? "fp8" : function_precision(file);
    const char *reduce = config_text(file, "training.mixed_precision_reduce", NULL);
    bool lean = strcmp(config_text(file, "training.dtype", "float32"), "bfloat16") == 0;
    config_text(file, "training.mixed_precision_param", "");
    StateDtypes state = {0};
    if (reduce) state.gradients = strcmp(reduce, "bfloat16") == 0 ? DTYPE_BF16 : DTYPE_FP32;
    if (lean) state.master = DTYPE_NONE, state.first = state.second = DTYPE_BF16;
    return import_state(file, &state, out, error);
}

static bool read_degrees(ConfigFile *file, const Request *request, const LaunchTerms *terms, ImportedPlan *plan,
                         Error *error) {
    int64_t *of = plan->degrees.of, shard = terms->of[ROLE_FSDP], left;
    for (int role = 0; role < ROLE_COUNT; role++)
        if (role != ROLE_EXPERT) of[role] = terms->of[role];
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
static bool read_experts(ConfigFile *file, const Request *request, const LaunchTerms *terms, ImportedPlan *plan,
                         Error *error) {
    const int64_t *of = plan->degrees.of;
    int64_t ways = terms->of[ROLE_EXPERT], experts = import_experts(request);
    int64_t lent = of[ROLE_FSDP] * of[ROLE_SEQUENCE] * of[ROLE_TENSOR];
    if (ways == 1 && experts > 0) import_knob(plan, KNOB_FOLDED_EXPERT, 0);
    if (ways == 1 || experts == 0) return true;
    if (experts % ways != 0 || lent % ways != 0)
        return config_wrong(file, NULL, "parallelism.expert_parallel_degree", error,
                            "%" PRId64 " does not divide the %" PRId64 " experts and the %" PRId64
                            " ranks of dp_shard x cp x tp; give one that does",
                            ways, experts, lent);
    /* with ranks of dp_shard alone they are an axis, which shards all else too: no other form of it is priced less */
    bool axis = of[ROLE_SEQUENCE] * of[ROLE_TENSOR] == 1 && of[ROLE_FSDP] % ways == 0;
    if (axis) plan->degrees.of[ROLE_EXPERT] = ways, plan->degrees.of[ROLE_FSDP] /= ways;
    import_knob(plan, KNOB_FOLDED_EXPERT, axis ? 0 : ways);
    if (!axis) import_knob(plan, KNOB_FOLDED_EXPERT_TENSOR, terms->of[TERM_EXPERT_TENSOR]);
    return true;
}

/* Those that are priced as others. */
static void note_schedule(ConfigFile *file, const char *name) {
    static const struct {
        const char *name, *as;
    } OTHERS[] = {{"InterleavedZeroBubble", "Interleaved1F1B: a larger bubble"},
                  {"ZBVZeroBubble", "ZB-H1: a larger bubble"},
                  {"DualPipeV", "DualPipe, which holds parameters twice"}};
    for (size_t i = 0; i < COUNT_OF(OTHERS); i++)
        if (strcasecmp(name, OTHERS[i].name) == 0)
            config_note(file, "%s is priced as %s", OTHERS[i].name, OTHERS[i].as);
}

/* The schedule, by its class in torch.distributed.pipelining. */
static bool read_schedule(ConfigFile *file, const Request *request, const LaunchTerms *terms, ImportedPlan *plan,
                          Error *error) {
    int64_t stages = plan->degrees.of[ROLE_PIPELINE], layers = request->question.model.layers;
    int64_t of_stage = terms->of[TERM_OF_STAGE], first = terms->of[TERM_FIRST_LESS], last = terms->of[TERM_LAST_LESS];
    const char *name = config_text(file, "parallelism.pipeline_parallel_schedule", "1F1B");
    const char *split = config_text(file, "parallelism.module_fqns_per_model_part", NULL);
    if (of_stage > layers + 2 || first > layers || last > layers)
        return config_wrong(file, NULL, "parallelism.pipeline_parallel_layers_per_stage", error,
                            "%" PRId64 ", less %" PRId64 " and %" PRId64 ", are more than the %" PRId64 " layers of %s",
                            of_stage, first, last, layers, request->question.model.name);
    if (!split) split = function_split(file);
    if (!split) split = config_text(file, "parallelism.pipeline_parallel_split_points", NULL);
    if (config_text(file, "parallelism.pipeline_parallel_schedule_csv", NULL))
        config_note(file, "the schedule's own CSV is not read: priced as %s", name);
    if (stages == 1) return true;
    if (terms->of[TERM_SCHEDULE] == TERM_UNKNOWN)
        return config_wrong(file, NULL, "parallelism.pipeline_parallel_schedule", error,
                            "\"%.40s\" is no schedule that is known; give 1F1B, Interleaved1F1B, GPipe or LoopedBFS",
                            name);
    note_schedule(file, name);
    Schedule schedule = (Schedule)terms->of[TERM_SCHEDULE];
    bool in_chunks = schedule == SCHEDULE_INTERLEAVED || schedule == SCHEDULE_CIRCULAR;
    bool whole = schedule == SCHEDULE_GPIPE || schedule == SCHEDULE_1F1B;
    int64_t chunks = in_chunks ? 2 : 1;
    if (of_stage > 0) {
        int64_t all = divide_up(layers + first + last, of_stage);
        if (all % stages != 0 || (in_chunks ? all / stages < 2 : all != stages && whole))
            return config_wrong(file, NULL, "parallelism.pipeline_parallel_layers_per_stage", error,
                                "%" PRId64 " makes %" PRId64 " stages of %" PRId64
                                " layers: no whole number on each of %" PRId64 " ranks that %s takes",
                                of_stage, all, layers, stages, name);
        chunks = in_chunks ? all / stages : 1;
    }
    if (split && in_chunks) { /* a list of lists: one for each chunk */
        int64_t lists = lists_in(split);
        if (lists > stages && lists % stages == 0) chunks = lists / stages;
    }
    if (stages * chunks > layers + (of_stage > 0 ? first + last : 0))
        return config_wrong(file, NULL, "parallelism.pipeline_parallel_degree", error,
                            "%" PRId64 " stages are more than the %" PRId64 " layers of %s; give fewer",
                            stages * chunks, layers, request->question.model.name);
    import_knob(plan, KNOB_SCHEDULE, schedule);
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
static bool read_batch(ConfigFile *file, const Request *request, const LaunchTerms *terms, ImportedPlan *plan,
                       Error *error) {
    int64_t replicas = degrees_replicas(&plan->degrees), stages = plan->degrees.of[ROLE_PIPELINE];
    int64_t local = terms->of[TERM_LOCAL], global = terms->of[TERM_BATCH], micro = terms->of[TERM_MICRO];
    int64_t tokens = terms->of[TERM_TOKENS], seq = request->question.work.seq;
    const char *key = config_has(file, "training.batch_size") ? "training.batch_size" : "training.local_batch_size";
    if (tokens > 0) {
        micro = max_whole(1, tokens / seq);
        local = micro * terms->of[TERM_MICROBATCHES];
        if (tokens % seq != 0)
            return config_wrong(file, NULL, "training.num_tokens_per_microbatch_per_dp_rank", error,
                                "%" PRId64 " tokens are no whole sequences of %" PRId64, tokens, seq);
        if (terms->of[TERM_STEP_TOKENS] > 0) global = terms->of[TERM_STEP_TOKENS] / seq;
    } else if (!config_has(file, key) && request->requested.batch_origin != FROM_OPTION) {
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

static bool read_plan(ConfigFile *file, const Request *request, ImportedPlan *plan, Error *error) {
    const int64_t *of = plan->degrees.of;
    LaunchTerms terms;
    if (!import_check_gpus(file, request, "torchtitan", error) || !keys_read(TITAN_KEYS, NULL, file, &terms, error) ||
        !read_degrees(file, request, &terms, plan, error) ||
        !import_check_heads(file, request, "parallelism.tensor_parallel_degree", of[ROLE_TENSOR], false, error) ||
        !import_check_seq(file, request, "training.seq_len", of[ROLE_TENSOR] * 2 * of[ROLE_SEQUENCE], error) ||
        !read_experts(file, request, &terms, plan, error) || !read_schedule(file, request, &terms, plan, error) ||
        !read_batch(file, request, &terms, plan, error) || !read_remat(file, request, plan, error))
        return false;
    if (of[ROLE_SEQUENCE] > 1) {
        bool rotates = terms.of[TERM_CONTEXT] == CONTEXT_RING;
        import_knob(plan, KNOB_CONTEXT_METHOD, rotates ? CONTEXT_RING : CONTEXT_ALL_GATHER);
        import_knob(plan, KNOB_SEQUENCE_PARAMETERS, false);
    }
    config_text(file, "parallelism.context_parallel_load_balancer", "");
    int64_t reshard = terms.of[TERM_REGATHER];
    bool again = reshard == true || (reshard != false && of[ROLE_PIPELINE] == 1);
    if (of[ROLE_FSDP] * of[ROLE_EXPERT] * of[ROLE_SEQUENCE] > 1) import_knob(plan, KNOB_REGATHER, again);
    if (of[ROLE_DATA] > 1) import_knob(plan, KNOB_ZERO_STAGE, 0);
    import_overlap(file, request, terms.of[TERM_OVERLAP] && terms.of[TERM_COMPILES], plan);
    import_offload(file, request, terms.of[TERM_OFFLOAD], plan);
    if (terms.of[TERM_OFFLOAD])
        config_note(file, "enable_cpu_offload is priced for the optimizer's state; parameters lie in HBM");
    if (!terms.of[TERM_ALONG])
        config_note(file, "without sequence parallelism: how the residual stream lies is chosen best");
    config_ignore(file, IGNORED);
    return true;
}

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

static const char *refuses_work(const Request *request) {
    const StateDtypes *said = &request->requested.state_dtypes;
    REFUSE_UNLESS(strcmp(request->requested.optimizer, "muon") != 0, "its flags choose no optimizer: it runs AdamW");
    REFUSE_UNLESS(request->question.precision != PRECISION_INT8, "it has no int8; plan with --precision bf16 or fp8");
    REFUSE_UNLESS(!said->gradients || said->gradients == DTYPE_FP32, "its mixed_precision_reduce is fp32 alone");
    REFUSE_UNLESS(state_as_torch_makes(request, false), REFUSES_MOMENTS);
    return NULL;
}

static const char *refuses_degrees(const PlanFacts *facts) {
    REFUSE_UNLESS(facts_heads_divide(facts), REFUSES_HEADS);
    REFUSE_UNLESS(facts_kv_heads_divide(facts, false), REFUSES_KV_HEADS); /* models/common/decoder.py */
    REFUSE_UNLESS(facts->seq % facts->tensor == 0 &&
                      facts->seq / facts->tensor % (2 * facts->sequence) == 0 /* for cp = 1 too */,
                  "the sequence has to be a multiple of tensor x 2 x sequence");
    REFUSE_UNLESS(!facts->model->tied || facts->pipeline == 1,
                  "it ties no embeddings over pipeline stages"); /* models/common/decoder.py */
    bool scans = false;
    for (int i = 0; i < facts->model->kind_count; i++) scans = scans || facts->model->kinds[i].mixer;
    REFUSE_UNLESS(!scans || facts->sequence == 1,
                  "no context parallelism: its gated delta net wants the whole sequence");
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

/* What torchtitan can be configured to recompute: nothing, selective (op by op), full. Source: activation_checkpoint
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
    .has_model = torchtitan_has_model,
    .nestings = {{.name = "torchtitan",
                  .order = {{ROLE_TENSOR, ROLE_SEQUENCE, ROLE_EXPERT, ROLE_FSDP, ROLE_DATA, ROLE_PIPELINE}}}},
    .gpus_only = true,
    .pads = 1u << PAD_STAGES,
    .refuses_work = refuses_work,
    .mixers = {"gated_delta_net"}, /* models/qwen3_5, whose attention has a gate; parallelize.py refuses cp */
    .layers = 1u << LAYERS_GATED,
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
    .optimizer_key = "optimizer.name",
    .optimizers = OPTIMIZERS,
    .import_work = read_work,
    .import_plan = read_plan,
    .formats = {{"torchtitan", torchtitan_write, torchtitan_notes, "a bash script that runs torchtitan 0.3",
                 "train.sh"},
                {"torchtitan-toml", torchtitan_toml_write, torchtitan_toml_notes,
                 "a TOML file for torchtitan up to 0.2", "train.toml", torchtitan_toml_cannot, "torchtitan 0.2"}},
};
