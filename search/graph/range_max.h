/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/graph/range_max.h: the largest value of any range, from the largest values of all runs of 2^level. */
#pragma once

#include "search/graph/workspace.h"

#include <stdint.h>

typedef struct {
    int64_t *largest; /* [levels][count] */
    int count, levels;
} Peaks;

Peaks peaks_new(int count, Workspace *space);
void peaks_fill(Peaks *peaks, const int64_t *values);
void peaks_free(Peaks *peaks, Workspace *space);

/* The largest of values first ... past - 1, at least one. */
static inline int64_t peaks_of(const Peaks *peaks, int first, int past) {
    int level = 31 - __builtin_clz((unsigned)(past - first));
    const int64_t *row = peaks->largest + (size_t)level * (size_t)peaks->count;
    int64_t left = row[first], right = row[past - (1 << level)];
    return left > right ? left : right;
}
