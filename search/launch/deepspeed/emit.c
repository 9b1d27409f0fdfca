/* SPDX-License-Identifier: GPL-3.0-or-later */
/* DeepSpeed's JSON. It has no comments, and the number of stages is an argument of PipelineModule: what is not in its
 * schema stands in an object "shardopt", which DeepSpeed, as it does with every key it does not know at the top, leaves
 * alone. Names and rules: the package deepspeed 0.19.8 (runtime/config.py, runtime/zero/config.py,
 * runtime/tensor_parallel/config.py, runtime/pipe/engine.py, module_inject/auto_ep_config.py). */
#include "base/json.h"
#include "base/util.h"
#include "cost/state/remat.h"
#include "search/launch/deepspeed/deepspeed.h"

#include <inttypes.h>

/* Whole layers are made again from their inputs (deepspeed.checkpointing), which lie on the host for all of them or for
 * none: where some are to, either so many layers more are made again that as much memory is free, or all inputs go. */
static int64_t checkpointed(const LaunchJob *job) {
    return min_whole(job->layers, max_whole(job_dropped_most(job), job_layers_for_inputs(job)));
}
static bool inputs_on_host(const LaunchJob *job) {
    return job_layers_for_inputs(job) > job->layers ||
           (job_dropped_most(job) > 0 && job_dropped(job, ACTIVATION_LAYER_INPUT) == job->layers);
}

/* ZeRO-3 where parameters are sharded, over all data ranks; hpZ keeps a second copy in groups. */
static int zero_stage(const LaunchJob *job) { return job->shards ? 3 : job->knobs->zero_stage; }

static bool add_zero(const LaunchJob *job, cJSON *to) {
    int stage = zero_stage(job);
    cJSON *zero = json_add_object(to, "zero_optimization");
    bool ok = json_add_whole(zero, "stage", stage) && json_add_bool(zero, "overlap_comm", stage > 0) &&
              json_add_bool(zero, "contiguous_gradients", true) &&
              json_add_whole(zero, "reduce_bucket_size", 500000000) &&
              json_add_whole(zero, "allgather_bucket_size", 500000000);
    if (ok && stage == 3) {
        /* Gathered weights are let go at once, or kept from a layer's forward to its backward. */
        int64_t live = job->knobs->regather ? 1000000000 : INT64_C(1000000000000);
        ok = json_add_whole(zero, "stage3_prefetch_bucket_size", 50000000) &&
             json_add_whole(zero, "stage3_param_persistence_threshold", 100000) &&
             json_add_whole(zero, "stage3_max_live_parameters", live) &&
             json_add_whole(zero, "stage3_max_reuse_distance", live);
    }
    if (ok && job->knobs->offload_optimizer) {
        cJSON *offload = json_add_object(zero, "offload_optimizer");
        ok = json_add_text(offload, "device", "cpu") && json_add_bool(offload, "pin_memory", true);
    }
    return ok;
}

static bool add_checkpointing(const LaunchJob *job, cJSON *to) {
    if (checkpointed(job) == 0) return true;
    cJSON *checkpointing = json_add_object(to, "activation_checkpointing");
    bool along = job->ranked->plan.layout.sharding.residual == RESIDUAL_SEQUENCE && job->tensor > 1;
    return json_add_bool(checkpointing, "partition_activations", along) &&
           json_add_bool(checkpointing, "cpu_checkpointing", inputs_on_host(job)) &&
           json_add_whole(checkpointing, "number_checkpoints", checkpointed(job));
}

/* runtime/config.py, PIPELINE: what PipelineModule is told again by its arguments. */
static bool add_pipeline(const LaunchJob *job, cJSON *to) {
    if (job->pipeline == 1) return true;
    cJSON *pipeline = json_add_object(to, "pipeline");
    return json_add_whole(pipeline, "stages", job->pipeline) && json_add_text(pipeline, "partition", "parameters") &&
           json_add_whole(pipeline, "activation_checkpoint_interval", checkpointed(job) > 0 ? 1 : 0);
}

static bool add_precision(const LaunchJob *job, cJSON *to) {
    const StateDtypes *dtypes = &job->request->question.state_dtypes;
    /* accumulated in fp32, where the cost model has them so; its own default under ZeRO is the parameters' dtype */
    bool whole =
        dtypes->gradients == DTYPE_FP32 || (dtypes->gradients == DTYPE_DEFAULT && job->knobs->microbatches > 1);
    bool lean = dtypes->master == DTYPE_NONE || dtypes->master == DTYPE_BF16;
    cJSON *bf16 = json_add_object(to, "bf16");
    bool ok = json_add_bool(bf16, "enabled", true);
    if (lean) ok = ok && json_add_bool(bf16, "bf16_master_weights_and_grads", true);
    if (lean && dtypes->first == DTYPE_BF16 && dtypes->second == DTYPE_BF16)
        ok = ok && json_add_bool(bf16, "bf16_optimizer_states", true);
    cJSON *types = json_add_object(to, "data_types");
    return ok && json_add_text(types, "grad_accum_dtype", whole ? "fp32" : "bf16");
}

static bool add_parallelism(const LaunchJob *job, cJSON *to) {
    bool ok = true;
    if (job->tensor > 1) ok = json_add_whole(json_add_object(to, "tensor_parallel"), "autotp_size", job->tensor);
    if (job->sequence > 1) ok = ok && json_add_whole(to, "sequence_parallel_size", job->sequence);
    if (job->expert > 1) {
        cJSON *experts = json_add_object(to, "expert_parallel");
        ok = ok && json_add_bool(experts, "enabled", true) && json_add_whole(experts, "autoep_size", job->expert) &&
             json_add_whole(experts, "expert_tensor_parallel_size", job->expert_tensor);
    }
    return ok;
}

/* What the JSON of DeepSpeed cannot say. */
static bool add_rest(const LaunchJob *job, const EmitNotes *notes, cJSON *to) {
    char plan[NOTATION_SIZE], launch[256];
    cJSON *own = json_add_object(to, "shardopt");
    plan_notation(&job->ranked->plan.degrees, job->knobs, false, plan);
    snprintf(launch, sizeof launch,
             "deepspeed --hostfile HOSTS --num_nodes %" PRId64 " --num_gpus %" PRId64
             " TRAIN.py --deepspeed_config THIS_FILE",
             job->hosts, job->per_host);
    bool ok = json_add_text(own, "model", job->model->name) && json_add_text(own, "plan", plan) &&
              json_add_real(own, "step_seconds", job->ranked->estimate.time.seconds) &&
              json_add_text(own, "launch", launch) && json_add_whole(own, "seq_length", job->ranked->work.seq);
    if (job->pipeline > 1) {
        cJSON *layers = json_add_array(own, "pipeline_module_layers");
        ok = ok && json_add_whole(own, "pipeline_module_num_stages", job->pipeline) && layers;
        for (int64_t stage = 0; stage < job->pipeline; stage++)
            ok = ok && json_add_whole(layers, NULL, job_chunk_layers(job, stage));
    }
    if (job->host_order) { /* lines of the host file, counted leaf by leaf of the network: the rank of each */
        cJSON *ranks = json_add_array(own, "host_ranks");
        int64_t domains = job_domains(job), in_domain = max_whole(1, job->hosts / domains);
        for (int64_t host = 0; host < job->hosts; host++)
            ok = ok &&
                 json_add_whole(ranks, NULL, job_domain_rank(job, host / in_domain) * in_domain + host % in_domain);
    }
    if (notes->count == 0) return ok;
    cJSON *list = json_add_array(own, "notes");
    for (int i = 0; i < notes->count; i++) ok = ok && json_add_text(list, NULL, notes->text[i]);
    return ok;
}

void deepspeed_notes(const LaunchJob *job, EmitNotes *notes) {
    char text[ACTIVATIONS_TEXT_SIZE];
    int64_t layers = checkpointed(job);
    int64_t inputs = job_dropped(job, ACTIVATION_LAYER_INPUT);
    bool exact = inputs == 0 || (inputs == job->layers && inputs_on_host(job));
    for (Activation a = ACTIVATION_ATTENTION_INPUT; a < ACTIVATION_COUNT; a++)
        exact = exact && (!activation_exists(job->model, a) ||
                          (job_dropped(job, a) == layers && job->ranked->plan.layout.layers[a][STATE_OFFLOADED] == 0));
    if (layers > 0)
        emit_note(notes, "wrap %" PRId64 " of the %" PRId64 " layers%s in deepspeed.checkpointing.checkpoint; %s",
                  layers, job->layers, job->pipeline > 1 ? " of each stage" : "",
                  exact ? "the JSON only says how" : "that keeps no more than the plan does, and takes longer");
    if (!exact) emit_note(notes, "the plan's activations: %s", job_activations(job, text));
    if (job->pipeline > 1)
        emit_note(notes, "the stages are an argument of your code: PipelineModule(num_stages=%" PRId64 ")",
                  job->pipeline);
    if (job->pipeline > 1 && job->tensor > 1)
        emit_note(notes,
                  "in a pipeline tensor parallelism is your model's (an mpu): autotp_size is for models without");
    if (job->sequence > 1) emit_note(notes, "Ulysses wants deepspeed.sequence.layer.DistributedAttention in the model");
    if (job->expert > 1) emit_note(notes, "expert_parallel finds the experts of models that it has a preset for");
}

const char *deepspeed_cannot(const LaunchJob *job) {
    return job->request->question.precision == PRECISION_BF16
               ? NULL
               : "its JSON knows no 8-bit matmuls; plan with --precision bf16";
}

bool deepspeed_write(const LaunchJob *job, const EmitNotes *notes, FILE *out, Error *error) {
    cJSON *json = cJSON_CreateObject();
    bool ok = json_add_whole(json, "train_batch_size", job->batch) &&
              json_add_whole(json, "train_micro_batch_size_per_gpu", job->knobs->microbatch_sequences) &&
              json_add_whole(json, "gradient_accumulation_steps", job->knobs->microbatches) &&
              add_precision(job, json) && add_zero(job, json) && add_parallelism(job, json) &&
              add_pipeline(job, json) && add_checkpointing(job, json) && add_rest(job, notes, json) &&
              json_print(out, json);
    cJSON_Delete(json);
    return ok || error_memory(error);
}
