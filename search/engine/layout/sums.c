/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/layout/sums.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

enum { ROW_WORDS = SUMS_LIMIT / 64 + 1 };

bool sum_table_make(SumTable *table) {
    table->bits = malloc(sizeof(uint64_t) * ROW_WORDS * (ITEMS_MAX + 1));
    return table->bits != NULL;
}

void sum_table_free(SumTable *table) {
    free(table->bits);
    table->bits = NULL;
}

static bool has(const uint64_t *row, int64_t sum) { return row[sum / 64] >> (sum % 64) & 1; }

/* row |= row << by, from the top so that no sum is used twice. */
static void shift_or(uint64_t *row, int64_t words, int64_t by) {
    int64_t whole = by / 64, part = by % 64;
    for (int64_t i = words - 1; i >= whole; i--) {
        uint64_t moved = row[i - whole] << part;
        if (part > 0 && i > whole) moved |= row[i - whole - 1] >> (64 - part);
        row[i] |= moved;
    }
}

int64_t least_sum(SumTable *table, const BoundedSizes *of, int64_t low, int64_t high, int64_t *counts) {
    const int64_t *sizes = of->sizes, *most = of->most;
    int count = of->count;
    int64_t words = high / 64 + 1;
    memset(table->bits, 0, sizeof(uint64_t) * (size_t)words);
    table->bits[0] = 1;
    for (int i = 0; i < count; i++) {
        uint64_t *row = table->bits + (int64_t)(i + 1) * ROW_WORDS;
        memcpy(row, row - ROW_WORDS, sizeof(uint64_t) * (size_t)words);
        int64_t left = min_whole(most[i], high / sizes[i]);
        for (int64_t chunk = 1; left > 0; left -= chunk, chunk = min_whole(2 * chunk, left))
            shift_or(row, words, sizes[i] * chunk);
    }
    const uint64_t *last = table->bits + (int64_t)count * ROW_WORDS;
    int64_t sum = low;
    while (sum <= high && !has(last, sum)) sum++;
    if (sum > high) return -1;
    int64_t rest = sum;
    for (int i = count - 1; i >= 0; i--) {
        const uint64_t *row = table->bits + (int64_t)i * ROW_WORDS;
        counts[i] = 0;
        while (!has(row, rest)) rest -= sizes[i], counts[i]++;
    }
    return sum;
}
