/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/bound/tuple_bound.h"

#include "base/util.h"
#include "cost/time/slack.h"
#include "search/bound/shard_bound.h"

#include <math.h>

/* Bytes of parameters and optimizer, in the split and schedule that hold least. */
static double state_bytes(const Bounds *bounds, const Shard *shard, const Knobs *member) {
    Knobs knobs = least_time(shard, member);
    double least = INFINITY;
    int stages[2], count = least_zero_stages(bounds->context, knobs.zero_stage, stages);
    for (int mlp = MLP_TENSOR; mlp <= MLP_GATHERED; mlp++) {
        const TotalsSlot *slot = totals_cache_get(bounds, shard, &knobs.methods, (MlpChoice)mlp);
        if (!slot->allowed) continue;
        Sharding sharding = totals_sharding(slot);
        for (int at = 0; at < count * (shard->pipeline > 1 ? 2 : 1); at++) {
            MemoryRows rows;
            knobs.zero_stage = stages[at % count];
            if (shard->pipeline > 1) knobs.schedule = at >= count ? SCHEDULE_DUALPIPE : SCHEDULE_1F1B;
            knobs.offload_optimizer = bounds->offers->offloads; /* what the host has no room for stays in HBM */
            rows_of_sums(&(ShardedStage){bounds->context, shard, &knobs, &sharding}, &slot->totals, MOMENT_UPDATE, 0,
                         &rows);
            least = min_real(least, rows.parameters_bytes + rows.optimizer_bytes);
        }
    }
    return least;
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

/* Takes both splits of the layers under some methods into the bound. `exposed` is what context parallelism exposes at
 * least in each split. */
static void bound_methods(const Bounds *bounds, const Rates *least, const Degrees *degrees, const Methods *methods,
                          const double exposed[2], TupleBound *bound) {
    const CostContext *context = bounds->context;
    int64_t n = sequences_of_replica(context, degrees);
    double limit = cost_context_memory_limit(context);
    StageSplit most = degrees->of[ROLE_PIPELINE] > 1 ? STAGES_BALANCED : STAGES_EVEN;
    for (StageSplit split = STAGES_EVEN; split <= most; split++) {
        Knobs knobs = knobs_of_methods(degrees, methods, split, n);
        Shard shard;
        if (!shard_of_plan(context->model, &context->work, degrees, &knobs, bounds->padding, &shard)) {
            bound->forbidden |= shard.padding;
            continue;
        }
        bound->unusable = false;
        double seconds = shard_bound(bounds, least, &shard, &knobs, (double)n);
        bound->seconds = min_real(bound->seconds, (seconds + exposed[split]) * SLACK);
        bound->least_bytes = min_real(bound->least_bytes, state_bytes(bounds, &shard, &knobs));
        bound->too_large = bound->least_bytes * SLACK > limit;
    }
}

/* What context parallelism exposes at least in each split of the layers; 0 without a sequence group. */
static void exposed_by_split(const Bounds *bounds, const LowerBoundRates *table, const Degrees *degrees,
                             const MethodSpace *space, double exposed[2]) {
    const CostContext *context = bounds->context;
    exposed[0] = exposed[1] = 0;
    for (int split = 0; split < 2 && degrees->of[ROLE_SEQUENCE] > 1; split++) {
        Methods plain = {.context = space->contexts[0].method, .ulysses = space->contexts[0].ulysses};
        Knobs knobs = knobs_of_methods(degrees, &plain, (StageSplit)split, sequences_of_replica(context, degrees));
        Shard shard;
        if (shard_of_plan(context->model, &context->work, degrees, &knobs, PADDING_ANY, &shard))
            exposed[split] = context_seconds(bounds, table, degrees, space, &shard, &knobs);
        if (degrees->of[ROLE_PIPELINE] == 1) break;
    }
}

TupleBound tuple_bound(const Bounds *bounds, const LowerBoundRates *table, const Degrees *degrees) {
    TupleBound bound = {.seconds = INFINITY, .least_bytes = INFINITY, .unusable = true};
    if (!degrees_may_divide(bounds->context->model, &bounds->context->work, degrees,
                            experts_may_fold(bounds->offers, degrees), bounds->padding, &bound.forbidden))
        return bound;
    MethodSpace space;
    double exposed[2];
    method_space(degrees, bounds->offers, &space);
    exposed_by_split(bounds, table, degrees, &space, exposed);
    space.context_count = 1; /* the ops of all context methods, without what they move over sequence */
    for (int64_t i = 0; i < method_space_size(&space); i++) {
        Methods methods = method_space_at(&space, i);
        Rates least;
        lower_bound_rates_of(table, degrees, &methods, &least);
        least.cost[GROUP_SEQUENCE] = least.cost[GROUP_ULYSSES] = (CollectiveCost){{0, 0}, {0, 0}};
        bound_methods(bounds, &least, degrees, &methods, exposed, &bound);
    }
    if (!bound.unusable) bound.forbidden = 0;
    return bound;
}
