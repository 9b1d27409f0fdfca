/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For torchtitan 0.3: a bash script with a config function of a few lines, which says what flags cannot (the model's
 * converters, activation checkpointing, modules of uneven stages), and flags for all else. */
#include "search/launch/torchtitan/torchtitan.h"

#include <inttypes.h>

static void write_converters(const LaunchJob *job, FILE *out) {
    bool mixture = model_layers_with(job->model, true) > 0;
    switch (job->request->question.precision) {
    case PRECISION_FP8:
        fprintf(out, ", converters=[\n        Float8LinearConverter.Config(filter_fqns=[\"lm_head\", \"router.gate\"], "
                     "model_compile_enabled=True),\n");
        if (mixture) fprintf(out, "        Float8GroupedExpertsConverter.Config(model_compile_enabled=True),\n");
        break;
    case PRECISION_MXFP8:
        fprintf(out, ", converters=[\n        MXFP8LinearConverter.Config(model_compile_enabled=True),\n");
        if (mixture) fprintf(out, "        MXFP8GroupedExpertsConverter.Config(model_compile_enabled=True),\n");
        break;
    case PRECISION_NVFP4:
        fprintf(out, ", converters=[\n        NVFP4LinearConverter.Config(fqns=[\"layers\"], "
                     "model_compile_enabled=True),\n");
        break;
    default:
        return;
    }
    fprintf(out, "    ]");
}

/* gpt_oss is built on varlen attention unless told otherwise, and context parallelism wants FlexAttention. */
static void write_function(const LaunchJob *job, const TitanModel *model, FILE *out) {
    static const char *const CHECKPOINTS[] = {
        [TITAN_KEEP] = "None", [TITAN_SELECTIVE] = "SelectiveAC.Config()", [TITAN_FULL] = "FullAC.Config()"};
    Precision precision = job->request->question.precision;
    TitanCheckpoint checkpoint = titan_checkpoint(job);
    fprintf(out, "\n# What flags cannot say, as a config function: --module shardopt_plan --config plan.\n"
                 "DIR=$(mktemp -d)\ncat > \"$DIR/shardopt_plan.py\" <<'PYTHON'\n");
    if (precision != PRECISION_BF16)
        fprintf(out, "from torchtitan.components.quantization import (\n    Float8GroupedExpertsConverter,\n    "
                     "Float8LinearConverter,\n    MXFP8GroupedExpertsConverter,\n    MXFP8LinearConverter,\n    "
                     "NVFP4LinearConverter,\n)\n");
    if (checkpoint != TITAN_KEEP)
        fprintf(out, "from torchtitan.distributed.activation_checkpoint import FullAC, SelectiveAC\n");
    fprintf(out,
            "from torchtitan.models.common.config_utils import decoder_vocab_size\n"
            "from torchtitan.models.%s import model_registry\n"
            "from torchtitan.models.%s.config_registry import %s as base\n\n\ndef plan():\n    config = base()\n"
            "    config.model_spec = model_registry(\"%s\", attn_backend=\"flex\"",
            model->module, model->module, model->base, model->flavor);
    write_converters(job, out);
    fprintf(out,
            ")\n    config.loss.loss_fn.global_vocab_size = decoder_vocab_size(config.model_spec)\n"
            "    config.hf_assets_path = \"%s\"\n    config.activation_checkpoint = %s\n",
            model->assets, CHECKPOINTS[checkpoint]);
    if (job->pipeline > 1 && !job->even) {
        fprintf(out, "    config.parallelism.module_fqns_per_model_part = ");
        titan_write_chunks(job, "lm_head", "    ", out);
    }
    fprintf(out, "    return config\nPYTHON\nMODULE=shardopt_plan CONFIG=plan\n");
}

static void write_flags(const LaunchJob *job, FILE *out) {
    fprintf(out,
            "\nPARALLEL=(\n    --parallelism.data_parallel_replicate_degree %" PRId64
            "\n    --parallelism.data_parallel_shard_degree %" PRId64
            "\n    --parallelism.tensor_parallel_degree %" PRId64 "\n    --parallelism.context_parallel_degree %" PRId64
            "\n    --parallelism.pipeline_parallel_degree %" PRId64
            "\n    --parallelism.expert_parallel_degree %" PRId64 "\n    --parallelism.fsdp_reshard_after_forward %s\n",
            job->data, job->fsdp, job->tensor, job->sequence, job->pipeline, job->expert,
            job->knobs->regather ? "always" : "never");
    if (job->tensor > 1 && job->ranked->plan.layout.sharding.residual == RESIDUAL_REPLICATED && job->expert == 1)
        fprintf(out, "    --parallelism.no-enable_sequence_parallel\n");
    if (job->sequence > 1) fprintf(out, "    --parallelism.context_parallel_load_balancer headtail\n");
    if (job->pipeline > 1)
        fprintf(out,
                "    --parallelism.pipeline_parallel_schedule %s\n"
                "    --parallelism.pipeline_parallel_microbatch_size %" PRId64 "\n",
                titan_schedule(job->knobs->schedule), job->knobs->microbatch_sequences);
    int slots = job->knobs->stages == STAGES_SLOTS;
    if (job->pipeline > 1 && (job->even || slots))
        fprintf(out,
                "    --parallelism.pipeline_parallel_layers_per_stage %" PRId64
                "\n    --parallelism.pipeline_parallel_first_stage_less_layers %d\n"
                "    --parallelism.pipeline_parallel_last_stage_less_layers %d\n",
                job_chunk_layers(job, 0) + slots, slots, slots);
    fprintf(out,
            ")\n\nTRAINING=(\n    --training.seq_len %" PRId64 "\n    --training.local_batch_size %" PRId64
            "\n    --training.global_batch_size %" PRId64 "\n    --training.steps %" PRId64 "\n",
            job->ranked->work.seq, titan_local_batch(job), job->batch, job->steps);
    if (job->request->question.state_dtypes.master == DTYPE_NONE) fprintf(out, "    --training.dtype bfloat16\n");
    if (job->knobs->offload_optimizer) fprintf(out, "    --training.enable_cpu_offload\n");
    /* trainer.py: no CUDA graphs with a pipeline, nor with experts that ask the host how many tokens come */
    if (job->pipeline > 1 || job->expert > 1) fprintf(out, "    --training.disable_cuda_graphs\n");
    bool overlap = job->tensor > 1 && job->knobs->methods.tensor_overlap;
    if (overlap || job->request->question.precision != PRECISION_BF16)
        fprintf(out, "    --compile.enable\n    --compile.components model,loss\n");
    if (overlap) fprintf(out, "    --compile.enable_async_tensor_parallel\n");
    fprintf(out, ")\n");
}

void torchtitan_notes(const LaunchJob *job, EmitNotes *notes) {
    titan_note(job, notes);
    if (!titan_model(job->model))
        emit_note(notes, "activation checkpointing%s is in your config function's hands",
                  job->pipeline > 1 && !job->even ? ", and which layers are in which stage," : "");
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
    if (model)
        write_function(job, model, out);
    else
        fprintf(out,
                "\nDIR=${DIR:-.}\nMODULE=${MODULE:?name a module that has the model} CONFIG=${CONFIG:?name a config "
                "function of it}\n");
    write_flags(job, out);
    fprintf(out, "\nexport PYTHONPATH=$DIR${PYTHONPATH:+:$PYTHONPATH}\nexec ");
    job_write_torchrun(job, out);
    fprintf(out, "-m torchtitan.train --module \"$MODULE\" --config \"$CONFIG\" \"${PARALLEL[@]}\" \"${TRAINING[@]}\" "
                 "\"$@\"\n");
    return true;
}
