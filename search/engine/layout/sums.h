/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/layout/sums.h: which sums bounded numbers of given sizes make. Internal to engine/layout. */
#pragma once

#include "search/engine/layout/branch.h"

enum { SUMS_LIMIT = 1 << 19 }; /* the largest sum that is asked for */

/* One bit per sum, for each number of sizes used. */
typedef struct {
    uint64_t *bits; /* (ITEMS_MAX + 1) rows of SUMS_LIMIT / 64 + 1 */
} SumTable;

bool sum_table_make(SumTable *table); /* false: memory is out */
void sum_table_free(SumTable *table);

/* `count` sizes >= 1, each with the number of times that it may be taken at most. */
typedef struct {
    const int64_t *sizes, *most;
    int count;
} BoundedSizes;

/* The least sum from `low` to `high` (0 <= low <= high <= SUMS_LIMIT) of counts[i] x sizes[i] with 0 <= counts[i] <=
 * most[i]; -1 means that there is none. It is exact: subset sums by shifting bits. */
int64_t least_sum(SumTable *table, const BoundedSizes *of, int64_t low, int64_t high, int64_t *counts);
