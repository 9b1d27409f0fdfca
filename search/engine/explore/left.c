/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/explore/left.h"

#include <stdlib.h>

bool deferred_add(DeferredList *list, const Deferred *left) {
    if (list->count == list->room) {
        int64_t room = list->room ? 2 * list->room : 8;
        Deferred *grown = realloc(list->items, (size_t)room * sizeof(Deferred));
        if (!grown) return false;
        list->items = grown;
        list->room = room;
    }
    list->items[list->count++] = *left;
    return true;
}
