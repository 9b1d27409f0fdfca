/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the entries of a share have come to, as far as it is kept, and the memory that it takes. */
#include "search/engine/walk/walk.h"

#include <math.h>
#include <stdlib.h>

bool search_keeps_left(const Search *search) {
    return !search->request->control.brute_force && !search->request->space.nesting_all && !search->forgets;
}

/* The bytes that what an entry has left takes. */
static int64_t expanded_bytes(const Expanded *expanded) {
    return (int64_t)sizeof *expanded + expanded->left.room * (int64_t)sizeof(Deferred);
}

/* Counts what is kept in the budget; `bytes` below 0 are given back. */
static void note_kept(Search *search, int64_t bytes) {
    search->kept += bytes;
    budget_add(search->budget, bytes);
}

bool expanded_note(Search *search, int64_t index, Error *error) {
    if (search->expanded[index]) return true;
    search->expanded[index] = calloc(1, sizeof(Expanded));
    if (!search->expanded[index]) return error_memory(error);
    search->certificate->degree_tuples_expanded +=
        search->tuples.groups[search->tuples.entries[index].group].shape_count;
    search->expanded[index]->stats = explore_stats_new(INFINITY);
    search->expanded[index]->least_out = INFINITY;
    note_kept(search, expanded_bytes(search->expanded[index]));
    return true;
}

void expanded_forget(Search *search) {
    for (int64_t i = 0; i < search->tuples.entry_count; i++) {
        Expanded *expanded = search->expanded[i];
        if (!expanded || expanded->left.room == 0) continue;
        note_kept(search, -expanded_bytes(expanded));
        for (int64_t j = 0; j < expanded->left.count; j++)
            explore_count_left(&expanded->stats, &expanded->left.items[j]);
        free(expanded->left.items);
        expanded->left = (DeferredList){0};
        note_kept(search, expanded_bytes(expanded));
    }
    search->forgets = true;
}

void expanded_keep(Search *search, Expanded *expanded, DeferredList *left) {
    note_kept(search, -expanded_bytes(expanded));
    free(expanded->left.items);
    expanded->left = *left;
    *left = (DeferredList){0};
    note_kept(search, expanded_bytes(expanded));
}

void expanded_free(Search *search) {
    for (int64_t i = 0; search->expanded && i < search->tuples.entry_count; i++) {
        if (search->expanded[i]) free(search->expanded[i]->left.items);
        free(search->expanded[i]);
    }
    free(search->expanded);
    search->expanded = NULL;
    note_kept(search, -search->kept);
    search->forgets = false;
}
