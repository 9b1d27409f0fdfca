/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/remat_offer.h"

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

static void add_modules(List *list, const Model *model, unsigned modules) {
    ActivationState state[ACTIVATION_COUNT];
    for (Activation a = 0; a < ACTIVATION_COUNT; a++)
        state[a] = (remat_megatron_modules(model, a) & ~modules) == 0 ? STATE_RECOMPUTED : STATE_SAVED;
    add(list, state, 0);
}

/* Inputs of modules to the host. */
static void add_offloads(List *list, const Model *model) {
    for (unsigned set = 1; set < 1u << ACTIVATION_COUNT; set++) {
        ActivationState state[ACTIVATION_COUNT];
        if (!remat_megatron_offloads(model, set)) continue;
        for (int a = 0; a < ACTIVATION_COUNT; a++) state[a] = set >> a & 1 ? STATE_OFFLOADED : STATE_SAVED;
        add(list, state, 0);
    }
}

static void add_megatron(List *list, const Model *model) {
    static const unsigned NORMS = MEGATRON_LAYERNORM, MLPS = MEGATRON_MOE_ACT | MEGATRON_MLP;
    add_none(list);
    for (int64_t layers = 1; layers <= model->layers; layers++) add_full(list, layers);
    add_modules(list, model, NORMS);
    add_modules(list, model, MLPS);
    add_modules(list, model, NORMS | MLPS);
    if (model_layers_with(model, false) == 0) add_offloads(list, model);
}

static void add_torchtitan(List *list) {
    ActivationState selective[ACTIVATION_COUNT];
    for (Activation a = 0; a < ACTIVATION_COUNT; a++)
        selective[a] = remat_torchtitan_selective(a) ? STATE_RECOMPUTED : STATE_SAVED;
    add_none(list);
    add(list, selective, 0);
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
