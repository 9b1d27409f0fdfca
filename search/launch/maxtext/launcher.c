/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MaxText: keys of base.yml, in a YAML or as key=value of a command. Keys, defaults and what it raises on: MaxText
 * e591f30cb, configs/base.yml, configs/types.py, utils/max_utils.py fill_unspecified_mesh_axes (docs/launch.md has
 * the commit). */
#include "base/util.h"
#include "search/launch/maxtext/maxtext.h"
#include "search/launch/placement.h"
#include "search/launch/rules.h"

#include <inttypes.h>
#include <string.h>

static const char IGNORED[] =
    "*_path *_file *_dir *directory* run_name steps *checkpoint* *dataset* *tokenizer* tokenize_* *eval* "
    "*learning_rate* adam_* opt_eps *profil* *metrics* *gcs* *tensorboard* *log_* log*_period hf_* grain_* "
    "tfds_* hardware *seed* jax_* *goodput* *_name enable_emergency* reuse_example_batch "
    "gradient_clipping_threshold *warmup* cosine_* decode* prefill* inference* sa_* wi_tile* wo_tile* tile_* "
    "attention use_iota_embed scan_layers *vertex* monitor_* base_config xla_flags packing save_config* "
    "logical_axis_rules data_sharding mesh_axes shard_mode debug* dump_* upload_* add_bos add_eos dtype "
    "megablox sparse_matmul override_model_config normalization_layer_epsilon rope_* dropout_rate "
    "sharding_tolerance skip_jax_distributed_system stack_* async_checkpointing cast_logits_to_fp32 "
    "train_split z_loss* max_segments_per_seq use_tokamax* use_qwix* capacity_factor set_remat_policy* "
    "scan_pipeline* enable_* num_slices mla_* fused_* attention_bias (*";

/* Weights of bf16 are their own master, and moments and gradients are like them unless they are said to be others; of
 * what is not given nothing is said. */
static bool read_dtypes(ConfigFile *file, const LaunchTerms *terms, ImportedWork *out, Error *error) {
    static const int TERMS[] = {TERM_WEIGHTS, TERM_GRADIENTS, TERM_MOMENTS};
    static const char *const KEYS[] = {"weight_dtype", "grad_dtype", "mu_dtype"};
    for (size_t i = 0; i < COUNT_OF(KEYS); i++)
        if (terms->of[TERMS[i]] == TERM_UNKNOWN)
            return config_wrong(file, NULL, KEYS[i], error, "\"%.40s\" is not priced; give bfloat16 or float32",
                                config_text(file, KEYS[i], ""));
    Dtype weights = (Dtype)terms->of[TERM_WEIGHTS], gradients = (Dtype)terms->of[TERM_GRADIENTS];
    StateDtypes state = {.gradients = gradients, .first = (Dtype)terms->of[TERM_MOMENTS]};
    if (weights && weights != DTYPE_FP32) {
        state.master = DTYPE_NONE;
        if (!state.gradients) state.gradients = weights;
        if (!state.first) state.first = weights;
        state.second = weights; /* optax has nu like the weights */
    }
    return import_state(file, &state, out, error);
}

static bool read_work(ConfigFile *file, ImportedWork *out, Error *error) {
    ImportedSizes *sizes = &out->sizes;
    int64_t scale, slices;
    LaunchTerms terms;
    const char *model = config_text(file, "model_name", NULL);
    const char *ours = model ? maxtext_model_ours(model) : NULL;
    out->model = ours ? ours : model && strcmp(model, "default") != 0 ? model : NULL;
    if (!keys_read(MAXTEXT_KEYS, "mevn", file, &terms, error) ||
        !config_whole(file, "global_parameter_scale", 1, 1024, 1, &scale, error) ||
        !config_whole(file, "compile_topology_num_slices", -1, 1 << 20, -1, &slices, error))
        return false;
    *sizes = keys_sizes(&terms);
    if (sizes->experts == 1) sizes->experts = 0;
    if (scale > 1) *sizes = (ImportedSizes){0}; /* a rule of its own says what it scales */
    if (!config_number_text(file, "max_target_length", &out->seq, error)) return false;
    if (!out->seq) {
        out->seq = "2048";
        config_note(file, "max_target_length is not given: MaxText's 2048");
    }
    const char *quantization = config_text(file, "quantization", "");
    if (text_has(quantization, "mxfp8") || text_has(quantization, "nvfp4"))
        out->precision = text_has(quantization, "mxfp8") ? "mxfp8" : "nvfp4";
    else if (text_has(quantization, "fp8"))
        out->precision = "fp8";
    else if (strcmp(quantization, "int8") == 0)
        out->precision = "int8";
    else if (quantization[0])
        config_note(file, "quantization=%.40s is not priced: bf16", quantization);
    if (!read_dtypes(file, &terms, out, error)) return false;
    out->slice = config_text(file, "compile_topology", NULL);
    out->slices = out->slice && slices > 1 ? config_text(file, "compile_topology_num_slices", NULL) : NULL;
    return true;
}

/* context_parallel_strategy, and what types.py raises on. */
static bool read_context(ConfigFile *file, const Request *request, const LaunchTerms *terms, int64_t ulysses,
                         ImportedPlan *plan, Error *error) {
    int64_t context = plan->degrees.of[ROLE_SEQUENCE], method = terms->of[TERM_CONTEXT];
    config_text(file, "context_parallel_reorder_strategy", "");
    if (context == 1) return true;
    if (method == TERM_UNKNOWN) return keys_unknown(MAXTEXT_KEYS, TERM_CONTEXT, file, error);
    if (!import_check_seq(file, request, "max_target_length", context, error)) return false;
    if (method == CONTEXT_RING && !import_check_seq(file, request, "max_target_length", context * context, error))
        return false;
    if (!terms->of[TERM_BALANCED] && method != CONTEXT_ULYSSES)
        config_note(file, "context_parallel_load_balance=false is priced as if balanced");
    import_knob(plan, KNOB_CONTEXT_METHOD, method);
    if (ulysses > 1) import_knob(plan, KNOB_ULYSSES, ulysses);
    if (chip_has_domains(&request->question.chip)) import_knob(plan, KNOB_SEQUENCE_PARAMETERS, false);
    return true;
}

/* Stages and repeats; the microbatches of one pass, where there is one. */
static bool read_pipeline(ConfigFile *file, const Request *request, LaunchTerms *terms, int64_t sequences,
                          ImportedPlan *plan, Error *error) {
    int64_t *microbatches = &terms->of[TERM_MICROBATCHES];
    int64_t stages = plan->degrees.of[ROLE_PIPELINE], layers = request->question.model.layers, pipelined;
    int64_t of_stage = terms->of[TERM_OF_STAGE], repeats = terms->of[TERM_VIRTUAL_STAGES];
    bool delay;
    if (!config_whole(file, "pipeline_parallel_layers", -1, layers, -1, &pipelined, error) ||
        !config_flag(file, "pipeline_delay_activation_forwarding", false, &delay, error))
        return false;
    if (stages == 1) {
        *microbatches = 1;
        return true;
    }
    if (pipelined == -1) pipelined = layers;
    if (repeats == -1) repeats = max_whole(1, pipelined / (stages * of_stage));
    if (*microbatches == -1) *microbatches = delay ? 2 * stages : stages;
    if (delay) config_note(file, "pipeline_delay_activation_forwarding is priced without its delay");
    if (pipelined != layers) config_note(file, "pipeline_parallel_layers is priced as all %" PRId64 " layers", layers);
    if (stages * of_stage * repeats != pipelined)
        return config_wrong(file, NULL, "num_layers_per_pipeline_stage", error,
                            "%" PRId64 " stages of %" PRId64 " layers, %" PRId64 " times, are not the %" PRId64
                            " layers of %s; give numbers that multiply to them",
                            stages, of_stage, repeats, pipelined, request->question.model.name);
    if (*microbatches % stages != 0 || sequences % *microbatches != 0)
        return config_wrong(file, NULL, "num_pipeline_microbatches", error,
                            "%" PRId64 " is no multiple of %" PRId64 " stages that divides the %" PRId64
                            " sequences of a pass; give one",
                            *microbatches, stages, sequences);
    import_knob(plan, KNOB_SCHEDULE, repeats > 1 ? SCHEDULE_CIRCULAR : SCHEDULE_GPIPE);
    import_knob(plan, KNOB_VIRTUAL_STAGES, repeats);
    return true;
}

static bool read_batch(ConfigFile *file, const Request *request, LaunchTerms *terms, ImportedPlan *plan, Error *error) {
    int64_t accumulation = terms->of[TERM_PASSES], devices = request->question.machine.mesh.devices;
    double per_device;
    if (!config_real(file, "per_device_batch_size", 1e-9, 1e9, 12, &per_device, error)) return false;
    double of_pass = per_device * (double)devices * (1 + 1e-12); /* 0.1 times 80 is 8 */
    bool requested = request->requested.batch_origin == FROM_OPTION;
    int64_t pass = of_pass < 6e10 ? (int64_t)of_pass : 0, replicas = degrees_replicas(&plan->degrees);
    if (requested) pass = request->question.work.sequences / accumulation;
    if (pass < 1)
        return config_wrong(file, NULL, "per_device_batch_size", error,
                            "%g on %" PRId64 " devices is no batch; give another one", per_device, devices);
    if (!read_pipeline(file, request, terms, pass, plan, error)) return false;
    int64_t microbatches = terms->of[TERM_MICROBATCHES];
    if (pass % (replicas * microbatches) != 0)
        return config_wrong(file, NULL, requested ? "the batch requested" : "per_device_batch_size", error,
                            "%" PRId64 " sequences of a pass do not divide by %" PRId64
                            " replicas (data x fsdp x expert)"
                            "%s; give %" PRId64 " or a multiple",
                            pass, replicas, microbatches > 1 ? " and microbatches" : "", replicas * microbatches);
    if (accumulation > 1 && plan->degrees.of[ROLE_PIPELINE] > 1)
        config_note(file, "gradient accumulation is priced as more microbatches: the pipeline drains once a step");
    return import_batch(file, request, "per_device_batch_size", pass * accumulation, pass / replicas / microbatches,
                        plan, error);
}

/* What `custom` says of each tensor: remat, device, offload. */
static const char *state_of(ConfigFile *file, const char *key) {
    const char *word = config_text(file, key, "remat");
    return strcmp(word, "device") == 0 ? "saved" : strcmp(word, "offload") == 0 ? "offloaded" : "recomputed";
}

static void read_custom_remat(ConfigFile *file, ImportedPlan *plan) {
    static const struct {
        const char *activation, *key, *others[4];
    } TENSORS[] = {
        {"qkv", "qkv_proj", {"query_proj", "key_proj", "value_proj", "kv_proj"}},
        {"context", "context", {"attention_out"}},
        {"middle", "out_proj", {NULL}},
        {"gate_up", "mlpwi", {"mlpwi_0", "mlpwi_1", "moe_mlpwi_0", "moe_mlpwi_1"}},
    };
    /* products that backward does not want, or that are part of another one */
    static const char *const UNPRICED[] = {"mlpwo", "moe_mlpwo", "query_wa_proj", "kv_wa_proj",
                                           "mla_q", "mla_kv",    "engram",        "indexer_cutoff_threshold"};
    size_t used = 0;
    const char *input = config_text(file, "decoder_layer_input", "device");
    for (size_t i = 0; i < COUNT_OF(UNPRICED); i++) config_text(file, UNPRICED[i], "");
    for (size_t i = 0; i < COUNT_OF(TENSORS); i++) {
        const char *state = state_of(file, TENSORS[i].key);
        bool whole = strcmp(state, "recomputed") != 0;
        for (size_t k = 0; k < COUNT_OF(TENSORS[i].others) && TENSORS[i].others[k]; k++) {
            const char *other = state_of(file, TENSORS[i].others[k]);
            if (strcmp(state, "recomputed") == 0) state = other;
        }
        if (i == 0 && !whole && strcmp(state_of(file, "query_proj"), "recomputed") == 0)
            state = "recomputed"; /* queries are most of them */
        if (strcmp(state, "recomputed") == 0) continue;
        used += (size_t)snprintf(plan->remat + used, sizeof plan->remat - used, "%s%s=%s", used > 0 ? " " : "",
                                 TENSORS[i].activation, state);
    }
    if (strcmp(input, "offload") == 0)
        snprintf(plan->remat + used, sizeof plan->remat - used, "%slayer_input=offloaded", used > 0 ? " " : "");
    else if (used == 0)
        snprintf(plan->remat, sizeof plan->remat, "full");
}

static bool read_remat(ConfigFile *file, ImportedPlan *plan, Error *error) {
    static const struct {
        const char *maxtext, *ours;
    } OLDER[] = {{"minimal_flash", "minimal_with_context"},
                 {"save_dot_with_context_except_mlpwi", "save_dot_with_context_except_mlp"},
                 {"minimal_with_context_and_quantization", "minimal_with_context"},
                 {"minimal_with_quantization", "minimal"}};
    const char *policy = config_text(file, "remat_policy", "full");
    RematRule rule;
    Error wrong = {0};
    if (strcmp(policy, "custom") == 0) {
        read_custom_remat(file, plan);
        return true;
    }
    for (size_t i = 0; i < COUNT_OF(OLDER); i++)
        if (strcmp(policy, OLDER[i].maxtext) == 0) policy = OLDER[i].ours;
    if (strchr(policy, '=') || strcmp(policy, "auto") == 0 || !remat_parse(policy, "remat_policy", &rule, &wrong))
        return config_wrong(file, NULL, "remat_policy", error,
                            "\"%.60s\" is no policy that is known; say --remat POLICY", policy);
    snprintf(plan->remat, sizeof plan->remat, "%s", policy);
    return true;
}

/* As the options of its placements have them. */
static const char SPLIT[] = "allow_split_physical_axes=true", CUSTOM[] = "custom_mesh=";

static bool read_plan(ConfigFile *file, const Request *request, ImportedPlan *plan, Error *error) {
    int64_t ulysses;
    LaunchTerms terms;
    bool again, splits;
    if (!keys_read(MAXTEXT_KEYS, NULL, file, &terms, error) ||
        !maxtext_read_mesh(file, request, &ulysses, plan, error) ||
        !import_check_heads(file, request, "ici_tensor_parallelism", plan->degrees.of[ROLE_TENSOR], false, error) ||
        !read_context(file, request, &terms, ulysses, plan, error) || !read_batch(file, request, &terms, plan, error) ||
        !read_remat(file, plan, error) || !config_flag(file, "pipeline_fsdp_ag_once", false, &again, error) ||
        !config_flag(file, "allow_split_physical_axes", false, &splits, error))
        return false;
    const int64_t *of = plan->degrees.of;
    if (of[ROLE_DATA] > 1) import_knob(plan, KNOB_ZERO_STAGE, terms.of[TERM_ZERO]);
    /* no policy has a name for gathered weights: they come together again for backward */
    if (of[ROLE_FSDP] * of[ROLE_SEQUENCE] * of[ROLE_EXPERT] > 1) import_knob(plan, KNOB_REGATHER, true);
    import_offload(file, request, terms.of[TERM_OFFLOAD], plan);
    if (terms.of[TERM_PARAMETERS_ON_HOST])
        config_note(file, "parameter_memory_host_offload is not priced: parameters in HBM");
    if (again) config_note(file, "pipeline_fsdp_ag_once is priced as gathers in every microbatch");
    const char *custom = config_text(file, "custom_mesh", NULL);
    if (custom || splits)
        plan->option = arena_format(file->arena, "%s%s%s%s", splits ? SPLIT : "", splits && custom ? " " : "",
                                    custom ? CUSTOM : "", custom ? custom : "");
    config_ignore(file, IGNORED);
    return (!custom && !splits) || plan->option || error_memory(error);
}

/* What stands after custom_mesh= in an option; NULL: it has none. */
static const char *custom_of(const char *option) {
    const char *custom = option ? strstr(option, CUSTOM) : NULL;
    return custom ? custom + sizeof CUSTOM - 1 : NULL;
}

static bool read_way(ConfigFile *file, const Request *request, const ImportedPlan *plan, const LaunchWays *ways,
                     const LaunchWay **out, Error *error) {
    const char *custom = custom_of(plan->option), *machine = request->question.machine.text;
    bool splits = plan->option && strstr(plan->option, SPLIT) == plan->option;
    *out = NULL;
    for (int i = 0; i < ways->count && !*out; i++) {
        const char *other = custom_of(ways->way[i].option);
        if (custom ? other && strcmp(custom, other) == 0 : !other) *out = &ways->way[i];
    }
    if (custom && !*out)
        return config_wrong(file, NULL, "custom_mesh", error, "\"%.40s\" cannot place these degrees on %s", custom,
                            machine);
    if (*out && (*out)->option && !splits)
        return config_wrong(file, NULL, "allow_split_physical_axes", error,
                            "is false, and these degrees split axes of %s: JAX refuses them; set it to true", machine);
    return true;
}

/* ---- what it refuses ---- */

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

/* configs/types.py: stages * repeats * layers_per_stage == layers; microbatches % stages == 0. Its loop over stages is
 * a scan that JAX differentiates as a whole, so all forwards come before all backwards: GPipe with one repeat,
 * circular with more. A stage is one kind of layer (layers/nnx_decoders.py): DeepSeek's dense layers stand before the
 * pipeline. */
static const char *pipeline(const PlanFacts *facts) {
    REFUSE_UNLESS(facts_runs(facts, 1u << SCHEDULE_GPIPE | 1u << SCHEDULE_CIRCULAR),
                  "its pipeline is one scan, all forwards first: schedule gpipe or circular");
    REFUSE_UNLESS(facts_even_stages(facts), REFUSES_UNEVEN_STAGES);
    REFUSE_UNLESS(facts->pipeline == 1 || facts->plan->knobs.microbatches % facts->pipeline == 0,
                  "num_pipeline_microbatches has to be a multiple of the stages");
    return NULL;
}

/* configs/types.py. Load balance, which rings and gathers here assume, cuts a sequence into 2 * context pieces. Ring
 * runs on a flash kernel that knows neither windows nor sinks, and splits its blocks again: max_target_length %
 * context^2 == 0. Ulysses is for TPUs and global attention; with a ring outside (usp), both have to be above 1.
 * base.yml shards weights over context. */
static const char *context(const PlanFacts *facts) {
    ContextMethod context = facts->methods->context;
    if (facts->sequence == 1) return NULL;
    REFUSE_UNLESS(!facts->methods->sequence_replicates, "its context axis shards parameters too");
    if (context == CONTEXT_ULYSSES || context == CONTEXT_ULYSSES_RING) {
        REFUSE_UNLESS(facts->tpu, "it exchanges heads (ulysses, usp) on TPUs alone");
        REFUSE_UNLESS(!has_windows_or_sinks(facts->model) && !has_latents(facts->model),
                      "it exchanges heads (ulysses, usp) for global attention alone: no windows, sinks or latents");
        REFUSE_UNLESS(facts_ulysses_divides(facts), "heads and KV heads have to be multiples of tensor x ulysses");
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

/* types.py: per_device_batch_size * max_target_length % num_vocab_tiling == 0, with one tile: the tokens of a device
 * are a whole number. Sequences of one pass are gradient_accumulation_steps apart; those of a pipeline go together. */
static bool whole_tokens(const PlanFacts *facts) {
    int64_t inside = facts->tensor * facts->sequence * facts->pipeline, passes = 1;
    if (facts->pipeline > 1) passes = facts->plan->knobs.microbatches % inside;
    return facts->plan->knobs.microbatch_sequences % inside * (facts->seq % inside) % inside * passes % inside == 0;
}

static const char *refuses_degrees(const PlanFacts *facts) {
    REFUSE_UNLESS(facts_heads_divide(facts), REFUSES_HEADS);
    REFUSE_UNLESS(facts_kv_heads_divide(facts, false), REFUSES_KV_HEADS); /* a sharded dimension: JAX rejects a rest */
    REFUSE_UNLESS(facts->pipeline == 1 || facts->model->kind_count == 1,
                  "its pipeline stages are made of one kind of layer, and this model has several");
    REFUSE_UNLESS(facts->seq % facts->sequence == 0, "max_target_length has to be a multiple of context");
    REFUSE_UNLESS(facts_weights_divide(facts),
                  "d_model has to be a multiple of fsdp x sequence x expert, which shard it");
    return NULL;
}

static const char *refuses(const PlanFacts *facts) {
    const char *refusal = pipeline(facts);
    if (!refusal) refusal = context(facts);
    if (refusal) return refusal;
    REFUSE_UNLESS(!facts_folded(facts),
                  "expert is an axis of its own there: it does not fold experts onto other ranks");
    REFUSE_UNLESS(facts->plan->knobs.zero_stage <= 1, "shard_optimizer_over_data is ZeRO-1; it has no ZeRO-2");
    REFUSE_UNLESS(facts->plan->knobs.zero_stage == 0 || facts->fsdp == 1,
                  "shard_optimizer_over_data (ZeRO-1) excludes fsdp");
    /* XLA keeps the shards of a scanned layer, whatever the remat policy (compiled for v5p by libtpu 0.0.50.1) */
    REFUSE_UNLESS(facts->plan->knobs.regather, REFUSES_KEPT_WEIGHTS);
    REFUSE_UNLESS(whole_tokens(facts), "per_device_batch_size x max_target_length has to be a whole number");
    return NULL;
}

/* ---- a plan as people who run it say it ---- */

static const char *axis_name(Role role, const Sharding *sharding) {
    static const char *const NAMES[ROLE_COUNT] = {
        [ROLE_DATA] = "data",     [ROLE_FSDP] = "fsdp",         [ROLE_SEQUENCE] = "context",
        [ROLE_TENSOR] = "tensor", [ROLE_PIPELINE] = "pipeline", [ROLE_EXPERT] = "expert"};
    bool along = role == ROLE_TENSOR && sharding->residual == RESIDUAL_SEQUENCE;
    return along ? "tensor_sequence" : NAMES[role];
}

static void plan_words(const LaunchJob *job, Prose *out) {
    const RankedPlan *ranked = job->ranked;
    static const Role ORDER[] = {ROLE_DATA, ROLE_PIPELINE, ROLE_FSDP, ROLE_SEQUENCE, ROLE_TENSOR, ROLE_EXPERT};
    MaxtextDivision division = maxtext_division(ranked);
    const Knobs *knobs = &ranked->plan.knobs;
    char text[REMAT_TEXT_SIZE];
    for (int i = 0; i < ROLE_COUNT; i++)
        if (division.across[ORDER[i]] > 1)
            prose_item(out, ", ", "dcn_%s %" PRId64, axis_name(ORDER[i], &ranked->plan.layout.sharding),
                       division.across[ORDER[i]]);
    for (int i = 0; i < ROLE_COUNT; i++)
        if (division.inside[ORDER[i]] > 1)
            prose_item(out, ", ", "ici_%s %" PRId64, axis_name(ORDER[i], &ranked->plan.layout.sharding),
                       division.inside[ORDER[i]]);
    if (out->used == 0) prose_add(out, "one device");
    int64_t stages = ranked->plan.degrees.of[ROLE_PIPELINE], passes = stages > 1 ? 1 : knobs->microbatches;
    int64_t sequences =
        knobs->microbatch_sequences * degrees_replicas(&ranked->plan.degrees) * (stages > 1 ? knobs->microbatches : 1);
    prose_item(out, ", ", "per_device_batch_size %.6g", (double)sequences / (double)ranked->machine.mesh.devices);
    if (passes > 1) prose_item(out, ", ", "gradient_accumulation_steps %" PRId64, passes);
    const char *remat = maxtext_remat_words(job->model, &ranked->plan.layout, text);
    prose_item(out, ", ", "%s", remat ? remat : "a custom remat_policy");
    if (knobs->offload_optimizer) prose_item(out, ", ", "optimizer_memory_host_offload");
}

/* e591f30cb src/maxtext/configs/base.yml, mesh_axes from data to expert, of which JAX makes the last the innermost;
 * types.py (0.2.5) moves `stage` in front of `data` where there are stages. */
#define ORDER                                                                                                          \
    {                                                                                                                  \
        { ROLE_EXPERT, ROLE_TENSOR, ROLE_SEQUENCE, ROLE_FSDP, ROLE_DATA, ROLE_PIPELINE }                               \
    }

/* It takes no device array: in addition to JAX's own mesh there are its custom ones. */
static void ways(const LaunchAsk *ask, LaunchWays *out) {
    static const Nesting NESTING = ORDER;
    launch_on_device_mesh(ask, &NESTING, "allow_split_physical_axes=true", out);
    if (out->order_unknown || !mesh_of_tpus(ask->mesh)) return;
    JaxShape physical = jax_physical_shape(ask->mesh), logical = launch_ici_shape(ask->mesh, ask->placement, &NESTING);
    JaxAssignment assignment;
    const char *custom = maxtext_custom_mesh(&physical, &logical, &assignment);
    if (custom)
        launch_add_assignment(ask, &NESTING, &assignment,
                              strcmp(custom, "hybrid_ring_64x4") == 0
                                  ? "allow_split_physical_axes=true custom_mesh=hybrid_ring_64x4"
                                  : "allow_split_physical_axes=true custom_mesh=hybrid_ring_32x8",
                              out);
}

/* Layers: models/qwen3.py (Qwen3NextGatedDeltaNet, and full attention with a gate), layers/attention_mla.py
 * (Indexer). */
const Launcher MAXTEXT_LAUNCHER = {
    .name = "maxtext",
    .mixers = {"gated_delta_net"},
    .layers = 1u << LAYERS_INDEXED | 1u << LAYERS_GATED,
    .usual_on_tpus = true,
    .nestings = {{.name = "maxtext", .order = ORDER}},
    .refuses_work = maxtext_refuses_work,
    .refuses_degrees = refuses_degrees,
    .refuses = refuses,
    .ways = ways,
    .expressible_domains = true,
    .remat = maxtext_remat_rules,
    .remat_words = maxtext_remat_words,
    .plan_words = plan_words,
    .signs = {"ici_", "dcn_", "per_device_batch_size", "max_target_length", "remat_policy"},
    .keys = MAXTEXT_KEYS,
    .optimizer_key = "opt_type",
    .optimizers = MAXTEXT_OPTIMIZERS,
    .import_work = read_work,
    .import_plan = read_plan,
    .import_way = read_way,
    .formats = {{"maxtext", maxtext_write, maxtext_notes, "a YAML file for MaxText's trainer", "run.yml",
                 .starts = "python3 -m maxtext.trainers.pre_train.train"}},
};
