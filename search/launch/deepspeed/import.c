/* SPDX-License-Identifier: GPL-3.0-or-later */
/* DeepSpeed: its JSON. Keys, defaults and what it raises on: DeepSpeed edaa72212, runtime/config.py,
 * runtime/zero/config.py, runtime/tensor_parallel/config.py (docs/launch.md has the commit). Neither model nor sequence
 * length stands there, nor how many stages a PipelineModule has: that is in the program. */
#include "base/util.h"
#include "search/launch/deepspeed/deepspeed.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char IGNORED[] =
    "optimizer.params.* optimizer.type scheduler.* fp16.* bf16.* bfloat16.* amp.* gradient_clipping "
    "prescale_gradients steps_per_print wall_clock_breakdown dump_state *tensorboard* wandb.* csv_monitor.* "
    "comms_logger.* flops_profiler.* checkpoint.* data_types.* aio.* zero_allow_untested_optimizer "
    "zero_force_ds_cpu_optimizer communication_data_type zero_optimization.overlap_comm "
    "zero_optimization.contiguous_gradients zero_optimization.*bucket_size zero_optimization.sub_group_size "
    "zero_optimization.stage3_* zero_optimization.allgather_partitions zero_optimization.reduce_scatter "
    "zero_optimization.round_robin_gradients zero_optimization.offload_*.p* "
    "zero_optimization.offload_*.buffer* zero_optimization.offload_*.fast_init "
    "zero_optimization.ignore_unused_parameters zero_optimization.memory_efficient_linear "
    "zero_optimization.load_from_fp32_weights zero_optimization.elastic_checkpoint "
    "activation_checkpointing.* seed shardopt.* pipeline.*";

/* 0: not given, or "auto", which Hugging Face writes for what the trainer's arguments say. */
static bool read_size(ConfigFile *file, const char *key, int64_t *out, Error *error) {
    *out = 0;
    return strcasecmp(config_text(file, key, "auto"), "auto") == 0 ||
           config_whole(file, key, 1, IMPORT_BATCH_MAX, 0, out, error);
}

bool deepspeed_work(ConfigFile *file, ImportedWork *out, Error *error) {
    if (!config_number_text(file, "shardopt.seq_length", &out->seq, error)) return false;
    out->model = config_text(file, "shardopt.model", NULL); /* what `shardopt emit` writes beside it */
    const char *optimizer = config_text(file, "optimizer.type", "AdamW");
    if (strcasecmp(optimizer, "sgd") == 0 || strcasecmp(optimizer, "muon") == 0)
        out->optimizer = strcasecmp(optimizer, "sgd") == 0 ? "sgd" : "muon";
    const char *reduced = config_text(file, "data_types.grad_accum_dtype", NULL);
    /* Accumulated in fp32 and reduced in the dtype of parameters is how they are by default. */
    bool accumulated = strcmp(config_text(file, "gradient_accumulation_steps", "1"), "1") != 0;
    if (reduced && strcmp(reduced, "bf16") == 0) out->state_dtypes = "gradients=bf16";
    if (reduced && strcmp(reduced, "fp32") == 0 && !accumulated) out->state_dtypes = "gradients=fp32";
    return true;
}

/* ZeRO: stages 0 to 2 are replicas; 3 is fsdp, whole or within groups (ZeRO++'s secondary partition, MiCS). */
static bool read_zero(ConfigFile *file, const Request *request, ImportedPlan *plan, Error *error) {
    int64_t *of = plan->degrees.of, stage, ranks, secondary, group;
    if (!config_whole(file, "zero_optimization.stage", 0, 3, 0, &stage, error) ||
        !config_whole(file, "zero_optimization.zero_hpz_partition_size", 1, 1 << 24, 1, &secondary, error) ||
        !config_whole(file, "zero_optimization.mics_shard_size", -1, 1 << 24, -1, &group, error) ||
        !import_left_over(file, request, "tensor_parallel x sequence_parallel_size", plan, &ranks, error))
        return false;
    of[ROLE_DATA] = ranks;
    if (stage == 3) {
        of[ROLE_FSDP] = group > 0 ? group : ranks;
        if (ranks % of[ROLE_FSDP] != 0)
            return config_wrong(file, NULL, "zero_optimization.mics_shard_size", error,
                                "%" PRId64 " does not divide the %" PRId64 " data-parallel ranks", of[ROLE_FSDP],
                                ranks);
        of[ROLE_DATA] = ranks / of[ROLE_FSDP];
        if (secondary > 1)
            config_note(file, "zero_hpz_partition_size is priced as plain ZeRO-3: backward gathers over all ranks");
    }
    if (of[ROLE_DATA] > 1 || (stage < 3 && of[ROLE_SEQUENCE] > 1))
        import_knob(plan, KNOB_ZERO_STAGE, stage == 3 ? 0 : stage);
    if (of[ROLE_SEQUENCE] > 1) {
        import_knob(plan, KNOB_CONTEXT_METHOD, CONTEXT_ULYSSES);
        import_knob(plan, KNOB_SEQUENCE_PARAMETERS, stage != 3);
    }
    return true;
}

/* Stages stand there only for programs that ask the JSON for them, as what `shardopt emit` writes. */
static bool read_stages(ConfigFile *file, ImportedPlan *plan, Error *error) {
    int64_t *stages = &plan->degrees.of[ROLE_PIPELINE];
    if (!config_whole(file, "pipeline.stages", 1, 1 << 20, 1, stages, error)) return false;
    if (*stages == 1) return true;
    import_knob(plan, KNOB_SCHEDULE, SCHEDULE_1F1B);
    import_knob(plan, KNOB_VIRTUAL_STAGES, 1);
    return true;
}

/* train_batch_size = micro x accumulation x ranks: two of them give the third. */
static bool read_batch(ConfigFile *file, const Request *request, ImportedPlan *plan, Error *error) {
    int64_t batch, micro, passes, replicas = degrees_replicas(&plan->degrees);
    bool asked = request->asked.batch_origin == FROM_OPTION;
    if (!read_size(file, "train_batch_size", &batch, error) ||
        !read_size(file, "train_micro_batch_size_per_gpu", &micro, error) ||
        !read_size(file, "gradient_accumulation_steps", &passes, error))
        return false;
    if (passes > 1 << 20)
        return config_wrong(file, NULL, "gradient_accumulation_steps", error, "%" PRId64 " is absurd; give fewer",
                            passes);
    if (asked) batch = request->question.work.sequences;
    if (batch == 0) {
        if (micro == 0)
            return config_wrong(file, NULL, "train_batch_size", error,
                                "is left to the program; say how much a step trains: --batch TOKENS or --sequences N");
        if (micro > IMPORT_BATCH_MAX >> 12)
            return config_wrong(file, NULL, "train_micro_batch_size_per_gpu", error,
                                "%" PRId64 " is absurd; give fewer", micro);
        batch = micro * max_whole(1, passes) * replicas;
    }
    if (micro == 0) {
        int64_t each = max_whole(1, passes) * replicas;
        if (passes == 0) {
            plan->sequences = batch; /* chosen best */
            config_note(file, "train_micro_batch_size_per_gpu is left to the program: chosen best");
            return true;
        }
        if (batch % each != 0)
            return config_wrong(file, NULL, "train_batch_size", error,
                                "%" PRId64 " is no multiple of %" PRId64 " (accumulation x data-parallel ranks)", batch,
                                each);
        micro = batch / each;
    }
    if (!asked && passes > 0 && batch / micro / replicas != passes)
        return config_wrong(file, NULL, "train_batch_size", error,
                            "%" PRId64 " is not micro-batch %" PRId64 " x accumulation %" PRId64 " x %" PRId64 " ranks",
                            batch, micro, passes, replicas);
    return import_batch(file, request, "train_batch_size", batch, micro, plan, error);
}

static bool read_remat(ConfigFile *file, const Request *request, ImportedPlan *plan, Error *error) {
    int64_t of_stage = divide_up(request->question.model.layers, plan->degrees.of[ROLE_PIPELINE]), checkpoints,
            interval;
    bool host, split;
    if (!config_whole(file, "activation_checkpointing.number_checkpoints", 1, INT64_C(1) << 20, 0, &checkpoints,
                      error) ||
        !config_whole(file, "pipeline.activation_checkpoint_interval", 0, INT64_C(1) << 20, 0, &interval, error))
        return false;
    if (!config_flag(file, "activation_checkpointing.cpu_checkpointing", false, &host, error) ||
        !config_flag(file, "activation_checkpointing.partition_activations", false, &split, error))
        return false;
    if (host)
        snprintf(plan->remat, sizeof plan->remat, "layer_input=offloaded");
    else if (checkpoints > 0 && checkpoints < of_stage)
        snprintf(plan->remat, sizeof plan->remat, "full:%" PRId64, checkpoints);
    else if (split || checkpoints > 0 || interval > 0)
        snprintf(plan->remat, sizeof plan->remat, "full");
    else
        config_note(file, "whether layers are checkpointed stands in the program: chosen best; --remat says it");
    return true;
}

bool deepspeed_plan(ConfigFile *file, const Request *request, ImportedPlan *plan, Error *error) {
    int64_t *of = plan->degrees.of, older;
    if (!import_check_gpus(file, request, "DeepSpeed", error) ||
        !config_whole(file, "tensor_parallel.autotp_size", 0, 1 << 24, 0, &of[ROLE_TENSOR], error) ||
        !config_whole(file, "tensor_parallel.tp_size", 1, 1 << 24, 1, &older, error) ||
        !config_whole(file, "sequence_parallel_size", 1, 1 << 24, 1, &of[ROLE_SEQUENCE], error))
        return false;
    of[ROLE_TENSOR] = max_whole(1, max_whole(older, of[ROLE_TENSOR]));
    if (!read_stages(file, plan, error) ||
        !import_check_heads(file, request, "tensor_parallel.autotp_size", of[ROLE_TENSOR], true, error) ||
        !import_check_seq(file, request, "sequence_parallel_size", of[ROLE_SEQUENCE], error) ||
        !read_zero(file, request, plan, error) || !read_batch(file, request, plan, error) ||
        !read_remat(file, request, plan, error))
        return false;
    const char *optimizer = config_text(file, "zero_optimization.offload_optimizer.device", "none");
    const char *parameters = config_text(file, "zero_optimization.offload_param.device", "none");
    if (strcmp(optimizer, "nvme") == 0)
        config_note(file, "offload_optimizer to NVMe is priced as to the host's memory");
    if (strcmp(parameters, "none") != 0) config_note(file, "offload_param is not priced: parameters in HBM");
    import_offload(file, request, strcmp(optimizer, "none") != 0, plan);
    import_overlap(file, request, false, plan);
    config_ignore(file, IGNORED);
    return true;
}
