/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plan as people who run DeepSpeed say it. */
#include "search/launch/deepspeed/deepspeed.h"
#include "search/launch/gpu_job.h"

#include <inttypes.h>

void deepspeed_plan_words(const Request *request, const RankedPlan *ranked, Prose *to) {
    GpuJob job;
    Error ignored = {0};
    if (!gpu_job(request, ranked, &DEEPSPEED_LAUNCHER, &job, &ignored)) return;
    prose_add(to, "ZeRO stage %d", job.shards ? 3 : job.knobs->zero_stage);
    if (job.tensor > 1) prose_item(to, ", ", "AutoTP %" PRId64, job.tensor);
    if (job.sequence > 1) prose_item(to, ", ", "sequence_parallel_size %" PRId64, job.sequence);
    if (job.pipeline > 1) prose_item(to, ", ", "%" PRId64 " stages", job.pipeline);
    if (job.expert > 1) prose_item(to, ", ", "ep_size %" PRId64, job.expert);
    prose_item(to, ", ", "micro-batch %" PRId64 ", %" PRId64 " accumulation step%s, batch %" PRId64,
               job.knobs->microbatch_sequences, job.knobs->microbatches, job.knobs->microbatches > 1 ? "s" : "",
               job.batch);
    int64_t remade = gpu_job_dropped_most(&job);
    if (remade > 0)
        prose_item(to, ", ", "checkpointing of %" PRId64 " layers", remade);
    else
        prose_item(to, ", ", "no activation checkpointing");
    if (job.knobs->offload_optimizer) prose_item(to, ", ", "optimizer on the CPU");
}
