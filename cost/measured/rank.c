/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/measured/rank.h"

#include "base/util.h"
#include "cost/measured/labels.h"
#include "cost/measured/score.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A run, or the mean of several runs of one plan. */
typedef struct {
    const Run *run;
    char source[RUN_LABEL_SIZE];
    double measured, predicted; /* of a token */
    bool too_large;
    int64_t order; /* of predictions, from 1; equal predictions share it */
} Entry;

#define WHOLE(member)                                                                                                  \
    { offsetof(Run, member), false }
#define TEXT(member)                                                                                                   \
    { offsetof(Run, member), true }
typedef struct {
    size_t offset;
    bool text; /* text, or int64_t */
} Key;
static const Key GROUP[] = {
    TEXT(model),     WHOLE(layers),   WHOLE(d_model), WHOLE(d_ff),     WHOLE(heads),
    WHOLE(kv_heads), WHOLE(head_dim), WHOLE(vocab),   WHOLE(experts),  WHOLE(top_k),
    TEXT(hardware),  WHOLE(chips),    WHOLE(seq),     TEXT(precision), TEXT(version),
};
static const Key PLAN[] = {
    WHOLE(data),   TEXT(fsdp),    WHOLE(tensor), WHOLE(context),     WHOLE(pipeline),
    WHOLE(chunks), WHOLE(expert), TEXT(remat),   WHOLE(micro_batch), WHOLE(global_batch),
};
#undef WHOLE
#undef TEXT

static int compare(const Run *a, const Run *b, const Key *keys, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const void *x = (const char *)a + keys[i].offset, *y = (const char *)b + keys[i].offset;
        int64_t p = 0, q = 0;
        int order = 0;
        if (keys[i].text) {
            order = strcmp(*(const char *const *)x, *(const char *const *)y);
        } else {
            memcpy(&p, x, sizeof p);
            memcpy(&q, y, sizeof q);
            order = (p > q) - (p < q);
        }
        if (order) return order;
    }
    return 0;
}

static int group_compare(const Entry *a, const Entry *b) {
    int order = strcmp(a->source, b->source);
    return order ? order : compare(a->run, b->run, GROUP, COUNT_OF(GROUP));
}

static int run_plan_compare(const Run *a, const Run *b) {
    int order = compare(a, b, PLAN, COUNT_OF(PLAN));
    if (order) return order;
    return (a->sequence_parallel > b->sequence_parallel) - (a->sequence_parallel < b->sequence_parallel);
}

static int plan_compare(const Entry *a, const Entry *b) { return run_plan_compare(a->run, b->run); }

bool rank_same_plan(const Run *a, const Run *b) { return run_plan_compare(a, b) == 0; }

bool rank_same_group(const Run *a, const Run *b) {
    char source_a[RUN_LABEL_SIZE], source_b[RUN_LABEL_SIZE];
    if (compare(a, b, GROUP, COUNT_OF(GROUP)) != 0) return false;
    run_source(a, source_a);
    run_source(b, source_b);
    return strcmp(source_a, source_b) == 0;
}

static int by_group_and_plan(const void *a, const void *b) {
    const Entry *x = a, *y = b;
    int order = group_compare(x, y);
    if (!order) order = plan_compare(x, y);
    return order ? order : (x->run->line > y->run->line) - (x->run->line < y->run->line);
}

/* Joins repeats among the sorted entries of one group into one entry each. Returns the number of entries left. */
static int64_t put_repeats_together(Entry *entries, int64_t count) {
    int64_t kept = 0;
    for (int64_t from = 0, to; from < count; from = to) {
        Entry mean = entries[from];
        for (to = from + 1; to < count && plan_compare(&entries[from], &entries[to]) == 0; to++) {
            mean.measured += entries[to].measured;
            mean.predicted += entries[to].predicted;
            mean.too_large = mean.too_large && entries[to].too_large;
        }
        mean.measured /= (double)(to - from);
        mean.predicted /= (double)(to - from);
        entries[kept++] = mean;
    }
    return kept;
}

static int by_predicted(const void *a, const void *b) {
    const Entry *x = a, *y = b;
    return (x->predicted > y->predicted) - (x->predicted < y->predicted);
}

static int by_measured(const void *a, const void *b) {
    const Entry *x = a, *y = b;
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
static void count_pairs(const Entry *entries, int64_t count, int64_t *tree, Ranking *out) {
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
static double chosen_time(const Entry *entries, int64_t count) {
    int64_t first = 0;
    while (first < count && entries[first].too_large) first++;
    bool none_fits = first == count;
    if (none_fits) first = 0;
    double chosen = entries[first].measured;
    for (int64_t i = first; i < count && entries[i].predicted == entries[first].predicted; i++)
        if (none_fits || !entries[i].too_large) chosen = max_real(chosen, entries[i].measured);
    return chosen;
}

static void rank_group(Entry *entries, int64_t count, int64_t *tree, Ranking *out) {
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
    *cell = (RankCell){entries[0].run, count, own.pairs, tau, chosen / best - 1};
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

bool rank_runs(const Ranked *rows, int64_t count, const char *without, Arena *arena, Ranking *out, Error *error) {
    Entry *entries = ARENA_NEW(arena, Entry, (size_t)count);
    int64_t *tree = ARENA_NEW(arena, int64_t, (size_t)count + 1), n = 0;
    if (!entries || !tree) return error_memory(error);
    for (int64_t i = 0; i < count; i++) {
        const Run *run = rows[i].run;
        double tokens = (double)run->global_batch * (double)run->seq;
        if (!(tokens > 0)) continue;
        entries[n] = (Entry){.run = run,
                             .measured = rows[i].measured_seconds / tokens,
                             .predicted = rows[i].predicted_seconds / tokens,
                             .too_large = rows[i].too_large};
        run_source(run, entries[n].source);
        if (!without || strcmp(entries[n].source, without) != 0) n++;
    }
    qsort(entries, (size_t)n, sizeof *entries, by_group_and_plan);
    *out = (Ranking){.cells = ARENA_NEW(arena, RankCell, (size_t)n + 1)};
    double *values = ARENA_NEW(arena, double, 2 * (size_t)n + 1);
    if (!out->cells || !values) return error_memory(error);
    for (int64_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && group_compare(&entries[from], &entries[to]) == 0; to++) continue;
        int64_t plans = put_repeats_together(entries + from, to - from);
        if (plans > 1) rank_group(entries + from, plans, tree, out);
    }
    sum_cells(values, out);
    if (out->pairs > 0) out->tau = (double)(out->concordant - out->discordant) / (double)out->pairs;
    return true;
}
