/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plan as people who run torchtitan say it. */
#include "search/launch/gpu_job.h"
#include "search/launch/torchtitan/emit.h"

#include <inttypes.h>

void torchtitan_plan_words(const Request *request, const RankedPlan *ranked, Prose *to) {
    static const char *const CHECKPOINTS[] = {
        [TITAN_KEEP] = "no activation checkpointing", [TITAN_SELECTIVE] = "SelectiveAC", [TITAN_FULL] = "FullAC"};
    GpuJob job;
    Error ignored = {0};
    if (!gpu_job(request, ranked, &TORCHTITAN_LAUNCHER, &job, &ignored)) return;
    prose_add(to, "dp_replicate %" PRId64 ", dp_shard %" PRId64 ", tp %" PRId64 ", cp %" PRId64 ", pp %" PRId64,
              job.data, job.fsdp, job.tensor, job.sequence, job.pipeline);
    if (job.pipeline > 1) prose_item(to, " ", "(%s)", titan_schedule(job.knobs->schedule));
    if (model_layers_with(job.model, true) > 0) prose_item(to, ", ", "ep %" PRId64, job.expert);
    prose_item(to, ", ", "local batch %" PRId64 ", global batch %" PRId64, titan_local_batch(&job), job.batch);
    prose_item(to, ", ", "%s", CHECKPOINTS[titan_checkpoint(&job)]);
    if (job.shards) prose_item(to, ", ", "reshard after forward: %s", job.knobs->regather ? "always" : "never");
    if (job.knobs->offload_optimizer) prose_item(to, ", ", "CPU offload");
}
