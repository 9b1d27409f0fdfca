/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/stage/memory_detail.h"

#include "base/util.h"
#include "cost/plan/plan.h"
#include "cost/stage/stage.h"
#include "cost/stage/stage_totals.h"

#include <assert.h>

const char *memory_row_name(MemoryRow row) {
    static const char *const NAMES[MEMORY_ROW_COUNT] = {
        "parameters", "gradients", "optimizer", "activations", "gathered", "logits", "transient", "reserve", "host"};
    return NAMES[row];
}

double memory_row_bytes(const MemoryRows *rows, MemoryRow row) {
    const double bytes[] = {rows->parameters_bytes,  rows->gradients_bytes, rows->optimizer_bytes,
                            rows->activations_bytes, rows->gathered_bytes,  rows->logits_bytes,
                            rows->transient_bytes};
    return row < (MemoryRow)COUNT_OF(bytes) ? bytes[row] : 0;
}

typedef struct {
    MemoryPart *parts;
    int count;
} Parts;

static void add(Parts *to, MemoryRow row, const char *name, double bytes) {
    assert(to->count < MEMORY_PARTS_MAX); /* each part is added at one place of this file */
    if (bytes > 0) to->parts[to->count++] = (MemoryPart){row, name, bytes};
}

/* The part of the optimizer's row that is masters: their share of all kept state. */
static double master_bytes(const TrainingState *state, const LocalParameters *owned, double row) {
    TrainingState masters = *state;
    for (int part = 0; part < HELD_COUNT; part++)
        masters.part[part].optimizer_bytes = dtype_bytes(state->dtypes.master);
    masters.uniform = true;
    double all = optimizer_bytes_of(state, owned);
    return all > 0 ? row * min_real(1, optimizer_bytes_of(&masters, owned) / all) : 0;
}

static void add_activations(const ActivationCost costs[ACTIVATION_COUNT], const Layout *layout, double in_flight,
                            Parts *to) {
    for (int a = 0; a < ACTIVATION_COUNT; a++)
        if (costs[a].exists)
            add(to, MEMORY_ACTIVATIONS, activation_name((Activation)a),
                in_flight * layout_kept_bytes(&costs[a], layout, (Activation)a));
}

static void add_gathered(const CostContext *setting, const GatheredWeights *weights, bool regather, Parts *to) {
    const TrainingState *state = cost_context_state(setting);
    double scattered = weights->copies * cost_context_scatter_bytes(setting);
    double stored = cost_context_stored_bytes(setting);
    add(to, MEMORY_GATHERED, "weights_in_use", stored * weights->in_use);
    add(to, MEMORY_GATHERED, regather ? "weights_prefetched" : "weights_kept", stored * weights->others);
    add(to, MEMORY_GATHERED, "layer_gradient", scattered * weights->gradient);
    add(to, MEMORY_GATHERED, "logits_table", state->parameter_bytes * weights->table);
    add(to, MEMORY_GATHERED, "logits_table_gradient",
        weights->copies * table_gradient_bytes(setting) * weights->table_gradient);
}

/* Logits and transient rows: `rows` of the moment, `passing` of what comes from the host for the update. */
static void add_working(const ShardedStage *stage, const StageTotals *sums, Moment moment, const MemoryRows *rows,
                        double passing, Parts *to) {
    const CostContext *setting = stage->setting;
    const Shard *shard = stage->shard;
    const Sharding *sharding = stage->sharding;
    double own = sharding->residual == RESIDUAL_SEQUENCE ? shard->tokens / shard->tensor : shard->tokens;
    double stream = BF16_BYTES * own * (double)setting->model->d_model;
    if (moment == MOMENT_LAST_LOGITS) {
        double tokens = loss_tokens(setting, shard);
        double logits = tokens * shard->vocab / max_real(1, setting->profile->logit_chunks);
        double summed = chunks_gradient_bytes(setting, stream);
        double bytes = setting->profile->logit_bytes, values = min_real(FP32_BYTES, bytes - BF16_BYTES);
        add(to, MEMORY_LOGITS, values < FP32_BYTES ? "values_bf16" : "values_fp32", values * logits);
        add(to, MEMORY_LOGITS, "gradients_bf16", BF16_BYTES * logits);
        add(to, MEMORY_LOGITS, "loss", (bytes - values - BF16_BYTES) * logits);
        add(to, MEMORY_LOGITS, "partial_sums", rows->logits_bytes - bytes * logits);
        double input = BF16_BYTES * tokens * (double)setting->model->d_model;
        add(to, MEMORY_TRANSIENT, "residual_stream", rows->transient_bytes - input - summed);
        add(to, MEMORY_TRANSIENT, "logits_input", input);
        add(to, MEMORY_TRANSIENT, "gradients_of_chunks", summed);
        return;
    }
    add(to, MEMORY_LOGITS, "gradients_bf16", rows->logits_bytes);
    if (moment == MOMENT_UPDATE && setting->profile->update_copies > 0) {
        add(to, MEMORY_TRANSIENT, "update", rows->transient_bytes - passing);
        add(to, MEMORY_TRANSIENT, "optimizer_passing_through", passing);
        return;
    }
    double layer = saved_of_sums(sums), again = regathered_bytes(setting, shard, sharding);
    add(to, MEMORY_TRANSIENT, "layer_activations", layer);
    add(to, MEMORY_TRANSIENT, "layer_gradients", rows->transient_bytes - layer - again - stream - passing);
    add(to, MEMORY_TRANSIENT, "input_gathered_again", again);
    add(to, MEMORY_TRANSIENT, "residual_gradient", stream);
    add(to, MEMORY_TRANSIENT, "optimizer_passing_through", passing);
}

/* The reserve holds the communicators first; the rest is for fragmentation, the runtime and code. If it does not hold
 * the communicators, the user needs a larger --hbm-reserve. */
static void add_reserve(const CostContext *setting, const Shard *shard, Parts *to) {
    double reserve = setting->chip->hbm_bytes.value * setting->hbm_reserve;
    double communicators = communicators_bytes(setting, shard);
    add(to, MEMORY_RESERVE, "communicators", min_real(reserve, communicators));
    add(to, MEMORY_RESERVE, "communicators_that_it_lacks", communicators - reserve);
    add(to, MEMORY_RESERVE, "fragmentation", reserve - communicators);
}

static void add_host(const ActivationCost costs[ACTIVATION_COUNT], const Layout *layout, double most_in_flight,
                     Parts *to) {
    double bytes = 0;
    for (int a = 0; a < ACTIVATION_COUNT; a++)
        if (costs[a].exists) bytes += most_in_flight * costs[a].bytes * (double)layout->layers[a][STATE_OFFLOADED];
    add(to, MEMORY_HOST, "activations", bytes);
}

int memory_parts(const CostContext *setting, const Shard *shard, const Plan *plan, Moment moment,
                 MemoryPart parts[MEMORY_PARTS_MAX], double *in_flight) {
    const Knobs *knobs = &plan->knobs;
    const Sharding *sharding = &plan->layout.sharding;
    const TrainingState *state = cost_context_state(setting);
    bool last = shard->pipeline > 1 && (moment == MOMENT_LAST_LOGITS || moment == MOMENT_LAST_BACKWARD);
    ActivationCost costs[ACTIVATION_COUNT];
    double weights[MOMENT_COUNT], saved = 0;
    StageTotals sums;
    MemoryRows rows;
    Parts all = {parts, 0};
    stage_activations(setting, shard, knobs, sharding, costs);
    microbatches_in_flight(setting, shard, knobs, weights);
    for (int a = 0; a < ACTIVATION_COUNT; a++)
        if (costs[a].exists) saved += layout_kept_bytes(&costs[a], &plan->layout, (Activation)a);
    stage_sums(setting, shard, &knobs->methods, sharding, &sums);
    const ShardedStage stage = {setting, shard, knobs, sharding};
    rows_of_sums(&stage, &sums, moment, weights[moment] * saved, &rows);

    LocalParameters local = local_parameters(setting, shard, knobs, &sums, last),
                    trained = trained_parameters(setting, shard, knobs, &sums, last),
                    owned = owned_parameters(shard, knobs, &trained);
    TunedParameters tuned = tuned_parameters(setting, shard, &sums, last);
    double quantised = cost_context_stored_bytes(setting) * tuned.quantised,
           adapters = min_real(state->parameter_bytes * tuned.adapters, rows.parameters_bytes - quantised);
    double copy = cost_context_copy_bytes(setting, knobs) * local.total;
    double casts = cost_context_tuning(setting) ? 0 : max_real(0, rows.parameters_bytes - copy);
    double reduced = reduction_bytes(setting, shard, &owned),
           rest = master_rest_bytes(setting, knobs, &trained, &owned);
    double masters = master_bytes(state, &owned, rows.optimizer_bytes - rest) + rest;
    add(&all, MEMORY_PARAMETERS, "copy_for_compute", rows.parameters_bytes - casts - quantised - adapters);
    add(&all, MEMORY_PARAMETERS, MEMORY_PART_QUANTISED, quantised);
    add(&all, MEMORY_PARAMETERS, MEMORY_PART_ADAPTERS, adapters);
    add(&all, MEMORY_PARAMETERS, "casts", casts);
    add(&all, MEMORY_GRADIENTS, "gradients", rows.gradients_bytes - reduced);
    add(&all, MEMORY_GRADIENTS, "buckets", reduced);
    add(&all, MEMORY_OPTIMIZER, "master_weights", masters);
    add(&all, MEMORY_OPTIMIZER, "moments", rows.optimizer_bytes - masters);
    add_activations(costs, &plan->layout, weights[moment], &all);
    add(&all, MEMORY_ACTIVATIONS, "stage_outputs", rows.activations_bytes - weights[moment] * saved);
    GatheredWeights gathered =
        gathered_weights(setting, shard, knobs, &sums, moment, last ? shard->layers_last : shard->layers);
    add_gathered(setting, &gathered, knobs->regather, &all);
    double on_host = host_optimizer_bytes(setting, knobs, &owned), layers = last ? shard->layers_last : shard->layers;
    double passing = moment == MOMENT_UPDATE ? host_passing_bytes(setting, on_host, layers) : 0;
    add_working(&stage, &sums, moment, &rows, passing, &all);
    add_reserve(setting, shard, &all);
    bool far = cost_context_tuning(setting) && cost_context_tuning(setting)->on_host;
    add(&all, MEMORY_HOST, "parameters", far ? cost_context_stored_bytes(setting) * local.total : 0);
    add(&all, MEMORY_HOST, "gradients", host_update_room(setting, knobs, &owned) - on_host); /* CPUs update from them */
    add(&all, MEMORY_HOST, "optimizer", on_host);
    add_host(costs, &plan->layout, weights[MOMENT_FIRST_BACKWARD] + layers_read_in_place(setting, shard), &all);
    *in_flight = weights[moment];
    return all.count;
}
