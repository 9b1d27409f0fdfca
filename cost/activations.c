/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What having an activation again in backward takes: the ops that lie between it and the activations before it, once forward. */
#include "cost/stage.h"

#include <string.h>

/* The last op that must run again for each activation is the one that makes it; ops without a product of their own (rotary, router,
 * the expert-combine) run with the next one made, the down projection with none: its output is the next layer's input, which is kept. */
void stage_activations(const Setting *setting, const Shard *shard, const Knobs *knobs, const Sharding *sharding,
                       ActivationCost costs[ACTIVATION_COUNT]) {
    const Model *model = setting->model;
    memset(costs, 0, sizeof(ActivationCost) * ACTIVATION_COUNT);
    for (int i = 0; i < model->kind_count; i++) {
        Op ops[OPS_MAX];
        double share = (double)model->kinds[i].count / (double)model->layers;
        int count = ops_of_layer(model, &model->kinds[i], shard, sharding, knobs->context, setting->profile->expert_imbalance, ops);
        bool product_made = false;
        for (int j = 0; j < count; j++) {
            const Op *op = &ops[j];
            int target = op->makes;
            for (int next = j + 1; target < 0 && next < count; next++) target = ops[next].makes;
            if (target < 0 || (product_made && op->makes < 0)) continue;
            product_made = product_made || op->makes == ACTIVATION_PRODUCT;
            ActivationCost *cost = &costs[target];
            bool memory_bound;
            cost->recompute_seconds += share * op_seconds(op, PHASE_FORWARD, setting->chip, setting->profile, &memory_bound);
            for (int group = 0; group < GROUP_DATA; group++) {
                if (group == GROUP_TENSOR_WEIGHTS || group == GROUP_WEIGHTS || group == GROUP_EXPERT_WEIGHTS) continue; /* gathered for backward anyway */
                const Traffic *traffic = &op->traffic[group][PHASE_FORWARD];
                /* The gather in front of a block belongs to the block's input, which is kept gathered. */
                int owner = target;
                if (group == GROUP_TENSOR && op->makes == ACTIVATION_QKV) owner = ACTIVATION_ATTENTION_INPUT;
                if (group == GROUP_TENSOR && op->makes == ACTIVATION_GATE_UP) owner = ACTIVATION_MLP_INPUT;
                costs[owner].recompute_messages[group] += share * traffic->messages;
                costs[owner].recompute_bytes[group] += share * traffic->bytes;
            }
            if (op->makes >= 0) {
                cost->bytes += share * op->saved_bytes;
                cost->exists = cost->recomputable = true;
            }
        }
    }
    double own = sharding->residual == RESIDUAL_SEQUENCE ? shard->tokens / shard->tensor : shard->tokens;
    costs[ACTIVATION_LAYER_INPUT] = (ActivationCost){.bytes = 2 * own * (double)model->d_model, .exists = true};
}
