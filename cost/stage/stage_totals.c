/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/stage/stage_totals.h"

#include "base/util.h"
#include "cost/plan/plan.h"
#include "cost/time/schedule.h"

#include <string.h>

/* The width of weights that the layout gathers over tensor, and (backward) of their gradients, against the bf16 of the
 * ops. */
static double weights_width(const CostContext *setting, Phase phase) {
    double gathered = cost_context_state(setting)->parameter_bytes;
    double gradient = phase == PHASE_BACKWARD ? cost_context_scatter_bytes(setting) : gathered;
    return (gathered + gradient) / (2 * BF16_BYTES);
}

static void add_op(const CostContext *setting, const Shard *shard, const Op *op, double times, PartSums *to) {
    bool memory_bound;
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        double seconds = op_seconds(op, (Phase)phase, setting->chip, setting->profile, &memory_bound);
        double often = phase == PHASE_FORWARD ? times * cost_context_forwards(setting) : times;
        *(op->kind == OP_ATTENTION ? &to->attention[phase] : &to->compute[phase]) += often * seconds;
        for (int group = 0; group < GROUP_DATA; group++) {
            double bytes = often * op->traffic[group][phase].bytes;
            if (group == GROUP_TENSOR_WEIGHTS) bytes *= weights_width(setting, (Phase)phase);
            to->traffic[group][phase].messages += often * op->traffic[group][phase].messages;
            to->traffic[group][phase].bytes += bytes;
        }
    }
    double trained = op->weights - op->frozen;
    *(op->expert_weights ? &to->expert_weights : &to->dense_weights) += times * op->weights;
    *(op->expert_weights ? &to->expert_trained : &to->dense_trained) += times * trained;
    bool over_tensor = op->traffic[GROUP_TENSOR_WEIGHTS][PHASE_FORWARD].messages > 0;
    double ways = op->expert_weights ? shard_expert_ways(shard) : shard_weight_ways(shard);
    bool fetched = ways > 1 || cost_context_state(setting)->tuning.on_host;
    double gathered = over_tensor ? op->weights * shard->tensor : fetched ? op->weights : 0;
    to->gathered_weights += times * gathered;
    to->gathered_trained += times * (op->frozen > 0 ? gathered * trained / op->weights : gathered);
    if (op->adapter) to->adapters += times * trained;
    bool matmul = op->kind == OP_MATMUL || op->kind == OP_GROUPED_MATMUL;
    if (matmul && op->frozen > 0 && cost_context_state(setting)->tuning.stored_bytes > 0) {
        to->stored_apart += times * op->frozen;
        to->largest_stored = max_real(to->largest_stored, op->frozen / op->groups / (op->pair ? 2 : 1));
    }
    to->largest_weights = max_real(to->largest_weights, gathered);
    if (op->output_activation >= 0) to->saved[op->output_activation] += times * op_saved_bytes(op, setting->profile);
}

void layer_sums(const CostContext *setting, const Shard *shard, const Methods *methods, const Sharding *sharding,
                PartSums *out) {
    const Model *model = setting->model;
    const LayerSoftware software = cost_context_software(setting);
    Op ops[OPS_MAX];
    memset(out, 0, sizeof(*out));
    for (int i = 0; i < model->kind_count; i++) {
        double share = (double)model->kinds[i].count / (double)model->layers;
        int count =
            ops_of_layer_under(&(ShardedLayer){model, &model->kinds[i], shard, sharding}, methods, &software, ops);
        for (int j = 0; j < count; j++) add_op(setting, shard, &ops[j], share, out);
    }
    double own = sharding->residual == RESIDUAL_SEQUENCE ? shard->tokens / shard->tensor : shard->tokens;
    out->saved[ACTIVATION_LAYER_INPUT] = BF16_BYTES * own * (double)model->d_model;
}

void embedding_sums(const CostContext *setting, const Shard *shard, const Sharding *sharding, PartSums *out) {
    Op ops[OPS_MAX];
    memset(out, 0, sizeof(*out));
    int count = ops_of_embedding(setting->model, shard, sharding, cost_context_tuning(setting), ops);
    for (int j = 0; j < count; j++) add_op(setting, shard, &ops[j], 1, out);
}

void logits_sums(const CostContext *setting, const Shard *shard, const Sharding *sharding, PartSums *out) {
    Op ops[OPS_MAX];
    memset(out, 0, sizeof(*out));
    int count = ops_of_logits(setting->model, shard, sharding, cost_context_tuning(setting), ops);
    out->stored_apart = 0;
    for (int j = 0; j < count; j++) add_op(setting, shard, &ops[j], 1, out);
}

void stage_sums(const CostContext *setting, const Shard *shard, const Methods *methods, const Sharding *sharding,
                StageTotals *out) {
    layer_sums(setting, shard, methods, sharding, &out->layer);
    embedding_sums(setting, shard, sharding, &out->embedding);
    logits_sums(setting, shard, sharding, &out->logits);
}

/* Of the weights of a part, all or those that are trained. */
static double dense_of(const PartSums *part, bool trained) {
    return trained ? part->dense_trained : part->dense_weights;
}
static double expert_of(const PartSums *part, bool trained) {
    return trained ? part->expert_trained : part->expert_weights;
}

static double layers_held(const Shard *shard, bool last) {
    return last ? shard->layers_last : shard->layers - shard->slots_first;
}

double logits_without_table(const CostContext *setting, const Shard *shard, const PartSums *logits, bool trained) {
    double all = dense_of(logits, trained), table = shard->vocab * (double)setting->model->d_model;
    return all >= table ? all - table : all; /* where the table is frozen the rest alone is trained */
}

static LocalParameters stage_parameters(const CostContext *setting, const Shard *shard, const StageTotals *sums,
                                        bool last, bool trained) {
    double layers = layers_held(shard, last);
    bool whole = shard->pipeline <= 1;
    double dense = layers * dense_of(&sums->layer, trained), expert = layers * expert_of(&sums->layer, trained),
           tables = 0;
    if (whole || !last) tables += dense_of(&sums->embedding, trained);
    if (whole && setting->model->tied)
        tables += logits_without_table(setting, shard, &sums->logits, trained);
    else if (whole || last)
        tables += dense_of(&sums->logits, trained);
    double ways = shard_weight_ways(shard), expert_ways = shard_expert_ways(shard);
    return (LocalParameters){
        .of = {[HELD_DENSE] = dense / ways, [HELD_EXPERTS] = expert / expert_ways, [HELD_TABLES] = tables / ways},
        .total = (dense + tables) / ways + expert / expert_ways};
}

static LocalParameters chip_parameters(const CostContext *setting, const Shard *shard, const Knobs *knobs,
                                       const StageTotals *sums, bool last, bool trained) {
    LocalParameters local = stage_parameters(setting, shard, sums, last, trained);
    if (schedule_copies(knobs->schedule) == 1) return local;
    /* Stages s and p - 1 - s lie on one chip: the first and the last together. */
    LocalParameters other = stage_parameters(setting, shard, sums, !last, trained);
    for (int part = 0; part < HELD_COUNT; part++) local.of[part] += other.of[part];
    local.total += other.total;
    return local;
}

LocalParameters local_parameters(const CostContext *setting, const Shard *shard, const Knobs *knobs,
                                 const StageTotals *sums, bool last) {
    return chip_parameters(setting, shard, knobs, sums, last, false);
}

LocalParameters trained_parameters(const CostContext *setting, const Shard *shard, const Knobs *knobs,
                                   const StageTotals *sums, bool last) {
    return chip_parameters(setting, shard, knobs, sums, last, cost_context_tuning(setting) != NULL);
}

TunedParameters tuned_parameters(const CostContext *setting, const Shard *shard, const StageTotals *sums, bool last) {
    if (!cost_context_tuning(setting)) return (TunedParameters){0};
    if (cost_context_tuning(setting)->on_host) return (TunedParameters){0};
    double layers = layers_held(shard, last), experts = sums->layer.expert_weights > 0 ? shard_expert_ways(shard) : 1;
    double ways = sums->layer.expert_weights > sums->layer.dense_weights ? experts : shard_weight_ways(shard);
    return (TunedParameters){layers * sums->layer.stored_apart / ways, layers * sums->layer.adapters / ways};
}

bool stage_stays_whole(const CostContext *setting, const Shard *shard) {
    return setting->profile->stages_stay_whole > 0.5 && shard->pipeline > 1;
}

/* Copies of a part's parameters, over which ZeRO shards. */
static double held_data_ways(const Shard *shard, const Knobs *knobs, HeldPart part) {
    /* Copies on two chips of the pipeline are replicas too. */
    double copies = schedule_copies(knobs->schedule);
    return copies * (part == HELD_EXPERTS ? shard_expert_data_ways(shard) : shard_data_ways(shard));
}

LocalParameters owned_parameters(const Shard *shard, const Knobs *knobs, const LocalParameters *local) {
    if (knobs->zero_stage < 1) return *local;
    LocalParameters owned;
    double expert_ways = held_data_ways(shard, knobs, HELD_EXPERTS), ways = held_data_ways(shard, knobs, HELD_DENSE);
    for (int part = 0; part < HELD_COUNT; part++)
        owned.of[part] = local->of[part] / (part == HELD_EXPERTS ? expert_ways : ways);
    owned.total = expert_ways == ways
                      ? local->total / ways
                      : (local->of[HELD_DENSE] + local->of[HELD_TABLES]) / ways + owned.of[HELD_EXPERTS];
    return owned;
}

double optimizer_bytes_of(const TrainingState *state, const LocalParameters *owned) {
    if (state->uniform) return state->part[HELD_DENSE].optimizer_bytes * owned->total;
    double bytes = 0;
    for (int part = 0; part < HELD_COUNT; part++) bytes += state->part[part].optimizer_bytes * owned->of[part];
    return bytes;
}

/* Bytes on the host for each byte of state there: CPUs that update it keep its gradients alongside it. */
static double host_bytes_of_state(const CostContext *setting, const LocalParameters *owned) {
    const TrainingState *state = cost_context_state(setting);
    double bytes = optimizer_bytes_of(state, owned);
    if (setting->host_update != HOST_UPDATE_ON_CPU || !(bytes > 0)) return 1;
    return 1 + cost_context_gradient_bytes(setting, true) * owned->total / bytes;
}

double host_optimizer_bytes(const CostContext *setting, const Knobs *knobs, const LocalParameters *owned) {
    if (!knobs->offload_optimizer) return 0;
    double room = offload_room(setting) / host_bytes_of_state(setting, owned);
    return min_real(room, optimizer_bytes_of(cost_context_state(setting), owned));
}

double host_update_room(const CostContext *setting, const Knobs *knobs, const LocalParameters *owned) {
    return host_optimizer_bytes(setting, knobs, owned) * host_bytes_of_state(setting, owned);
}

double host_passing_bytes(const CostContext *setting, double on_host, double layers) {
    return setting->host_update == HOST_UPDATE_STREAMS ? on_host / max_real(1, layers) : 0;
}

double saved_of_sums(const StageTotals *sums) {
    double bytes = 0;
    for (int i = 0; i < ACTIVATION_COUNT; i++) bytes += sums->layer.saved[i];
    return bytes;
}

double offload_room(const CostContext *setting) {
    return setting->chip->host_bytes.value * setting->profile->host_memory_share;
}
