/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/bound/context_bound.h"

#include "base/util.h"
#include "cost/time/slack.h"
#include "search/bound/shard_bound.h"

#include <math.h>

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

/* Exposed seconds of a step that the cheapest context method takes at least, on a shard with one microbatch. */
static double context_seconds(const Bounds *bounds, const LowerBoundRates *table, const Degrees *degrees,
                              const MethodSpace *space, const Shard *plain, const Knobs *member) {
    double best = INFINITY;
    for (int i = 0; i < space->context_count; i++) {
        Methods methods = member->methods;
        Shard shard = *plain;
        methods.context = space->contexts[i].method;
        methods.ulysses = space->contexts[i].ulysses;
        shard.ulysses = (double)max_whole(1, methods.ulysses);
        if (bounds->padding != PADDING_ANY && fmod(shard.heads, shard.ulysses) != 0) continue;
        Rates least;
        lower_bound_rates_of(table, degrees, &methods, &least);
        for (int mlp = MLP_TENSOR; mlp <= MLP_GATHERED; mlp++) {
            const TotalsSlot *slot = totals_cache_get(bounds, &shard, &methods, (MlpChoice)mlp);
            if (!slot->allowed) continue;
            double layers = stage_pace(bounds->context, &shard).layers;
            best = min_real(best, exposed_by_context(bounds->context, &methods, &least, &slot->totals.layer, layers));
        }
    }
    return best < INFINITY ? best * SLACK : 0;
}

double context_bound(const Bounds *bounds, const LowerBoundRates *table, const Degrees *degrees,
                     const MethodSpace *space, StageSplit split) {
    const CostContext *context = bounds->context;
    if (degrees->of[ROLE_SEQUENCE] <= 1) return 0;
    Methods plain = {.context = space->contexts[0].method, .ulysses = space->contexts[0].ulysses};
    Knobs knobs = knobs_of_methods(degrees, &plain, split, sequences_of_replica(context, degrees));
    Shard shard;
    if (!shard_of_plan(context->model, &context->work, degrees, &knobs, PADDING_ANY, &shard)) return 0;
    return context_seconds(bounds, table, degrees, space, &shard, &knobs);
}
