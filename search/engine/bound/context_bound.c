/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/bound/tuple_bound.h"

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

/* Seconds that one way of context parallelism exposes in a step with totals of a slot, in `layers` layers. */
static double exposed_by_context(const CostContext *context, const Methods *methods, const Rates *least,
                                 const PartSums *layer, double layers) {
    bool ring = context_is_ring(methods->context);
    double seconds = 0, share = context->profile->sequence_exposed;
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        const Traffic *heads = &layer->traffic[GROUP_ULYSSES][phase], *keys = &layer->traffic[GROUP_SEQUENCE][phase];
        double moved = collective_seconds(least->cost[GROUP_SEQUENCE], layers * keys->messages, layers * keys->bytes);
        seconds +=
            share * collective_seconds(least->cost[GROUP_ULYSSES], layers * heads->messages, layers * heads->bytes);
        double shown = ring ? context->profile->ring_attention_exposed : share;
        seconds +=
            ring ? max_real(shown * moved, moved - (1 - shown) * layers * layer->attention[phase]) : shown * moved;
    }
    return seconds;
}

/* One microbatch of all the sequences of a replica under the first context method. */
typedef struct {
    const LowerBoundRates *table;
    const Degrees *degrees;
    Shard shard;
    Methods methods;
} OneMicrobatch;

/* Exposed seconds of a step that one way of context parallelism takes at least; INFINITY: it does not divide. */
static double context_seconds(const Bounds *bounds, const OneMicrobatch *one, ContextMethod method, int64_t ulysses) {
    double best = INFINITY;
    Methods methods = one->methods;
    Shard shard = one->shard;
    methods.context = method;
    methods.ulysses = ulysses;
    shard.ulysses = (double)max_whole(1, ulysses);
    if (bounds->padding != PADDING_ANY && fmod(shard.heads, shard.ulysses) != 0) return INFINITY;
    Rates least;
    lower_bound_rate_of(one->table, one->degrees, &methods, GROUP_SEQUENCE, &least);
    lower_bound_rate_of(one->table, one->degrees, &methods, GROUP_ULYSSES, &least);
    for (int mlp = MLP_TENSOR; mlp <= MLP_GATHERED; mlp++) {
        const TotalsSlot *slot = totals_cache_get(bounds, &shard, &methods, (MlpChoice)mlp);
        if (!slot->allowed) continue;
        double layers = stage_pace(bounds->context, &shard).layers;
        best = min_real(best, exposed_by_context(bounds->context, &methods, &least, &slot->totals.layer, layers));
    }
    return best;
}

double context_bound(const Bounds *bounds, const LowerBoundRates *table, const Degrees *degrees,
                     const MethodSpace *space, StageSplit split, double each[CONTEXTS_MAX]) {
    const CostContext *context = bounds->context;
    for (int i = 0; each && i < space->context_count; i++) each[i] = 0;
    if (degrees->of[ROLE_SEQUENCE] <= 1) return 0;
    Methods plain = {.context = space->contexts[0].method, .ulysses = space->contexts[0].ulysses};
    Knobs knobs = knobs_of_methods(degrees, &plain, split, sequences_of_replica(context, degrees));
    OneMicrobatch one = {.table = table, .degrees = degrees, .methods = plain};
    double best = INFINITY;
    if (!shard_of_plan(context->model, &context->work, degrees, &knobs, PADDING_ANY, &one.shard)) return 0;
    for (int i = 0; i < space->context_count; i++) {
        double seconds = context_seconds(bounds, &one, space->contexts[i].method, space->contexts[i].ulysses) * SLACK;
        if (each && seconds < INFINITY) each[i] = seconds;
        best = min_real(best, seconds);
    }
    return best < INFINITY ? best : 0;
}
