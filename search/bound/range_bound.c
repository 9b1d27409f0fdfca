/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/bound/range_bound.h"

#include "base/util.h"
#include "search/bound/shard_bound.h"

#include <math.h>

double range_bound(const Bounds *bounds, const MicrobatchRange *range, const Rates *least, double enough,
                   double *least_bytes) {
    const CostContext *context = bounds->context;
    Rates free = *least;
    free.cost[GROUP_SEQUENCE] = free.cost[GROUP_ULYSSES] = (CollectiveCost){{0, 0}, {0, 0}};
    int64_t n = sequences_of_replica(context, range->degrees);
    /* a microbatch of one sequence divides whatever number there is */
    Knobs knobs = knobs_of_methods(range->degrees, range->methods, range->split, 1);
    Shard shard;
    *least_bytes = 0;
    if (!shard_of_plan(context->model, &context->work, range->degrees, &knobs, bounds->padding, &shard))
        return INFINITY;
    shard.tokens *= (double)range->high;
    shard.sequences = (double)range->high;
    shard.microbatches = (double)n / (double)range->high;
    double seconds = shard_bound(bounds, &free, &shard, &knobs, (double)divide_up(n, range->low));
    if (seconds > enough) return seconds;
    shard.tokens *= (double)range->low / shard.sequences;
    shard.sequences = (double)range->low;
    shard.microbatches = 1; /* the fewest: gradients, and what is in flight, take least */
    *least_bytes = shard_bytes(bounds, &shard, &knobs);
    return seconds;
}
