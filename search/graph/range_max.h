/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/graph/range_max.h: the largest value of any range, from the largest values of all runs of 2^level. */
#pragma once

#include "search/graph/workspace.h"

#include <stdint.h>
#include <string.h>

typedef struct {
    int64_t *largest; /* [levels][count] */
    int count, levels;
} Peaks;

static inline Peaks peaks_new(int count, Workspace *space) {
    Peaks peaks = {.count = count, .levels = 1};
    while ((1 << peaks.levels) <= count) peaks.levels++;
    peaks.largest = workspace_take(space, (size_t)count * (size_t)peaks.levels + 1, sizeof *peaks.largest);
    return peaks;
}

static inline void peaks_fill(Peaks *peaks, const int64_t *values) {
    int count = peaks->count;
    memcpy(peaks->largest, values, (size_t)count * sizeof *values);
    for (int level = 1; level < peaks->levels; level++) {
        const int64_t *below = peaks->largest + (size_t)(level - 1) * (size_t)count;
        int64_t *row = peaks->largest + (size_t)level * (size_t)count;
        int half = 1 << (level - 1);
        for (int t = 0; t + 2 * half <= count; t++) row[t] = below[t] > below[t + half] ? below[t] : below[t + half];
    }
}

static inline void peaks_free(Peaks *peaks, Workspace *space) {
    workspace_give(space, peaks->largest, (size_t)peaks->count * (size_t)peaks->levels + 1, sizeof *peaks->largest);
}

/* The largest of values first ... past - 1, at least one. */
static inline int64_t peaks_of(const Peaks *peaks, int first, int past) {
    int level = 31 - __builtin_clz((unsigned)(past - first));
    const int64_t *row = peaks->largest + (size_t)level * (size_t)peaks->count;
    int64_t left = row[first], right = row[past - (1 << level)];
    return left > right ? left : right;
}
