/* SPDX-License-Identifier: GPL-3.0-or-later */
/* TRL's trainers through accelerate: a script that writes accelerate's YAML and starts `trl sft` or `trl dpo`. Flags
 * and defaults: TRL 0.24 (trl/trainer/model_config.py, sft_config.py, dpo_config.py), accelerate 1.11
 * (utils/dataclasses.py, FullyShardedDataParallelPlugin), transformers 4.57 (training_args.py). */
#include "base/util.h"
#include "search/launch/keys.h"
#include "search/launch/rules.h"

#include <inttypes.h>
#include <string.h>

#define REFUSES_ROLES "TRL trains with DDP and FSDP2: tensor, sequence, expert and pipeline are 1"

static const char *refuses_degrees(const PlanFacts *facts) {
    REFUSE_UNLESS(facts->tensor == 1 && facts->sequence == 1 && facts->expert == 1 && facts->pipeline == 1,
                  REFUSES_ROLES);
    return NULL;
}

static const char *refuses(const PlanFacts *facts) {
    REFUSE_UNLESS(!facts_folded(facts), REFUSES_ROLES);
    REFUSE_UNLESS(facts->plan->knobs.zero_stage == 0,
                  "ZeRO-1 and 2 are DeepSpeed's; accelerate has DDP and FSDP2 here");
    return NULL;
}

static const char *refuses_work(const Request *request) {
    const Tuning *what = &request->question.tuning.what;
    REFUSE_UNLESS(what->rank > 0 || what->frozen == 0,
                  "its command has no words for --freeze; set requires_grad in a script of your own, and give "
                  "--for any");
    REFUSE_UNLESS(request->question.precision == PRECISION_BF16, "it trains in bf16 here; give --precision bf16");
    return NULL;
}

static bool offloads_optimizer(const PlanFacts *facts) {
    (void)facts;
    return false; /* FSDP2's CPUOffloadPolicy sends parameters too */
}

/* Nothing or full (gradient_checkpointing). */
static void remat_rules(RematList *list, const Model *model) {
    (void)model;
    remat_list_add_none(list);
    remat_list_add_full(list, 0);
}

static void plan_words(const LaunchJob *job, Prose *out) {
    if (job->shards && job->data > 1)
        prose_add(out, "FSDP2 over %" PRId64 " in %" PRId64 " groups", job->fsdp, job->data);
    else if (job->shards)
        prose_add(out, "FSDP2 over %" PRId64, job->fsdp);
    else
        prose_add(out, job->world > 1 ? "DDP" : "one GPU");
    if (job->request->question.tuning.what.on_host) prose_item(out, ", ", "parameters on the CPU");
    prose_item(out, ", ", "per_device_train_batch_size %" PRId64 ", gradient_accumulation_steps %" PRId64,
               job->knobs->microbatch_sequences, job->knobs->microbatches);
    prose_item(out, ", ", "%sgradient_checkpointing", job_dropped_most(job) > 0 ? "" : "no ");
}

static void trl_notes(const LaunchJob *job, EmitNotes *notes) {
    if (!job->request->question.tuning.what.on)
        emit_note(notes, "all weights are trained on packed sequences, as pre-training on a text would be");
    emit_note(notes, "put the model's repository and the data set where MODEL and DATA stand");
}

/* Weights, moments and gradients in bf16: without mixed precision, under which FSDP2 makes sharded weights fp32 and
 * autocast casts what is in bf16 already. */
static bool in_bf16(const LaunchJob *job) { return job->request->question.state_dtypes.master == DTYPE_NONE; }

static void write_yaml(const LaunchJob *job, FILE *out) {
    bool sharded = job->shards || job->request->question.tuning.what.on_host;
    fprintf(out,
            "cat > accelerate.yaml <<'YAML'\n"
            "compute_environment: LOCAL_MACHINE\n"
            "distributed_type: %s\n"
            "mixed_precision: %s\n"
            "num_machines: %" PRId64 "\n"
            "num_processes: %" PRId64 "\n",
            sharded            ? "FSDP"
            : job->world > 1   ? "MULTI_GPU"
                               : "'NO'",
            in_bf16(job) ? "'no'" : "bf16", job->hosts, job->world);
    if (sharded) {
        fprintf(out,
                "fsdp_config:\n"
                "  fsdp_version: 2\n"
                "  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP\n"
                "  fsdp_reshard_after_forward: %s\n"
                "  fsdp_cpu_ram_efficient_loading: true\n"
                "  fsdp_state_dict_type: SHARDED_STATE_DICT\n"
                "  fsdp_offload_params: %s\n"
                "  fsdp_activation_checkpointing: false\n",
                job->knobs->regather ? "true" : "false",
                job->request->question.tuning.what.on_host ? "true" : "false");
        if (job->data > 1)
            fprintf(out,
                    "parallelism_config:\n"
                    "  parallelism_config_dp_replicate_size: %" PRId64 "\n"
                    "  parallelism_config_dp_shard_size: %" PRId64 "\n",
                    job->data, job->fsdp);
    }
    fprintf(out, "YAML\n\n");
}

static void write_adapters(const LaunchJob *job, FILE *out) {
    static const char *const NAMES[TARGET_COUNT] = {"q_proj",    "k_proj",  "v_proj",   "o_proj",
                                                    "gate_proj", "up_proj", "down_proj"};
    const Tuning *what = &job->request->question.tuning.what;
    if (!(what->rank > 0)) return;
    fprintf(out, " \\\n    --use_peft --lora_r %g --lora_alpha %g --lora_target_modules", what->rank, 2 * what->rank);
    if (what->targets == TARGETS_ALL) fprintf(out, " all-linear");
    for (int i = 0; i < TARGET_COUNT && what->targets != TARGETS_ALL; i++)
        if (what->targets >> i & 1) fprintf(out, " %s", NAMES[i]);
    if (!(what->stored_bytes > 0)) return;
    if (what->stored_bytes >= 1)
        fprintf(out, " \\\n    --load_in_8bit");
    else
        /* a byte for 64 is the doubly quantised scale */
        fprintf(out, " \\\n    --load_in_4bit --bnb_4bit_quant_type nf4%s",
                what->stored_bytes < 0.55 ? " --use_bnb_nested_quant" : "");
    if (job->shards) fprintf(out, " --bnb_4bit_quant_storage bfloat16"); /* FSDP shards in one dtype */
}

static bool trl_write(const LaunchJob *job, const EmitNotes *notes, FILE *out, Error *error) {
    (void)error;
    const FineTuning *tuning = &job->request->question.tuning;
    fprintf(out, "#!/bin/bash\n");
    emit_header(job, notes, out);
    fprintf(out, "set -e\nMODEL=${MODEL:?a repository or folder of the model}\n"
                 "DATA=${DATA:?a data set}\nOUT=${OUT:-out}\n\n");
    write_yaml(job, out);
    if (job->world > 1) job_write_hosts(job, out);
    fprintf(out, "accelerate launch --config_file accelerate.yaml");
    if (job->hosts > 1)
        fprintf(out, " \\\n    --machine_rank \"${NODE_RANK:-0}\" --main_process_ip \"$MASTER_ADDR\" "
                     "--main_process_port \"${MASTER_PORT:-29500}\"");
    fprintf(out,
            " \\\n    --module trl.scripts.%s --model_name_or_path \"$MODEL\" --dataset_name \"$DATA\" "
            "--output_dir \"$OUT\" \\\n    --dtype bfloat16 --bf16 %s --max_length %" PRId64
            " --per_device_train_batch_size %" PRId64 " --gradient_accumulation_steps %" PRId64
            " \\\n    --gradient_checkpointing %s",
            tuning->pairs ? "dpo" : "sft", in_bf16(job) ? "false" : "true", job->ranked->work.seq,
            tuning->pairs ? max_whole(1, job->knobs->microbatch_sequences / 2) : job->knobs->microbatch_sequences,
            job->knobs->microbatches, job_dropped_most(job) > 0 ? "true" : "false");
    if (tuning->what.on) fprintf(out, " --num_train_epochs %g", tuning->epochs);
    bool packed = strcmp(job->request->requested.tuning[7], "packed") == 0 || job->request->requested.tuning[5][0];
    if (!tuning->pairs && packed) fprintf(out, " --packing true");
    write_adapters(job, out);
    fprintf(out, "\n");
    return !ferror(out);
}

/* ---- read ---- */

static bool trl_work(ConfigFile *file, ImportedWork *out, Error *error) {
    (void)out;
    return error_set(error, ERROR_INPUT, file->name,
                     "scripts of TRL are written here, not read; give the plan itself: --lora 16 --plan fsdp=2");
}

static bool trl_plan(ConfigFile *file, const Request *request, ImportedPlan *plan, Error *error) {
    (void)request, (void)plan;
    return trl_work(file, NULL, error);
}

static const LaunchKey KEYS[] = {{NULL}};

const Launcher TRL_LAUNCHER = {
    .name = "trl",
    .usual_in_tuning = true,
    .fine_tunes = true,
    .nestings = {{.name = "megatron",
                  .order = {{ROLE_TENSOR, ROLE_SEQUENCE, ROLE_EXPERT, ROLE_FSDP, ROLE_DATA, ROLE_PIPELINE}}}},
    .gpus_only = true,
    .any_layers = true,
    .refuses_degrees = refuses_degrees,
    .refuses = refuses,
    .refuses_work = refuses_work,
    .offloads_optimizer = offloads_optimizer,
    .host_update = HOST_UPDATE_ON_CPU,
    .remat = remat_rules,
    .plan_words = plan_words,
    .signs = {"per_device_train_batch_size", "lora_target_modules"},
    .signs_yield = true,
    .keys = KEYS,
    .import_work = trl_work,
    .import_plan = trl_plan,
    .formats = {{"trl", trl_write, trl_notes, "a script that starts TRL through accelerate", "finetune.sh", NULL,
                 NULL}},
};
