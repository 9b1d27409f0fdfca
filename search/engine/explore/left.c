/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/explore/left.h"

#include <stdlib.h>

bool left_add(LeftList *list, const Left *left) {
    if (list->count == list->room) {
        int64_t room = list->room ? 2 * list->room : 8;
        Left *grown = realloc(list->items, (size_t)room * sizeof(Left));
        if (!grown) return false;
        list->items = grown;
        list->room = room;
    }
    list->items[list->count++] = *left;
    return true;
}
