/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/bound/range_bound.h: the bound of a range of microbatches.
 *
 * Theorem (docs/search.md, "Range bound"). What one microbatch of b sequences takes, over b, falls as b rises: matmuls
 * are larger, and weights and messages are shared. So n / high microbatches of `high` sequences take no more than any
 * plan of the range, and idle time is least for the most microbatches, n / low rounded up. The cost of what context
 * parallelism moves is left out, so the bound holds for every context method. */
#ifndef SHARDOPT_SEARCH_BOUND_RANGE_BOUND_H
#define SHARDOPT_SEARCH_BOUND_RANGE_BOUND_H

#include "cost/time/step.h"
#include "search/bound/totals_cache.h"

/* All knob settings with these methods and this split of the layers, and with microbatches of low .. high sequences. */
typedef struct {
    const Degrees *degrees;
    const Methods *methods;
    StageSplit split;
    int64_t low, high;
} MicrobatchRange;

/* Seconds that no plan of the range goes below at rates of at least `least`; INFINITY means that nothing divides.
 * *least_bytes: the bytes of one microbatch of `low` sequences whose gradient is not accumulated, or 0 where the
 * seconds are above `enough` already. */
double range_bound(const Bounds *bounds, const MicrobatchRange *range, const Rates *least, double enough,
                   double *least_bytes);

#endif
