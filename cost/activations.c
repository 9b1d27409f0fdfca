/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What having an activation again in backward takes: the ops that lie between it and the activations before it, once
 * forward. */
#include "cost/sums.h"

#include <string.h>

/* The last op that must run again for each activation is the one that makes it; ops without a product of their own
 * (rotary, router, the expert-combine) run with the next one made, the down projection with none: its output is the
 * next layer's input, which is kept. */
static void costs_of(const Setting *setting, const Shard *shard, const Knobs *knobs, const Sharding *sharding,
                     ActivationCost costs[ACTIVATION_COUNT]) {
    const Model *model = setting->model;
    memset(costs, 0, sizeof(ActivationCost) * ACTIVATION_COUNT);
    for (int i = 0; i < model->kind_count; i++) {
        Op ops[OPS_MAX];
        double share = (double)model->kinds[i].count / (double)model->layers;
        int count =
            ops_of_layer(model, &model->kinds[i], shard, sharding, &knobs->methods, setting_imbalance(setting), ops);
        bool product_made = false;
        for (int j = 0; j < count; j++) {
            const Op *op = &ops[j];
            int target = op->makes;
            for (int next = j + 1; target < 0 && next < count; next++) target = ops[next].makes;
            if (target < 0 || (product_made && op->makes < 0)) {
                /* torch runs the module that it checkpoints to its end, the last matmul too */
                if (!(product_made && setting->profile->recompute_whole > 0.5)) continue;
                target = ACTIVATION_GATE_UP;
            }
            product_made = product_made || op->makes == ACTIVATION_PRODUCT;
            ActivationCost *cost = &costs[target];
            bool memory_bound;
            cost->recompute_seconds +=
                share * op_seconds(op, PHASE_FORWARD, setting->chip, setting->profile, &memory_bound);
            for (int group = 0; group < GROUP_DATA; group++) {
                /* gathered for backward anyway */
                if (group == GROUP_TENSOR_WEIGHTS || group == GROUP_WEIGHTS || group == GROUP_EXPERT_WEIGHTS) continue;
                const Traffic *traffic = &op->traffic[group][PHASE_FORWARD];
                /* The gather in front of a block belongs to the block's input, which is kept gathered. */
                int owner = target;
                if (group == GROUP_TENSOR && op->makes == ACTIVATION_QKV) owner = ACTIVATION_ATTENTION_INPUT;
                bool tensor = group == GROUP_TENSOR || group == GROUP_EXPERT_TENSOR;
                if (tensor && op->makes == ACTIVATION_GATE_UP) owner = ACTIVATION_MLP_INPUT;
                costs[owner].recompute_messages[group] += share * traffic->messages;
                costs[owner].recompute_bytes[group] += share * traffic->bytes;
            }
            if (op->makes >= 0) {
                cost->bytes += share * op_saved_bytes(op, setting->profile);
                cost->exists = cost->recomputable = true;
            }
        }
    }
    double own = sharding->residual == RESIDUAL_SEQUENCE ? shard->tokens / shard->tensor : shard->tokens;
    costs[ACTIVATION_LAYER_INPUT] = (ActivationCost){.bytes = 2 * own * (double)model->d_model, .exists = true};
}

/* Dearest to compute again per byte first; what cannot be computed again before all. */
static bool gains_more(const ActivationCost *a, const ActivationCost *b) {
    if (a->recomputable != b->recomputable) return !a->recomputable;
    return a->recompute_seconds * b->bytes > b->recompute_seconds * a->bytes;
}

/* In how many layers of the stage an activation may be offloaded: in all, unless a policy is required. */
static double offload_layers(const Setting *setting, const Shard *shard, int activation) {
    int64_t layers[STATE_COUNT];
    if (!setting_remat(setting)) return shard->layers;
    remat_layers(setting->remat, (Activation)activation, (int64_t)shard->layers, layers);
    return (double)layers[STATE_OFFLOADED];
}

/* Beside the optimizer's state the host has room for a few activations of all layers and microbatches in flight; which ones is settled by what they
 * gain, so that no layout has to count host bytes. Where the residual stream is whole on every chip it takes most room:
 * that is asked for. */
static void find_offloadable(const Setting *setting, const Shard *shard, const Knobs *knobs,
                             bool offloadable[ACTIVATION_COUNT]) {
    Sharding shardings[SHARDINGS_MAX];
    ActivationCost costs[ACTIVATION_COUNT];
    double weights[MOMENT_COUNT], room = setting->chip->host_bytes.value * setting->profile->host_memory_share;
    bool seen[ACTIVATION_COUNT] = {false};
    const RematRule *remat = setting_remat(setting);
    int count = shardings_of(setting, shard, shardings);
    Sharding whole = shardings[0];
    for (int i = 0; i < count; i++)
        if (shardings[i].residual == RESIDUAL_REPLICATED && whole.residual != RESIDUAL_REPLICATED) whole = shardings[i];
    costs_of(setting, shard, knobs, &whole, costs);
    moment_weights(shard, knobs, weights);
    if (knobs->offload_optimizer) {
        StageSums sums;
        stage_sums(setting, shard, &knobs->methods, &shardings[0], &sums);
        Held held = held_of_sums(setting, shard, knobs, &sums, false), owned = owned_of_held(shard, knobs, &held);
        room -= host_optimizer_bytes(setting, knobs, &owned);
    }
    for (int turn = 0; turn < ACTIVATION_COUNT; turn++) {
        int best = -1;
        for (int i = 0; i < ACTIVATION_COUNT; i++)
            if (!seen[i] && (best < 0 || gains_more(&costs[i], &costs[best]))) best = i;
        seen[best] = true;
        double bytes = weights[MOMENT_FIRST_BACKWARD] * offload_layers(setting, shard, best) * costs[best].bytes;
        /* What tensor ranks hold alike, each of them whole, is gathered again rather than sent to the host by all of
         * them. */
        bool copies = shard->tensor > 1 && (best == ACTIVATION_ATTENTION_INPUT || best == ACTIVATION_MLP_INPUT);
        offloadable[best] = costs[best].exists && !copies && bytes <= room && (!remat || bytes > 0);
        if (offloadable[best]) room -= bytes;
    }
}

void stage_activations(const Setting *setting, const Shard *shard, const Knobs *knobs, const Sharding *sharding,
                       ActivationCost costs[ACTIVATION_COUNT]) {
    bool offloadable[ACTIVATION_COUNT];
    costs_of(setting, shard, knobs, sharding, costs);
    find_offloadable(setting, shard, knobs, offloadable);
    for (int i = 0; i < ACTIVATION_COUNT; i++) costs[i].offloadable = offloadable[i];
}
