/* SPDX-License-Identifier: GPL-3.0-or-later */
/* DeepSpeed: its JSON, which has no comments. Neither model nor sequence length stands there, nor how many stages a
 * PipelineModule has: that is in the program. What is not in its schema stands in an object "shardopt", which it leaves
 * alone, as every key that it does not know at the top. Keys, defaults and what it raises on: the package
 * deepspeed 0.19.8 and DeepSpeed edaa72212 (runtime/config.py, runtime/zero/config.py,
 * runtime/tensor_parallel/config.py, runtime/pipe/engine.py, module_inject/auto_ep_config.py; docs/launch.md). */
#include "base/json.h"
#include "base/util.h"
#include "cost/state/remat.h"
#include "search/launch/keys.h"
#include "search/launch/rules.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- what it refuses ---- */

#define REFUSES_CONTEXT                                                                                                \
    "context parallelism is Ulysses without tensor and pipeline, its heads and KV heads multiples of it"
#define REFUSES_EXPERTS "expert ranks (ep_size) are whole data ranks and nothing else: a folded grid of data alone"
#define REFUSES_PIPELINE "PipelineModule goes with ZeRO-0 or 1, no fsdp"
#define REFUSES_GROUPS                                                                                                 \
    "fsdp is ZeRO-3, which excludes autotp and shards over all data ranks (its groups, MiCS, are gone): data=1"

static bool alone(const PlanFacts *facts) { return facts->tensor == 1 && facts->pipeline == 1; }

/* runtime/engine.py: autotp up to ZeRO-2; ZeRO-3 in groups of ranks (MiCS) is refused by runtime/config.py since 0.19,
 * and hpZ keeps a second copy, not the first, in groups. Context parallelism there is Ulysses, taken without tensor and
 * pipeline here. */
static const char *refuses_degrees(const PlanFacts *facts) {
    REFUSE_UNLESS(facts_heads_divide(facts), REFUSES_HEADS);
    REFUSE_UNLESS(facts_kv_heads_divide(facts, true), REFUSES_KV_COPIES);
    REFUSE_UNLESS(facts->sequence == 1 || alone(facts), REFUSES_CONTEXT);
    REFUSE_UNLESS(facts->expert == 1, REFUSES_EXPERTS);
    REFUSE_UNLESS(facts->fsdp == 1 || facts->pipeline == 1, REFUSES_PIPELINE);
    REFUSE_UNLESS(facts->fsdp == 1 || (facts->tensor == 1 && facts->data == 1), REFUSES_GROUPS);
    return NULL;
}

/* PipelineModule up to ZeRO-1 and one chunk a stage (1F1B). Expert ranks are data ranks that replicate dense weights
 * (ep_size): a folded grid of data alone. */
static const char *refuses(const PlanFacts *facts) {
    int zero = facts->plan->knobs.zero_stage;
    bool sharded = facts->fsdp > 1 || facts_sequence_shards(facts);
    REFUSE_UNLESS(facts->sequence == 1 || (facts->methods->context == CONTEXT_ULYSSES && facts_ulysses_divides(facts)),
                  REFUSES_CONTEXT);
    REFUSE_UNLESS(!facts_folded(facts) ||
                      (alone(facts) && facts->sequence == 1 && !sharded && facts->methods->grid.expert_tensor <= 1),
                  REFUSES_EXPERTS);
    REFUSE_UNLESS(facts_runs(facts, 1u << SCHEDULE_1F1B), "PipelineModule runs 1f1b, one chunk a stage");
    REFUSE_UNLESS(!facts->methods->tensor_overlap, "autotp has no collective matmul");
    REFUSE_UNLESS(facts->pipeline == 1 || (!sharded && zero <= 1), REFUSES_PIPELINE);
    REFUSE_UNLESS(!sharded || (facts->tensor == 1 && facts->data == 1), REFUSES_GROUPS);
    REFUSE_UNLESS(facts->fsdp == 1 || facts->sequence == 1 || facts_sequence_shards(facts),
                  "ZeRO-3 shards over the ranks of a sequence too"); /* runtime/engine.py, seq_data_parallel_group */
    return NULL;
}

/* runtime/precision_config.py: a master of bf16, and with it moments of bf16; else both are fp32. */
static const char *refuses_work(const Request *request) {
    const StateDtypes *said = &request->requested.state_dtypes;
    bool lean = said->master == DTYPE_BF16, narrow = lean && said->first == DTYPE_BF16 && said->second == DTYPE_BF16;
    bool wide = (!said->first || said->first == DTYPE_FP32) && (!said->second || said->second == DTYPE_FP32);
    REFUSE_UNLESS((lean || !said->master || said->master == DTYPE_FP32) && (narrow || wide),
                  "its master is fp32, or bf16 (bf16_master_weights_and_grads), and moments are bf16 with that alone");
    REFUSE_UNLESS(request->question.precision == PRECISION_BF16,
                  "its JSON knows no matmuls of fewer bits; plan with --precision bf16");
    return NULL;
}

/* offload_optimizer is a part of ZeRO, stages 1 to 3. */
static bool offloads_optimizer(const PlanFacts *facts) {
    return facts->fsdp > 1 || facts_sequence_shards(facts) || facts->plan->knobs.zero_stage >= 1;
}

/* ---- its keys ---- */

enum { TERM_SECONDARY = TERM_OWN, TERM_GROUP, TERM_OLDER_TENSOR, TERM_GRADIENTS, TERM_INTERVAL, TERM_PARTITIONED };
enum { TERM_ON_HOST = TERM_PARTITIONED + 1, TERM_CHECKPOINTS, TERM_EXPERTS_SPLIT, TERM_HOSTS, TERM_OF_HOST };
enum { TERM_LAYERS_AGAIN = TERM_OF_HOST + 1 };
KEY_WORDS(DTYPES, {"fp32", DTYPE_FP32}, {"bf16", DTYPE_BF16});

#define KEY_OR_AUTO(group, key, term)                                                                                  \
    { key, term, group, KEY_WHOLE_OR_AUTO, 1, IMPORT_BATCH_MAX, 0, NULL, NULL }
static const LaunchKey KEYS[] = {
    KEY_OR_AUTO('b', "train_batch_size", TERM_BATCH),
    KEY_OR_AUTO('b', "train_micro_batch_size_per_gpu", TERM_MICRO),
    KEY_OR_AUTO('b', "gradient_accumulation_steps", TERM_MICROBATCHES),
    KEY_NAME('g', "data_types.grad_accum_dtype", TERM_GRADIENTS, DTYPE_DEFAULT, DTYPES),
    KEY_NUMBER('z', "zero_optimization.stage", TERM_ZERO, 0, 3, 0),
    KEY_DEGREE('\0', "zero_optimization.zero_hpz_partition_size", TERM_SECONDARY),
    KEY_NUMBER('\0', "zero_optimization.mics_shard_size", TERM_GROUP, -1, 1 << 24, -1),
    KEY_NUMBER('t', "tensor_parallel.autotp_size", ROLE_TENSOR, 0, 1 << 24, 0),
    KEY_DEGREE('\0', "tensor_parallel.tp_size", TERM_OLDER_TENSOR),
    KEY_DEGREE('s', "sequence_parallel_size", ROLE_SEQUENCE),
    KEY_FLAG('e', "expert_parallel.enabled", TERM_EXPERTS_SPLIT),
    KEY_DEGREE('e', "expert_parallel.autoep_size", ROLE_EXPERT),
    KEY_DEGREE('e', "expert_parallel.expert_tensor_parallel_size", TERM_EXPERT_TENSOR),
    KEY_COUNT('p', "pipeline.stages", ROLE_PIPELINE, 1),
    KEY_NUMBER('i', "pipeline.activation_checkpoint_interval", TERM_INTERVAL, 0, 1 << 20, 0),
    KEY_FLAG('a', "activation_checkpointing.partition_activations", TERM_PARTITIONED),
    KEY_FLAG('a', "activation_checkpointing.cpu_checkpointing", TERM_ON_HOST),
    KEY_COUNT('a', "activation_checkpointing.number_checkpoints", TERM_CHECKPOINTS, 0),
    KEY_COUNT('h', "shardopt.num_nodes", TERM_HOSTS, 0),
    KEY_COUNT('h', "shardopt.num_gpus", TERM_OF_HOST, 0),
    KEY_NUMBER('h', "shardopt.checkpointed_layers", TERM_LAYERS_AGAIN, 0, 1 << 20, -1),
    {NULL},
};

/* ---- a plan as people who run it say it ---- */

static void plan_words(const LaunchJob *job, Prose *out) {
    prose_add(out, "ZeRO stage %d", job->shards ? 3 : job->knobs->zero_stage);
    if (job->tensor > 1) prose_item(out, ", ", "AutoTP %" PRId64, job->tensor);
    if (job->sequence > 1) prose_item(out, ", ", "sequence_parallel_size %" PRId64, job->sequence);
    if (job->pipeline > 1) prose_item(out, ", ", "%" PRId64 " stages", job->pipeline);
    if (job->expert > 1) prose_item(out, ", ", "ep_size %" PRId64, job->expert);
    prose_item(out, ", ", "micro-batch %" PRId64 ", %" PRId64 " accumulation step%s, batch %" PRId64,
               job->knobs->microbatch_sequences, job->knobs->microbatches, job->knobs->microbatches > 1 ? "s" : "",
               job->batch);
    int64_t remade = job_dropped_most(job);
    if (remade > 0)
        prose_item(out, ", ", "checkpointing of %" PRId64 " layers", remade);
    else
        prose_item(out, ", ", "no activation checkpointing");
    if (job->knobs->offload_optimizer) prose_item(out, ", ", "optimizer on the CPU");
}

/* ---- written ---- */

/* Whole layers are made again from their inputs (deepspeed.checkpointing), which lie on the host for all of them or for
 * none: where some are to, either so many layers more are made again that as much memory is free, or all inputs go. */
static int64_t checkpointed(const LaunchJob *job) {
    return min_whole(job->layers, max_whole(job_dropped_most(job), job_layers_for_inputs(job)));
}
static bool inputs_on_host(const LaunchJob *job) {
    return job_layers_for_inputs(job) > job->layers ||
           (job_dropped_most(job) > 0 && job_dropped(job, ACTIVATION_LAYER_INPUT) == job->layers);
}

/* ZeRO-3 where parameters are sharded, over all data ranks; hpZ keeps a second copy in groups. Gradients are
 * accumulated in fp32 where the cost model has them so; its own default under ZeRO is the parameters' dtype. */
static LaunchTerms terms_of(const LaunchJob *job) {
    Dtype gradients = emit_state_dtypes(job->request, job->ranked).gradients;
    LaunchTerms terms = launch_terms(job);
    if (job->shards) terms.of[TERM_ZERO] = 3;
    terms.of[TERM_GRADIENTS] = gradients == DTYPE_FP32 ? DTYPE_FP32 : DTYPE_BF16;
    terms.of[TERM_EXPERTS_SPLIT] = job->expert > 1;
    terms.of[TERM_INTERVAL] = checkpointed(job) > 0;
    terms.of[TERM_PARTITIONED] = job->ranked->plan.layout.sharding.residual == RESIDUAL_SEQUENCE && job->tensor > 1;
    terms.of[TERM_ON_HOST] = inputs_on_host(job);
    terms.of[TERM_CHECKPOINTS] = checkpointed(job);
    terms.of[TERM_LAYERS_AGAIN] = checkpointed(job);
    terms.of[TERM_HOSTS] = job->hosts;
    terms.of[TERM_OF_HOST] = job->per_host;
    return terms;
}

static const int64_t KEEPS_ALL = INT64_C(1000000000000); /* parameters that live at once: more than any model has */

static bool add_zero(const LaunchJob *job, const LaunchTerms *terms, cJSON *to) {
    int64_t stage = terms->of[TERM_ZERO];
    bool ok = keys_add(KEYS, "z", terms, to);
    cJSON *zero = cJSON_GetObjectItemCaseSensitive(to, "zero_optimization");
    ok = ok && json_add_bool(zero, "overlap_comm", stage > 0) && json_add_bool(zero, "contiguous_gradients", true) &&
         json_add_whole(zero, "reduce_bucket_size", 500000000) &&
         json_add_whole(zero, "allgather_bucket_size", 500000000);
    if (ok && stage == 3) {
        /* Gathered weights are let go at once, or kept from a layer's forward to its backward. */
        int64_t live = job->knobs->regather ? 1000000000 : KEEPS_ALL;
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

/* runtime/engine.py, _configure_basic_optimizer(); a name of torch.optim is taken as it is. */
static OPTIMIZER_WORDS(OPTIMIZERS, {"AdamW", "adamw"}, {"Adam", "adamw"}, {"Lion", "lion"}, {"Muon", "muon"},
                       {"SGD", "sgd"});

/* AdamW is the program's or the JSON's. ZeRO has tested Adam and Lion (runtime/zero/utils.py). */
static bool add_optimizer(const LaunchJob *job, cJSON *to) {
    const char *name = launcher_optimizer(job->launcher, job->request);
    if (strcmp(name, "AdamW") == 0) return true;
    cJSON *optimizer = json_add_object(to, "optimizer");
    bool ok = json_add_text(optimizer, "type", name) && json_add_real(json_add_object(optimizer, "params"), "lr", 1e-4);
    return ok && (strcmp(name, "Lion") == 0 || (json_add_bool(to, "zero_allow_untested_optimizer", true) &&
                                                json_add_bool(to, "zero_force_ds_cpu_optimizer", false)));
}

static bool add_precision(const LaunchJob *job, const LaunchTerms *terms, cJSON *to) {
    const StateDtypes *dtypes = &job->request->question.state_dtypes;
    bool lean = dtypes->master == DTYPE_BF16;
    bool half = !lean && job->request->question.chip.sixteen_bits[0] == 'f'; /* V100, T4 */
    cJSON *bf16 = json_add_object(to, half ? "fp16" : "bf16");
    bool ok = json_add_bool(bf16, "enabled", true);
    if (lean) ok = ok && json_add_bool(bf16, "bf16_master_weights_and_grads", true);
    if (lean && dtypes->first == DTYPE_BF16 && dtypes->second == DTYPE_BF16)
        ok = ok && json_add_bool(bf16, "bf16_optimizer_states", true);
    return ok && keys_add(KEYS, "g", terms, to);
}

/* The stages (runtime/config.py, PIPELINE) are what PipelineModule gets again by its arguments. */
static bool add_parallelism(const LaunchJob *job, const LaunchTerms *terms, cJSON *to) {
    bool ok = job->tensor == 1 || keys_add(KEYS, "t", terms, to);
    ok = ok && (job->sequence == 1 || keys_add(KEYS, "s", terms, to));
    ok = ok && (job->expert == 1 || keys_add(KEYS, "e", terms, to));
    if (job->pipeline == 1) return ok;
    ok = ok && keys_add(KEYS, "p", terms, to);
    return ok && json_add_text(cJSON_GetObjectItemCaseSensitive(to, "pipeline"), "partition", "parameters") &&
           keys_add(KEYS, "i", terms, to);
}

/* What the JSON of DeepSpeed cannot say. */
static bool add_rest(const LaunchJob *job, const LaunchTerms *terms, const EmitNotes *notes, cJSON *to) {
    char plan[NOTATION_SIZE], launch[256];
    cJSON *own = json_add_object(to, "shardopt");
    plan_notation(&job->ranked->plan.degrees, job->knobs, false, plan);
    snprintf(launch, sizeof launch,
             "deepspeed --hostfile HOSTS --num_nodes %" PRId64 " --num_gpus %" PRId64
             " TRAIN.py --deepspeed_config THIS_FILE",
             job->hosts, job->per_host);
    bool ok = json_add_text(own, "model", job->model->name) && json_add_text(own, "plan", plan) &&
              json_add_real(own, "step_seconds", job->ranked->estimate.time.seconds) &&
              json_add_text(own, "launch", launch) && json_add_whole(own, "seq_length", job->ranked->work.seq) &&
              keys_add(KEYS, "h", terms, to);
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

static void deepspeed_notes(const LaunchJob *job, EmitNotes *notes) {
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

static bool deepspeed_write(const LaunchJob *job, const EmitNotes *notes, FILE *out, Error *error) {
    cJSON *json = cJSON_CreateObject();
    LaunchTerms terms = terms_of(job);
    bool ok = keys_add(KEYS, "b", &terms, json) && add_optimizer(job, json) && add_precision(job, &terms, json) &&
              add_zero(job, &terms, json) && add_parallelism(job, &terms, json) &&
              (checkpointed(job) == 0 || keys_add(KEYS, "a", &terms, json)) && add_rest(job, &terms, notes, json) &&
              json_print(out, json);
    cJSON_Delete(json);
    return ok || error_memory(error);
}

/* ---- read ---- */

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

static bool deepspeed_work(ConfigFile *file, ImportedWork *out, Error *error) {
    if (!config_number_text(file, "shardopt.seq_length", &out->seq, error)) return false;
    out->model = config_text(file, "shardopt.model", NULL); /* what `shardopt emit` writes with it */
    LaunchTerms terms;
    if (!keys_read(KEYS, "gh", file, &terms, error)) return false;
    out->devices = terms.of[TERM_HOSTS] * terms.of[TERM_OF_HOST];
    /* Accumulated in fp32 and reduced in the dtype of parameters is how they are by default. */
    bool accumulated = strcmp(config_text(file, "gradient_accumulation_steps", "1"), "1") != 0;
    bool wide = terms.of[TERM_GRADIENTS] == DTYPE_FP32 && !accumulated;
    bool lean = strcmp(config_text(file, "bf16.bf16_master_weights_and_grads", ""), "true") == 0;
    bool narrow = lean && strcmp(config_text(file, "bf16.bf16_optimizer_states", ""), "true") == 0;
    StateDtypes state = {.master = lean ? DTYPE_BF16 : DTYPE_DEFAULT};
    if (wide || terms.of[TERM_GRADIENTS] == DTYPE_BF16) state.gradients = wide ? DTYPE_FP32 : DTYPE_BF16;
    if (narrow) state.first = state.second = DTYPE_BF16;
    return import_state(file, &state, out, error);
}

/* ZeRO: stages 0 to 2 are replicas; 3 is fsdp, whole or within groups (ZeRO++'s secondary partition, MiCS). */
static bool read_zero(ConfigFile *file, const Request *request, const LaunchTerms *terms, ImportedPlan *plan,
                      Error *error) {
    int64_t *of = plan->degrees.of, stage = terms->of[TERM_ZERO], group = terms->of[TERM_GROUP], ranks;
    if (!import_left_over(file, request, "tensor_parallel x sequence_parallel_size", plan, &ranks, error)) return false;
    of[ROLE_DATA] = ranks;
    if (stage == 3) {
        of[ROLE_FSDP] = group > 0 ? group : ranks;
        if (ranks % of[ROLE_FSDP] != 0)
            return config_wrong(file, NULL, "zero_optimization.mics_shard_size", error,
                                "%" PRId64 " does not divide the %" PRId64 " data-parallel ranks", of[ROLE_FSDP],
                                ranks);
        of[ROLE_DATA] = ranks / of[ROLE_FSDP];
        const char *live = config_text(file, "zero_optimization.stage3_max_live_parameters", "");
        if (of[ROLE_FSDP] > 1) import_knob(plan, KNOB_REGATHER, strtod(live, NULL) < (double)KEEPS_ALL);
        if (terms->of[TERM_SECONDARY] > 1)
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

/* train_batch_size = micro x accumulation x ranks: two of them give the third. */
static bool read_batch(ConfigFile *file, const Request *request, const LaunchTerms *terms, ImportedPlan *plan,
                       Error *error) {
    int64_t batch = terms->of[TERM_BATCH], micro = terms->of[TERM_MICRO], passes = terms->of[TERM_MICROBATCHES];
    int64_t replicas = degrees_replicas(&plan->degrees);
    bool requested = request->requested.batch_origin == FROM_OPTION;
    if (passes > 1 << 20)
        return config_wrong(file, NULL, "gradient_accumulation_steps", error, "%" PRId64 " is absurd; give fewer",
                            passes);
    if (requested) batch = request->question.work.sequences;
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
    if (!requested && passes > 0 && batch / micro / replicas != passes)
        return config_wrong(file, NULL, "train_batch_size", error,
                            "%" PRId64 " is not micro-batch %" PRId64 " x accumulation %" PRId64 " x %" PRId64 " ranks",
                            batch, micro, passes, replicas);
    return import_batch(file, request, "train_batch_size", batch, micro, plan, error);
}

/* Expert ranks are data ranks (module_inject/auto_ep_config.py). */
static bool read_experts(ConfigFile *file, const Request *request, const LaunchTerms *terms, ImportedPlan *plan,
                         Error *error) {
    int64_t experts = import_experts(request), ways = terms->of[TERM_EXPERTS_SPLIT] ? terms->of[ROLE_EXPERT] : 1;
    int64_t width = terms->of[TERM_EXPERT_TENSOR], ranks = plan->degrees.of[ROLE_DATA] * plan->degrees.of[ROLE_FSDP];
    if (experts > 0 && ways == 1) import_knob(plan, KNOB_FOLDED_EXPERT, 0);
    if (experts == 0 || ways == 1) return true;
    if (ways > ranks || width > ranks || ranks % (ways * width) != 0 || experts % ways != 0)
        return config_wrong(file, NULL, "expert_parallel.autoep_size", error,
                            "%" PRId64 " x expert_tensor_parallel_size %" PRId64 " do not divide the %" PRId64
                            " data ranks, or the %" PRId64 " experts; give sizes that do",
                            ways, width, ranks, experts);
    import_knob(plan, KNOB_FOLDED_EXPERT, ways);
    import_knob(plan, KNOB_FOLDED_EXPERT_TENSOR, width);
    return true;
}

static void read_remat(ConfigFile *file, const Request *request, const LaunchTerms *terms, ImportedPlan *plan) {
    int64_t of_stage = divide_up(request->question.model.layers, plan->degrees.of[ROLE_PIPELINE]);
    int64_t checkpoints = max_whole(terms->of[TERM_CHECKPOINTS], terms->of[TERM_LAYERS_AGAIN]);
    if (terms->of[TERM_LAYERS_AGAIN] == 0)
        snprintf(plan->remat, sizeof plan->remat, "none");
    else if (terms->of[TERM_ON_HOST])
        snprintf(plan->remat, sizeof plan->remat, "layer_input=offloaded");
    else if (checkpoints > 0 && checkpoints < of_stage)
        snprintf(plan->remat, sizeof plan->remat, "full:%" PRId64, checkpoints);
    else if (terms->of[TERM_PARTITIONED] || checkpoints > 0 || terms->of[TERM_INTERVAL] > 0)
        snprintf(plan->remat, sizeof plan->remat, "full");
    else
        config_note(file, "whether layers are checkpointed stands in the program: chosen best; --remat says it");
}

static bool deepspeed_plan(ConfigFile *file, const Request *request, ImportedPlan *plan, Error *error) {
    int64_t *of = plan->degrees.of;
    LaunchTerms terms;
    if (!import_check_gpus(file, request, "DeepSpeed", error) || !keys_read(KEYS, NULL, file, &terms, error))
        return false;
    of[ROLE_TENSOR] = max_whole(1, max_whole(terms.of[TERM_OLDER_TENSOR], terms.of[ROLE_TENSOR]));
    of[ROLE_SEQUENCE] = terms.of[ROLE_SEQUENCE];
    of[ROLE_PIPELINE] = terms.of[ROLE_PIPELINE];
    if (of[ROLE_PIPELINE] > 1) { /* stands there for programs that ask the JSON for it, as what `emit` writes */
        import_knob(plan, KNOB_SCHEDULE, SCHEDULE_1F1B);
        import_knob(plan, KNOB_VIRTUAL_STAGES, 1);
    }
    if (!import_check_heads(file, request, "tensor_parallel.autotp_size", of[ROLE_TENSOR], true, error) ||
        !import_check_seq(file, request, "sequence_parallel_size", of[ROLE_SEQUENCE], error) ||
        !read_zero(file, request, &terms, plan, error) || !read_batch(file, request, &terms, plan, error))
        return false;
    if (!read_experts(file, request, &terms, plan, error)) return false;
    read_remat(file, request, &terms, plan);
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

/* ---- all of it ---- */

/* Nothing or full. */
static void remat_rules(RematList *list, const Model *model) {
    (void)model;
    remat_list_add_none(list);
    remat_list_add_full(list, 0);
}

/* Order: runtime/pipe/topology.py: pipe, data, model, which is Megatron's. Uneven stages by its partitioning of
 * layers. */
const Launcher DEEPSPEED_LAUNCHER = {
    .name = "deepspeed",
    .usual_on_gpus = true,
    .nestings = {{.name = "megatron",
                  .order = {{ROLE_TENSOR, ROLE_SEQUENCE, ROLE_EXPERT, ROLE_FSDP, ROLE_DATA, ROLE_PIPELINE}}}},
    .gpus_only = true,
    .pads = 1u << PAD_STAGES,
    .refuses_work = refuses_work,
    .any_layers = true,
    .refuses_degrees = refuses_degrees,
    .refuses = refuses,
    .offloads_optimizer = offloads_optimizer,
    .host_update = HOST_UPDATE_ON_CPU,
    .remat = remat_rules,
    .plan_words = plan_words,
    .signs = {"zero_optimization.", "train_micro_batch_size_per_gpu", "train_batch_size", "zero_optimization"},
    .keys = KEYS,
    .optimizer_key = "optimizer.type",
    .optimizers = OPTIMIZERS,
    .import_work = deepspeed_work,
    .import_plan = deepspeed_plan,
    .formats = {{"deepspeed", deepspeed_write, deepspeed_notes, "a JSON file for DeepSpeed", "ds_config.json"}},
};
