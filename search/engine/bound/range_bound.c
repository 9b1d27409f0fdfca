/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/bound/range_bound.h"

#include "base/util.h"
#include "cost/time/slack.h"
#include "search/engine/bound/shard_bound.h"

#include <math.h>

/* One microbatch of one sequence, which divides whatever number of sequences there is. */
static bool one_sequence(const Bounds *bounds, const Degrees *degrees, const Knobs *knobs, Shard *out) {
    const CostContext *context = bounds->context;
    return shard_of_plan(context->model, &context->work, degrees, knobs, bounds->padding, out);
}

bool methods_divide(const Bounds *bounds, const Degrees *degrees, const Methods *methods, StageSplit split) {
    Knobs knobs = knobs_of_methods(degrees, methods, split, 1);
    Shard shard;
    return one_sequence(bounds, degrees, &knobs, &shard);
}

static Shard with_sequences(const Shard *one, double sequences, double microbatches) {
    Shard shard = *one;
    shard.tokens *= sequences;
    shard.sequences = sequences;
    shard.microbatches = microbatches;
    return shard;
}

double range_bound(const Bounds *bounds, const MicrobatchRange *range, const Rates *least, double enough,
                   double *least_bytes) {
    Rates free = *least;
    free.cost[GROUP_SEQUENCE] = free.cost[GROUP_ULYSSES] = (CollectiveCost){{0, 0}, {0, 0}};
    int64_t n = sequences_of_replica(bounds->context, range->degrees);
    Knobs knobs = knobs_of_methods(range->degrees, range->methods, range->split, 1);
    Shard one;
    *least_bytes = 0;
    if (!one_sequence(bounds, range->degrees, &knobs, &one)) return INFINITY;
    double low = (double)range->low, high = (double)range->high, most = (double)divide_up(n, range->low);
    Shard large = with_sequences(&one, high, (double)n / high);
    /* the fewest microbatches: gradients, and what is in flight, take least */
    Shard small = with_sequences(&one, low, 1);
    ShardTimes times, small_times;
    shard_times(bounds, &free, &large, &knobs, &times);
    double seconds = (shard_bound(bounds, &large, &times, most) + range->context_seconds) * SLACK;
    if (seconds <= enough && low < high && one.pipeline > 1) {
        shard_times(bounds, &free, &small, &knobs, &small_times);
        double idle_beside = shard_bound_idle_beside(bounds, &small, &times, &small_times, most);
        seconds = max_real(seconds, (idle_beside + range->context_seconds) * SLACK);
    }
    if (seconds > enough) return seconds;
    *least_bytes = shard_bytes(bounds, &small, &knobs);
    return seconds;
}
