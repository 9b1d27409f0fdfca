/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/bound/tuple_bound.h"

#include "base/util.h"
#include "cost/time/slack.h"
#include "search/engine/bound/shard_bound.h"
#include "search/launch/launcher.h"

#include <math.h>

/* Bytes of parameters and optimizer, in the split and schedule that hold least. */
static double state_bytes(const Bounds *bounds, const Shard *shard, const Knobs *member) {
    Knobs knobs = least_time(shard, member);
    double least = INFINITY;
    LeastState states[LEAST_STATES_MAX];
    int count = least_states(bounds, knobs.zero_stage, states);
    for (int mlp = MLP_TENSOR; mlp <= MLP_GATHERED; mlp++) {
        const TotalsSlot *slot = totals_cache_get(bounds, shard, &knobs.methods, (MlpChoice)mlp);
        if (!slot->allowed) continue;
        Sharding sharding = totals_sharding(slot);
        for (int at = 0; at < count * (shard->pipeline > 1 ? 2 : 1); at++) {
            MemoryRows rows;
            knobs.zero_stage = states[at % count].zero_stage;
            /* what the host has no room for stays in HBM */
            knobs.offload_optimizer = states[at % count].offload_optimizer;
            if (shard->pipeline > 1) knobs.schedule = at >= count ? SCHEDULE_DUALPIPE : SCHEDULE_1F1B;
            rows_of_sums(&(ShardedStage){bounds->context, shard, &knobs, &sharding}, &slot->totals, MOMENT_UPDATE, 0,
                         &rows);
            least = min_real(least, rows.parameters_bytes + rows.optimizer_bytes);
        }
    }
    return least;
}

/* What the methods of a tuple share. */
typedef struct {
    const Bounds *bounds;
    const Degrees *degrees;
    const MethodSpace *space; /* with all context methods */
    double exposed[3];        /* what context parallelism exposes at least, by split of the layers */
} TupleMethods;

/* Takes all splits of the layers under some methods, which some launcher may take, into the bound. */
static void bound_methods(const TupleMethods *tuple, const Rates *least, const Methods *methods, TupleBound *bound) {
    const Bounds *bounds = tuple->bounds;
    const Degrees *degrees = tuple->degrees;
    const CostContext *context = bounds->context;
    int64_t n = sequences_of_replica(context, degrees);
    double limit = cost_context_memory_limit(context);
    StageSplit most = last_split(context->model, degrees);
    for (StageSplit split = STAGES_EVEN; split <= most; split++) {
        Knobs knobs = knobs_of_methods(degrees, methods, split, n);
        Shard shard;
        if (!contexts_admitted(bounds, degrees, tuple->space, methods, split)) continue;
        bound->refused = false;
        if (!shard_of_plan(context->model, &context->work, degrees, &knobs, bounds->padding, &shard)) {
            bound->forbidden |= shard.padding;
            continue;
        }
        bound->unusable = false;
        ShardTimes times;
        shard_times(bounds, least, &shard, &knobs, &times);
        double seconds = shard_bound(bounds, &shard, &times, (double)n);
        bound->seconds = min_real(bound->seconds, (seconds + tuple->exposed[split]) * SLACK);
        bound->least_bytes = min_real(bound->least_bytes, state_bytes(bounds, &shard, &knobs));
        bound->too_large = bound->least_bytes * SLACK > limit;
    }
}

TupleBound tuple_bound(const Bounds *bounds, const LowerBoundRates *table, const Degrees *degrees) {
    TupleBound bound = {.seconds = INFINITY, .least_bytes = INFINITY, .unusable = true, .refused = true};
    if (!degrees_may_divide(bounds->context->model, &bounds->context->work, degrees,
                            experts_may_fold(bounds->domain, degrees), bounds->padding, &bound.forbidden))
        return bound;
    if (!degrees_admitted(bounds, degrees)) return bound;
    MethodSpace space, contexts;
    TupleMethods tuple = {.bounds = bounds, .degrees = degrees, .space = &contexts};
    method_space(degrees, bounds->domain, &space);
    contexts = space;
    for (int split = STAGES_EVEN; split <= (int)last_split(bounds->context->model, degrees); split++)
        tuple.exposed[split] = context_bound(bounds, table, degrees, &space, (StageSplit)split, NULL);
    space.context_count = 1; /* the ops of all context methods, without what they move over sequence */
    for (int64_t i = 0; i < method_space_size(&space); i++) {
        Methods methods = method_space_at(&space, i);
        Rates least;
        lower_bound_rates_of(table, degrees, &methods, &least);
        least.cost[GROUP_SEQUENCE] = least.cost[GROUP_ULYSSES] = (CollectiveCost){{0, 0}, {0, 0}};
        bound_methods(&tuple, &least, &methods, &bound);
    }
    if (!bound.unusable) bound.forbidden = 0;
    return bound;
}

/* The schedules of a search: those of whole stages, then those of chunks; none without a pipeline. */
static void list_schedules(const KnobDomain *domain, bool pipelined, PlainPlans *out) {
    if (!pipelined) out->schedules[out->schedule_count++] = SCHEDULE_NONE;
    for (int i = 0; i < domain->whole_count && pipelined; i++) out->schedules[out->schedule_count++] = domain->whole[i];
    for (int i = 0; i < domain->chunked_count && pipelined; i++)
        out->schedules[out->schedule_count++] = domain->chunked[i];
}

static bool one_admitted(const Bounds *bounds, const Degrees *degrees, const Methods *methods, int count,
                         StageSplit split) {
    PlainPlans plans = {.model = bounds->context->model,
                        .work = &bounds->context->work,
                        .mesh = bounds->mesh,
                        .degrees = degrees,
                        .split = split,
                        .methods = methods,
                        .method_count = count};
    list_schedules(bounds->domain, degrees->of[ROLE_PIPELINE] > 1, &plans);
    return launchers_take_one(bounds->launchers, &plans);
}

bool degrees_admitted(const Bounds *bounds, const Degrees *degrees) {
    LauncherSet able = bounds->launchers & ~bounds->unable;
    return bounds->launchers == 0 || (able && launchers_of_degrees(able, bounds->context->model, &bounds->context->work,
                                                                   degrees, bounds->mesh) != 0);
}

bool methods_admitted(const Bounds *bounds, const Degrees *degrees, const Methods *methods, StageSplit split) {
    return bounds->launchers == 0 || one_admitted(bounds, degrees, methods, 1, split);
}

bool contexts_admitted(const Bounds *bounds, const Degrees *degrees, const MethodSpace *space, const Methods *methods,
                       StageSplit split) {
    Methods each[CONTEXTS_MAX];
    if (bounds->launchers == 0) return true;
    for (int i = 0; i < space->context_count; i++) {
        each[i] = *methods;
        each[i].context = space->contexts[i].method;
        each[i].ulysses = space->contexts[i].ulysses;
    }
    return one_admitted(bounds, degrees, each, space->context_count, split);
}
