/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/stage/memory.h"

#include "base/util.h"
#include "cost/plan/plan.h"
#include "cost/stage/stage_totals.h"
#include "cost/time/schedule.h"

/* The number of layers whose place the embedding takes, over all microbatches in flight: it is in the first chunk,
 * which holds 2 p - 1 of them when stages are interleaved, and p when they are not. */
static double missing_in_flight(const Shard *shard, const Knobs *knobs) {
    double p = shard->pipeline;
    return shard->slots_first * min_real(shard->microbatches, knobs->virtual_stages > 1 ? 2 * p - 1 : p);
}

double layers_read_in_place(const CostContext *setting, const Shard *shard) {
    return setting->profile->whole_program > 0.5 ? 1 / max_real(1, shard->layers) : 0;
}

void microbatches_in_flight(const CostContext *setting, const Shard *shard, const Knobs *knobs,
                            double weights[MOMENT_COUNT]) {
    InFlight in_flight =
        schedule_in_flight(knobs->schedule, shard->pipeline, shard->microbatches, (double)knobs->virtual_stages);
    bool loop = schedule_is_loop(knobs->schedule) && setting->profile->whole_program > 0.5;
    if (loop && shard->pipeline > 1) { /* each iteration keeps what it began with */
        in_flight.first += (shard->pipeline - 1) / (double)knobs->virtual_stages;
        in_flight.last = in_flight.first;
    }
    weights[MOMENT_FIRST_BACKWARD] = in_flight.first - missing_in_flight(shard, knobs) / shard->layers;
    weights[MOMENT_LAST_LOGITS] = in_flight.last * (shard->layers_last / shard->layers);
    weights[MOMENT_LAST_BACKWARD] = weights[MOMENT_LAST_LOGITS];
    /* A loop's body reads what is kept of its layer where it lies, and works on no copy. */
    double read = layers_read_in_place(setting, shard);
    weights[MOMENT_FIRST_BACKWARD] -= read;
    weights[MOMENT_LAST_BACKWARD] -= read;
    weights[MOMENT_UPDATE] = 0;
}

GatheredWeights gathered_weights(const CostContext *setting, const Shard *shard, const Knobs *knobs,
                                 const StageTotals *sums, Moment moment, double layers) {
    double one = sums->layer.gathered_weights;
    bool logits = moment == MOMENT_LAST_LOGITS, matrices = setting->profile->gathers_matrices > 0.5;
    double trained = cost_context_tuning(setting) ? sums->layer.gathered_trained : one;
    GatheredWeights out = {.in_use = min_real(1, layers) * one, .gradient = trained};
    bool program = setting->profile->whole_program > 0.5;
    if (logits && shard_weight_ways(shard) > 1)
        out.table = sums->logits.dense_weights * (logits_of_own_tokens(setting, shard) ? shard->tensor : 1);
    if (!program) out.table_gradient = out.table;
    if (out.table_gradient > 0 && cost_context_tuning(setting)) out.table_gradient = sums->logits.dense_trained;
    bool embedding = shard->pipeline <= 1 && shard_weight_ways(shard) > 1;
    if (!knobs->regather)
        out.others = layers * one - out.in_use + (embedding && !matrices ? sums->embedding.dense_weights : 0);
    else if (matrices)
        out.in_use = logits ? 0 : min_real(sums->layer.largest_weights, layers * one); /* at most all that is kept */
    else if (!logits) /* during the loss no layer arrives */
        out.others = min_real(2, layers) * one - out.in_use;
    if (matrices) out.gradient = logits ? 0 : min_real(trained, sums->layer.largest_weights / (program ? 2 : 1));
    out.copies = 1;
    bool whole = setting->profile->slice_all_reduce > 0.5 && !program;
    double ways = shard_weight_ways(shard);
    if (whole && weights_span_slice(setting, shard, ways) && !weights_go_round(setting, shard, ways)) out.copies = 2;
    return out;
}

double table_gradient_bytes(const CostContext *setting) {
    bool summed = setting->profile->logit_chunks > 1;
    return summed ? cost_context_state(setting)->parameter_bytes + FP32_BYTES : cost_context_scatter_bytes(setting);
}

double chunks_gradient_bytes(const CostContext *setting, double stream) {
    return setting->profile->logit_chunks > 1 ? FP32_BYTES / BF16_BYTES * stream : 0;
}

static double gathered_bytes(const CostContext *setting, const GatheredWeights *weights) {
    double width = cost_context_state(setting)->parameter_bytes, stored = cost_context_stored_bytes(setting);
    return width * (weights->in_use + weights->others + weights->table) -
           (width - stored) * (weights->in_use + weights->others) +
           weights->copies * (cost_context_scatter_bytes(setting) * weights->gradient +
                              table_gradient_bytes(setting) * weights->table_gradient);
}

double loss_tokens(const CostContext *setting, const Shard *shard) {
    bool all = setting->profile->whole_program > 0.5 && shard->pipeline > 1;
    return all ? shard->tokens * shard->microbatches / shard->pipeline : shard->tokens;
}

/* The residual stream and its gradient, and the logits' input: the normed stream, gathered over tensor. One compiled
 * program has no gradient of the stream before the logits are gone. */
static double logits_input_bytes(const CostContext *setting, double stream, double elements) {
    return (setting->profile->whole_program > 0.5 ? 1 : 2) * stream + BF16_BYTES * elements;
}

ProgramBytes program_bytes(const ShardedStage *stage, const LocalParameters *local, Moment moment) {
    const CostContext *setting = stage->setting;
    const Shard *shard = stage->shard;
    ProgramBytes out = {0};
    if (!(setting->profile->whole_program > 0.5) || moment == MOMENT_UPDATE) return out;
    double layers = local->of[HELD_EXPERTS] + local->of[HELD_DENSE];
    /* A single pass multiplies shards as they come round, which no cast of whole weights precedes. */
    bool shards = shard->microbatches <= 1 && weights_go_round(setting, shard, shard_weight_ways(shard));
    bool cast = cost_context_copy_bytes(setting, stage->knobs) <= 0;
    double dense = shards ? 0 : local->of[HELD_DENSE];
    double tables = shard->microbatches > 1 && shard->pipeline <= 1 ? local->of[HELD_TABLES] : 0;
    if (cast) out.casts = cost_context_state(setting)->parameter_bytes * (local->of[HELD_EXPERTS] + dense + tables);
    if (moment != MOMENT_LAST_LOGITS) {
        double own = stage->sharding->residual == RESIDUAL_SEQUENCE ? 1 / shard->tensor : 1;
        double tokens = loss_tokens(setting, shard);
        out.gradients = cost_context_scatter_bytes(setting) * layers;
        out.logits = BF16_BYTES * tokens * (shard->vocab + own * (double)setting->model->d_model);
    }
    bool alike = shard_weight_ways(shard) <= 1 && shard_data_ways(shard) > 1;
    if (alike && cast && setting->profile->whole_master > 0.5 && stage->knobs->zero_stage > 0)
        out.master = dtype_bytes(cost_context_state(setting)->dtypes.master) * local->total;
    return out;
}

/* One layer in backward: its activations, whether recomputed or not, and the gradients of its widest pair. */
static double layer_working_bytes(const StageTotals *sums) {
    double mlp = sums->layer.saved[ACTIVATION_GATE_UP] + sums->layer.saved[ACTIVATION_PRODUCT];
    double attention = sums->layer.saved[ACTIVATION_QKV] + sums->layer.saved[ACTIVATION_CONTEXT];
    return saved_of_sums(sums) + max_real(mlp, attention);
}

/* Bytes of one parameter of a layer's matrices that are kept next to the copy for compute. fp8 weights leave tables in
 * bf16. Sharded parameters are cast after they have been gathered. */
static double low_copy_bytes(const CostContext *setting, const Shard *shard) {
    const Profile *profile = setting->profile;
    if (!(profile->low_copies > 0.5) || profile->precision == PRECISION_BF16 || shard_weight_ways(shard) > 1) return 0;
    bool both = profile->precision != PRECISION_FP8 || profile->transposed_low_copy > 0.5;
    int already = cost_context_state(setting)->dtypes.parameters == DTYPE_FP8 ? 1 : 0;
    return precision_bytes(profile->precision) * ((both ? 2 : 1) - already);
}

/* Parts of memory's rows that software adds to the plan's needs (cost/profile/profile.h): the copy for compute with its
 * casts; the master that ZeRO leaves on a replica that does not own it; the buffers through which gradients are reduced
 * and updated; an input gathered for backward. */
static double parameters_bytes_of(const CostContext *setting, const Shard *shard, const Knobs *knobs,
                                  const LocalParameters *local) {
    const TrainingState *state = cost_context_state(setting);
    double tables = local->of[HELD_TABLES], copies = low_copy_bytes(setting, shard);
    double bytes = cost_context_copy_bytes(setting, knobs) * local->total;
    if (state->dtypes.parameters == DTYPE_FP8 && bytes > 0) bytes += (BF16_BYTES - state->parameter_bytes) * tables;
    bool fp8 = setting->profile->precision == PRECISION_FP8 || setting->profile->precision == PRECISION_MXFP8;
    /* an optimizer on the CPU updates weights in bf16: Megatron refuses --fp8-param-gather next to it */
    bool alone = setting->profile->low_parameters > 0.5 && !state->said_bf16 && !knobs->offload_optimizer;
    if (copies > 0 && fp8 && state->dtypes.parameters != DTYPE_FP8 && alone)
        copies = max_real(0, copies - state->parameter_bytes);
    return copies > 0 ? bytes + copies * (local->of[HELD_DENSE] + local->of[HELD_EXPERTS]) : bytes;
}

static double tuned_parameters_bytes(const CostContext *setting, const Shard *shard, const Knobs *knobs,
                                     const StageTotals *sums, bool last, const LocalParameters *local) {
    if (!cost_context_tuning(setting)) return parameters_bytes_of(setting, shard, knobs, local);
    if (cost_context_tuning(setting)->on_host) return 0;
    LocalParameters trained = trained_parameters(setting, shard, knobs, sums, last);
    double width = cost_context_state(setting)->parameter_bytes;
    double quantised = tuned_parameters(setting, shard, sums, last).quantised;
    double frozen = max_real(width, setting->profile->frozen_bytes);
    double bytes = parameters_bytes_of(setting, shard, knobs, &trained) + frozen * (local->total - trained.total) -
                   (frozen - cost_context_stored_bytes(setting)) * quantised;
    return bytes + (cost_context_tuning(setting)->reference_model ? width * local->total : 0);
}

/* The outputs that a stage has sent on and whose gradient it waits for: a residual stream for each microbatch in flight
 * and chunk. */
static double kept_outputs_bytes(const CostContext *setting, const Shard *shard, const Knobs *knobs, double stream,
                                 bool last, Moment moment) {
    if (!(setting->profile->stage_outputs_kept > 0.5) || shard->pipeline <= 1 || last || moment == MOMENT_UPDATE)
        return 0;
    InFlight in_flight =
        schedule_in_flight(knobs->schedule, shard->pipeline, shard->microbatches, (double)knobs->virtual_stages);
    return in_flight.first * (double)knobs->virtual_stages * stream;
}

double master_rest_bytes(const CostContext *setting, const Knobs *knobs, const LocalParameters *local,
                         const LocalParameters *owned) {
    if (!(setting->profile->whole_master > 0.5) || knobs->offload_optimizer) return 0; /* it is on the host then */
    return dtype_bytes(cost_context_state(setting)->dtypes.master) * (local->total - owned->total);
}

double reduction_bytes(const CostContext *setting, const Shard *shard, const LocalParameters *owned) {
    bool replicas = shard_data_ways(shard) > 1;
    return setting->profile->update_scratch_bytes * owned->total + (replicas ? setting->profile->bucket_bytes : 0);
}

static double update_peak_bytes(const CostContext *setting, const LocalParameters *owned, Moment moment) {
    double second = dtype_bytes(cost_context_state(setting)->dtypes.second);
    return moment == MOMENT_UPDATE ? setting->profile->update_copies * second * owned->total : 0;
}

double communicators_bytes(const CostContext *setting, const Shard *shard) {
    double expert = max_real(shard->expert, shard->grid_expert);
    const double degrees[] = {shard->tensor, expert, shard->sequence, shard->fsdp, shard->data, shard->pipeline};
    const Profile *profile = setting->profile;
    double bytes = expert > 1 ? profile->all_to_all_bytes : 0;
    for (size_t i = 0; i < COUNT_OF(degrees); i++)
        if (degrees[i] > 1) bytes += profile->communicator_bytes;
    return bytes;
}

double regathered_bytes(const CostContext *setting, const Shard *shard, const Sharding *sharding) {
    bool apart = setting->profile->inputs_kept_apart > 0.5;
    if (shard->tensor <= 1 || sharding->residual != RESIDUAL_SEQUENCE) return 0;
    double streams = (apart ? 1 : 0) + setting->profile->tensor_streams;
    return streams * BF16_BYTES * shard->tokens * (double)setting->model->d_model;
}

void rows_of_sums(const ShardedStage *stage, const StageTotals *sums, Moment moment, double saved_bytes,
                  MemoryRows *out) {
    const CostContext *setting = stage->setting;
    const Shard *shard = stage->shard;
    const Knobs *knobs = stage->knobs;
    const Sharding *sharding = stage->sharding;
    bool last = shard->pipeline > 1 && (moment == MOMENT_LAST_LOGITS || moment == MOMENT_LAST_BACKWARD);
    const TrainingState *state = cost_context_state(setting);
    double d_model = (double)setting->model->d_model;
    LocalParameters local = local_parameters(setting, shard, knobs, sums, last), trained = local;
    if (cost_context_tuning(setting)) trained = trained_parameters(setting, shard, knobs, sums, last);
    LocalParameters owned = owned_parameters(shard, knobs, &trained);
    double reduced = trained.total, layers = last ? shard->layers_last : shard->layers;
    double on_host = host_optimizer_bytes(setting, knobs, &owned);
    if (knobs->zero_stage >= 2) { /* over the replicas, whichever chip of a pipeline has the copy */
        reduced = owned.total * schedule_copies(knobs->schedule);
    }
    /* With one microbatch no gradient exists before backward begins. */
    bool accumulates = shard->microbatches > 1;
    if (accumulates && stage_stays_whole(setting, shard))
        reduced = (trained.of[HELD_DENSE] + trained.of[HELD_TABLES]) * shard_weight_ways(shard) +
                  trained.of[HELD_EXPERTS] * shard_expert_ways(shard);
    double gradients = accumulates || moment == MOMENT_UPDATE ? cost_context_gradient_bytes(setting, accumulates) : 0;
    GatheredWeights gathered = gathered_weights(setting, shard, knobs, sums, moment, layers);
    ProgramBytes program = program_bytes(stage, &local, moment);
    *out = (MemoryRows){
        .parameters_bytes = tuned_parameters_bytes(setting, shard, knobs, sums, last, &local) + program.casts,
        .gradients_bytes = gradients * reduced + reduction_bytes(setting, shard, &owned) + program.gradients,
        .optimizer_bytes = optimizer_bytes_of(state, &owned) - on_host +
                           master_rest_bytes(setting, knobs, &trained, &owned) + program.master,
        .activations_bytes = saved_bytes,
        .gathered_bytes = gathered_bytes(setting, &gathered),
        .logits_bytes = program.logits,
    };
    double own = sharding->residual == RESIDUAL_SEQUENCE ? shard->tokens / shard->tensor : shard->tokens;
    double stream = BF16_BYTES * own * d_model;
    out->activations_bytes += kept_outputs_bytes(setting, shard, knobs, stream, last, moment);
    if (moment == MOMENT_LAST_LOGITS) {
        /* partial sums over the whole vocabulary */
        bool by_d_model = sharding->logits == TABLE_D_MODEL && shard->tensor > 1;
        double whole = by_d_model ? BF16_BYTES * shard->vocab * shard->tensor : 0;
        double chunks = max_real(1, setting->profile->logit_chunks), tokens = loss_tokens(setting, shard);
        out->logits_bytes = tokens * (setting->profile->logit_bytes * shard->vocab + whole) / chunks;
        out->transient_bytes = logits_input_bytes(setting, tokens / shard->tokens * stream, tokens * d_model) +
                               chunks_gradient_bytes(setting, stream);
    } else {
        out->transient_bytes = layer_working_bytes(sums) + stream + regathered_bytes(setting, shard, sharding) +
                               BF16_BYTES * sums->layer.largest_stored;
        out->transient_bytes = max_real(out->transient_bytes, update_peak_bytes(setting, &owned, moment));
    }
    /* State from the host passes through HBM a layer at a time. */
    if (moment == MOMENT_UPDATE && on_host > 0) out->transient_bytes += host_passing_bytes(setting, on_host, layers);
}

void memory_rows(const ShardedStage *stage, Moment moment, double saved_bytes, MemoryRows *out) {
    StageTotals sums;
    stage_sums(stage->setting, stage->shard, &stage->knobs->methods, stage->sharding, &sums);
    rows_of_sums(stage, &sums, moment, saved_bytes, out);
}

double memory_on_device(const CostContext *setting, const Shard *shard, double allocated) {
    return allocated * (1 + setting->profile->fragmentation_share) + setting->profile->context_bytes +
           communicators_bytes(setting, shard);
}

double memory_total(const MemoryRows *rows) {
    return rows->parameters_bytes + rows->gradients_bytes + rows->optimizer_bytes + rows->activations_bytes +
           rows->gathered_bytes + rows->logits_bytes + rows->transient_bytes;
}
