/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/remat_list.h"

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

bool launch_remat(LauncherSet launchers, const Model *model, Arena *arena, const RematOffer **out, Error *error) {
    RematList list = {0};
    bool anything = launchers == 0, by_chunk = false;
    *out = NULL;
    for (int i = 0; i < launcher_count(); i++) {
        anything = anything || ((launchers >> i & 1) && !launcher_at(i)->remat);
        by_chunk = by_chunk || ((launchers >> i & 1) && launcher_at(i)->remat_by_chunk);
    }
    if (anything) return true;
    add_all(&list, launchers, model);
    RematOffer *offer = ARENA_NEW(arena, RematOffer, 1);
    list.rules = ARENA_NEW(arena, RematRule, (size_t)list.count);
    if (!offer || !list.rules) return error_memory(error);
    list.count = 0;
    add_all(&list, launchers, model);
    *offer = remat_offer(list.rules, list.count, by_chunk);
    *out = offer;
    return true;
}
