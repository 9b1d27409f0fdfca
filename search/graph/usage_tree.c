/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/graph/usage_tree.h"

#include "base/util.h"

#include <string.h>

Fill fill_new(int times, Workspace *space) {
    Fill fill = {.leaves = 1};
    while (fill.leaves < times) fill.leaves *= 2;
    fill.most = WORKSPACE_NEW(space, int64_t, 2 * (size_t)fill.leaves);
    fill.added = WORKSPACE_NEW(space, int64_t, 2 * (size_t)fill.leaves);
    fill_set(&fill, NULL, 0);
    return fill;
}

void fill_set(Fill *fill, const int64_t *values, int times) {
    memset(fill->added, 0, 2 * (size_t)fill->leaves * sizeof *fill->added);
    for (int t = 0; t < fill->leaves; t++) fill->most[fill->leaves + t] = t < times ? values[t] : INT64_MIN / 4;
    for (int p = fill->leaves - 1; p > 0; p--) fill->most[p] = max_whole(fill->most[2 * p], fill->most[2 * p + 1]);
}

static void renew(Fill *fill, int p) {
    for (p /= 2; p > 0; p /= 2) fill->most[p] = max_whole(fill->most[2 * p], fill->most[2 * p + 1]) + fill->added[p];
}

void fill_add(Fill *fill, int first, int past, int64_t more) {
    int left = first + fill->leaves, right = past + fill->leaves;
    for (int l = left, r = right; l < r; l /= 2, r /= 2) {
        if (l & 1) {
            fill->most[l] += more;
            fill->added[l++] += more;
        }
        if (r & 1) {
            fill->most[--r] += more;
            fill->added[r] += more;
        }
    }
    renew(fill, left);
    renew(fill, right - 1);
}
