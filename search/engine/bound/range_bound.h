/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/bound/range_bound.h: the bound of a range of microbatches.
 *
 * Theorem (docs/search.md, "Range bound"). What one microbatch of b sequences takes, over b, falls as b rises: matmuls
 * are larger, and weights and messages are shared. So n / high microbatches of `high` sequences take no more than any
 * plan of the range, and idle time is least for the most microbatches, n / low rounded up. What one microbatch takes
 * rises with b, so no idle time is less than that beside one of `low` sequences. Of what context parallelism moves only
 * the least of all methods is counted, so the bound holds for every context method. */
#pragma once

#include "cost/time/step.h"
#include "search/engine/bound/totals_cache.h"

/* All knob settings with these methods and this split of the layers, and with microbatches of low .. high sequences. */
typedef struct {
    const Degrees *degrees;
    const Methods *methods;
    StageSplit split;
    double context_seconds; /* context_bound() of the degrees and the split, or less */
    int64_t low, high;
} MicrobatchRange;

/* Whether any knob setting with these methods and this split divides. What holds for a microbatch of one sequence under
 * the first context method, in one chunk and without overlap, holds for all: one sequence divides every number, that
 * method exchanges no heads, and chunks and overlap only ask for more. */
bool methods_divide(const Bounds *bounds, const Degrees *degrees, const Methods *methods, StageSplit split);

/* Seconds that no plan of the range goes below at rates of at least `least`; INFINITY means that nothing divides.
 * *least_bytes: the bytes of one microbatch of `low` sequences whose gradient is not accumulated, or 0 where the
 * seconds are above `enough` already. */
double range_bound(const Bounds *bounds, const MicrobatchRange *range, const Rates *least, double enough,
                   double *least_bytes);
