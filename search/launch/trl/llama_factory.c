/* SPDX-License-Identifier: GPL-3.0-or-later */
/* LLaMA-Factory: its YAML. Keys and defaults: llamafactory 0.9.5, hparams/model_args.py, data_args.py,
 * finetuning_args.py, and transformers 5.6, training_args.py, whose fsdp and fsdp_config it takes. */
#include "search/launch/trl/tuned.h"

#include <inttypes.h>

KEY_WORDS(STAGES, {"sft", false}, {"pt", false}, {"dpo", true});
KEY_WORDS(TYPES, {"lora", ADAPTER_LORA}, {"full", ADAPTER_NONE});
KEY_WORDS(SHARDINGS, {"full_shard auto_wrap", SHARDS_ALL}, {"full_shard auto_wrap offload", SHARDS_ON_HOST},
          {"full_shard offload auto_wrap", SHARDS_ON_HOST}, {"full_shard", SHARDS_ALL},
          {"full_shard offload", SHARDS_ON_HOST}, {"shard_grad_op auto_wrap", SHARDS_ALL});

static const LaunchKey KEYS[] = {
    KEY_NAME('t', "stage", TERM_PAIRS, false, STAGES),
    KEY_NAME('t', "finetuning_type", TERM_ADAPTER, ADAPTER_LORA, TYPES),
    KEY_NUMBER('a', "lora_rank", TERM_RANK, 1, 1 << 16, 8),
    KEY_WRITTEN('a', "lora_alpha", TERM_ALPHA),
    KEY_NUMBER('q', "quantization_bit", TERM_BITS, 2, 8, 0),
    KEY_SWITCHED('q', "double_quantization", TERM_DOUBLE, true),
    KEY_LENGTH('b', "cutoff_len", TERM_SEQ, 2048),
    KEY_FLAG('b', "packing", TERM_PACKED),
    KEY_NUMBER('b', "per_device_train_batch_size", TERM_MICRO, 1, IMPORT_BATCH_MAX, 8),
    KEY_COUNT('b', "gradient_accumulation_steps", TERM_MICROBATCHES, 1),
    KEY_FLAG('b', "disable_gradient_checkpointing", TERM_KEEPS),
    KEY_FLAG('p', "pure_bf16", TERM_PLAIN),
    KEY_FLAG('p', "bf16", TERM_MIXED),
    KEY_SWITCHED('b', "freeze_vision_tower", TERM_TOWERS, true),
    KEY_SWITCHED('b', "freeze_multi_modal_projector", TERM_PROJECTOR, true),
    KEY_NAME('f', "fsdp", TERM_FSDP, SHARDS_NONE, SHARDINGS),
    KEY_WRITTEN('f', "fsdp_config.version", TERM_VERSION),
    KEY_SWITCHED('f', "fsdp_config.reshard_after_forward", TERM_REGATHER, true),
    KEY_FLAG('f', "fsdp_config.cpu_ram_efficient_loading", TERM_LOADS_ONCE),
    {NULL},
};

static const char *refuses_degrees(const PlanFacts *facts) {
    REFUSE_UNLESS(facts->fsdp == 1 || facts->data == 1, "its files have no words for FSDP in groups of ranks");
    return tuned_refuses_degrees(facts);
}

static bool llama_factory_write(const LaunchJob *job, const EmitNotes *notes, FILE *out, Error *error) {
    (void)error;
    const FineTuning *tuning = &job->request->question.tuning;
    LaunchTerms terms = tuned_terms(job);
    int64_t *of = terms.of;
    of[TERM_ADAPTER] = tuning->what.rank > 0 ? ADAPTER_LORA : ADAPTER_NONE;
    of[TERM_VERSION] = 2;
    of[TERM_PLAIN] = of[TERM_PLAIN] ? true : TERM_SILENT;
    of[TERM_MIXED] = of[TERM_MIXED] ? true : TERM_SILENT;
    emit_header(job, notes, out);
    fprintf(out, "# %sllamafactory-cli train THIS_FILE\n", job->world > 1 ? "FORCE_TORCHRUN=1 " : "");
    if (job->hosts > 1)
        fprintf(out, "# on every host in front: NNODES=%" PRId64 " NODE_RANK=N MASTER_ADDR=ADDRESS MASTER_PORT=29500\n",
                job->hosts);
    fprintf(out, "model_name_or_path: ");
    emit_quoted(tuned_model(job), out);
    fprintf(out,
            "\ndataset: DATA\ntemplate: default\ndo_train: true\noutput_dir: ./out\nnum_train_epochs: %g\n"
            "learning_rate: 0.0001\noptim: %s\nflash_attn: fa2\n",
            tuning->what.on ? tuning->epochs : 1, launcher_optimizer(job->launcher, job->request));
    keys_write(KEYS, "tbp", &terms, KEYS_YAML, out);
    if (tuning->what.rank > 0) {
        keys_write(KEYS, "a", &terms, KEYS_YAML, out);
        fprintf(out, "lora_target: ");
        if (tuning->what.targets == TARGETS_ALL)
            fprintf(out, "all");
        else
            tuned_write_targets(job, ",", out);
        fprintf(out, "\n");
    }
    keys_write(KEYS, "q", &terms, KEYS_YAML, out);
    if (tuned_shards(job)) keys_write(KEYS, "f", &terms, KEYS_YAML, out);
    return !ferror(out);
}

static const char IGNORED[] =
    "dataset* template do_train do_eval output_dir overwrite_* learning_rate lr_* warmup* weight_decay optim* *_steps "
    "*_strategy logging* report_to run_name seed save_* plot_loss eval* per_device_eval* val_size ddp_* max_samples "
    "preprocessing* dataloader* flash_attn trust_remote_code pref_* lora_alpha lora_dropout quantization_* "
    "media_dir resume_from_checkpoint max_grad_norm adam_* bf16 fp16 tf32 fsdp_config.* neat_packing train_on_prompt "
    "mask_history cache_dir";

static bool llama_factory_terms(ConfigFile *file, LaunchTerms *terms, Error *error) {
    if (!tuned_read(KEYS, file, terms, error)) return false;
    terms->of[TERM_CHECKPOINTS] = !terms->of[TERM_KEEPS];
    return true;
}

static bool llama_factory_work(ConfigFile *file, ImportedWork *out, Error *error) {
    LaunchTerms terms;
    return llama_factory_terms(file, &terms, error) &&
           tuned_work(file, &terms, config_text(file, "model_name_or_path", NULL),
                      config_text(file, "lora_target", NULL), out, error);
}

static bool llama_factory_plan(ConfigFile *file, const Request *request, ImportedPlan *plan, Error *error) {
    LaunchTerms terms;
    config_ignore(file, IGNORED);
    return llama_factory_terms(file, &terms, error) && tuned_plan(file, &terms, request, plan, error);
}

const Launcher LLAMA_FACTORY_LAUNCHER = {
    .name = "llama-factory",
    .refuses_degrees = refuses_degrees,
    TUNED_FIELDS(tuned_refuses_work),
    .signs = {"cutoff_len", "finetuning_type", "quantization_bit"},
    .keys = KEYS,
    .optimizer_key = "optim",
    .import_work = llama_factory_work,
    .import_plan = llama_factory_plan,
    .formats = {{"llama-factory", llama_factory_write, tuned_notes, "a YAML file for LLaMA-Factory",
                 "llama_factory.yaml", tuned_cannot, NULL}},
};
