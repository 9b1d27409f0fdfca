/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What MaxText can be configured to recompute and to offload: one policy for all layers. A policy of a name, or custom:
 * the layer's input, qkv, context, middle, gate and up are each kept, recomputed or offloaded; norms' outputs and
 * products have no name there and are always recomputed. Source: layers/decoders.py get_remat_policy (e591f30cb). */
#include "search/launch/maxtext/maxtext.h"

#include "base/util.h"

#include <string.h>

/* MaxText's words for the tensors of each activation, where `custom` says what to do with each: norms and products have
 * none and are always recomputed. Which of the words a layer knows depends on fused_qkv, fused_mlp and whether it has
 * experts or latents: all are treated the same (checkpoint_name in layers/attentions.py, attention_mla.py, linears.py,
 * moe.py; 0.2.5). */
static const char *const TENSORS[ACTIVATION_COUNT][MAXTEXT_TENSORS_MAX] = {
    [ACTIVATION_LAYER_INPUT] = {"decoder_layer_input"},
    [ACTIVATION_QKV] = {"query_proj", "key_proj", "value_proj", "qkv_proj", "query_wa_proj", "kv_wa_proj"},
    [ACTIVATION_CONTEXT] = {"context"},
    [ACTIVATION_MIDDLE] = {"out_proj"},
    [ACTIVATION_GATE_UP] = {"mlpwi", "mlpwi_0", "mlpwi_1", "moe_mlpwi_0", "moe_mlpwi_1"},
};

const char *const *maxtext_tensors(Activation activation) { return TENSORS[activation]; }

const char *maxtext_state(ActivationState state) {
    static const char *const WORDS[STATE_COUNT] = {"device", "remat", "offload", "remat"};
    return WORDS[state];
}

static const char *custom(const Model *model, const Layout *layout, char text[REMAT_TEXT_SIZE]) {
    size_t used = (size_t)snprintf(text, REMAT_TEXT_SIZE, "remat_policy=custom");
    for (Activation a = 0; a < ACTIVATION_COUNT; a++) {
        const int64_t *layers = layout->layers[a];
        const char *const *tensors = TENSORS[a];
        int states = (layers[STATE_SAVED] > 0) + (layers[STATE_RECOMPUTED] > 0) + (layers[STATE_OFFLOADED] > 0);
        ActivationState state = layout_least(layout, a);
        if (!activation_exists(model, a)) continue;
        if (states > 1 || layers[STATE_PARTLY] > 0 || (!tensors[0] && state != STATE_RECOMPUTED))
            return NULL; /* the same in all layers */
        if (state == (a == ACTIVATION_LAYER_INPUT ? STATE_SAVED : STATE_RECOMPUTED)) continue;
        for (int i = 0; i < MAXTEXT_TENSORS_MAX && tensors[i]; i++)
            used += (size_t)snprintf(text + used, REMAT_TEXT_SIZE - used, " %s=%s", tensors[i], maxtext_state(state));
    }
    return text;
}

const char *maxtext_remat_words(const Model *model, const Layout *layout, char text[REMAT_TEXT_SIZE]) {
    static const char *const NAMED[] = {"full",
                                        "minimal_with_context",
                                        "minimal",
                                        "save_dot_with_context_except_mlp",
                                        "save_dot_except_mlp",
                                        "save_dot_except_mlpwi",
                                        "save_qkv_proj",
                                        "save_out_proj",
                                        "minimal_offloaded",
                                        "qkv_proj_offloaded"};
    int64_t layers;
    const char *policy = remat_policy(model, layout, &layers);
    for (size_t i = 0; i < COUNT_OF(NAMED) && policy && layers == 0; i++) {
        if (strcmp(policy, NAMED[i]) != 0) continue;
        snprintf(text, REMAT_TEXT_SIZE, "remat_policy=%s", policy);
        return text;
    }
    return custom(model, layout, text);
}

enum { MAXTEXT_STATES = STATE_OFFLOADED + 1 }; /* saved, recomputed, offloaded */

/* Every state of the tensors that have a name; the layer's input is never recomputed. */
void maxtext_remat_rules(RematList *list, const Model *model) {
    Activation named[ACTIVATION_COUNT];
    int count = 0, combinations = 1;
    for (Activation a = 0; a < ACTIVATION_COUNT; a++)
        if (maxtext_tensors(a)[0] && activation_exists(model, a)) named[count++] = a, combinations *= MAXTEXT_STATES;
    for (int n = 0; n < combinations; n++) {
        ActivationState state[ACTIVATION_COUNT];
        int rest = n;
        for (int a = 0; a < ACTIVATION_COUNT; a++) state[a] = STATE_RECOMPUTED;
        state[ACTIVATION_LAYER_INPUT] = STATE_SAVED;
        for (int i = 0; i < count; i++, rest /= MAXTEXT_STATES)
            state[named[i]] = (ActivationState)(rest % MAXTEXT_STATES);
        if (state[ACTIVATION_LAYER_INPUT] != STATE_RECOMPUTED) remat_list_add(list, state, 0);
    }
}
