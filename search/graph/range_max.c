/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/graph/range_max.h"

#include <string.h>

Peaks peaks_new(int count, Workspace *space) {
    Peaks peaks = {.count = count, .levels = 1};
    while ((1 << peaks.levels) <= count) peaks.levels++;
    peaks.largest = workspace_take(space, (size_t)count * (size_t)peaks.levels + 1, sizeof *peaks.largest);
    return peaks;
}

void peaks_fill(Peaks *peaks, const int64_t *values) {
    int count = peaks->count;
    memcpy(peaks->largest, values, (size_t)count * sizeof *values);
    for (int level = 1; level < peaks->levels; level++) {
        const int64_t *below = peaks->largest + (size_t)(level - 1) * (size_t)count;
        int64_t *row = peaks->largest + (size_t)level * (size_t)count;
        int half = 1 << (level - 1);
        for (int t = 0; t + 2 * half <= count; t++) row[t] = below[t] > below[t + half] ? below[t] : below[t + half];
    }
}

void peaks_free(Peaks *peaks, Workspace *space) {
    workspace_give(space, peaks->largest, (size_t)peaks->count * (size_t)peaks->levels + 1, sizeof *peaks->largest);
}
