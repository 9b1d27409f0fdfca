/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/graph/usage_tree.h: the usage of every moment, kept while choices change: a tree with addition to a range and
 * the largest value of all, each in about 2 log2(times) steps. */
#pragma once

#include "search/graph/workspace.h"

#include <stdint.h>

typedef struct {
    int leaves;            /* a power of two */
    int64_t *most, *added; /* of the subtree: its largest value, and the amount added to all of it */
} Fill;

Fill fill_new(int times, Workspace *space);
/* values[t] for each time. */
void fill_set(Fill *fill, const int64_t *values, int times);
void fill_add(Fill *fill, int first, int past, int64_t more);
static inline int64_t fill_most(const Fill *fill) { return fill->most[1]; }
