/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/explore/family_frontier.h"

#include "base/util.h"

#include <math.h>

void family_frontier_free(FamilyFrontier *frontier) {
    placement_list_free(&frontier->list);
    arena_free(&frontier->arena);
    frontier->seconds = NULL;
    frontier->known = false;
}

void family_frontier_begin(FamilyFrontier *frontier, int64_t methods_index) {
    family_frontier_free(frontier);
    frontier->methods_index = methods_index;
}

/* Rows, and the time from which on it does not matter by how much they are too slow. */
typedef struct {
    const BoundRows *rows;
    double enough;
} RowsUntil;

static double rows_at(const void *what, const Rates *rates) {
    const RowsUntil *until = what;
    return rows_seconds_until(until->rows, rates, until->enough);
}

static bool fill_table(FamilyFrontier *frontier, Error *error) {
    size_t count = (size_t)frontier->list.count;
    Rates *rates = ARENA_NEW(&frontier->arena, Rates, count);
    frontier->seconds = ARENA_NEW(&frontier->arena, double, count);
    if (!rates || !frontier->seconds) return error_memory(error);
    for (size_t i = 0; i < count; i++) rates[i] = frontier->list.items[i].rates;
    return rate_table_fill(rates, frontier->list.count, &frontier->arena, &frontier->table, error);
}

bool family_frontier_fill(TupleNode *tuple, FamilyFrontier *frontier) {
    enum { MANY = 12 }; /* one by one this number costs what twice the number costs in the vectorised loop */
    Explorer *explorer = tuple->explorer;
    double threshold = explorer->stats.threshold * CUT, least = INFINITY;
    if (frontier->known) return true;
    frontier->known = true;
    frontier->list = PLACEMENT_LIST_EMPTY;
    RowsUntil until = {&frontier->rows, threshold / tuple->problem->scale * SLACK_UPWARD};
    FrontierQuery query = {.methods_index = frontier->methods_index,
                           .able_launchers = ANY_LAUNCHER,
                           .bound = rows_at,
                           .what = &until,
                           .threshold = threshold};
    if (!frontier_find(tuple, &query, &frontier->list)) return false;
    for (int64_t i = 0; i < frontier->list.count; i++) least = min_real(least, frontier->list.items[i].bound);
    frontier->bound = max_real(frontier->bound, min_real(least, frontier->list.cut_bound));
    return frontier->list.count < MANY || fill_table(frontier, &explorer->error);
}

double family_frontier_bound(const TupleNode *tuple, const BoundRows *member, FamilyFrontier *frontier) {
    double least = INFINITY;
    for (int row = 0; row < member->count && frontier->seconds; row++) {
        batch_relaxed_seconds(&member->row[row].rule, &member->row[row].relaxation, &frontier->table,
                              frontier->seconds);
        for (int64_t i = 0; i < frontier->list.count; i++) least = min_real(least, frontier->seconds[i]);
    }
    for (int64_t i = 0; i < frontier->list.count && !frontier->seconds; i++)
        least = min_real(least, rows_seconds(member, &frontier->list.items[i].rates));
    return min_real(least * tuple->problem->scale, frontier->list.cut_bound);
}
