/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the entries of a share have come to, as far as it is kept, and the memory that it takes. */
#include "search/engine/walk/walk.h"

#include "base/util.h"

#include <math.h>
#include <stdlib.h>

bool search_keeps_left(const Search *search) {
    return !search->request->control.brute_force && !search->request->space.nesting_all && !search->forgets;
}

/* The bytes that what an entry has left takes. */
static int64_t opened_bytes(const Opened *opened) {
    return (int64_t)sizeof *opened + opened->left.room * (int64_t)sizeof(Left);
}

/* Counts what is kept in the budget; `bytes` below 0 are given back. */
static void note_kept(Search *search, int64_t bytes) {
    search->kept += bytes;
    budget_add(search->budget, bytes);
}

bool opened_note(Search *search, int64_t index, Error *error) {
    if (search->opened[index]) return true;
    search->opened[index] = calloc(1, sizeof(Opened));
    if (!search->opened[index]) return error_memory(error);
    search->certificate->degree_tuples_opened += search->tuples.groups[search->tuples.entries[index].group].shape_count;
    search->opened[index]->stats = explore_stats_new(INFINITY);
    note_kept(search, opened_bytes(search->opened[index]));
    return true;
}

void opened_forget(Search *search) {
    for (int64_t i = 0; i < search->tuples.entry_count; i++) {
        Opened *opened = search->opened[i];
        if (!opened || opened->left.room == 0) continue;
        note_kept(search, -opened_bytes(opened));
        for (int64_t j = 0; j < opened->left.count; j++) explore_count_left(&opened->stats, &opened->left.items[j]);
        free(opened->left.items);
        opened->left = (LeftList){0};
        note_kept(search, opened_bytes(opened));
    }
    search->forgets = true;
}

void opened_keep(Search *search, Opened *opened, LeftList *left) {
    note_kept(search, -opened_bytes(opened));
    free(opened->left.items);
    opened->left = *left;
    *left = (LeftList){0};
    note_kept(search, opened_bytes(opened));
}

void opened_free(Search *search) {
    for (int64_t i = 0; search->opened && i < search->tuples.entry_count; i++) {
        if (search->opened[i]) free(search->opened[i]->left.items);
        free(search->opened[i]);
    }
    free(search->opened);
    search->opened = NULL;
    note_kept(search, -search->kept);
    search->forgets = false;
}
