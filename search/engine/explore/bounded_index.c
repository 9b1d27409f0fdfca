/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/explore/bounded_index.h"

#include <stdlib.h>

static int compare(const void *a, const void *b) {
    const BoundedIndex *x = a, *y = b;
    int order = (x->bound > y->bound) - (x->bound < y->bound);
    return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

void bounded_indices_sort(BoundedIndex *items, int64_t count) {
    if (count > 0) qsort(items, (size_t)count, sizeof(BoundedIndex), compare);
}

bool bounded_index_add(BoundedIndexList *list, BoundedIndex item, Error *error) {
    if (list->count == list->room) {
        int64_t room = list->room ? 2 * list->room : 256;
        BoundedIndex *grown = realloc(list->items, (size_t)room * sizeof(BoundedIndex));
        if (!grown) return error_memory(error);
        list->items = grown;
        list->room = room;
    }
    list->items[list->count++] = item;
    return true;
}
