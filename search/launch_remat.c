/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch_remat.h"

#include "base/util.h"

#include <string.h>

typedef struct {
    RematRule *rules; /* NULL: they are only counted */
    int count;
} List;

static void add(List *list, const ActivationState state[ACTIVATION_COUNT], int64_t layers) {
    if (list->rules) {
        RematRule *rule = &list->rules[list->count];
        *rule = (RematRule){.required = true, .layers = layers};
        memcpy(rule->state, state, sizeof rule->state);
    }
    list->count++;
}

static void add_none(List *list) {
    static const ActivationState NONE[ACTIVATION_COUNT] = {STATE_SAVED};
    add(list, NONE, 0);
}

static void add_full(List *list, int64_t layers) {
    ActivationState full[ACTIVATION_COUNT];
    for (int a = 0; a < ACTIVATION_COUNT; a++) full[a] = a == ACTIVATION_LAYER_INPUT ? STATE_SAVED : STATE_RECOMPUTED;
    add(list, full, layers);
}

/* Every state of the tensors that have a name; the layer's input is never recomputed. */
static void add_maxtext(List *list, const Model *model) {
    Activation named[ACTIVATION_COUNT];
    int count = 0, combinations = 1;
    for (Activation a = 0; a < ACTIVATION_COUNT; a++)
        if (remat_maxtext_tensors(a)[0] && activation_exists(model, a)) named[count++] = a, combinations *= STATE_COUNT;
    for (int n = 0; n < combinations; n++) {
        ActivationState state[ACTIVATION_COUNT];
        int rest = n;
        for (int a = 0; a < ACTIVATION_COUNT; a++) state[a] = STATE_RECOMPUTED;
        state[ACTIVATION_LAYER_INPUT] = STATE_SAVED;
        for (int i = 0; i < count; i++, rest /= STATE_COUNT) state[named[i]] = (ActivationState)(rest % STATE_COUNT);
        if (state[ACTIVATION_LAYER_INPUT] != STATE_RECOMPUTED) add(list, state, 0);
    }
}

static void add_modules(List *list, bool norms, bool mlps, bool dense, bool experts) {
    ActivationState state[ACTIVATION_COUNT] = {STATE_SAVED};
    if (norms) state[ACTIVATION_ATTENTION_INPUT] = STATE_RECOMPUTED;
    if (norms && !experts) state[ACTIVATION_MLP_INPUT] = STATE_RECOMPUTED; /* dispatched tokens come from no norm */
    if (mlps) state[ACTIVATION_PRODUCT] = STATE_RECOMPUTED;
    if (mlps && dense && !experts) state[ACTIVATION_GATE_UP] = STATE_RECOMPUTED;
    add(list, state, 0);
}

/* Inputs of modules to the host: attention's output, which core_attn's backward needs, not without core_attn's input. */
static void add_offloads(List *list) {
    enum { OFFLOADABLE = ACTIVATION_PRODUCT };
    for (unsigned set = 1; set < 1u << OFFLOADABLE; set++) {
        ActivationState state[ACTIVATION_COUNT] = {STATE_SAVED};
        if ((set >> ACTIVATION_CONTEXT & 1) && !(set >> ACTIVATION_QKV & 1)) continue;
        for (int a = 0; a < OFFLOADABLE; a++)
            if (set >> a & 1) state[a] = STATE_OFFLOADED;
        add(list, state, 0);
    }
}

static void add_megatron(List *list, const Model *model) {
    bool dense = false, experts = false;
    for (int i = 0; i < model->kind_count; i++) {
        experts = experts || model->kinds[i].experts > 0;
        dense = dense || model->kinds[i].experts == 0;
    }
    add_none(list);
    for (int64_t layers = 1; layers <= model->layers; layers++) add_full(list, layers);
    add_modules(list, true, false, dense, experts);
    add_modules(list, false, true, dense, experts);
    add_modules(list, true, true, dense, experts);
    if (!dense) add_offloads(list);
}

static void add_torchtitan(List *list) {
    static const ActivationState SELECTIVE[ACTIVATION_COUNT] = {
        [ACTIVATION_ATTENTION_INPUT] = STATE_RECOMPUTED,
        [ACTIVATION_MIDDLE] = STATE_RECOMPUTED,
        [ACTIVATION_MLP_INPUT] = STATE_RECOMPUTED,
        [ACTIVATION_PRODUCT] = STATE_RECOMPUTED,
    };
    add_none(list);
    add(list, SELECTIVE, 0);
    add_full(list, 0);
}

static void add_all(List *list, LauncherSet launchers, const Model *model) {
    if (launchers >> LAUNCHER_MAXTEXT & 1) add_maxtext(list, model);
    if (launchers >> LAUNCHER_MEGATRON & 1) add_megatron(list, model);
    if (launchers >> LAUNCHER_TORCHTITAN & 1) add_torchtitan(list);
    if (launchers >> LAUNCHER_DEEPSPEED & 1) add_none(list), add_full(list, 0);
}

bool launch_remat(LauncherSet launchers, const Model *model, Arena *arena, const RematOffer **out, Error *error) {
    List list = {0};
    *out = NULL;
    if (launchers == 0 || (launchers >> LAUNCHER_JAX & 1)) return true;
    add_all(&list, launchers, model);
    RematOffer *offer = ARENA_NEW(arena, RematOffer, 1);
    list.rules = ARENA_NEW(arena, RematRule, (size_t)list.count);
    if (!offer || !list.rules) return error_memory(error);
    list.count = 0;
    add_all(&list, launchers, model);
    *offer = remat_offer(list.rules, list.count, launchers >> LAUNCHER_MEGATRON & 1);
    *out = offer;
    return true;
}
