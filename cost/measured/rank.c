/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/measured/rank.h"

#include "base/util.h"
#include "cost/measured/run.h"
#include "cost/measured/score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const Ranked *first;        /* of its repeats */
    double measured, predicted; /* of a token */
    bool too_large;             /* every repeat is called so */
    int64_t order;              /* for whoever is visited; 0 */
} MeasuredPlan;

/* One group of at least two plans, which it may change. */
typedef bool GroupVisit(void *context, MeasuredPlan *plans, int64_t count, Error *error);

static int whole_compare(int64_t a, int64_t b) { return (a > b) - (a < b); }

/* Texts of `a` and `b` in turn; then numbers in turn. */
static int compare(const char *const *texts, size_t text_count, const int64_t *numbers, size_t number_count) {
    int order = 0;
    for (size_t i = 0; i < text_count && !order; i += 2) order = strcmp(texts[i], texts[i + 1]);
    for (size_t i = 0; i < number_count && !order; i += 2) order = whole_compare(numbers[i], numbers[i + 1]);
    return order;
}

static int group_compare(const Run *a, const Run *b) {
    const RunRequest *p = &a->request, *q = &b->request;
    const char *texts[] = {a->family,     b->family,     a->model,   b->model,   p->model, q->model,
                           a->dimensions, b->dimensions, a->trained, b->trained, p->chip,  q->chip,
                           a->release,    b->release,    a->variant, b->variant};
    const int64_t numbers[] = {
        p->vocab, q->vocab, p->chips, q->chips, p->seq, q->seq, (int64_t)p->precision, (int64_t)q->precision};
    return compare(texts, COUNT_OF(texts), numbers, COUNT_OF(numbers));
}

static int plan_compare(const Run *a, const Run *b) {
    const RunRequest *p = &a->request, *q = &b->request;
    const char *texts[] = {a->plan, b->plan, a->remat, b->remat};
    const int64_t numbers[] = {p->sequences,    q->sequences,    p->sequence_parallel, q->sequence_parallel,
                               p->serial_ranks, q->serial_ranks, p->remat_layers,      q->remat_layers};
    return compare(texts, COUNT_OF(texts), numbers, COUNT_OF(numbers));
}

static int by_group_and_plan(const void *a, const void *b) {
    const Run *x = (*(const Ranked *const *)a)->run, *y = (*(const Ranked *const *)b)->run;
    int order = group_compare(x, y);
    if (!order) order = plan_compare(x, y);
    return order ? order : whole_compare(x->line, y->line);
}

static double tokens_of(const Run *run) { return (double)run->request.sequences * (double)run->request.seq; }

/* Joins repeats among the sorted entries of one group. Returns how many plans there are. */
static int64_t join_repeats(const Ranked *const *entries, int64_t count, MeasuredPlan *out) {
    int64_t n = 0;
    for (int64_t from = 0, to; from < count; from = to) {
        MeasuredPlan mean = {.first = entries[from], .too_large = true};
        for (to = from; to < count && plan_compare(entries[from]->run, entries[to]->run) == 0; to++) {
            const Ranked *repeat = entries[to];
            mean.measured += repeat->measured_seconds / tokens_of(repeat->run);
            mean.predicted += repeat->predicted_seconds / tokens_of(repeat->run);
            mean.too_large = mean.too_large && repeat->too_large;
        }
        mean.measured /= (double)(to - from);
        mean.predicted /= (double)(to - from);
        out[n++] = mean;
    }
    return n;
}

/* Visits every group, in the order of source, model and machine, but for those of the source `without`
 * (cost/measured/run.h; NULL: none). Runs without tokens are left out. False: memory is out, or a visit failed. */
static bool groups_each(const Ranked *rows, int64_t count, const char *without, GroupVisit *visit, void *context,
                        Error *error) {
    Arena arena = {0};
    const Ranked **entries = ARENA_NEW(&arena, const Ranked *, (size_t)count + 1);
    MeasuredPlan *group = ARENA_NEW(&arena, MeasuredPlan, (size_t)count + 1);
    int64_t n = 0;
    bool ok = (entries && group) || error_memory(error);
    for (int64_t i = 0; ok && i < count; i++) {
        if (!(tokens_of(rows[i].run) > 0)) continue;
        entries[n] = &rows[i];
        n += !without || strcmp(rows[i].run->family, without) != 0;
    }
    if (ok) qsort(entries, (size_t)n, sizeof *entries, by_group_and_plan);
    for (int64_t from = 0, to; ok && from < n; from = to) {
        for (to = from + 1; to < n && group_compare(entries[from]->run, entries[to]->run) == 0; to++) continue;
        int64_t plans = join_repeats(entries + from, to - from, group);
        ok = plans < 2 || visit(context, group, plans, error);
    }
    arena_free(&arena);
    return ok;
}

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
    qsort(taus, (size_t)out->large, sizeof *taus, order_real);
    qsort(distances, (size_t)out->large, sizeof *distances, order_real);
    out->cell_tau = quantile(taus, out->large, 0.5);
    out->cell_median = quantile(distances, out->large, 0.5);
    out->cell_p90 = quantile(distances, out->large, 0.9);
}

/* What ranks one group after another. */
typedef struct {
    Ranking *out;
    int64_t *tree;
} Ranker;

static bool rank_visited(void *context, MeasuredPlan *plans, int64_t count, Error *error) {
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
    if (!groups_each(rows, count, without, rank_visited, &ranker, error)) return false;
    sum_cells(values, out);
    if (out->pairs > 0) out->tau = (double)(out->concordant - out->discordant) / (double)out->pairs;
    return true;
}

bool rank_places(const Ranked *rows, int64_t count, RankPlace *out, Error *error) {
    Arena arena = {0};
    const Ranked **entries = ARENA_NEW(&arena, const Ranked *, (size_t)count + 1);
    int64_t n = 0;
    if (!entries) return error_memory(error);
    for (int64_t i = 0; i < count; i++) {
        out[i] = (RankPlace){-1, -1};
        if (tokens_of(rows[i].run) > 0) entries[n++] = &rows[i];
    }
    qsort(entries, (size_t)n, sizeof *entries, by_group_and_plan);
    RankPlace last = {0, 0};
    for (int64_t i = 0; i < n; i++) {
        bool other = i > 0 && group_compare(entries[i - 1]->run, entries[i]->run) != 0;
        last.group += other;
        last.plan += other || (i > 0 && plan_compare(entries[i - 1]->run, entries[i]->run) != 0);
        out[entries[i] - rows] = last;
    }
    arena_free(&arena);
    return true;
}

/* ---- chances ---- */

static int by_predicted_then_line(const void *a, const void *b) {
    const MeasuredPlan *x = a, *y = b;
    if (x->predicted != y->predicted) return x->predicted < y->predicted ? -1 : 1;
    return (x->first->run->line > y->first->run->line) - (x->first->run->line < y->first->run->line);
}

static void count_group(const double *chances, int n, int64_t best, int64_t plans, Reliability *out) {
    static const double LEAST = 1e-3; /* what so many draws can tell from nothing */
    out->groups++;
    for (int i = 0; i < n; i++) {
        int bin = 0;
        while (bin < RELIABILITY_BINS - 1 && chances[i] > RELIABILITY_ENDS[bin]) bin++;
        out->plans[bin]++;
        out->expected[bin] += chances[i];
        out->best[bin] += i == best;
    }
    out->score += log(max_real(best < n ? chances[best] : 0, LEAST));
    out->score_without += -log((double)plans);
}

/* What counts one group after another. */
typedef struct {
    const ReliabilityPrices *prices;
    Reliability *out;
} Counting;

static bool count_chances(void *context, MeasuredPlan *plans, int64_t count, Error *error) {
    const Counting *counting = context;
    const ReliabilityPrices *prices = counting->prices;
    DoubtedPrice doubted[DOUBT_PRICES_MAX] = {0};
    double chances[DOUBT_PRICES_MAX];
    int64_t best = 0;
    int n = (int)min_whole(count, DOUBT_PRICES_MAX);
    qsort(plans, (size_t)count, sizeof *plans, by_predicted_then_line);
    for (int64_t i = 0; i < count; i++)
        if (plans[i].measured < plans[best].measured) best = i;
    for (int i = 0; i < n; i++) {
        const Ranked *first = plans[i].first;
        if (!prices->prepare(prices->context, i, first->run, &doubted[i])) return true;
        doubted[i].factor = plans[i].predicted / first->predicted_seconds;
    }
    if (!doubt_chances(doubted, n, prices->threads, chances)) return error_memory(error);
    count_group(chances, n, best, count, counting->out);
    return true;
}

bool reliability_of(const Ranked *rows, int64_t count, const ReliabilityPrices *prices, Reliability *out,
                    Error *error) {
    *out = (Reliability){0};
    if (!groups_each(rows, count, NULL, count_chances, &(Counting){prices, out}, error)) return false;
    if (out->groups > 0) {
        out->score /= (double)out->groups;
        out->score_without /= (double)out->groups;
    }
    return true;
}
