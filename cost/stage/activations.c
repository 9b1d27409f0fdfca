/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cost of having an activation again in backward: one more forward of the ops that lie between it and the
 * activations before it. */
#include "cost/plan/plan.h"
#include "cost/stage/stage_totals.h"

#include <math.h>
#include <string.h>

/* The shares of an op's output that STATE_PARTLY frees, of its forward that it runs again, and of its collectives that
 * it repeats. Selective checkpointing in torch counts the plain matmuls of a layer and keeps every first of two: qkv
 * (of a mixer half of its projections), the first of gate and up (or the only one), and the last one, whose output is
 * as large as `middle`, which is made again. It also keeps what a reduce_scatter or an all_to_all has brought; grouped
 * matmuls are not among the ops that it keeps (torchtitan, distributed/activation_checkpoint.py). Over tensor the last
 * matmul's output are partial sums of the whole stream, and what their reduce_scatter has brought is kept next to them:
 * partial_sums_bytes(). */
typedef struct {
    double freed, run, sent;
} PartShare;

static PartShare part_share(const Op *op, const LayerKind *kind, int target) {
    if (target == ACTIVATION_QKV || target == ACTIVATION_CONTEXT) {
        if (!kind->mixer) return (PartShare){0, 0, 0};
        /* its matmuls are several (q, k, v, gate, two of numbers a head); convolution, scan and norm run again */
        return op->kind == OP_MATMUL ? (PartShare){0.5, 0.5, 0} : (PartShare){1, 1, 1};
    }
    switch (op->output_activation) {
    case ACTIVATION_MIDDLE:
        return (PartShare){0, 1, 0};
    case ACTIVATION_GATE_UP:
        if (op->kind == OP_GROUPED_MATMUL) return (PartShare){1, 1, 1};
        return op->pair ? (PartShare){0.5, 0.5, 0} : (PartShare){0, 0, 0};
    case ACTIVATION_MLP_INPUT:
        return op->traffic[GROUP_EXPERT][PHASE_FORWARD].messages > 0 ? (PartShare){0, 0, 0} : (PartShare){1, 1, 1};
    default:
        return (PartShare){1, 1, 1};
    }
}

/* Of the ops after the last product, whose output is the next layer's input: a plain matmul's is kept, a grouped one
 * and the sum of experts run again, without what an all_to_all has brought. */
static PartShare last_share(const Op *op) {
    return op->kind == OP_MATMUL ? (PartShare){0, 0, 0} : (PartShare){0, 1, 0};
}

static void add_part(PartShare part, double share, double seconds, double bytes, PartCost *to) {
    to->recompute_seconds += share * part.run * seconds;
    to->freed_bytes += share * part.freed * bytes;
}

/* Bytes of the stream that partial sums of the last matmul take over its part on a chip, which is `middle`, and of that
 * part once more, reduced. */
static double partial_sums_bytes(const Model *model, const Shard *shard, const Sharding *sharding) {
    if (shard->tensor <= 1 || sharding->residual != RESIDUAL_SEQUENCE) return 0;
    return BF16_BYTES * shard->tokens * (double)model->d_model;
}

/* The last op that must run again for each activation is the one that makes it; ops without a product of their own
 * (rotary, router, expert combine) run with the next activation made. The down projection runs with none: its output is
 * the next layer's input, which is kept. */
void activation_costs(const CostContext *setting, const Shard *shard, const Knobs *knobs, const Sharding *sharding,
                      ActivationCost costs[ACTIVATION_COUNT]) {
    const Model *model = setting->model;
    const LayerSoftware software = cost_context_software(setting);
    memset(costs, 0, sizeof(ActivationCost) * ACTIVATION_COUNT);
    for (int i = 0; i < model->kind_count; i++) {
        Op ops[OPS_MAX];
        double share = (double)model->kinds[i].count / (double)model->layers;
        int count = ops_of_layer_under(&(ShardedLayer){model, &model->kinds[i], shard, sharding}, &knobs->methods,
                                       &software, ops);
        bool mlp = model->kinds[i].experts > 0 || model->kinds[i].d_ff > 0, product_made = false;
        int last = mlp ? ACTIVATION_PRODUCT : ACTIVATION_CONTEXT; /* what a layer's last matmul reads */
        for (int j = 0; j < count; j++) {
            const Op *op = &ops[j];
            int target = op->output_activation;
            for (int next = j + 1; target < 0 && next < count; next++) target = ops[next].output_activation;
            if (target < 0 || (product_made && op->output_activation < 0)) {
                /* torch runs the module that it checkpoints to its end, including the last matmul; an expert's layer
                 * whose router's gradient reads what the experts send back does so where their product is not kept */
                bool combined = setting->profile->combines_again > 0.5 && model->kinds[i].experts > 0;
                if (!(product_made && (setting->profile->recompute_whole > 0.5 || combined))) continue;
                target = combined ? ACTIVATION_PRODUCT : mlp ? ACTIVATION_GATE_UP : ACTIVATION_CONTEXT;
            }
            product_made = product_made || op->output_activation == last;
            ActivationCost *cost = &costs[target];
            PartShare part =
                product_made && op->output_activation < 0 ? last_share(op) : part_share(op, &model->kinds[i], target);
            bool memory_bound;
            double seconds = op_seconds(op, PHASE_FORWARD, setting->chip, setting->profile, &memory_bound);
            cost->recompute_seconds += share * seconds;
            add_part(part, share, seconds, op->output_activation >= 0 ? op_saved_bytes(op, setting->profile) : 0,
                     &cost->part);
            if (op->output_activation == ACTIVATION_MIDDLE)
                cost->part.freed_bytes -= share * partial_sums_bytes(model, shard, sharding);
            for (int group = 0; group < GROUP_DATA; group++) {
                /* these are gathered for backward anyway */
                if (group == GROUP_TENSOR_WEIGHTS || group == GROUP_WEIGHTS || group == GROUP_EXPERT_WEIGHTS) continue;
                const Traffic *traffic = &op->traffic[group][PHASE_FORWARD];
                /* The gather before a block belongs to the block's input, which is kept gathered. */
                int owner = target;
                if (group == GROUP_TENSOR && op->output_activation == ACTIVATION_QKV)
                    owner = ACTIVATION_ATTENTION_INPUT;
                bool tensor = group == GROUP_TENSOR || group == GROUP_EXPERT_TENSOR;
                if (tensor && op->output_activation == ACTIVATION_GATE_UP) owner = ACTIVATION_MLP_INPUT;
                costs[owner].recompute_messages[group] += share * traffic->messages;
                costs[owner].recompute_bytes[group] += share * traffic->bytes;
                double sent = owner == target ? share * part.sent : share;
                costs[owner].part.recompute_messages[group] += sent * traffic->messages;
                costs[owner].part.recompute_bytes[group] += sent * traffic->bytes;
            }
            if (op->output_activation >= 0) {
                cost->bytes += share * op_saved_bytes(op, setting->profile);
                cost->exists = cost->recomputable = true;
            }
        }
    }
    double own = sharding->residual == RESIDUAL_SEQUENCE ? shard->tokens / shard->tensor : shard->tokens;
    costs[ACTIVATION_LAYER_INPUT] = (ActivationCost){.bytes = 2 * own * (double)model->d_model, .exists = true};
}

/* Activations that cost most to compute again per byte come first; those that cannot be computed again come before all
 * others. */
static bool gains_more(const ActivationCost *a, const ActivationCost *b) {
    if (a->recomputable != b->recomputable) return !a->recomputable;
    return a->recompute_seconds * b->bytes > b->recompute_seconds * a->bytes;
}

/* The number of the stage's layers in which an activation may be offloaded: all, unless a policy is required. */
static double offload_layers(const CostContext *setting, const Shard *shard, int activation) {
    int64_t layers[STATE_COUNT];
    if (!cost_context_remat(setting)) return shard->layers;
    remat_layers(setting->remat, (Activation)activation, (int64_t)shard->layers, layers);
    return (double)layers[STATE_OFFLOADED];
}

Sharding offload_sharding(const CostContext *setting, const Shard *shard) {
    Sharding shardings[SHARDINGS_MAX];
    int count = shardings_of(setting, shard, shardings);
    Sharding whole = shardings[0];
    for (int i = 0; i < count; i++)
        if (shardings[i].residual == RESIDUAL_REPLICATED && whole.residual != RESIDUAL_REPLICATED) whole = shardings[i];
    return whole;
}

double offload_bytes(const CostContext *setting, const Shard *shard, const ActivationCost *whole, int activation,
                     double in_flight) {
    /* An activation that tensor ranks hold alike, each of them whole, is gathered again; it is not sent to the host by
     * all of them. */
    bool copies = shard->tensor > 1 && (activation == ACTIVATION_ATTENTION_INPUT || activation == ACTIVATION_MLP_INPUT);
    if (!whole->exists || copies) return INFINITY;
    return in_flight * offload_layers(setting, shard, activation) * whole->bytes;
}

void offloadable_activations(const CostContext *setting, const Shard *shard, const Knobs *knobs,
                             const ActivationCost whole[ACTIVATION_COUNT], const StageTotals *first,
                             bool offloadable[ACTIVATION_COUNT]) {
    double weights[MOMENT_COUNT], room = offload_room(setting);
    bool seen[ACTIVATION_COUNT] = {false};
    const RematRule *remat = cost_context_remat(setting);
    microbatches_in_flight(setting, shard, knobs, weights);
    double in_flight = weights[MOMENT_FIRST_BACKWARD] + layers_read_in_place(setting, shard);
    if (knobs->offload_optimizer) {
        LocalParameters trained = trained_parameters(setting, shard, knobs, first, false),
                        owned = owned_parameters(shard, knobs, &trained);
        room -= host_update_room(setting, knobs, &owned);
    }
    for (int turn = 0; turn < ACTIVATION_COUNT; turn++) {
        int best = -1;
        for (int i = 0; i < ACTIVATION_COUNT; i++)
            if (!seen[i] && (best < 0 || gains_more(&whole[i], &whole[best]))) best = i;
        seen[best] = true;
        double bytes = offload_bytes(setting, shard, &whole[best], best, in_flight);
        offloadable[best] = bytes <= room && (!remat || bytes > 0);
        if (offloadable[best]) room -= bytes;
    }
}

void stage_activations(const CostContext *setting, const Shard *shard, const Knobs *knobs, const Sharding *sharding,
                       ActivationCost costs[ACTIVATION_COUNT]) {
    bool offloadable[ACTIVATION_COUNT];
    ActivationCost whole[ACTIVATION_COUNT];
    StageTotals first;
    Sharding most = offload_sharding(setting, shard), shardings[SHARDINGS_MAX];
    activation_costs(setting, shard, knobs, &most, whole);
    if (knobs->offload_optimizer) {
        shardings_of(setting, shard, shardings);
        stage_sums(setting, shard, &knobs->methods, &shardings[0], &first);
    }
    offloadable_activations(setting, shard, knobs, whole, &first, offloadable);
    activation_costs(setting, shard, knobs, sharding, costs);
    for (int i = 0; i < ACTIVATION_COUNT; i++) costs[i].offloadable = offloadable[i];
}
