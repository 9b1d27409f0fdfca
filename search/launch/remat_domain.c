/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which activations launchers can be configured to recompute or to offload.
 *
 * - maxtext: one policy for all layers (remat_policy=custom): the layer's input, qkv, context, middle, gate and up each
 *   kept, recomputed or offloaded; norms' outputs and products have no name and are always recomputed.
 * - megatron: nothing; whole layers, so many of a stage (--recompute-method block); modules in all layers (selective:
 *   layernorm, mlp or moe_act); of models all of whose layers have experts, the inputs of modules to the host instead.
 * - torchtitan: nothing, selective (op by op), full. deepspeed: nothing or full.
 * - jax: anything, by layer, so that where it is among those requested layouts are free.
 * Which modules and tensors these are in our activations: cost/state/remat.c, with the sources. */
#include "search/launch/launcher.h"

#include "cost/stage/sharding.h"

#include <string.h>

struct RematList {
    RematRule *rules; /* NULL: they are only counted */
    int count;
};

void remat_list_add(RematList *list, const ActivationState state[ACTIVATION_COUNT], int64_t layers) {
    if (list->rules) {
        RematRule *rule = &list->rules[list->count];
        *rule = (RematRule){.required = true, .layers = layers};
        memcpy(rule->state, state, sizeof rule->state);
    }
    list->count++;
}

void remat_list_add_none(RematList *list) {
    static const ActivationState NONE[ACTIVATION_COUNT] = {STATE_SAVED};
    remat_list_add(list, NONE, 0);
}

void remat_list_add_full(RematList *list, int64_t layers) {
    ActivationState full[ACTIVATION_COUNT];
    for (int a = 0; a < ACTIVATION_COUNT; a++) full[a] = a == ACTIVATION_LAYER_INPUT ? STATE_SAVED : STATE_RECOMPUTED;
    remat_list_add(list, full, layers);
}

static void add_all(RematList *list, LauncherSet launchers, const Model *model) {
    for (int i = 0; i < launcher_count(); i++)
        if (launchers >> i & 1) launcher_at(i)->remat(list, model);
}

bool launch_remat(LauncherSet launchers, const Model *model, Arena *arena, const RematDomain **out, Error *error) {
    RematList list = {0};
    bool anything = launchers == 0, by_chunk = false;
    *out = NULL;
    for (int i = 0; i < launcher_count(); i++) {
        anything = anything || ((launchers >> i & 1) && !launcher_at(i)->remat);
        by_chunk = by_chunk || ((launchers >> i & 1) && launcher_at(i)->remat_by_chunk);
    }
    if (anything) return true;
    add_all(&list, launchers, model);
    RematDomain *domain = ARENA_NEW(arena, RematDomain, 1);
    list.rules = ARENA_NEW(arena, RematRule, (size_t)list.count);
    if (!domain || !list.rules) return error_memory(error);
    list.count = 0;
    add_all(&list, launchers, model);
    *domain = remat_domain(list.rules, list.count, by_chunk);
    *out = domain;
    return true;
}

bool remat_is_expressible(const RematDomain *domain, const Model *model, const RematRule *required) {
    if (!domain || !required->required) return true;
    for (int i = 0; i < domain->count; i++) {
        const RematRule *rule = &domain->rules[i];
        bool same = rule->layers == required->layers;
        for (int a = 0; a < ACTIVATION_COUNT && same; a++)
            same = rule->state[a] == required->state[a] || !activation_exists(model, (Activation)a);
        if (same) return true;
    }
    return false;
}

/* ---- whether they can express a layout ---- */

/* By layers of a stage; a rule that counts them in each chunk is expressed by what it comes to. */
static bool follows(const RematRule *rule, const Model *model, const Layout *layout) {
    for (Activation a = 0; a < ACTIVATION_COUNT; a++) {
        int64_t all = 0, of_rule[STATE_COUNT];
        if (!activation_exists(model, a)) continue;
        for (int state = 0; state < STATE_COUNT; state++) all += layout->layers[a][state];
        remat_layers(rule, a, all, of_rule);
        for (int state = 0; state < STATE_COUNT; state++)
            if (of_rule[state] != layout->layers[a][state]) return false;
    }
    return true;
}

static bool is_plain(const CostContext *setting, const Shard *shard, const RematDomain *domain,
                     const Sharding *sharding) {
    Sharding plain[SHARDINGS_MAX];
    CostContext as_offered = *setting;
    as_offered.domain = domain;
    int count = shardings_of(&as_offered, shard, plain);
    for (int i = 0; i < count; i++)
        if (memcmp(&plain[i], sharding, sizeof *sharding) == 0) return true;
    return false;
}

bool launchers_expressing(LauncherSet launchers, const CostContext *setting, const Shard *shard, const Layout *layout,
                          LauncherSet *out, Error *error) {
    Arena arena = {0};
    bool ok = true;
    *out = 0;
    for (int i = 0; i < launcher_count() && ok; i++) {
        const RematDomain *domain = NULL;
        if (!(launchers >> i & 1)) continue;
        ok = launch_remat(1u << i, setting->model, &arena, &domain, error);
        bool expressible = !domain;
        for (int rule = 0; ok && domain && rule < domain->count && !expressible; rule++)
            expressible = follows(&domain->rules[rule], setting->model, layout) &&
                          is_plain(setting, shard, domain, &layout->sharding);
        if (expressible) *out |= 1u << i;
    }
    arena_free(&arena);
    return ok;
}
