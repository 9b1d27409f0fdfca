/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/gpu_job.h"

#include "base/util.h"
#include "cost/state/remat.h"

#include <inttypes.h>
#include <math.h>

bool gpu_job(const Request *request, const RankedPlan *ranked, const Launcher *launcher, GpuJob *out, Error *error) {
    const Plan *plan = &ranked->plan;
    const int64_t *degree = plan->degrees.of;
    const Methods *methods = &plan->knobs.methods;
    const Shard *shard = &ranked->estimate.shard;
    char where[48];
    snprintf(where, sizeof where, "emit %s", launcher->name);
    bool folded = methods->grid.expert > 0;
    GpuJob job = {.request = request,
                  .ranked = ranked,
                  .model = &request->question.model,
                  .knobs = &plan->knobs,
                  .launcher = launcher,
                  .tensor = degree[ROLE_TENSOR],
                  .sequence = degree[ROLE_SEQUENCE],
                  .fsdp = degree[ROLE_FSDP] * degree[ROLE_EXPERT],
                  .data = degree[ROLE_DATA],
                  .pipeline = degree[ROLE_PIPELINE],
                  .expert = folded ? methods->grid.expert : degree[ROLE_EXPERT],
                  .expert_tensor = folded ? max_whole(1, methods->grid.expert_tensor) : degree[ROLE_TENSOR],
                  .world = ranked->machine.mesh.devices,
                  .batch = ranked->work.sequences,
                  .virtual_stages = max_whole(1, plan->knobs.virtual_stages)};
    job.replicas = degrees_replicas(&plan->degrees);
    job.chunks = job.pipeline * job.virtual_stages;
    job.even = request->question.model.layers % job.chunks == 0 && shard->layers == shard->layers_last;
    job.shards = job.fsdp > 1 || (job.sequence > 1 && !methods->sequence_replicates);
    job.layers = (int64_t)shard->layers;
    job.steps = (int64_t)ceil(request->question.training_tokens / ((double)job.batch * (double)ranked->work.seq));
    job.per_host = min_whole(max_whole(1, request->question.chip.chips_per_host), job.world);
    job.hosts = job.world / job.per_host;
    if (job.world % job.per_host != 0)
        return error_set(error, ERROR_INPUT, where, "%" PRId64 " GPUs are not whole hosts of %" PRId64, job.world,
                         job.per_host);
    int64_t microbatches = plan->knobs.microbatches, sequences = plan->knobs.microbatch_sequences;
    if (job.batch % job.replicas != 0 || job.batch / job.replicas % sequences != 0 ||
        job.batch / job.replicas / sequences != microbatches)
        return error_set(error, ERROR_INPUT, where,
                         "a step of %" PRId64 " sequences is not %" PRId64 " microbatches of %" PRId64 " on %" PRId64
                         " replicas; give a --batch that is",
                         job.batch, microbatches, sequences, job.replicas);
    const LaunchAnswer *answer = emit_launch_answer(ranked, launcher);
    if (answer && answer->kind == LAUNCH_OPTION) job.option = answer->needs;
    job.host_order = answer && answer->kind == LAUNCH_DEVICE_ORDER && job.hosts > 1;
    *out = job;
    return true;
}

/* Of one stage. The last has what the shard says, the first one layer fewer where the embedding takes a place; of the
 * others those behind, which hold fewer microbatches, get what is left over. */
static int64_t stage_layers(const GpuJob *job, int64_t stage) {
    const Shard *shard = &job->ranked->estimate.shard;
    int64_t last = (int64_t)shard->layers_last, others = job->pipeline - 1;
    if (job->pipeline == 1) return job->model->layers;
    if (stage == others) return last;
    if (shard->slots_first > 0) return job->layers - (stage == 0 ? (int64_t)shard->slots_first : 0);
    int64_t rest = job->model->layers - last;
    return rest / others + (others - stage <= rest % others ? 1 : 0);
}

int64_t gpu_job_chunk_layers(const GpuJob *job, int64_t chunk) {
    int64_t layers = stage_layers(job, chunk % job->pipeline), turn = chunk / job->pipeline;
    if (job->ranked->estimate.shard.slots_first > 0) /* the first chunk and the last have one layer fewer */
        return job->layers / job->virtual_stages - (chunk == 0 || chunk == job->chunks - 1 ? 1 : 0);
    return layers / job->virtual_stages + (turn < layers % job->virtual_stages ? 1 : 0);
}

int64_t gpu_job_dropped(const GpuJob *job, Activation activation) {
    const int64_t *layers = job->ranked->plan.layout.layers[activation];
    return activation_exists(job->model, activation)
               ? layers[STATE_RECOMPUTED] + layers[STATE_OFFLOADED] + layers[STATE_PARTLY]
               : 0;
}

int64_t gpu_job_dropped_most(const GpuJob *job) {
    int64_t most = 0;
    for (Activation a = 0; a < ACTIVATION_COUNT; a++)
        if (a != ACTIVATION_LAYER_INPUT) most = max_whole(most, gpu_job_dropped(job, a));
    return most;
}

int64_t gpu_job_layers_for_inputs(const GpuJob *job) {
    int64_t inputs = job->ranked->plan.layout.layers[ACTIVATION_LAYER_INPUT][STATE_OFFLOADED];
    if (inputs == 0) return 0;
    if (!activation_exists(job->model, ACTIVATION_MIDDLE)) return job->layers + 1;
    return inputs + gpu_job_dropped(job, ACTIVATION_MIDDLE);
}

const char *gpu_job_activations(const GpuJob *job, char text[ACTIVATIONS_TEXT_SIZE]) {
    size_t used = 0;
    for (Activation a = 0; a < ACTIVATION_COUNT; a++)
        for (ActivationState state = STATE_RECOMPUTED; state < STATE_COUNT; state++) {
            int64_t layers = job->ranked->plan.layout.layers[a][state];
            if (layers == 0 || !activation_exists(job->model, a) || used >= ACTIVATIONS_TEXT_SIZE) continue;
            used += (size_t)snprintf(text + used, ACTIVATIONS_TEXT_SIZE - used, "%s%s %s in %s%" PRId64,
                                     used > 0 ? ", " : "", activation_name(a), activation_state_name(state),
                                     layers == job->layers ? "all " : "", layers);
            if (layers != job->layers && used < ACTIVATIONS_TEXT_SIZE)
                used += (size_t)snprintf(text + used, ACTIVATIONS_TEXT_SIZE - used, " of %" PRId64, job->layers);
        }
    if (used == 0)
        snprintf(text, ACTIVATIONS_TEXT_SIZE, "all kept");
    else if (used < ACTIVATIONS_TEXT_SIZE)
        snprintf(text + used, ACTIVATIONS_TEXT_SIZE - used, " layers%s",
                 job->pipeline > 1 ? " of the fullest stage" : "");
    return text;
}
