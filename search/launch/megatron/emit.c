/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A bash script that runs Megatron-LM's pretrain_gpt.py under torchrun: one array of flags for each concern. */
#include "search/launch/megatron/megatron.h"

#include "base/util.h"
#include "cost/state/state.h"

#include <inttypes.h>

/* Weights that fsdp or sequence shard, and gradients that data shards (ZeRO-2), are Megatron-FSDP's; the optimizer's
 * state over data alone (ZeRO-1) is the distributed optimizer's. */
static bool by_fsdp(const LaunchJob *job) { return job->shards || job->knobs->zero_stage == 2; }

static void write_sizes(const LaunchJob *job, FILE *out) {
    fprintf(out,
            "    --tensor-model-parallel-size %" PRId64 "\n    --pipeline-model-parallel-size %" PRId64
            "\n    --context-parallel-size %" PRId64 "\n",
            job->tensor, job->pipeline, job->sequence);
    bool mixture = model_layers_with(job->model, true) > 0;
    if (mixture)
        fprintf(out, "    --expert-model-parallel-size %" PRId64 "\n    --expert-tensor-parallel-size %" PRId64 "\n",
                job->expert, job->expert_tensor);
    /* moe_layer.py raises for a mixture over tensor without it */
    bool along = job->ranked->plan.layout.sharding.residual == RESIDUAL_SEQUENCE || mixture;
    if (job->tensor > 1 && (along || job->knobs->methods.tensor_overlap)) fprintf(out, "    --sequence-parallel\n");
    if (job->knobs->methods.tensor_overlap && job->tensor > 1) fprintf(out, "    --tp-comm-overlap\n");
    if (job->option) fprintf(out, "    %s\n", job->option);
}

/* p2p: a ring; a2a: Ulysses. The core field and Transformer Engine spell all_gather with the underscore. The first
 * number of the hierarchy is the group that exchanges heads. */
static void write_context(const LaunchJob *job, FILE *out) {
    static const char *const TYPES[CONTEXT_COUNT] = {[CONTEXT_NONE] = "p2p",
                                                     [CONTEXT_RING] = "p2p",
                                                     [CONTEXT_ALL_GATHER] = "all_gather",
                                                     [CONTEXT_ULYSSES] = "a2a",
                                                     [CONTEXT_ULYSSES_RING] = "a2a+p2p"};
    const Methods *methods = &job->knobs->methods;
    if (job->sequence == 1) return;
    fprintf(out, "    --cp-comm-type %s\n", TYPES[methods->context]);
    if (methods->context == CONTEXT_ULYSSES_RING)
        fprintf(out, "    --hierarchical-context-parallel-sizes %" PRId64 " %" PRId64 "\n", methods->ulysses,
                job->sequence / methods->ulysses);
}

static void write_layers(int64_t layers, FILE *out) {
    if (layers > 2)
        fprintf(out, "t*%" PRId64, layers);
    else
        fputs(layers == 2 ? "tt" : layers == 1 ? "t" : "", out);
}

/* "Et*8|(t*8|)*2t*6L": E the embedding, t a layer, L the loss, | between chunks, (...)*n what repeats
 * (core/transformer/pipeline_parallel_layer_layout.py). */
static void write_layout(const LaunchJob *job, FILE *out) {
    fputc('E', out);
    write_layers(job_chunk_layers(job, 0), out);
    fputc('|', out);
    for (int64_t chunk = 1, end; chunk < job->chunks - 1; chunk = end) {
        int64_t layers = job_chunk_layers(job, chunk);
        for (end = chunk + 1; end < job->chunks - 1 && job_chunk_layers(job, end) == layers;) end++;
        if (end - chunk > 1) fputc('(', out);
        write_layers(layers, out);
        fputc('|', out);
        if (end - chunk > 1) fprintf(out, ")*%" PRId64, end - chunk);
    }
    write_layers(job_chunk_layers(job, job->chunks - 1), out);
    fputc('L', out);
}

static void write_stages(const LaunchJob *job, FILE *out) {
    if (job->pipeline == 1) return;
    bool slots = job->knobs->stages == STAGES_SLOTS;
    if (slots)
        fprintf(out, "    --account-for-embedding-in-pipeline-split\n    --account-for-loss-in-pipeline-split\n");
    if (job->even || slots) {
        if (job->virtual_stages > 1)
            fprintf(out, "    --num-virtual-stages-per-pipeline-rank %" PRId64 "\n", job->virtual_stages);
        return;
    }
    fprintf(out, "    --pipeline-model-parallel-layout '");
    write_layout(job, out);
    fprintf(out, "'\n");
}

static void write_sharding(const LaunchJob *job, FILE *out) {
    int zero = job->knobs->zero_stage;
    if (by_fsdp(job)) {
        fprintf(out,
                "    --use-megatron-fsdp\n    --use-distributed-optimizer\n    --data-parallel-sharding-strategy %s\n",
                job->shards ? "optim_grads_params" : "optim_grads");
        if (job->shards && job->data > 1)
            fprintf(out, "    --num-distributed-optimizer-instances %" PRId64 "\n    --outer-dp-sharding-strategy %s\n",
                    job->data, zero == 1 ? "optim" : "no_shard");
        fprintf(out, "    --no-gradient-accumulation-fusion\n    --ckpt-format fsdp_dtensor\n");
    } else if (zero == 1) {
        fprintf(out, "    --use-distributed-optimizer\n");
    }
    if (job->replicas * job->sequence > 1) fprintf(out, "    --overlap-grad-reduce\n");
    if (job->replicas * job->sequence > 1 && (by_fsdp(job) || zero == 1)) fprintf(out, "    --overlap-param-gather\n");
}

static const char *dtype_word(Dtype dtype) { /* training/arguments.py: main-grads-dtype .. exp-avg-sq-dtype */
    return dtype == DTYPE_DEFAULT || dtype == DTYPE_NONE ? NULL : dtype_name(dtype);
}

static void write_optimizer(const LaunchJob *job, FILE *out) {
    const StateDtypes *dtypes = &job->request->question.state_dtypes;
    const char *master = dtype_word(dtypes->master), *first = dtype_word(dtypes->first),
               *second = dtype_word(dtypes->second);
    if (job->knobs->offload_optimizer)
        fprintf(out, "    --optimizer-cpu-offload\n    --optimizer-offload-fraction 1.0\n");
    if (job->knobs->offload_optimizer || master || first || second)
        fprintf(out, "    --use-precision-aware-optimizer\n");
    if (master) fprintf(out, "    --main-params-dtype %s\n", master);
    if (first) fprintf(out, "    --exp-avg-dtype %s\n", first);
    if (second) fprintf(out, "    --exp-avg-sq-dtype %s\n", second);
}

/* Gradients: bf16 where the cost model has them so (scattered by FSDP, or of one microbatch), else fp32, its default. */
static void write_precision(const LaunchJob *job, FILE *out) {
    Dtype gradients = job->request->question.state_dtypes.gradients;
    bool half =
        gradients == DTYPE_BF16 || (gradients == DTYPE_DEFAULT && (job->shards || job->knobs->microbatches == 1));
    fprintf(out, "\nPRECISION=(\n    --bf16\n");
    if (half) fprintf(out, "    --grad-reduce-in-bf16\n");
    switch (job->request->question.precision) {
    case PRECISION_FP8:
        fprintf(out, "    --fp8-format hybrid\n    --fp8-recipe tensorwise\n");
        break;
    case PRECISION_MXFP8:
        fprintf(out, "    --fp8-format e4m3\n    --fp8-recipe mxfp8\n");
        break;
    case PRECISION_NVFP4:
        fprintf(out, "    --fp4-format e2m1\n    --fp4-recipe nvfp4\n");
        break;
    default:
        break;
    }
    fprintf(out, ")\n");
}

/* arguments.py: tensor and context parallelism want one connection, so that kernels start in the order of their calls;
 * FSDP wants more than one. */
static void write_environment(const LaunchJob *job, FILE *out) {
    if (by_fsdp(job))
        fprintf(out, "unset CUDA_DEVICE_MAX_CONNECTIONS # FSDP overlaps on several\n");
    else if (job->tensor > 1 || job->sequence > 1)
        fprintf(out, "export CUDA_DEVICE_MAX_CONNECTIONS=1 # kernels start in the order of their calls\n");
}

static void write_run(const LaunchJob *job, FILE *out) {
    fprintf(out,
            "\n# Data, tokenizer, learning rate and checkpoints are yours: arguments of this script, which take the "
            "place of\n# these steps on mock data, to time them.\nDATA=(--mock-data --tokenizer-type NullTokenizer "
            "--lr 1e-4 --train-iters 20 --log-interval 1 --log-throughput)\nif [ $# -gt 0 ]; then DATA=(\"$@\"); fi\n");
    write_environment(job, out);
    fprintf(out, "\nexec ");
    job_write_torchrun(job, out);
    fprintf(out, "\"${MEGATRON:-.}/pretrain_gpt.py\" \\\n    --transformer-impl transformer_engine "
                 "--distributed-timeout-minutes 60 \\\n    \"${MODEL[@]}\" \"${PARALLEL[@]}\" \"${BATCH[@]}\" "
                 "\"${MEMORY[@]}\" \"${PRECISION[@]}\" \"${DATA[@]}\"\n");
}

const char *megatron_cannot(const LaunchJob *job) {
    if (job->request->question.precision == PRECISION_INT8) return "it has no int8";
    return megatron_cannot_offload(job);
}

void megatron_notes(const LaunchJob *job, EmitNotes *notes) {
    const Request *request = job->request;
    const Sharding *sharding = &job->ranked->plan.layout.sharding;
    int64_t block = MEGATRON_VOCAB_DIVISOR * job->tensor, padded = divide_up(job->model->vocab, block) * block;
    megatron_note_activations(job, notes);
    megatron_note_model(job, notes);
    if (padded != job->model->vocab)
        emit_note(notes, "the vocabulary of %" PRId64 " is padded to %" PRId64 ", a multiple of %d x tensor",
                  job->model->vocab, padded, MEGATRON_VOCAB_DIVISOR);
    if (job->tensor > 1 && sharding->mlp == MLP_GATHERED)
        emit_note(notes, "weights of the MLP gathered over tensor were costed; Megatron moves activations");
    if (job->tensor > 1 && sharding->kv == KV_GATHERED)
        emit_note(notes, "keys and values computed once and gathered over tensor were costed; Megatron makes copies");
    if (job->tensor > 1 && (sharding->embedding == TABLE_D_MODEL || sharding->logits == TABLE_D_MODEL))
        emit_note(notes, "a table split by d_model was costed; Megatron splits embedding and logits by vocabulary");
    if (job->shards && job->knobs->microbatches > 1 && request->question.state_dtypes.gradients == DTYPE_DEFAULT)
        emit_note(notes,
                  "gradients are reduced in bf16, as was costed, and Megatron-FSDP then accumulates them in bf16 too; "
                  "without --grad-reduce-in-bf16 both are fp32");
    if (strcmp(request->asked.optimizer, "adamw") != 0 && request->asked.optimizer[0] != '\0')
        emit_note(notes, "the optimizer that was costed (%.60s) is not chosen here: --optimizer",
                  request->asked.optimizer);
}

bool megatron_write(const LaunchJob *job, const EmitNotes *notes, FILE *out, Error *error) {
    (void)error;
    fprintf(out, "#!/usr/bin/env bash\n");
    emit_header(job, notes, out);
    fprintf(out, "set -euo pipefail\n");
    job_write_hosts(job, out);
    megatron_write_model(job, out);
    fprintf(out, "\nPARALLEL=(\n");
    write_sizes(job, out);
    write_context(job, out);
    write_stages(job, out);
    write_sharding(job, out);
    fprintf(out,
            ")\n\nBATCH=(\n    --seq-length %" PRId64 "\n    --micro-batch-size %" PRId64
            "\n    --global-batch-size %" PRId64 "\n)\n\nMEMORY=(\n",
            job->ranked->work.seq, job->knobs->microbatch_sequences, job->batch);
    megatron_write_activations(job, out);
    write_optimizer(job, out);
    fprintf(out, ")\n");
    write_precision(job, out);
    write_run(job, out);
    return true;
}
