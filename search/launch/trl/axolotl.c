/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Axolotl: its YAML. Keys, defaults and what it raises on: axolotl 0.19.0, utils/schemas/config.py, peft.py, fsdp.py,
 * validation.py, training.py; what it quantises to: loaders/model.py. */
#include "search/launch/trl/tuned.h"

#include <inttypes.h>

KEY_WORDS(ADAPTERS, {"lora", ADAPTER_LORA}, {"qlora", ADAPTER_QLORA});
KEY_WORDS(TASKS, {"dpo", true});
KEY_WORDS(CHECKPOINTS, {"true", true}, {"false", false}, {"offload", true}, {"offload_disk", true});
KEY_WORDS(MIXED, {"true", true}, {"false", false}, {"auto", true}, {"full", false});

static const LaunchKey KEYS[] = {
    KEY_NAME('t', "rl", TERM_PAIRS, false, TASKS),
    KEY_SIZE('b', "sequence_len", TERM_SEQ),
    KEY_FLAG('b', "sample_packing", TERM_PACKED),
    KEY_FLAG('b', "batch_flattening", TERM_FREE),
    KEY_NUMBER('b', "micro_batch_size", TERM_MICRO, 1, IMPORT_BATCH_MAX, 1),
    KEY_COUNT('b', "gradient_accumulation_steps", TERM_MICROBATCHES, 1),
    KEY_NAME('b', "gradient_checkpointing", TERM_CHECKPOINTS, false, CHECKPOINTS),
    KEY_FLAG('b', "freeze_mm_modules", TERM_TOWERS), /* with the projector: utils/freeze.py */
    KEY_FLAG('p', "bfloat16", TERM_PLAIN),           /* without autocast */
    KEY_NAME('p', "bf16", TERM_MIXED, false, MIXED),
    KEY_NAME('a', "adapter", TERM_ADAPTER, ADAPTER_NONE, ADAPTERS),
    KEY_NUMBER('a', "lora_r", TERM_RANK, 1, 1 << 16, 8),
    KEY_WRITTEN('a', "lora_alpha", TERM_ALPHA),
    KEY_FLAG('a', "lora_target_linear", TERM_EVERY),
    KEY_FLAG('a', "load_in_4bit", TERM_FOUR_BITS),
    KEY_FLAG('a', "load_in_8bit", TERM_EIGHT_BITS),
    KEY_SWITCHED('a', "bnb_config_kwargs.bnb_4bit_use_double_quant", TERM_DOUBLE, true),
    KEY_NUMBER('f', "fsdp_version", TERM_VERSION, 1, 2, 0),
    KEY_COUNT('g', "dp_replicate_size", ROLE_DATA, 1),
    KEY_COUNT('g', "dp_shard_size", TERM_SHARDS, 0),
    KEY_FLAG('f', "fsdp_config.offload_params", TERM_ON_HOST),
    KEY_SWITCHED('f', "fsdp_config.reshard_after_forward", TERM_REGATHER, true),
    KEY_FLAG('f', "fsdp_config.cpu_ram_efficient_loading", TERM_LOADS_ONCE),
    {NULL},
};

static void axolotl_notes(const LaunchJob *job, EmitNotes *notes) {
    tuned_notes(job, notes);
    if (job->request->question.tuning.what.rank > 0)
        emit_note(notes, "its fused kernels of LoRA (lora_qkv_kernel and the like) are switched off, as was costed; "
                         "with them a step takes less");
}

/* Its words for what is refused where quantised weights are sharded. */
static const char *axolotl_cannot(const LaunchJob *job) {
    const FineTuning *tuning = &job->request->question.tuning;
    if (tuning->pairs && tuned_shards(job) && tuning->what.stored_bytes > 0)
        return "FSDP2 does not take quantised weights with dpo (schemas/validation.py); plan with --require fsdp=1";
    return tuned_cannot(job);
}

static const char *refuses_work(const Request *request) {
    const Tuning *what = &request->question.tuning.what;
    unsigned towers = what->frozen & FROZEN_TOWERS;
    REFUSE_UNLESS(what->rank > 0 || !towers || towers == FROZEN_TOWERS,
                  "its freeze_mm_modules freezes tower and projector together; give --freeze vision,projector");
    return tuned_refuses_work(request);
}

static bool axolotl_write(const LaunchJob *job, const EmitNotes *notes, FILE *out, Error *error) {
    (void)error;
    const FineTuning *tuning = &job->request->question.tuning;
    LaunchTerms terms = tuned_terms(job);
    bool shards = tuned_shards(job), adapted = tuning->what.rank > 0;
    int64_t *of = terms.of;
    of[TERM_VERSION] = 2;
    if (!tuning->pairs) of[TERM_PAIRS] = TERM_SILENT;
    if (of[TERM_DOUBLE] != false) of[TERM_DOUBLE] = TERM_SILENT; /* its default */
    of[TERM_PLAIN] = of[TERM_PLAIN] ? true : TERM_SILENT;
    of[TERM_MIXED] = of[TERM_MIXED] ? true : TERM_SILENT;
    emit_header(job, notes, out);
    fprintf(out, "# axolotl train THIS_FILE%s\n", job->world > 1 ? " --launcher accelerate" : "");
    if (job->hosts > 1)
        fprintf(out,
                "# on every host behind: --num_machines %" PRId64 " --num_processes %" PRId64
                " --machine_rank N --main_process_ip ADDRESS\n",
                job->hosts, job->world);
    fprintf(out, "base_model: ");
    emit_quoted(tuned_model(job), out);
    fprintf(out,
            "\ndatasets:\n  - path: DATA\n    type: %s\noutput_dir: ./out\nnum_epochs: %g\n"
            "learning_rate: 0.0001\noptimizer: %s\nlr_scheduler: cosine\nflash_attention: true\n",
            tuning->pairs ? "chatml.intel" : "chat_template", tuning->what.on ? tuning->epochs : 1,
            launcher_optimizer(job->launcher, job->request));
    keys_write(KEYS, "tbp", &terms, KEYS_YAML, out);
    if (adapted) keys_write(KEYS, "a", &terms, KEYS_YAML, out);
    if (adapted && tuning->what.targets != TARGETS_ALL) {
        fprintf(out, "lora_target_modules: [");
        tuned_write_targets(job, ", ", out);
        fprintf(out, "]\n");
    }
    if (adapted)
        fprintf(out, "lora_mlp_kernel: false\nlora_qkv_kernel: false\nlora_o_kernel: false\n"
                     "lora_embedding_kernel: false\n");
    if (shards) keys_write(KEYS, job->data > 1 ? "gf" : "f", &terms, KEYS_YAML, out);
    if (shards) fprintf(out, "  auto_wrap_policy: TRANSFORMER_BASED_WRAP\n  state_dict_type: SHARDED_STATE_DICT\n");
    return !ferror(out);
}

static const char IGNORED[] =
    "datasets* dataset* chat_template* output_dir hub_* wandb* mlflow* learning_rate lr_* warmup* weight_decay "
    "optim* *_steps *_per_epoch eval* val_set_size test_* save_* logging* seed special_tokens* tokens tf32 bf16 fp16 "
    "flash_attention attn_implementation sdp_attention train_on_inputs group_by_length pad_to_sequence_len "
    "lora_dropout lora_alpha model_type tokenizer* is_*_derived_model trust_remote_code strict early_stopping* "
    "resume_from_checkpoint auto_resume* debug max_grad_norm adam_* gradient_checkpointing_kwargs* xformers_attention "
    "local_rank lora_model_dir lora_fan_in_fan_out fsdp_config.* fsdp lora_*_kernel* dataloader* saves_per_epoch";

static bool axolotl_work(ConfigFile *file, ImportedWork *out, Error *error) {
    LaunchTerms terms;
    if (!tuned_read(KEYS, file, &terms, error)) return false;
    terms.of[TERM_PROJECTOR] = terms.of[TERM_TOWERS];
    return tuned_work(file, &terms, config_text(file, "base_model", NULL),
                      config_text(file, "lora_target_modules", NULL), out, error);
}

static bool axolotl_plan(ConfigFile *file, const Request *request, ImportedPlan *plan, Error *error) {
    LaunchTerms terms;
    config_ignore(file, IGNORED);
    return tuned_read(KEYS, file, &terms, error) && tuned_plan(file, &terms, request, plan, error);
}

const Launcher AXOLOTL_LAUNCHER = {
    .name = "axolotl",
    .refuses_degrees = tuned_refuses_degrees,
    TUNED_FIELDS(refuses_work),
    .signs = {"base_model", "sequence_len", "micro_batch_size"},
    .keys = KEYS,
    .optimizer_key = "optimizer",
    .import_work = axolotl_work,
    .import_plan = axolotl_plan,
    .formats = {{"axolotl", axolotl_write, axolotl_notes, "a YAML file for Axolotl", "axolotl.yml", axolotl_cannot,
                 NULL}},
};
