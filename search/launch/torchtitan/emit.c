/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What torchtitan is given, in the words of its two eras. For 0.3 a bash script with a config function of a few lines,
 * which says what flags cannot (the model's converters, activation checkpointing, modules of uneven stages), and flags
 * for all else; up to 0.2 a TOML file. */
#include "base/util.h"
#include "cost/stage/stage.h"
#include "search/answer/plan_words.h"
#include "search/launch/torchtitan/torchtitan.h"

#include <inttypes.h>

/* A model that its registry has, under both spellings. */
typedef struct {
    const char *name;   /* in our catalog */
    const char *module; /* torchtitan.models.MODULE, and [model] name */
    const char *flavor; /* of 0.2 and of model_registry() in 0.3 */
    const char *base;   /* 0.3: the config function whose optimizer, data and metrics a run takes */
    const char *assets; /* hf_assets_path */
    int64_t longest;    /* that its rotary table is made for: rope.max_seq_len */
} TitanModel;

/* torchtitan 0.3.0 models/NAME/__init__.py and config_registry.py; 0.2.2 models/NAME/__init__.py. */
static const TitanModel MODELS[] = {
    {"llama3-8b", "llama3", "8B", "llama3_8b", "./assets/hf/Meta-Llama-3-8B", 131072},
    {"llama3.1-8b", "llama3", "8B", "llama3_8b", "./assets/hf/Llama-3.1-8B", 131072},
    {"llama3-70b", "llama3", "70B", "llama3_70b", "./assets/hf/Meta-Llama-3-70B", 131072},
    {"llama3.1-70b", "llama3", "70B", "llama3_70b", "./assets/hf/Llama-3.1-70B", 131072},
    {"llama3.3-70b", "llama3", "70B", "llama3_70b", "./assets/hf/Llama-3.3-70B-Instruct", 131072},
    {"llama3.1-405b", "llama3", "405B", "llama3_70b", "./assets/hf/Llama-3.1-405B", 131072},
    {"qwen3-0.6b", "qwen3", "0.6B", "qwen3_0_6b", "./assets/hf/Qwen3-0.6B", 40960},
    {"qwen3-1.7b", "qwen3", "1.7B", "qwen3_1_7b", "./assets/hf/Qwen3-1.7B", 40960},
    {"qwen3-4b", "qwen3", "4B", "qwen3_14b", "./assets/hf/Qwen3-4B", 40960},
    {"qwen3-8b", "qwen3", "8B", "qwen3_14b", "./assets/hf/Qwen3-8B", 40960},
    {"qwen3-14b", "qwen3", "14B", "qwen3_14b", "./assets/hf/Qwen3-14B", 40960},
    {"qwen3-32b", "qwen3", "32B", "qwen3_32b", "./assets/hf/Qwen3-32B", 40960},
    {"qwen3-30b-a3b", "qwen3", "30B-A3B", "qwen3_30b_a3b", "./assets/hf/Qwen3-30B-A3B", 40960},
    {"qwen3-235b-a22b", "qwen3", "235B-A22B", "qwen3_30b_a3b", "./assets/hf/Qwen3-235B-A22B", 40960},
    {"deepseek-v2-lite", "deepseek_v3", "16B", "deepseek_v3_16b", "./assets/hf/deepseek-moe-16b-base", 16384},
    {"deepseek-v2-236b", "deepseek_v3", "236B", "deepseek_v3_671b", "./assets/hf/DeepSeek-V2", 16384},
    {"deepseek-v3", "deepseek_v3", "671B", "deepseek_v3_671b", "./assets/hf/DeepSeek-V3.1-Base", 16384},
    {"qwen3.5-4b", "qwen3_5", "4B", "qwen35_4b", "./assets/hf/Qwen3.5-4B", 262144},
    {"qwen3.5-9b", "qwen3_5", "9B", "qwen35_9b", "./assets/hf/Qwen3.5-9B", 262144},
    {"qwen3.5-27b", "qwen3_5", "27B", "qwen35_27b", "./assets/hf/Qwen3.5-27B", 262144},
    {"qwen3.5-35b-a3b", "qwen3_5", "35B-A3B", "qwen35_35b_a3b", "./assets/hf/Qwen3.5-35B-A3B", 262144},
    {"qwen3.5-122b-a10b", "qwen3_5", "122B-A10B", "qwen35_122b_a10b", "./assets/hf/Qwen3.5-122B-A10B", 262144},
    {"qwen3.5-397b-a17b", "qwen3_5", "397B-A17B", "qwen35_397b_a17b", "./assets/hf/Qwen3.5-397B-A17B", 262144},
    {"gpt-oss-20b", "gpt_oss", "20b", "gpt_oss_20b", "./assets/hf/gpt-oss-20b", 131072},
    {"gpt-oss-120b", "gpt_oss", "120b", "gpt_oss_120b", "./assets/hf/gpt-oss-120b", 131072},
};

/* NULL: there is none. */
static const TitanModel *titan_model(const Model *model) {
    for (size_t i = 0; i < COUNT_OF(MODELS); i++)
        if (name_matches(MODELS[i].name, model->name)) return &MODELS[i];
    return NULL;
}

bool torchtitan_has_model(const Model *model) {
    const LayerKind *kind = &model->kinds[0];
    bool plain = model->kind_count == 1 && kind->attention == ATTENTION_HEADS && kind->window == 0 && kind->gated &&
                 kind->experts == 0 && !kind->mixer && !kind->parallel_block && !kind->out_bias && !kind->sinks &&
                 kind->norms == 2 && model->positions == POSITIONS_ROTARY && model->norm == NORM_RMS;
    return plain || titan_model(model);
}

/* Activation checkpointing: of the three ways the one that recomputes least among those that keep no more than the plan
 * does. */
typedef enum { TITAN_KEEP, TITAN_SELECTIVE, TITAN_FULL } TitanCheckpoint;

/* The state of an activation under a way of checkpointing. */
static ActivationState checkpointed(TitanCheckpoint way, Activation activation) {
    if (way == TITAN_FULL) return activation == ACTIVATION_LAYER_INPUT ? STATE_SAVED : STATE_RECOMPUTED;
    return way == TITAN_SELECTIVE ? remat_selective_by_op(activation) : STATE_SAVED;
}

/* The way with the least recomputation whose layers keep no more bytes than the plan's. */
static TitanCheckpoint titan_checkpoint(const LaunchJob *job) {
    CostContext setting = ranked_cost_context(job->request, job->ranked);
    const Plan *plan = &job->ranked->plan;
    ActivationCost costs[ACTIVATION_COUNT];
    Shard shard;
    if (!shard_of_plan(job->model, &setting.work, &plan->degrees, &plan->knobs, PADDING_ANY, &shard)) return TITAN_FULL;
    activation_costs(&setting, &shard, &plan->knobs, &plan->layout.sharding, costs);
    for (TitanCheckpoint way = TITAN_KEEP; way < TITAN_FULL; way++) {
        double kept = 0, wanted = 0;
        for (Activation a = 0; a < ACTIVATION_COUNT; a++) {
            wanted += layout_kept_bytes(&costs[a], &plan->layout, a);
            kept += (double)job->layers * activation_kept_bytes(&costs[a], checkpointed(way, a));
        }
        if (kept <= wanted * (1 + 1e-9)) return way;
    }
    return TITAN_FULL;
}

/* What torch.distributed.pipelining.schedules.get_schedule_class() knows; LoopedBFS is GPipe over chunks. Those behind
 * it are read as what is nearest. */
KEY_WORDS(SCHEDULES, {"GPipe", SCHEDULE_GPIPE}, {"1F1B", SCHEDULE_1F1B}, {"Interleaved1F1B", SCHEDULE_INTERLEAVED},
          {"LoopedBFS", SCHEDULE_CIRCULAR}, {"InterleavedZeroBubble", SCHEDULE_INTERLEAVED},
          {"ZBVZeroBubble", SCHEDULE_ZB_H1}, {"DualPipeV", SCHEDULE_DUALPIPE});
KEY_WORDS(ROTATIONS, {"allgather", CONTEXT_ALL_GATHER}, {"alltoall", CONTEXT_RING});
KEY_WORDS(RESHARDS, {"never", false}, {"always", true}, {"default", TITAN_RESHARD_DEFAULT});
KEY_WORDS(DTYPES, {"float32", DTYPE_FP32}, {"bfloat16", DTYPE_BF16});

/* Groups, as the two eras have them in other orders. */
const LaunchKey TITAN_KEYS[] = {
    KEY_DEGREE('d', "parallelism.data_parallel_replicate_degree", ROLE_DATA),
    KEY_NUMBER('d', "parallelism.data_parallel_shard_degree", ROLE_FSDP, -1, 1 << 24, -1),
    KEY_NAME('r', "parallelism.fsdp_reshard_after_forward", TERM_REGATHER, TITAN_RESHARD_DEFAULT, RESHARDS),
    KEY_DEGREE('t', "parallelism.tensor_parallel_degree", ROLE_TENSOR),
    KEY_FLAG('a', "parallelism.enable_async_tensor_parallel", TERM_OVERLAP), /* 0.2 */
    KEY_DEGREE('c', "parallelism.context_parallel_degree", ROLE_SEQUENCE),
    KEY_DEGREE('c', "parallelism.pipeline_parallel_degree", ROLE_PIPELINE),
    KEY_DEGREE('c', "parallelism.expert_parallel_degree", ROLE_EXPERT),
    KEY_DEGREE('x', "parallelism.expert_tensor_parallel_degree", TERM_EXPERT_TENSOR), /* 0.2 */
    KEY_SWITCHED('\0', "parallelism.enable_sequence_parallel", TERM_ALONG, true),
    KEY_NAME('z', "parallelism.context_parallel_rotate_method", TERM_CONTEXT, CONTEXT_ALL_GATHER, ROTATIONS), /* 0.2 */
    KEY_NAME('p', "parallelism.pipeline_parallel_schedule", TERM_SCHEDULE, SCHEDULE_1F1B, SCHEDULES),
    KEY_NUMBER('p', "parallelism.pipeline_parallel_microbatch_size", TERM_MICRO, 1, IMPORT_BATCH_MAX, 1),
    KEY_COUNT('s', "parallelism.pipeline_parallel_layers_per_stage", TERM_OF_STAGE, 0),
    KEY_NUMBER('s', "parallelism.pipeline_parallel_first_stage_less_layers", TERM_FIRST_LESS, 0, 1 << 20, 1),
    KEY_NUMBER('s', "parallelism.pipeline_parallel_last_stage_less_layers", TERM_LAST_LESS, 0, 1 << 20, 1),
    KEY_COUNT('\0', "parallelism.num_pp_microbatches", TERM_MICROBATCHES, 1),
    KEY_SIZE('b', "training.seq_len", TERM_SEQ),
    KEY_NUMBER('b', "training.local_batch_size", TERM_LOCAL, 1, IMPORT_BATCH_MAX, 8),
    KEY_NUMBER('\0', "training.batch_size", TERM_LOCAL, 1, IMPORT_BATCH_MAX, 8),
    KEY_NUMBER('b', "training.global_batch_size", TERM_BATCH, -1, IMPORT_BATCH_MAX, -1),
    KEY_NUMBER('\0', "training.num_tokens_per_microbatch_per_dp_rank", TERM_TOKENS, 1, IMPORT_BATCH_MAX, 0), /* HEAD */
    KEY_NUMBER('\0', "training.num_tokens_per_train_step", TERM_STEP_TOKENS, -1, IMPORT_BATCH_MAX, -1),
    KEY_WRITTEN('b', "training.steps", TERM_STEPS),
    KEY_NAME('w', "training.dtype", TERM_DTYPE, DTYPE_FP32, DTYPES),
    KEY_FLAG('o', "training.enable_cpu_offload", TERM_OFFLOAD),
    KEY_FLAG('e', "compile.enable", TERM_COMPILES),
    KEY_FLAG('\0', "training.compile", TERM_COMPILES),
    KEY_FLAG('y', "compile.enable_async_tensor_parallel", TERM_OVERLAP),
    {NULL},
};

/* Sequences of one forward-backward call on a data rank: all microbatches where a pipeline cuts them up, else one. */
static LaunchTerms terms_of(const LaunchJob *job) {
    LaunchTerms terms = launch_terms(job);
    int slots = job->knobs->stages == STAGES_SLOTS;
    terms.of[TERM_EXPERT_TENSOR] = 1;
    terms.of[TERM_LOCAL] = job->knobs->microbatch_sequences * (job->pipeline > 1 ? job->knobs->microbatches : 1);
    terms.of[TERM_STEPS] = job->steps;
    terms.of[TERM_DTYPE] = job->request->question.state_dtypes.master == DTYPE_NONE ? DTYPE_BF16 : DTYPE_FP32;
    terms.of[TERM_COMPILES] = 1; /* as the runs behind the prices were, and what overlap and low precision ask for */
    if (job->pipeline == 1 || !(job->even || slots)) return terms;
    terms.of[TERM_OF_STAGE] = job_chunk_layers(job, 0) + slots;
    terms.of[TERM_FIRST_LESS] = terms.of[TERM_LAST_LESS] = slots;
    return terms;
}

/* The chunks' modules as a list of lists, Python's and TOML's alike; `head`: what the logits are called. */
static void write_chunks(const LaunchJob *job, const char *head, const char *indent, FILE *out) {
    int64_t layer = 0;
    fprintf(out, "[\n");
    for (int64_t chunk = 0; chunk < job->chunks; chunk++) {
        fprintf(out, "%s    [%s", indent, chunk == 0 ? "\"tok_embeddings\"" : "");
        int64_t count = job_chunk_layers(job, chunk);
        for (int64_t i = 0; i < count; i++, layer++)
            fprintf(out, "%s\"layers.%" PRId64 "\"", i > 0 || chunk == 0 ? ", " : "", layer);
        if (chunk == job->chunks - 1) fprintf(out, "%s\"norm\", \"%s\"", count > 0 || chunk == 0 ? ", " : "", head);
        fprintf(out, "],\n");
    }
    fprintf(out, "%s]\n", indent);
}

/* What differs from what was costed, in both eras. */
static void note_both(const LaunchJob *job, EmitNotes *notes) {
    char text[ACTIVATIONS_TEXT_SIZE];
    const Layout *layout = &job->ranked->plan.layout;
    const Sharding *sharding = &layout->sharding;
    TitanCheckpoint checkpoint = titan_checkpoint(job);
    bool exact = true;
    for (Activation a = 0; a < ACTIVATION_COUNT; a++) {
        exact = exact &&
                (!activation_exists(job->model, a) || layout->layers[a][checkpointed(checkpoint, a)] == job->layers);
    }
    if (!exact) {
        emit_note(notes,
                  "torchtitan checkpoints all layers alike and offloads nothing: %s, which keeps no more than the plan "
                  "does and takes longer%s",
                  checkpoint == TITAN_FULL ? "full" : "selective, op by op",
                  checkpoint == TITAN_FULL ? "; --remat full costs that" : "");
        emit_note(notes, "the plan's activations: %s", job_activations(job, text));
    }
    if (job->tensor > 1 && (sharding->mlp == MLP_GATHERED || sharding->kv == KV_GATHERED))
        emit_note(notes, "weights or KV gathered over tensor were costed; torchtitan moves activations");
    if (!titan_model(job->model))
        emit_note(notes, "torchtitan has no %.60s: name a module of yours that has it", job->model->name);
}

/* ---- a plan as people who run it say it ---- */

void torchtitan_plan_words(const LaunchJob *job, Prose *out) {
    static const char *const CHECKPOINTS[] = {
        [TITAN_KEEP] = "no activation checkpointing", [TITAN_SELECTIVE] = "SelectiveAC", [TITAN_FULL] = "FullAC"};
    LaunchTerms terms = terms_of(job);
    const struct {
        const char *name;
        int64_t degree;
    } parts[] = {{"dp_replicate", job->data}, {"dp_shard", job->fsdp}, {"tp", job->tensor},
                 {"cp", job->sequence},       {"ep", job->expert},     {"pp", job->pipeline}};
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        if (parts[i].degree > 1) prose_item(out, ", ", "%s %" PRId64, parts[i].name, parts[i].degree);
    if (out->used == 0) prose_add(out, "one GPU");
    if (job->pipeline > 1) prose_item(out, " ", "(%s)", key_word(SCHEDULES, job->knobs->schedule));
    prose_item(out, ", ", "local batch %" PRId64 ", global batch %" PRId64, terms.of[TERM_LOCAL], job->batch);
    prose_item(out, ", ", "%s", CHECKPOINTS[titan_checkpoint(job)]);
    if (job->shards) prose_item(out, ", ", "reshard after forward: %s", job->knobs->regather ? "always" : "never");
    if (job->knobs->offload_optimizer) prose_item(out, ", ", "CPU offload");
}

/* ---- 0.3 ---- */

/* What model_registry() converts for the precision; `indent`: of the lines behind the first. */
static void write_converters(const LaunchJob *job, const char *indent, FILE *out) {
    static const char *const MADE[PRECISION_COUNT][2] = {
        [PRECISION_FP8] = {"Float8LinearConverter.Config(filter_fqns=[\"lm_head\", \"router.gate\"], ",
                           "Float8GroupedExpertsConverter.Config("},
        [PRECISION_MXFP8] = {"MXFP8LinearConverter.Config(", "MXFP8GroupedExpertsConverter.Config("},
        [PRECISION_NVFP4] = {"NVFP4LinearConverter.Config(fqns=[\"layers\"], "}};
    const char *const *made = MADE[job->request->question.precision];
    if (!made[0]) return;
    fprintf(out, "converters=[\n");
    for (int i = 0; i < (model_layers_with(job->model, true) > 0 ? 2 : 1) && made[i]; i++)
        fprintf(out, "%s    %smodel_compile_enabled=True),\n", indent, made[i]);
    fprintf(out, "%s]", indent);
}

/* The spec of a model that its registry has, or another config function's, whose converters are its own. */
static void write_base(const LaunchJob *job, const TitanModel *model, FILE *out) {
    bool low = job->request->question.precision != PRECISION_BF16;
    if (!model) {
        fprintf(
            out,
            "import importlib\nimport os\n\n\ndef plan():\n    base = importlib.import_module(os.environ[\"MODULE\"])"
            "\n    config = getattr(base, os.environ[\"CONFIG\"])()\n");
        if (low) fprintf(out, "    # Its model_registry() has to have: ");
        write_converters(job, "    # ", out);
        fputs(low ? "\n" : "", out);
        return;
    }
    fprintf(out,
            "from torchtitan.models.common.config_utils import decoder_vocab_size\n"
            "from torchtitan.models.%s import model_registry\n"
            "from torchtitan.models.%s.config_registry import %s as base\n\n\ndef plan():\n    config = base()\n"
            "    config.model_spec = model_registry(\"%s\", attn_backend=\"flex\"%s",
            model->module, model->module, model->base, model->flavor, low ? ", " : "");
    write_converters(job, "    ", out);
    fprintf(out,
            ")\n    config.loss.loss_fn.global_vocab_size = decoder_vocab_size(config.model_spec)\n"
            "    config.hf_assets_path = \"%s\"\n",
            model->assets);
    if (job->ranked->work.seq > model->longest) /* else models/common/decoder.py raises */
        fprintf(out,
                "    for layer in config.model_spec.model.layers:\n        if layer.attention is not None:\n"
                "            layer.attention.rope.max_seq_len = %" PRId64 "\n",
                job->ranked->work.seq);
}

/* gpt_oss is built on varlen attention unless configured otherwise, and context parallelism wants FlexAttention. */
static void write_function(const LaunchJob *job, const TitanModel *model, FILE *out) {
    static const char *const CHECKPOINTS[] = {
        [TITAN_KEEP] = "None", [TITAN_SELECTIVE] = "SelectiveAC.Config()", [TITAN_FULL] = "FullAC.Config()"};
    TitanCheckpoint checkpoint = titan_checkpoint(job);
    fprintf(out, "\n# What flags cannot say, as a config function: --module shardopt_plan --config plan.\n");
    if (!model)
        fprintf(out,
                "export MODULE=${MODULE:?name a module of yours that has the model} CONFIG=${CONFIG:?name a config "
                "function of it}\n");
    fprintf(out, "DIR=$(mktemp -d)\ncat > \"$DIR/shardopt_plan.py\" <<'PYTHON'\n");
    if (model && job->request->question.precision != PRECISION_BF16)
        fprintf(out, "from torchtitan.components.quantization import (\n    Float8GroupedExpertsConverter,\n    "
                     "Float8LinearConverter,\n    MXFP8GroupedExpertsConverter,\n    MXFP8LinearConverter,\n    "
                     "NVFP4LinearConverter,\n)\n");
    if (checkpoint != TITAN_KEEP)
        fprintf(out, "from torchtitan.distributed.activation_checkpoint import FullAC, SelectiveAC\n");
    write_base(job, model, out);
    fprintf(out, "    config.activation_checkpoint = %s\n", CHECKPOINTS[checkpoint]);
    if (job->pipeline > 1 && terms_of(job).of[TERM_OF_STAGE] == TERM_SILENT) { /* else flags say it */
        fprintf(out, "    config.parallelism.module_fqns_per_model_part = ");
        write_chunks(job, "lm_head", "    ", out);
    }
    fprintf(out, "    return config\nPYTHON\n");
}

static void write_flags(const LaunchJob *job, FILE *out) {
    LaunchTerms terms = terms_of(job);
    fprintf(out, "\nPARALLEL=(\n");
    keys_write(TITAN_KEYS, "dtcr", &terms, KEYS_FLAGS, out);
    if (job->tensor > 1 && job->ranked->plan.layout.sharding.residual == RESIDUAL_REPLICATED && job->expert == 1)
        fprintf(out, "    --parallelism.no-enable_sequence_parallel\n");
    if (job->sequence > 1) fprintf(out, "    --parallelism.context_parallel_load_balancer headtail\n");
    if (job->pipeline > 1) keys_write(TITAN_KEYS, "ps", &terms, KEYS_FLAGS, out);
    fprintf(out, ")\n\nTRAINING=(\n");
    keys_write(TITAN_KEYS, terms.of[TERM_DTYPE] == DTYPE_BF16 ? "bwo" : "bo", &terms, KEYS_FLAGS, out);
    /* trainer.py: no CUDA graphs with a pipeline, nor with experts that ask the host how many tokens come */
    if (job->pipeline > 1 || job->expert > 1) fprintf(out, "    --training.disable_cuda_graphs\n");
    keys_write(TITAN_KEYS, "e", &terms, KEYS_FLAGS, out);
    fprintf(out, "    --compile.components model,loss\n");
    keys_write(TITAN_KEYS, "y", &terms, KEYS_FLAGS, out);
    fprintf(out, ")\n");
}

void torchtitan_notes(const LaunchJob *job, EmitNotes *notes) {
    note_both(job, notes);
    if (!titan_model(job->model) && job->request->question.precision != PRECISION_BF16)
        emit_note(notes,
                  "converters of the precision are in your config function's hands: see the comment in the script");
}

bool torchtitan_write(const LaunchJob *job, const EmitNotes *notes, FILE *out, Error *error) {
    int64_t seq = job->ranked->work.seq;
    (void)error;
    fprintf(out, "#!/usr/bin/env bash\n");
    emit_header(job, notes, out);
    fprintf(out,
            "# For torchtitan 0.3. Its main branch counts in tokens: num_tokens_per_microbatch_per_dp_rank %" PRId64
            ", num_tokens_per_train_step %" PRId64 ",\n# max_context_length %" PRId64
            " in place of the first three of TRAINING, and parallelism.num_pp_microbatches %" PRId64
            ".\nset -euo pipefail\n",
            job->knobs->microbatch_sequences * seq, job->batch * seq, seq,
            job->pipeline > 1 ? job->knobs->microbatches : 1);
    job_write_hosts(job, out);
    const TitanModel *model = titan_model(job->model);
    write_function(job, model, out);
    write_flags(job, out);
    fprintf(out, "\nexport PYTHONPATH=$DIR%s${PYTHONPATH:+:$PYTHONPATH}\nexec ", model ? "" : ":.");
    job_write_torchrun(job, out);
    fprintf(out, "-m torchtitan.train --module shardopt_plan --config plan \"${PARALLEL[@]}\" \"${TRAINING[@]}\" "
                 "\"$@\"\n");
    return true;
}

/* ---- up to 0.2: the TOML file of --job.config_file ---- */

/* Strings as emit_quoted() writes them are JSON's, and so TOML's basic strings. */
static void write_toml_model(const LaunchJob *job, FILE *out) {
    const TitanModel *model = titan_model(job->model);
    fprintf(out, "\n[model]\nname = ");
    emit_quoted(model ? model->module : job->model->name, out);
    fprintf(out, "\nflavor = ");
    emit_quoted(model ? model->flavor : job->model->name, out);
    if (model) fprintf(out, "\nhf_assets_path = \"%s\"", model->assets);
    bool mixture = model_layers_with(job->model, true) > 0;
    if (job->request->question.precision == PRECISION_FP8)
        fprintf(out, "\nconverters = [\"quantize.linear.float8\"%s]",
                mixture ? ", \"quantize.grouped_mm.float8\"" : "");
    else if (job->request->question.precision == PRECISION_MXFP8)
        fprintf(out, "\nconverters = [\"quantize.linear.mx\"%s]", mixture ? ", \"quantize.grouped_mm.mx\"" : "");
    fprintf(out, "\n");
}

static void write_parallelism(const LaunchJob *job, const LaunchTerms *terms, FILE *out) {
    fprintf(out, "\n[parallelism]\n");
    keys_write(TITAN_KEYS, job->expert > 1 ? "drtacx" : "drtac", terms, KEYS_TOML, out);
    if (job->sequence > 1) fprintf(out, "context_parallel_load_balancer = \"headtail\"\n");
    if (job->sequence > 1) keys_write(TITAN_KEYS, "z", terms, KEYS_TOML, out);
    if (job->pipeline == 1) return;
    keys_write(TITAN_KEYS, "ps", terms, KEYS_TOML, out);
    if (terms->of[TERM_OF_STAGE] != TERM_SILENT) return;
    fprintf(out, "module_fqns_per_model_part = ");
    write_chunks(job, "output", "", out);
}

void torchtitan_toml_notes(const LaunchJob *job, EmitNotes *notes) {
    note_both(job, notes);
    if (job->tensor > 1 && job->ranked->plan.layout.sharding.residual == RESIDUAL_REPLICATED)
        emit_note(notes, "the residual stream was costed whole on each chip; torchtitan splits it over tensor");
}

const char *torchtitan_toml_cannot(const LaunchJob *job) {
    return job->request->question.precision == PRECISION_NVFP4 ? "0.2 has no nvfp4; 0.3 has: emit torchtitan" : NULL;
}

bool torchtitan_toml_write(const LaunchJob *job, const EmitNotes *notes, FILE *out, Error *error) {
    static const char *const MODES[] = {[TITAN_KEEP] = "none", [TITAN_SELECTIVE] = "selective", [TITAN_FULL] = "full"};
    (void)error;
    emit_header(job, notes, out);
    fprintf(out,
            "# For torchtitan up to 0.2 (from 0.3 on: emit torchtitan), on each of %" PRId64
            " hosts, ranks in the order of hosts:\n# ",
            job->hosts);
    fprintf(out,
            "torchrun --nproc-per-node %" PRId64 " --nnodes %" PRId64
            " --node-rank RANK --master-addr HOST0 -m torchtitan.train --job.config_file FILE\n",
            job->per_host, job->hosts);
    if (job->host_order)
        fprintf(out, "# The hosts want an order of their own: RANKS in what emit torchtitan writes.\n");
    write_toml_model(job, out);
    LaunchTerms terms = terms_of(job);
    fprintf(out, "\n[training]\n");
    keys_write(TITAN_KEYS, "bwo", &terms, KEYS_TOML, out);
    write_parallelism(job, &terms, out);
    TitanCheckpoint checkpoint = titan_checkpoint(job);
    fprintf(out, "\n[activation_checkpoint]\nmode = \"%s\"\n", MODES[checkpoint]);
    if (checkpoint == TITAN_SELECTIVE) fprintf(out, "selective_ac_option = \"op\"\n");
    fprintf(out, "\n[compile]\nenable = true\ncomponents = [\"model\", \"loss\"]\n");
    return true;
}
