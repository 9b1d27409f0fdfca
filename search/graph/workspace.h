/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/graph/workspace.h: memory of the solver. Blocks that are given back are used again; all of them end with the
 * arena. When memory is out it jumps to `out`, which the solver's entry has set: thousands of small matrices are made
 * on the way, and none of the steps between could do anything but give up. Only the thread that set `out` may take
 * blocks. */
#pragma once

#include "base/arena.h"

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { WORKSPACE_CLASSES = 48 };

typedef struct {
    Arena arena;
    void *spare[WORKSPACE_CLASSES]; /* lists of given-back blocks of 64 << class bytes */
    jmp_buf out;
} Workspace;

/* Returns `count` objects of `size` bytes, aligned to 64 and not cleared. Never NULL. */
void *workspace_take(Workspace *workspace, size_t count, size_t size);
/* The same, cleared. */
void *workspace_take_zeroed(Workspace *workspace, size_t count, size_t size);
/* Returns a longer block that begins with the content of the old one (`count` objects; NULL is allowed), and gives the
 * old one back. */
void *workspace_grow(Workspace *workspace, void *block, size_t count, size_t more, size_t size);
/* Gives back a block that was taken with this count and size; NULL is allowed. */
void workspace_give(Workspace *workspace, void *block, size_t count, size_t size);

#define WORKSPACE_NEW(workspace, type, count)                                                                          \
    ((type *)workspace_take_zeroed((workspace), (size_t)(count), sizeof(type)))

/* The largest value of any range, from the largest values of all runs of 2^level. */

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
