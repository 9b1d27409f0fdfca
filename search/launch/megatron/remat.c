/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What Megatron can be told to recompute and to offload: nothing; whole layers, a number of them in a stage
 * (--recompute-method block); modules in all layers (selective: layernorm, mlp or moe_act); of models all of whose
 * layers have experts, the inputs of modules to the host instead. Source: core/transformer/transformer_config.py
 * recompute_granularity, recompute_modules, offload_modules (d98e8a64dd). */
#include "search/launch/megatron/megatron.h"

#include "base/util.h"

#include <inttypes.h>
#include <string.h>

/* Source: transformer_config.py, recompute_modules (d98e8a64dd). */
unsigned megatron_modules(const Model *model, Activation activation) {
    bool experts = model_layers_with(model, true) > 0, dense = model_layers_with(model, false) > 0;
    switch (activation) {
    case ACTIVATION_ATTENTION_INPUT:
        return MEGATRON_LAYERNORM;
    case ACTIVATION_MLP_INPUT:
        return experts ? MEGATRON_NONE : MEGATRON_LAYERNORM; /* dispatched tokens come from no norm */
    case ACTIVATION_GATE_UP:
        return experts ? MEGATRON_NONE : MEGATRON_MLP;
    case ACTIVATION_PRODUCT:
        return !experts ? MEGATRON_MLP : dense ? MEGATRON_MOE_ACT | MEGATRON_MLP : MEGATRON_MOE_ACT;
    default:
        return MEGATRON_NONE;
    }
}

/* Source: transformer_config.py, offload_modules. */
const char *megatron_input(const Model *model, Activation activation) {
    static const char *const INPUTS[ACTIVATION_COUNT] = {
        [ACTIVATION_LAYER_INPUT] = "attn_norm", [ACTIVATION_ATTENTION_INPUT] = "qkv_linear",
        [ACTIVATION_QKV] = "core_attn",         [ACTIVATION_CONTEXT] = "attn_proj",
        [ACTIVATION_MIDDLE] = "mlp_norm",       [ACTIVATION_MLP_INPUT] = "expert_fc1",
        [ACTIVATION_GATE_UP] = "moe_act"};
    bool of_experts = activation >= ACTIVATION_MLP_INPUT;
    return of_experts && model_layers_with(model, false) > 0 ? NULL : INPUTS[activation];
}

bool megatron_offloads(const Model *model, unsigned activations) {
    for (Activation a = 0; a < ACTIVATION_COUNT; a++)
        if ((activations >> a & 1) && !megatron_input(model, a)) return false;
    /* attn_proj's input is core_attn's output, which its backward needs: not without core_attn */
    return !(activations >> ACTIVATION_CONTEXT & 1) || (activations >> ACTIVATION_QKV & 1);
}

const char *megatron_remat_words(const Model *model, const Layout *layout, char text[REMAT_TEXT_SIZE]) {
    static const char *const MODULES[] = {"layernorm", "moe_act", "mlp"};
    int64_t some, layers = 0;
    const char *policy = remat_policy(model, layout, &some);
    for (int s = 0; s < STATE_COUNT; s++) layers += layout->layers[ACTIVATION_LAYER_INPUT][s];
    if (!policy) return NULL;
    if (strcmp(policy, "full") == 0) {
        snprintf(text, REMAT_TEXT_SIZE,
                 "--recompute-granularity full --recompute-method block --recompute-num-layers %" PRId64,
                 some > 0 ? some : layers);
        return text;
    }
    if (some > 0) return NULL;
    if (strcmp(policy, "none") == 0) return strcpy(text, "no --recompute-granularity");
    for (size_t i = 0; i < COUNT_OF(MODULES); i++)
        if (strcmp(policy, MODULES[i]) == 0) {
            snprintf(text, REMAT_TEXT_SIZE, "--recompute-granularity selective --recompute-modules %s", policy);
            return text;
        }
    return NULL;
}

static void add_modules(RematList *list, const Model *model, unsigned modules) {
    ActivationState state[ACTIVATION_COUNT];
    for (Activation a = 0; a < ACTIVATION_COUNT; a++)
        state[a] = (megatron_modules(model, a) & ~modules) == 0 ? STATE_RECOMPUTED : STATE_SAVED;
    remat_list_add(list, state, 0);
}

/* Inputs of modules to the host. */
static void add_offloads(RematList *list, const Model *model) {
    for (unsigned set = 1; set < 1u << ACTIVATION_COUNT; set++) {
        ActivationState state[ACTIVATION_COUNT];
        if (!megatron_offloads(model, set)) continue;
        for (int a = 0; a < ACTIVATION_COUNT; a++) state[a] = set >> a & 1 ? STATE_OFFLOADED : STATE_SAVED;
        remat_list_add(list, state, 0);
    }
}

void megatron_remat_rules(RematList *list, const Model *model) {
    static const unsigned NORMS = MEGATRON_LAYERNORM, MLPS = MEGATRON_MOE_ACT | MEGATRON_MLP;
    remat_list_add_none(list);
    for (int64_t layers = 1; layers <= model->layers; layers++) remat_list_add_full(list, layers);
    add_modules(list, model, NORMS);
    add_modules(list, model, MLPS);
    add_modules(list, model, NORMS | MLPS);
    if (model_layers_with(model, false) == 0) add_offloads(list, model);
}
