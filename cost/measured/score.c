/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/measured/score.h"

#include "base/util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *score_by_name(ScoreBy by) {
    static const char *const NAMES[BY_COUNT] = {"source", "chip", "framework", "stack", "kind"};
    return NAMES[by];
}

double quantile(const double *sorted, int64_t n, double q) {
    double rank = q * (double)(n - 1);
    int64_t below = (int64_t)rank;
    if (below >= n - 1) return sorted[n - 1];
    return sorted[below] + (rank - (double)below) * (sorted[below + 1] - sorted[below]);
}

/* The medians of magnitudes and of signs may come from different rows: a family is one pair of them. */
typedef struct {
    double magnitude, error;
} Pair;

static bool pair_stats(const Pair *pairs, int64_t n, ErrorStats *out) {
    *out = (ErrorStats){.count = n, .worst_at = -1};
    if (n == 0) return true;
    double *values = malloc((size_t)n * sizeof *values);
    if (!values) return false;
    for (int64_t i = 0; i < n; i++) {
        values[i] = pairs[i].magnitude;
        if (out->worst_at < 0 || values[i] > out->worst) {
            out->worst = values[i];
            out->worst_at = i;
        }
    }
    qsort(values, (size_t)n, sizeof *values, order_real);
    out->median = quantile(values, n, 0.5);
    out->p90 = quantile(values, n, 0.9);
    for (int64_t i = 0; i < n; i++) values[i] = pairs[i].error;
    qsort(values, (size_t)n, sizeof *values, order_real);
    out->bias = quantile(values, n, 0.5);
    free(values);
    return true;
}

bool error_stats(const double *errors, int64_t n, ErrorStats *out) {
    Pair *pairs = malloc((size_t)(n ? n : 1) * sizeof *pairs);
    if (!pairs) return false;
    for (int64_t i = 0; i < n; i++) pairs[i] = (Pair){fabs(errors[i]), errors[i]};
    bool ok = pair_stats(pairs, n, out);
    free(pairs);
    return ok;
}

/* ---- rows put in order by names ---- */

/* The keys by which rows are grouped: a ScoreBy, or one of these. */
enum { BY_MODEL = BY_COUNT, BY_PRECISION, BY_NOTHING, KEYS_MAX = 3 };
static const int LIKE_FAMILY[KEYS_MAX] = {BY_SOURCE, BY_MODEL, BY_CHIP};
static const int LIKE_MACHINE[KEYS_MAX] = {BY_CHIP, BY_PRECISION, BY_NOTHING};

static const char *name_of(const Scored *row, int by) {
    return by < BY_COUNT ? row->label[by] : by == BY_MODEL ? row->model : by == BY_PRECISION ? row->precision : "";
}

typedef struct {
    const char *key[KEYS_MAX]; /* folded: equal when the names match */
    int64_t row;
} Keyed;

static char *folded(const char *name, Arena *arena) {
    char *text = arena_text(arena, name), *to = text;
    if (!text) return NULL;
    for (const char *at = name; *at; at++)
        if (!strchr("-_. ", *at)) *to++ = *at >= 'A' && *at <= 'Z' ? (char)(*at - 'A' + 'a') : *at;
    *to = '\0';
    return text;
}

static int keys_compare(const Keyed *a, const Keyed *b) {
    for (int k = 0; k < KEYS_MAX; k++) {
        int order = strcmp(a->key[k], b->key[k]);
        if (order) return order;
    }
    return 0;
}

static int by_keys(const void *a, const void *b) {
    const Keyed *x = a, *y = b;
    int order = keys_compare(x, y);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

typedef struct {
    const Scored *rows;
    Arena *arena;
    double *errors, *baseline;
} Context;

/* Rows sorted by up to three names; NULL means that memory is out. */
static Keyed *sorted(const Context *c, const int64_t *rows, int64_t count, const int by[KEYS_MAX]) {
    Keyed *keyed = ARENA_NEW(c->arena, Keyed, (size_t)count);
    if (!keyed) return NULL;
    for (int64_t i = 0; i < count; i++) {
        keyed[i].row = rows[i];
        for (int k = 0; k < KEYS_MAX; k++)
            if (!(keyed[i].key[k] = folded(name_of(&c->rows[keyed[i].row], by[k]), c->arena))) return NULL;
    }
    qsort(keyed, (size_t)count, sizeof *keyed, by_keys);
    return keyed;
}

static int64_t end_of_run(const Keyed *keyed, int64_t from, int64_t count) {
    int64_t to = from + 1;
    while (to < count && keys_compare(&keyed[from], &keyed[to]) == 0) to++;
    return to;
}

/* The error of every row when its FLOPs are done at the usual rate of its chip and precision. */
static bool baseline_errors(Context *c, const int64_t *timed, int64_t count) {
    Keyed *keyed = sorted(c, timed, count, LIKE_MACHINE);
    double *rates = ARENA_NEW(c->arena, double, (size_t)count);
    if (!keyed || !rates) return false;
    for (int64_t from = 0, to; from < count; from = to) {
        to = end_of_run(keyed, from, count);
        for (int64_t i = from; i < to; i++) {
            const Scored *row = &c->rows[keyed[i].row];
            rates[i - from] = row->flops / (row->measured_seconds * (double)row->chips);
        }
        qsort(rates, (size_t)(to - from), sizeof *rates, order_real);
        double usual = quantile(rates, to - from, 0.5);
        for (int64_t i = from; i < to; i++) {
            const Scored *row = &c->rows[keyed[i].row];
            c->baseline[keyed[i].row] = row->flops / ((double)row->chips * usual) / row->measured_seconds - 1;
        }
    }
    return true;
}

static bool family_stats(const Context *c, const int64_t *rows, int64_t count, ErrorStats *out) {
    Keyed *keyed = sorted(c, rows, count, LIKE_FAMILY);
    Pair *pairs = ARENA_NEW(c->arena, Pair, (size_t)count);
    double *errors = ARENA_NEW(c->arena, double, (size_t)count);
    int64_t families = 0;
    if (!keyed || !pairs || !errors) return false;
    for (int64_t from = 0, to; from < count; from = to) {
        ErrorStats own;
        to = end_of_run(keyed, from, count);
        for (int64_t i = from; i < to; i++) errors[i - from] = c->errors[keyed[i].row];
        if (!error_stats(errors, to - from, &own)) return false;
        pairs[families++] = (Pair){own.median, own.bias};
    }
    if (!pair_stats(pairs, families, out)) return false;
    out->worst_at = -1;
    return true;
}

static bool group_make(const Context *c, const char *name, const int64_t *rows, int64_t count, ScoreGroup *out) {
    *out = (ScoreGroup){.name = name};
    double *errors = ARENA_NEW(c->arena, double, (size_t)count);
    if (!errors) return false;
    int64_t inside = 0;
    for (int64_t i = 0; i < count; i++) {
        const Scored *row = &c->rows[rows[i]];
        errors[i] = c->errors[rows[i]];
        inside += row->measured_seconds >= row->likely_low_seconds && row->measured_seconds <= row->likely_high_seconds;
    }
    if (!error_stats(errors, count, &out->rows)) return false;
    if (out->rows.worst_at >= 0) out->rows.worst_at = rows[out->rows.worst_at];
    for (int64_t i = 0; i < count; i++) errors[i] = c->baseline[rows[i]];
    out->likely = count ? (double)inside / (double)count : 0;
    return error_stats(errors, count, &out->baseline) && family_stats(c, rows, count, &out->families);
}

/* Makes one group for each name, with the name as its first row spells it. */
static bool groups_make(const Context *c, const int64_t *timed, int64_t count, ScoreBy by, Score *out) {
    const int like[KEYS_MAX] = {(int)by, BY_NOTHING, BY_NOTHING};
    Keyed *keyed = sorted(c, timed, count, like);
    int64_t *rows = ARENA_NEW(c->arena, int64_t, (size_t)count), groups = 0;
    if (!keyed || !rows) return false;
    for (int64_t from = 0; from < count; from = end_of_run(keyed, from, count)) groups++;
    out->by[by] = ARENA_NEW(c->arena, ScoreGroup, (size_t)groups);
    if (!out->by[by]) return false;
    for (int64_t i = 0; i < count; i++) rows[i] = keyed[i].row;
    for (int64_t from = 0, to; from < count; from = to) {
        to = end_of_run(keyed, from, count);
        const char *name = c->rows[rows[from]].label[by];
        if (!group_make(c, name, rows + from, to - from, &out->by[by][out->by_count[by]++])) return false;
    }
    return true;
}

static double memory_error(const Scored *row) { return row->predicted_bytes / row->measured_bytes - 1; }

static bool memory_errors(const Context *c, const int64_t *rows, int64_t count, ErrorStats *out) {
    double *errors = ARENA_NEW(c->arena, double, (size_t)count);
    if (!errors) return false;
    for (int64_t i = 0; i < count; i++) errors[i] = memory_error(&c->rows[rows[i]]);
    if (!error_stats(errors, count, out)) return false;
    if (out->worst_at >= 0) out->worst_at = rows[out->worst_at];
    return true;
}

/* All rows whose memory was measured, and those of each stack. */
static bool memory_stats(const Context *c, int64_t count, Score *out) {
    static const int LIKE_STACK[KEYS_MAX] = {(int)BY_STACK, BY_NOTHING, BY_NOTHING};
    int64_t *rows = ARENA_NEW(c->arena, int64_t, (size_t)count), n = 0;
    if (!rows) return false;
    for (int64_t i = 0; i < count; i++)
        if (c->rows[i].measured_bytes > 0) rows[n++] = i;
    Keyed *keyed = sorted(c, rows, n, LIKE_STACK);
    out->memory_by_stack = ARENA_NEW(c->arena, MemoryGroup, (size_t)n);
    if (!keyed || !out->memory_by_stack || !memory_errors(c, rows, n, &out->memory)) return false;
    for (int64_t i = 0; i < n; i++) rows[i] = keyed[i].row;
    for (int64_t from = 0, to; from < n; from = to) {
        MemoryGroup *group = &out->memory_by_stack[out->memory_stacks++];
        to = end_of_run(keyed, from, n);
        group->name = c->rows[rows[from]].label[BY_STACK];
        if (!memory_errors(c, rows + from, to - from, &group->bytes)) return false;
    }
    return true;
}

static bool make(Context *c, int64_t count, Score *out) {
    int64_t *timed = ARENA_NEW(c->arena, int64_t, (size_t)count), n = 0;
    c->errors = ARENA_NEW(c->arena, double, (size_t)count);
    c->baseline = ARENA_NEW(c->arena, double, (size_t)count);
    if (!timed || !c->errors || !c->baseline) return false;
    for (int64_t i = 0; i < count; i++) {
        if (!(c->rows[i].measured_seconds > 0)) continue;
        timed[n++] = i;
        c->errors[i] = c->rows[i].predicted_seconds / c->rows[i].measured_seconds - 1;
    }
    if (!baseline_errors(c, timed, n) || !group_make(c, "", timed, n, &out->all)) return false;
    for (ScoreBy by = 0; by < BY_COUNT; by++)
        if (!groups_make(c, timed, n, by, out)) return false;
    return memory_stats(c, count, out);
}

bool score_make(const Scored *rows, int64_t count, Arena *arena, Score *out, Error *error) {
    Context context = {.rows = rows, .arena = arena};
    *out = (Score){0};
    return make(&context, count, out) || error_memory(error);
}
