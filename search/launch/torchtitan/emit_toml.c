/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For torchtitan up to 0.2: the TOML file of --job.config_file. */
#include "search/launch/torchtitan/torchtitan.h"

#include <inttypes.h>

/* Strings as emit_quoted() writes them are JSON's, and so TOML's basic strings. */
static void write_model(const LaunchJob *job, FILE *out) {
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

static void write_parallelism(const LaunchJob *job, FILE *out) {
    bool overlap = job->tensor > 1 && job->knobs->methods.tensor_overlap;
    fprintf(out,
            "\n[parallelism]\ndata_parallel_replicate_degree = %" PRId64 "\ndata_parallel_shard_degree = %" PRId64
            "\nfsdp_reshard_after_forward = \"%s\"\ntensor_parallel_degree = %" PRId64
            "\nenable_async_tensor_parallel = %s\ncontext_parallel_degree = %" PRId64
            "\npipeline_parallel_degree = %" PRId64 "\nexpert_parallel_degree = %" PRId64 "\n",
            job->data, job->fsdp, job->knobs->regather ? "always" : "never", job->tensor, overlap ? "true" : "false",
            job->sequence, job->pipeline, job->expert);
    if (job->expert > 1) fprintf(out, "expert_tensor_parallel_degree = 1\n");
    if (job->sequence > 1)
        fprintf(out, "context_parallel_load_balancer = \"headtail\"\ncontext_parallel_rotate_method = \"allgather\"\n");
    if (job->pipeline == 1) return;
    fprintf(out, "pipeline_parallel_schedule = \"%s\"\npipeline_parallel_microbatch_size = %" PRId64 "\n",
            titan_schedule(job->knobs->schedule), job->knobs->microbatch_sequences);
    int slots = job->knobs->stages == STAGES_SLOTS;
    if (job->even || slots) {
        fprintf(out,
                "pipeline_parallel_layers_per_stage = %" PRId64
                "\npipeline_parallel_first_stage_less_layers = %d\npipeline_parallel_last_stage_less_layers = %d\n",
                job_chunk_layers(job, 0) + slots, slots, slots);
    } else {
        fprintf(out, "module_fqns_per_model_part = ");
        titan_write_chunks(job, "output", "", out);
    }
}

void torchtitan_toml_notes(const LaunchJob *job, EmitNotes *notes) {
    titan_note(job, notes);
    if (job->tensor > 1 && job->ranked->plan.layout.sharding.residual == RESIDUAL_REPLICATED)
        emit_note(notes, "the residual stream was costed whole on each chip; torchtitan splits it over tensor");
}

const char *torchtitan_toml_cannot(const LaunchJob *job) {
    const char *refusal = titan_cannot(job);
    return !refusal && job->request->question.precision == PRECISION_NVFP4
               ? "0.2 has no nvfp4; 0.3 has: emit torchtitan"
               : refusal;
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
    write_model(job, out);
    fprintf(out,
            "\n[training]\nseq_len = %" PRId64 "\nlocal_batch_size = %" PRId64 "\nglobal_batch_size = %" PRId64
            "\nsteps = %" PRId64 "\ndtype = \"%s\"\nenable_cpu_offload = %s\n",
            job->ranked->work.seq, titan_local_batch(job), job->batch, job->steps,
            job->request->question.state_dtypes.master == DTYPE_NONE ? "bfloat16" : "float32",
            job->knobs->offload_optimizer ? "true" : "false");
    write_parallelism(job, out);
    TitanCheckpoint checkpoint = titan_checkpoint(job);
    fprintf(out, "\n[activation_checkpoint]\nmode = \"%s\"\n", MODES[checkpoint]);
    if (checkpoint == TITAN_SELECTIVE) fprintf(out, "selective_ac_option = \"op\"\n");
    if ((job->tensor > 1 && job->knobs->methods.tensor_overlap) || job->request->question.precision != PRECISION_BF16)
        fprintf(out, "\n[compile]\nenable = true\ncomponents = [\"model\", \"loss\"]\n");
    return true;
}
