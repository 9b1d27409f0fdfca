/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plan as people who run Megatron say it. */
#include "search/launch/gpu_job.h"
#include "search/launch/megatron/megatron.h"

#include <inttypes.h>
#include <string.h>

static void add_parallel(const GpuJob *job, Prose *to) {
    prose_add(to, "TP %" PRId64, job->tensor);
    if (job->pipeline > 1 && job->virtual_stages > 1)
        prose_item(to, ", ", "PP %" PRId64 " with %" PRId64 " virtual stages", job->pipeline, job->virtual_stages);
    else
        prose_item(to, ", ", "PP %" PRId64, job->pipeline);
    prose_item(to, ", ", "CP %" PRId64, job->sequence);
    if (model_layers_with(job->model, true) > 0)
        prose_item(to, ", ", "EP %" PRId64 " ETP %" PRId64, job->expert, job->expert_tensor);
    prose_item(to, ", ", "DP %" PRId64, job->replicas);
}

static void add_sharding(const GpuJob *job, Prose *to) {
    int zero = job->knobs->zero_stage;
    if (job->shards && job->data > 1)
        prose_item(to, ", ", "Megatron-FSDP in %" PRId64 " groups%s", job->data,
                   zero == 1 ? " with the optimizer over all" : "");
    else if (job->shards)
        prose_item(to, ", ", "Megatron-FSDP over all of it (ZeRO-3)");
    else if (zero == 2)
        prose_item(to, ", ", "Megatron-FSDP of gradients and optimizer (ZeRO-2)");
    else if (zero == 1)
        prose_item(to, ", ", "distributed optimizer (ZeRO-1)");
    if (job->knobs->offload_optimizer) prose_item(to, ", ", "optimizer on the CPU");
}

void megatron_plan_words(const Request *request, const RankedPlan *ranked, Prose *to) {
    GpuJob job;
    char text[REMAT_TEXT_SIZE];
    Error ignored = {0};
    if (!gpu_job(request, ranked, &MEGATRON_LAUNCHER, &job, &ignored)) return;
    add_parallel(&job, to);
    add_sharding(&job, to);
    prose_item(to, ", ", "micro-batch %" PRId64 " in %" PRId64 " microbatch%s, global batch %" PRId64,
               job.knobs->microbatch_sequences, job.knobs->microbatches, job.knobs->microbatches > 1 ? "es" : "",
               job.batch);
    const char *remat = megatron_remat_words(job.model, &ranked->plan.layout, text);
    prose_item(to, ", ", "%s", remat && remat[0] ? remat : "no recomputation");
}
