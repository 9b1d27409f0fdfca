/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/memory.h"

#include "base/util.h"
#include "cost/bytes.h"
#include "cost/schedule.h"
#include "cost/sums.h"

void moment_weights(const Shard *shard, const Knobs *knobs, double weights[MOMENT_COUNT]) {
    InFlight in_flight =
        schedule_in_flight(knobs->schedule, shard->pipeline, shard->microbatches, (double)knobs->virtual_stages);
    weights[MOMENT_FIRST_BACKWARD] = in_flight.first;
    weights[MOMENT_LAST_LOGITS] = in_flight.last * (shard->layers_last / shard->layers);
    weights[MOMENT_LAST_BACKWARD] = weights[MOMENT_LAST_LOGITS];
    weights[MOMENT_UPDATE] = 0;
}

/* Weights that fsdp (or the layout, over tensor) has brought together: of two layers (the next arrives while one
 * works), or of the whole stage when they are kept; and the gradient of one before its reduce_scatter. Beside logits
 * their table and its gradient. */
static double gathered_bytes(const TrainingState *state, const Shard *shard, const Knobs *knobs, const StageSums *sums,
                             Moment moment, double layers) {
    double one = sums->layer.gathered_weights;
    double head = moment == MOMENT_LAST_LOGITS && shard_weight_ways(shard) > 1 ? sums->logits.dense_weights : 0;
    if (!(one > 0 || head > 0)) return 0;
    double gathered = knobs->regather ? min_real(2, layers) * one : layers * one;
    double weight = state->parameter_bytes, gradient = state->scatter_bytes;
    return weight * gathered + gradient * one + (weight + gradient) * head;
}

/* One layer in backward: its activations, made again or not, and the gradients of its widest pair. */
static double layer_working_bytes(const StageSums *sums) {
    double mlp = sums->layer.saved[ACTIVATION_GATE_UP] + sums->layer.saved[ACTIVATION_PRODUCT];
    double attention = sums->layer.saved[ACTIVATION_QKV] + sums->layer.saved[ACTIVATION_CONTEXT];
    return saved_of_sums(sums) + max_real(mlp, attention);
}

double communicators_bytes(const Setting *setting, const Shard *shard) {
    const double degrees[] = {shard->tensor, shard->expert, shard->sequence, shard->fsdp, shard->data, shard->pipeline};
    const Profile *profile = setting->profile;
    double bytes = shard->expert > 1 ? profile->all_to_all_bytes : 0;
    for (size_t i = 0; i < COUNT_OF(degrees); i++)
        if (degrees[i] > 1) bytes += profile->communicator_bytes;
    return bytes;
}

void rows_of_sums(const Setting *setting, const Shard *shard, const Knobs *knobs, const Sharding *sharding,
                  const StageSums *sums, Moment moment, double saved_bytes, MemoryRows *out) {
    bool last = shard->pipeline > 1 && (moment == MOMENT_LAST_LOGITS || moment == MOMENT_LAST_BACKWARD);
    const TrainingState *state = setting_state(setting);
    double d_model = (double)setting->model->d_model;
    Held held = held_of_sums(setting, shard, knobs, sums, last), owned = owned_of_held(shard, knobs, &held);
    double reduced = held.total, layers = last ? shard->layers_last : shard->layers;
    double on_host = host_optimizer_bytes(setting, knobs, &owned);
    if (knobs->zero_stage >= 2) { /* over the replicas, whichever chip of a pipeline has the copy */
        reduced = owned.total * schedule_copies(knobs->schedule);
    }
    /* With one microbatch no gradient exists before backward begins. */
    bool accumulates = shard->microbatches > 1;
    double gradients = accumulates ? state->gradient_bytes[1] : moment == MOMENT_UPDATE ? state->gradient_bytes[0] : 0;
    *out = (MemoryRows){
        .parameters_bytes = state->parameter_bytes * held.total,
        .gradients_bytes = gradients * reduced,
        .optimizer_bytes = optimizer_bytes_of(state, &owned) - on_host,
        .activations_bytes = saved_bytes,
        .gathered_bytes = gathered_bytes(state, shard, knobs, sums, moment, layers),
    };
    double own = sharding->residual == RESIDUAL_SEQUENCE ? shard->tokens / shard->tensor : shard->tokens;
    double stream = BF16_BYTES * own * d_model;
    if (moment == MOMENT_LAST_LOGITS) {
        /* partial sums over the whole vocabulary */
        bool by_d_model = sharding->logits == TABLE_D_MODEL && shard->tensor > 1;
        double whole = by_d_model ? BF16_BYTES * shard->vocab * shard->tensor : 0;
        out->logits_bytes = shard->tokens * (LOGIT_BYTES * shard->vocab + whole);
        out->transient_bytes = 2 * stream + BF16_BYTES * shard->tokens * d_model;
    } else {
        out->transient_bytes = layer_working_bytes(sums) + stream;
    }
    /* State from the host passes through HBM a layer at a time. */
    if (moment == MOMENT_UPDATE && on_host > 0) out->transient_bytes += on_host / max_real(1, layers);
}

void memory_rows(const Setting *setting, const Shard *shard, const Knobs *knobs, const Sharding *sharding,
                 Moment moment, double saved_bytes, MemoryRows *out) {
    StageSums sums;
    stage_sums(setting, shard, &knobs->methods, sharding, &sums);
    rows_of_sums(setting, shard, knobs, sharding, &sums, moment, saved_bytes, out);
}

double memory_total(const MemoryRows *rows) {
    return rows->parameters_bytes + rows->gradients_bytes + rows->optimizer_bytes + rows->activations_bytes +
           rows->gathered_bytes + rows->logits_bytes + rows->transient_bytes;
}
