/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/maxtext/maxtext.h"

#include "base/util.h"
#include "search/launch/rules.h"

static bool has_windows_or_sinks(const Model *model) {
    for (int i = 0; i < model->kind_count; i++)
        if (model->kinds[i].window > 0 || model->kinds[i].sinks) return true;
    return false;
}

static bool has_latents(const Model *model) {
    for (int i = 0; i < model->kind_count; i++)
        if (model->kinds[i].attention == ATTENTION_LATENT) return true;
    return false;
}

/* configs/types.py: stages * repeats * layers_per_stage == layers; microbatches % stages == 0. Its loop over stages is
 * a scan that JAX differentiates as a whole, so all forwards come before all backwards: GPipe with one repeat,
 * circular with more. A stage is one kind of layer (layers/nnx_decoders.py): DeepSeek's dense layers stand before the
 * pipeline. */
static const char *maxtext_pipeline(const PlanFacts *facts) {
    REFUSE_UNLESS(facts_runs(facts, 1u << SCHEDULE_GPIPE | 1u << SCHEDULE_CIRCULAR),
                  "its pipeline is one scan, all forwards first: schedule gpipe or circular");
    REFUSE_UNLESS(facts_even_stages(facts), REFUSES_UNEVEN_STAGES);
    REFUSE_UNLESS(facts->pipeline == 1 || facts->plan->knobs.microbatches % facts->pipeline == 0,
                  "num_pipeline_microbatches has to be a multiple of the stages");
    return NULL;
}

/* configs/types.py. Load balance, which rings and gathers here assume, cuts a sequence into 2 * context pieces. Ring
 * runs on a flash kernel that knows neither windows nor sinks, and splits its blocks again: max_target_length %
 * context^2 == 0. Ulysses is for TPUs and global attention; with a ring outside (usp), both have to be above 1.
 * base.yml shards weights over context. */
static const char *maxtext_context(const PlanFacts *facts) {
    ContextMethod context = facts->methods->context;
    if (facts->sequence == 1) return NULL;
    REFUSE_UNLESS(!facts->methods->sequence_replicates, "its context axis shards parameters too");
    if (context == CONTEXT_ULYSSES || context == CONTEXT_ULYSSES_RING) {
        REFUSE_UNLESS(facts->tpu, "it exchanges heads (ulysses, usp) on TPUs alone");
        REFUSE_UNLESS(!has_windows_or_sinks(facts->model) && !has_latents(facts->model),
                      "it exchanges heads (ulysses, usp) for global attention alone: no windows, sinks or latents");
        REFUSE_UNLESS(facts_ulysses_divides(facts), "heads and KV heads have to be multiples of tensor x ulysses");
        return NULL;
    }
    REFUSE_UNLESS(facts->sequence % 2 == 0 && facts->seq % (2 * facts->sequence) == 0,
                  "context_parallel_load_balance cuts a sequence into 2 x context pieces, context even");
    if (context != CONTEXT_RING) return NULL;
    REFUSE_UNLESS(facts->seq / facts->sequence % facts->sequence == 0,
                  "its ring wants max_target_length to be a multiple of context x context");
    REFUSE_UNLESS(!has_windows_or_sinks(facts->model), "its ring knows no windows and no sinks");
    return NULL;
}

/* types.py: per_device_batch_size * max_target_length % num_vocab_tiling == 0, with one tile: the tokens of a device
 * are a whole number. Sequences of one pass are gradient_accumulation_steps apart; those of a pipeline go together. */
static bool maxtext_whole_tokens(const PlanFacts *facts) {
    int64_t inside = facts->tensor * facts->sequence * facts->pipeline, passes = 1;
    if (facts->pipeline > 1) passes = facts->plan->knobs.microbatches % inside;
    return facts->plan->knobs.microbatch_sequences % inside * (facts->seq % inside) % inside * passes % inside == 0;
}

const char *maxtext_refuses_degrees(const PlanFacts *facts) {
    REFUSE_UNLESS(facts_heads_divide(facts), REFUSES_HEADS);
    REFUSE_UNLESS(facts_kv_heads_divide(facts, false), REFUSES_KV_HEADS); /* a sharded dimension: JAX rejects a rest */
    REFUSE_UNLESS(facts->pipeline == 1 || facts->model->kind_count == 1,
                  "its pipeline stages are made of one kind of layer, and this model has several");
    REFUSE_UNLESS(facts->seq % facts->sequence == 0, "max_target_length has to be a multiple of context");
    REFUSE_UNLESS(facts_weights_divide(facts),
                  "d_model has to be a multiple of fsdp x sequence x expert, which shard it");
    return NULL;
}

const char *maxtext_refuses(const PlanFacts *facts) {
    const char *refusal = maxtext_pipeline(facts);
    if (!refusal) refusal = maxtext_context(facts);
    if (refusal) return refusal;
    REFUSE_UNLESS(!facts_folded(facts),
                  "expert is an axis of its own there: it does not fold experts onto other ranks");
    REFUSE_UNLESS(facts->plan->knobs.zero_stage <= 1, "shard_optimizer_over_data is ZeRO-1; it has no ZeRO-2");
    REFUSE_UNLESS(facts->plan->knobs.zero_stage == 0 || facts->fsdp == 1,
                  "shard_optimizer_over_data (ZeRO-1) excludes fsdp");
    /* XLA keeps the shards of a scanned layer, whatever the remat policy (compiled for v5p by libtpu 0.0.50.1) */
    REFUSE_UNLESS(facts->plan->knobs.regather, REFUSES_KEPT_WEIGHTS);
    REFUSE_UNLESS(maxtext_whole_tokens(facts), "per_device_batch_size x max_target_length has to be a whole number");
    return NULL;
}
