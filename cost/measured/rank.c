/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/measured/rank.h"

#include "base/util.h"
#include "cost/measured/score.h"

#include <stdlib.h>
#include <string.h>

static int by_predicted(const void *a, const void *b) {
    const MeasuredPlan *x = a, *y = b;
    return (x->predicted > y->predicted) - (x->predicted < y->predicted);
}

static int by_measured(const void *a, const void *b) {
    const MeasuredPlan *x = a, *y = b;
    if (x->measured != y->measured) return x->measured > y->measured ? 1 : -1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Fenwick's tree: the number of entries so far whose order is at most `order`. */
static int64_t tree_count(const int64_t *tree, int64_t order) {
    int64_t count = 0;
    for (; order > 0; order -= order & -order) count += tree[order];
    return count;
}

static void tree_add(int64_t *tree, int64_t size, int64_t order) {
    for (; order <= size; order += order & -order) tree[order]++;
}

/* Compares each entry with all that were measured faster by RANK_APART: those are a prefix that only grows. */
static void count_pairs(const MeasuredPlan *entries, int64_t count, int64_t *tree, Ranking *out) {
    memset(tree, 0, (size_t)(count + 1) * sizeof *tree);
    int64_t faster = 0;
    for (int64_t i = 0; i < count; i++) {
        for (; entries[faster].measured * RANK_APART <= entries[i].measured; faster++)
            tree_add(tree, count, entries[faster].order);
        out->pairs += faster;
        out->concordant += tree_count(tree, entries[i].order - 1);
        out->discordant += faster - tree_count(tree, entries[i].order);
    }
}

/* The measured time of the plan predicted best. `entries` stand in the order of their predictions. */
static double chosen_time(const MeasuredPlan *entries, int64_t count) {
    int64_t first = 0;
    while (first < count && entries[first].too_large) first++;
    bool none_fits = first == count;
    if (none_fits) first = 0;
    double chosen = entries[first].measured;
    for (int64_t i = first; i < count && entries[i].predicted == entries[first].predicted; i++)
        if (none_fits || !entries[i].too_large) chosen = max_real(chosen, entries[i].measured);
    return chosen;
}

static void rank_group(MeasuredPlan *entries, int64_t count, int64_t *tree, Ranking *out) {
    Ranking own = {0};
    RankCell *cell = &out->cells[out->groups++];
    out->plans += count;
    qsort(entries, (size_t)count, sizeof *entries, by_predicted);
    double chosen = chosen_time(entries, count), best = entries[0].measured;
    for (int64_t i = 0; i < count; i++) {
        bool same = i > 0 && entries[i].predicted == entries[i - 1].predicted;
        entries[i].order = same ? entries[i - 1].order : i + 1;
        best = min_real(best, entries[i].measured);
    }
    out->best_groups += chosen <= best * RANK_BEST;
    out->best_distance = max_real(out->best_distance, chosen / best - 1);
    qsort(entries, (size_t)count, sizeof *entries, by_measured);
    count_pairs(entries, count, tree, &own);
    double tau = own.pairs > 0 ? (double)(own.concordant - own.discordant) / (double)own.pairs : 0;
    *cell = (RankCell){entries[0].first->run, count, own.pairs, tau, chosen / best - 1};
    out->pairs += own.pairs;
    out->concordant += own.concordant;
    out->discordant += own.discordant;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Medians over the large groups. `values` has room for two numbers of each group. */
static void sum_cells(double *values, Ranking *out) {
    double *taus = values, *distances = values + out->groups;
    for (int64_t i = 0; i < out->groups; i++) {
        const RankCell *cell = &out->cells[i];
        if (cell->plans < RANK_CELL_PLANS || cell->pairs == 0) continue;
        taus[out->large] = cell->tau;
        distances[out->large++] = cell->distance;
    }
    if (out->large == 0) return;
    qsort(taus, (size_t)out->large, sizeof *taus, by_value);
    qsort(distances, (size_t)out->large, sizeof *distances, by_value);
    out->cell_tau = quantile(taus, out->large, 0.5);
    out->cell_median = quantile(distances, out->large, 0.5);
    out->cell_p90 = quantile(distances, out->large, 0.9);
}

/* What ranks one group after another. */
typedef struct {
    Ranking *out;
    int64_t *tree;
} Ranker;

static bool visit(void *context, MeasuredPlan *plans, int64_t count, Error *error) {
    Ranker *ranker = context;
    (void)error;
    rank_group(plans, count, ranker->tree, ranker->out);
    return true;
}

bool rank_runs(const Ranked *rows, int64_t count, const char *without, Arena *arena, Ranking *out, Error *error) {
    Ranker ranker = {out, ARENA_NEW(arena, int64_t, (size_t)count + 1)};
    *out = (Ranking){.cells = ARENA_NEW(arena, RankCell, (size_t)count + 1)};
    double *values = ARENA_NEW(arena, double, 2 * (size_t)count + 1);
    if (!ranker.tree || !out->cells || !values) return error_memory(error);
    if (!groups_each(rows, count, without, visit, &ranker, error)) return false;
    sum_cells(values, out);
    if (out->pairs > 0) out->tau = (double)(out->concordant - out->discordant) / (double)out->pairs;
    return true;
}
