/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/request/lengths.h"

#include "base/rows.h"
#include "base/util.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 1000, LENGTH_MOST = 1 << 30 };

typedef struct {
    double length, weight; /* of quantiles the share up to it */
} Line;

static int by_length(const void *a, const void *b) {
    double x = ((const Line *)a)->length, y = ((const Line *)b)->length;
    return (x > y) - (x < y);
}

/* One line; *quantile: it is "p50 400". Neither a number nor a comment alone: false. */
static bool read_line(const char *row, bool *quantile, Line *out) {
    double first, second = 1;
    char rest;
    int end = 0, read;
    *quantile = row[0] == 'p';
    if (*quantile) {
        read = sscanf(row, "p%lf %lf %c", &first, &second, &rest);
        *out = (Line){second, first / 100};
        return read == 2 && first >= 0 && first <= 100 && second >= 1 && second <= LENGTH_MOST;
    }
    read = sscanf(row, "%lf %n%lf %c", &first, &end, &second, &rest);
    *out = (Line){first, second};
    return read >= 1 && read <= 2 && (read == 2 || row[end] == '\0') && first >= 1 && first <= LENGTH_MOST &&
           second > 0 && second <= 1e12;
}

/* Lengths that rise evenly between quantiles, as so many samples of one weight each. */
static int64_t spread(const Line *quantiles, int64_t count, Line *out) {
    int64_t at = 0;
    for (int i = 0; i < POINTS; i++) {
        double share = (i + 0.5) / POINTS;
        while (at + 1 < count && quantiles[at + 1].weight < share) at++;
        const Line *low = &quantiles[at], *high = at + 1 < count ? low + 1 : low;
        double width = high->weight - low->weight, part = width > 0 ? (share - low->weight) / width : 0;
        out[i] = (Line){low->length + (high->length - low->length) * min_real(1, max_real(0, part)), 1};
    }
    out[POINTS - 1].length = quantiles[count - 1].length;
    return POINTS;
}

/* Sorted lines become shares. */
static bool add_up(const Line *lines, int64_t count, double most, Arena *arena, Lengths *out) {
    double all = 0, sum = 0;
    out->length = ARENA_NEW(arena, double, (size_t)count);
    out->share = ARENA_NEW(arena, double, (size_t)count);
    out->count = count;
    if (!out->length || !out->share) return false;
    for (int64_t i = 0; i < count; i++) all += lines[i].weight;
    for (int64_t i = 0; i < count; i++) {
        out->length[i] = most > 0 ? min_real(most, lines[i].length) : lines[i].length;
        sum += lines[i].weight;
        out->share[i] = i + 1 < count ? sum / all : 1;
        out->mean += out->length[i] * lines[i].weight / all;
    }
    out->longest = out->length[count - 1];
    return true;
}

bool lengths_read(const char *text, const char *where, double most, Arena *arena, Lengths *out, Error *error) {
    int64_t room = POINTS + 1, count = 0, quantiles = 0;
    Rows rows = {.at = text};
    for (const char *c = text; *c; c++) room += *c == '\n';
    Line *lines = ARENA_NEW(arena, Line, (size_t)room), *points = ARENA_NEW(arena, Line, POINTS);
    if (!lines || !points) return error_memory(error);
    *out = (Lengths){0};
    while (rows_next(&rows)) {
        bool quantile;
        if (!read_line(rows.text, &quantile, &lines[count])) {
            rows_leave_out(&rows);
            continue;
        }
        quantiles += quantile;
        count++;
    }
    if (!rows_settle(&rows, where, "give a length and perhaps a weight, or a quantile and a length: p50 400", arena,
                     &out->left_out, error))
        return false;
    if (count == 0 || (quantiles > 0 && quantiles < count))
        return error_set(error, ERROR_INPUT, where, "%s; give lines of lengths, or of quantiles (p50 400)",
                         count ? "mixes lengths and quantiles" : "has no lengths");
    qsort(lines, (size_t)count, sizeof *lines, by_length);
    for (int64_t i = 1; i < quantiles; i++)
        if (lines[i].weight < lines[i - 1].weight)
            return error_set(error, ERROR_INPUT, where, "p%g is longer than p%g; give quantiles that rise",
                             100 * lines[i].weight, 100 * lines[i - 1].weight);
    if (quantiles > 0) count = spread(lines, count, points), lines = points;
    return add_up(lines, count, most, arena, out) || error_memory(error);
}

double lengths_longest_of(const Lengths *lengths, double samples) {
    double expected = 0, below = 0;
    for (int64_t i = 0; i < lengths->count; i++) {
        double share = pow(lengths->share[i], samples);
        expected += lengths->length[i] * (share - below);
        below = share;
    }
    return expected;
}

double lengths_computed(const Lengths *lengths, Packing packing, const TogetherComputed *together) {
    if (packing == PACKING_PACKED) return lengths->mean;
    bool padded = packing == PACKING_PADDED;
    double own = padded ? lengths_longest_of(lengths, together->samples) : lengths->mean;
    double most = lengths_longest_of(lengths, together->ranks * (padded ? together->samples : 1));
    return own + (most - own) / sqrt(together->microbatches * (padded ? 1 : together->samples));
}
