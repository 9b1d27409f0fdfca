/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/weighed.h: quantiles of values that do not all count the same. */
#pragma once

#include <stdint.h>

typedef struct {
    double value, weight;
} Weighed;

/* Sorts the list, which has a value, and gives the least value up to which lies a share of the weight: 0.5 for the
 * lower median. No weight is negative. A share that rounding puts a hair above what is reached counts as reached. */
double weighed_quantile(Weighed *list, int64_t count, double share);
