/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MaxText: keys of base.yml, in a YAML or as key=value of a command. Keys, defaults and what it raises on: MaxText
 * e591f30cb, configs/base.yml, configs/types.py, utils/max_utils.py fill_unspecified_mesh_axes (docs/launch.md has
 * the commit). */
#include "base/util.h"
#include "search/launch/maxtext/maxtext.h"
#include "search/launch/placement.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const int64_t SIZE_MAX_READ = INT64_C(1) << 40;

/* Axes of its mesh by the middle of their keys, ici_X_parallelism and dcn_X_parallelism. */
static const struct {
    const char *name;
    Role role;
    const char *said; /* what is said of it where it is above 1; NULL: it is what the role is */
} AXES[] = {
    {"data", ROLE_DATA, NULL},
    {"pipeline", ROLE_PIPELINE, NULL},
    {"fsdp", ROLE_FSDP, NULL},
    {"fsdp_transpose", ROLE_FSDP, "fsdp_transpose is priced as fsdp"},
    {"context", ROLE_SEQUENCE, NULL},
    {"sequence", ROLE_SEQUENCE, "sequence is priced as context"},
    {"context_usp_ulysses", ROLE_SEQUENCE, NULL},
    {"tensor", ROLE_TENSOR, NULL},
    {"tensor_transpose", ROLE_TENSOR, "tensor_transpose is priced as tensor"},
    {"tensor_sequence", ROLE_TENSOR, NULL},
    {"expert", ROLE_EXPERT, NULL},
};
enum { AXIS_FSDP = 2, AXIS_USP = 6 };

/* Axes that are for decoding or for what is not priced. */
static const char *const NOT_PRICED[] = {"context_autoregressive", "autoregressive", "diloco"};

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
    "scan_pipeline* enable_* num_slices mla_* fused_* (*";

/* Weights of bf16 are their own master, and moments and gradients are like them unless they are said to be others; of
 * what is not given nothing is said. */
static bool read_dtypes(ConfigFile *file, ImportedWork *out, Error *error) {
    static const char *const KEYS[] = {"weight_dtype", "grad_dtype", "mu_dtype"};
    const char *given[COUNT_OF(KEYS)];
    for (size_t i = 0; i < COUNT_OF(KEYS); i++) {
        const char *dtype = config_text(file, KEYS[i], NULL);
        given[i] = !dtype                           ? NULL
                   : strcmp(dtype, "bfloat16") == 0 ? "bf16"
                   : strcmp(dtype, "float32") == 0  ? "fp32"
                   : strcmp(dtype, "float16") == 0  ? "fp16"
                                                    : "";
        if (given[i] && !given[i][0])
            return config_wrong(file, NULL, KEYS[i], error, "\"%.40s\" is not priced; give bfloat16 or float32", dtype);
    }
    bool narrow = given[0] && strcmp(given[0], "fp32") != 0;
    const char *gradients = given[1] ? given[1] : narrow ? given[0] : NULL;
    const char *moments = given[2] ? given[2] : narrow ? given[0] : NULL;
    if (!narrow && !gradients && !moments) return true;
    out->state_dtypes = arena_format(file->arena, "%s%s%s%s%s%s", narrow ? "master=none" : "",
                                     narrow && gradients ? " " : "", gradients ? "gradients=" : "",
                                     gradients ? gradients : "", moments ? " moments=" : "", moments ? moments : "");
    return out->state_dtypes || error_memory(error);
}

bool maxtext_work(ConfigFile *file, ImportedWork *out, Error *error) {
    ImportedSizes *sizes = &out->sizes;
    int64_t scale, slices;
    const char *model = config_text(file, "model_name", NULL);
    const char *ours = model ? maxtext_model_ours(model) : NULL;
    out->model = ours ? ours : model && strcmp(model, "default") != 0 ? model : NULL;
    if (!config_whole(file, "base_num_decoder_layers", 1, SIZE_MAX_READ, 0, &sizes->layers, error) ||
        !config_whole(file, "base_emb_dim", 1, SIZE_MAX_READ, 0, &sizes->d_model, error) ||
        !config_whole(file, "base_num_query_heads", 1, SIZE_MAX_READ, 0, &sizes->heads, error) ||
        !config_whole(file, "base_num_kv_heads", 1, SIZE_MAX_READ, 0, &sizes->kv_heads, error) ||
        !config_whole(file, "base_mlp_dim", 1, SIZE_MAX_READ, 0, &sizes->d_ff, error) ||
        !config_whole(file, "num_experts", 1, SIZE_MAX_READ, 0, &sizes->experts, error) ||
        !config_whole(file, "vocab_size", 1, SIZE_MAX_READ, 0, &sizes->vocab, error) ||
        !config_whole(file, "global_parameter_scale", 1, 1024, 1, &scale, error) ||
        !config_whole(file, "compile_topology_num_slices", -1, 1 << 20, -1, &slices, error))
        return false;
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
    if (!read_dtypes(file, out, error)) return false;
    const char *optimizer = config_text(file, "opt_type", "adamw");
    if (strcmp(optimizer, "adamw") != 0 && strcmp(optimizer, "adam_pax") != 0)
        out->optimizer = strcmp(optimizer, "muon") == 0 || strcmp(optimizer, "sgd") == 0 ? optimizer : NULL;
    out->slice = config_text(file, "compile_topology", NULL);
    out->slices = out->slice && slices > 1 ? config_text(file, "compile_topology_num_slices", NULL) : NULL;
    return true;
}

/* The degrees of one network, ici or dcn: at most one is -1, and takes what is left of `total`. */
static bool read_network(ConfigFile *file, const char *network, int64_t total, const char *of,
                         int64_t out[COUNT_OF(AXES)], Error *error) {
    int open = -1;
    int64_t product = 1;
    char key[64], open_key[64] = "";
    for (size_t i = 0; i < COUNT_OF(AXES); i++) {
        bool rest = strcmp(AXES[i].name, network[0] == 'i' ? "fsdp" : "data") == 0;
        snprintf(key, sizeof key, "%s_%s_parallelism", network, AXES[i].name);
        if (!config_whole(file, key, -1, 1 << 24, rest ? -1 : 1, &out[i], error)) return false;
        if (out[i] == -1 && open >= 0)
            return config_wrong(file, NULL, key, error,
                                "is -1 beside %s, which is -1 too (or not given); give one of them", open_key);
        if (out[i] == -1) {
            open = (int)i;
            snprintf(open_key, sizeof open_key, "%s", key);
        } else if (__builtin_mul_overflow(product, out[i], &product)) {
            product = INT64_MAX;
        }
    }
    for (size_t i = 0; i < COUNT_OF(NOT_PRICED); i++) {
        int64_t degree;
        snprintf(key, sizeof key, "%s_%s_parallelism", network, NOT_PRICED[i]);
        if (!config_whole(file, key, -1, 1 << 24, 1, &degree, error)) return false;
        if (degree != 1)
            return config_wrong(file, NULL, key, error, "%" PRId64 " is a way of training that is not priced; give 1",
                                degree);
    }
    if (open >= 0 && product <= total && total % product == 0) {
        out[open] = total / product;
        product = total;
    }
    if (product == total) return true;
    snprintf(key, sizeof key, "%s_*_parallelism", network);
    return config_wrong(file, NULL, key, error,
                        "multiply to %" PRId64 "%s, not to the %" PRId64
                        " %s; give degrees that do, or another machine",
                        product, open >= 0 ? " without the -1" : "", total, of);
}

static bool read_degrees(ConfigFile *file, const Request *request, int64_t *ulysses, ImportedPlan *plan, Error *error) {
    int64_t inside[COUNT_OF(AXES)], across[COUNT_OF(AXES)];
    bool gpus = chip_has_domains(&request->question.chip);
    int64_t parts = 1; /* slices, or domains of GPUs: what JAX numbers by slice_index */
    const Mesh *mesh = &request->question.machine.mesh;
    for (int a = 0; a < mesh->axis_count; a++)
        if (axis_is_across(&mesh->axes[a])) parts *= mesh->axes[a].size;
    if (!read_network(file, "ici", mesh->devices / parts, gpus ? "GPUs of a domain" : "devices of a slice", inside,
                      error) ||
        !read_network(file, "dcn", parts, gpus ? "domains" : "slices", across, error))
        return false;
    plan->expressible_across = true;
    for (size_t i = 0; i < COUNT_OF(AXES); i++) {
        plan->degrees.of[AXES[i].role] *= inside[i] * across[i];
        plan->across[AXES[i].role] *= across[i];
        if (AXES[i].said && inside[i] * across[i] > 1) config_note(file, "%s", AXES[i].said);
    }
    *ulysses = inside[AXIS_USP] * across[AXIS_USP];
    if (plan->degrees.of[ROLE_EXPERT] > 1 && import_experts(request) == 0)
        return config_wrong(file, NULL, "ici_expert_parallelism", error,
                            "%s has no experts; give 1, and its ways to fsdp", request->question.model.name);
    return true;
}

/* context_parallel_strategy, and what types.py raises on. */
static bool read_context(ConfigFile *file, const Request *request, int64_t ulysses, ImportedPlan *plan, Error *error) {
    const char *strategy = config_text(file, "context_parallel_strategy", "all_gather");
    int64_t context = plan->degrees.of[ROLE_SEQUENCE];
    bool balance;
    if (!config_flag(file, "context_parallel_load_balance", true, &balance, error)) return false;
    config_text(file, "context_parallel_reorder_strategy", "");
    if (context == 1) return true;
    const char *method = strcmp(strategy, "usp") == 0 ? "ulysses_ring" : strategy;
    bool known = false;
    for (int i = CONTEXT_RING; i < CONTEXT_COUNT; i++)
        known = known || strcmp(method, context_method_name((ContextMethod)i)) == 0;
    if (!known)
        return config_wrong(file, NULL, "context_parallel_strategy", error,
                            "\"%.40s\" is none; give all_gather, ring, ulysses or usp", strategy);
    if (!import_check_seq(file, request, "max_target_length", context, error)) return false;
    if (strcmp(method, "ring") == 0 && !import_check_seq(file, request, "max_target_length", context * context, error))
        return false;
    if (!balance && strcmp(method, "ulysses") != 0)
        config_note(file, "context_parallel_load_balance=false is priced as if balanced");
    if (!import_knob_named(plan, KNOB_CONTEXT_METHOD, method, file, error)) return false;
    if (ulysses > 1) import_knob(plan, KNOB_ULYSSES, ulysses);
    if (chip_has_domains(&request->question.chip)) import_knob(plan, KNOB_SEQUENCE_PARAMETERS, false);
    return true;
}

/* Stages and repeats; microbatches of one pass in *passes. */
static bool read_pipeline(ConfigFile *file, const Request *request, int64_t sequences, int64_t *microbatches,
                          ImportedPlan *plan, Error *error) {
    int64_t stages = plan->degrees.of[ROLE_PIPELINE], layers = request->question.model.layers, of_stage, repeats,
            pipelined;
    bool delay;
    if (!config_whole(file, "num_layers_per_pipeline_stage", 1, layers, 1, &of_stage, error) ||
        !config_whole(file, "num_pipeline_repeats", -1, layers, -1, &repeats, error) ||
        !config_whole(file, "pipeline_parallel_layers", -1, layers, -1, &pipelined, error) ||
        !config_whole(file, "num_pipeline_microbatches", -1, 1 << 24, -1, microbatches, error) ||
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

static bool read_batch(ConfigFile *file, const Request *request, ImportedPlan *plan, Error *error) {
    int64_t accumulation, microbatches, devices = request->question.machine.mesh.devices;
    double per_device;
    if (!config_real(file, "per_device_batch_size", 1e-9, 1e9, 12, &per_device, error) ||
        !config_whole(file, "gradient_accumulation_steps", 1, 1 << 20, 1, &accumulation, error))
        return false;
    double of_pass = per_device * (double)devices * (1 + 1e-12); /* 0.1 times 80 is 8 */
    bool asked = request->asked.batch_origin == FROM_OPTION;
    int64_t pass = of_pass < 6e10 ? (int64_t)of_pass : 0, replicas = degrees_replicas(&plan->degrees);
    if (asked) pass = request->question.work.sequences / accumulation;
    if (pass < 1)
        return config_wrong(file, NULL, "per_device_batch_size", error,
                            "%g on %" PRId64 " devices is no batch; give another one", per_device, devices);
    if (!read_pipeline(file, request, pass, &microbatches, plan, error)) return false;
    if (pass % (replicas * microbatches) != 0)
        return config_wrong(file, NULL, asked ? "the batch asked for" : "per_device_batch_size", error,
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

bool maxtext_plan(ConfigFile *file, const Request *request, ImportedPlan *plan, Error *error) {
    int64_t ulysses;
    bool zero, optimizer, parameters, again, splits;
    if (!read_degrees(file, request, &ulysses, plan, error) ||
        !import_check_heads(file, request, "ici_tensor_parallelism", plan->degrees.of[ROLE_TENSOR], false, error) ||
        !read_context(file, request, ulysses, plan, error) || !read_batch(file, request, plan, error) ||
        !read_remat(file, plan, error) || !config_flag(file, "shard_optimizer_over_data", false, &zero, error) ||
        !config_flag(file, "optimizer_memory_host_offload", false, &optimizer, error) ||
        !config_flag(file, "parameter_memory_host_offload", false, &parameters, error) ||
        !config_flag(file, "pipeline_fsdp_ag_once", false, &again, error) ||
        !config_flag(file, "allow_split_physical_axes", false, &splits, error))
        return false;
    const int64_t *of = plan->degrees.of;
    if (of[ROLE_DATA] > 1) import_knob(plan, KNOB_ZERO_STAGE, zero ? 1 : 0);
    /* no policy has a name for gathered weights: they come together again for backward */
    if (of[ROLE_FSDP] * of[ROLE_SEQUENCE] * of[ROLE_EXPERT] > 1) import_knob(plan, KNOB_REGATHER, true);
    import_offload(file, request, optimizer, plan);
    if (parameters) config_note(file, "parameter_memory_host_offload is not priced: parameters in HBM");
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

bool maxtext_import_way(ConfigFile *file, const Request *request, const ImportedPlan *plan, const LaunchWays *ways,
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
