/* SPDX-License-Identifier: GPL-3.0-or-later */
/* TRL's trainers through accelerate: a script that starts trl.scripts.sft or trl.scripts.dpo. Flags and defaults: TRL
 * 0.24 (trl/trainer/model_config.py, sft_config.py, dpo_config.py), accelerate 1.11 (commands/launch.py,
 * utils/dataclasses.py, FullyShardedDataParallelPlugin), transformers 4.57 (training_args.py). */
#include "search/launch/trl/tuned.h"

#include <inttypes.h>

KEY_WORDS(MODULES, {"trl.scripts.sft", false}, {"trl.scripts.dpo", true});
KEY_WORDS(SWITCH, {"true", true}, {"false", false});

static const LaunchKey KEYS[] = {
    KEY_FLAG('f', "use_fsdp", TERM_FSDP),
    KEY_WRITTEN('f', "fsdp_version", TERM_VERSION),
    KEY_NAME('f', "fsdp_reshard_after_forward", TERM_REGATHER, true, SWITCH),
    KEY_NAME('f', "fsdp_offload_params", TERM_ON_HOST, false, SWITCH),
    KEY_NAME('f', "fsdp_cpu_ram_efficient_loading", TERM_LOADS_ONCE, true, SWITCH),
    KEY_COUNT('g', "parallelism_config_dp_replicate_size", ROLE_DATA, 1),
    KEY_COUNT('g', "parallelism_config_dp_shard_size", TERM_SHARDS, 0),
    KEY_NAME('m', "module", TERM_PAIRS, false, MODULES),
    KEY_NAME('b', "bf16", TERM_MIXED, true, SWITCH),
    KEY_LENGTH('b', "max_length", TERM_SEQ, 1024),
    KEY_NUMBER('b', "per_device_train_batch_size", TERM_MICRO, 1, IMPORT_BATCH_MAX, 8),
    KEY_COUNT('b', "gradient_accumulation_steps", TERM_MICROBATCHES, 1),
    KEY_NAME('b', "gradient_checkpointing", TERM_CHECKPOINTS, true, SWITCH),
    KEY_NAME('p', "packing", TERM_PACKED, false, SWITCH),
    KEY_NAME('p', "padding_free", TERM_FREE, false, SWITCH),
    KEY_FLAG('a', "use_peft", TERM_ADAPTER),
    KEY_NUMBER('a', "lora_r", TERM_RANK, 1, 1 << 16, 16),
    KEY_WRITTEN('a', "lora_alpha", TERM_ALPHA),
    KEY_FLAG('a', "load_in_4bit", TERM_FOUR_BITS),
    KEY_FLAG('a', "load_in_8bit", TERM_EIGHT_BITS),
    KEY_FLAG('a', "use_bnb_nested_quant", TERM_DOUBLE),
    {NULL},
};

static const char *refuses_work(const Request *request) {
    const Tuning *what = &request->question.tuning.what;
    REFUSE_UNLESS(
        what->rank > 0 || !(what->frozen & FROZEN_TOWERS),
        "it has no key that freezes a tower; llama-factory has, and axolotl for tower and projector together");
    return tuned_refuses_work(request);
}

static void write_launch(const LaunchJob *job, const LaunchTerms *terms, FILE *out) {
    bool shards = tuned_shards(job);
    fprintf(out,
            "LAUNCH=(\n    --num_machines %" PRId64 "\n    --num_processes %" PRId64 "\n    --mixed_precision %s\n",
            job->hosts, job->world, terms->of[TERM_PLAIN] ? "no" : "bf16");
    if (shards) {
        keys_write(KEYS, "f", terms, KEYS_FLAGS, out);
        fprintf(out,
                "    --fsdp_auto_wrap_policy TRANSFORMER_BASED_WRAP\n    --fsdp_state_dict_type SHARDED_STATE_DICT\n");
    } else if (job->world > 1) {
        fprintf(out, "    --multi_gpu\n");
    }
    if (shards && job->data > 1) {
        fprintf(out, "    --use_parallelism_config\n");
        keys_write(KEYS, "g", terms, KEYS_FLAGS, out);
    }
    keys_write(KEYS, "m", terms, KEYS_FLAGS, out);
    fprintf(out, ")\n");
}

static void write_adapters(const LaunchJob *job, const LaunchTerms *terms, FILE *out) {
    keys_write(KEYS, "a", terms, KEYS_FLAGS, out);
    fprintf(out, "    --lora_target_modules ");
    if (tuned_has_towers(job)) { /* one word is a pattern of PEFT's: all-linear would take the tower's too */
        fprintf(out, "'.*language_model.*\\.(");
        tuned_write_targets(job, "|", out);
        fprintf(out, ")'");
    } else if (job->request->question.tuning.what.targets == TARGETS_ALL) {
        fprintf(out, "all-linear");
    } else {
        tuned_write_targets(job, " ", out);
    }
    fprintf(out, "\n");
    if (terms->of[TERM_BITS] == 4) fprintf(out, "    --bnb_4bit_quant_type nf4\n");
}

static bool trl_write(const LaunchJob *job, const EmitNotes *notes, FILE *out, Error *error) {
    (void)error;
    const FineTuning *tuning = &job->request->question.tuning;
    LaunchTerms terms = tuned_terms(job);
    terms.of[TERM_VERSION] = 2;
    fprintf(out, "#!/bin/bash\n");
    emit_header(job, notes, out);
    fprintf(out, "set -e\nMODEL=${MODEL:?a repository or folder of the model}\n"
                 "DATA=${DATA:?a data set}\nOUT=${OUT:-out}\n\n");
    if (job->world > 1) job_write_hosts(job, out);
    write_launch(job, &terms, out);
    fprintf(out, "TRAIN=(\n    --dtype bfloat16\n");
    keys_write(KEYS, tuning->pairs ? "b" : "bp", &terms, KEYS_FLAGS, out);
    if (tuning->what.on) fprintf(out, "    --num_train_epochs %g\n", tuning->epochs);
    if (tuning->what.rank > 0) write_adapters(job, &terms, out);
    const char *optimizer = launcher_optimizer(job->launcher, job->request);
    if (strcmp(optimizer, "adamw_torch_fused") != 0) fprintf(out, "    --optim %s\n", optimizer);
    if (tuning->what.rank > 0 && !tuning->pairs) fprintf(out, "    --learning_rate 1e-4\n"); /* TRL's own is 2e-5 */
    fprintf(out, ")\nexec accelerate launch ");
    if (job->hosts > 1)
        fprintf(out, "--machine_rank \"${NODE_RANK:-0}\" --main_process_ip \"$MASTER_ADDR\" "
                     "--main_process_port \"${MASTER_PORT:-29500}\" \\\n    ");
    fprintf(out, "\"${LAUNCH[@]}\" \"${TRAIN[@]}\" \\\n    --model_name_or_path \"$MODEL\" --dataset_name \"$DATA\" "
                 "--output_dir \"$OUT\" \"$@\"\n");
    return !ferror(out);
}

/* ---- read ---- */

static const char IGNORED[] =
    "num_machines num_processes mixed_precision multi_gpu machine_rank main_process_* fsdp_* use_parallelism_config "
    "dtype bf16 bnb_4bit_* lora_alpha lora_dropout model_name_or_path dataset* output_dir learning_rate lr_* warmup* "
    "weight_decay optim* *_steps *_strategy logging* report_to run_name seed save_* eval* attn_implementation (*";

static bool trl_work(ConfigFile *file, ImportedWork *out, Error *error) {
    LaunchTerms terms;
    const char *model = config_text(file, "model_name_or_path", NULL);
    if (!tuned_read(KEYS, file, &terms, error)) return false;
    if (model && model[0] == '$') model = NULL; /* that is the caller's */
    return tuned_work(file, &terms, model, config_text(file, "lora_target_modules", NULL), out, error);
}

static bool trl_plan(ConfigFile *file, const Request *request, ImportedPlan *plan, Error *error) {
    LaunchTerms terms;
    config_ignore(file, IGNORED);
    return tuned_read(KEYS, file, &terms, error) && tuned_plan(file, &terms, request, plan, error);
}

const Launcher TRL_LAUNCHER = {
    .name = "trl",
    .usual_in_tuning = true,
    .refuses_degrees = tuned_refuses_degrees,
    TUNED_FIELDS(refuses_work),
    .signs = {"per_device_train_batch_size", "lora_target_modules"},
    .signs_yield = true,
    .keys = KEYS,
    .optimizer_key = "optim",
    .import_work = trl_work,
    .import_plan = trl_plan,
    .formats = {{"trl", trl_write, tuned_notes, "a script that starts TRL through accelerate", "finetune.sh",
                 tuned_cannot, NULL}},
};
