/* SPDX-License-Identifier: GPL-3.0-or-later */
/* benchmarks/space.h: the space of one machine walked in the open, by public functions and without a bound: what
 * evaluations.c and brute.c share. One batch, one machine. */
#pragma once

#include "base/clock.h"
#include "base/util.h"
#include "search/cli/request_text.h"
#include "search/engine/bound/batch.h"
#include "search/engine/bound/knob_bound.h"
#include "search/engine/bound/lower_rates.h"
#include "search/engine/search.h"
#include "search/engine/space/knob_space.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Of the calling thread: what others take of a shared machine does not count. */
static inline double processor_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* The machine that was requested, and all degrees on it. In the arena. */
typedef struct {
    const Request *request;
    CostContext setting;
    Mesh mesh; /* the profile's rates */
    NestedMesh nested_mesh;
    KnobDomain domain;
    LowerBoundRates *least;
    PlacementTable *table;
    Degrees *degrees;
    int64_t count;
} Space;

static inline Bounds space_bounds(const Space *space, TotalsCache *cache) {
    return (Bounds){.context = &space->setting, .domain = &space->domain, .cache = cache};
}

static inline bool space_open(const Request *request, Arena *arena, Space *out, Error *error) {
    *out = (Space){.request = request,
                   .setting = request_cost_context(request),
                   .mesh = profile_mesh(&request->question.profile, &request->question.machine.mesh)};
    out->nested_mesh = (NestedMesh){&out->mesh, request->space.nesting};
    out->domain = knob_domain(&out->setting, &out->mesh, request->space.schedules);
    out->least = lower_bound_rates_new(&out->mesh, arena);
    out->table = placement_table(&out->mesh, request->space.roles, arena);
    if (!out->least || !out->table) return error_memory(error);
    DegreesList list = {0};
    bool ok = degrees_enumerate(&out->mesh, request->space.roles, 4000000, arena, &list, error);
    out->degrees = list.tuples;
    out->count = list.count;
    return ok;
}

/* One degree tuple: its knobs, its placements, and for each way to exchange the rates of all of them. In the arena. */
typedef struct {
    const Space *space;
    const Degrees *degrees;
    KnobSpace knobs;
    int64_t knob_count;
    Placement *placements; /* NULL until ways are expanded */
    int64_t placement_count;
    struct Way {
        Rates least, *rates;
        RateTable table;
    } * ways; /* by number of their methods; rates and the table's lanes are NULL until expanded */
} BenchTuple;

static inline bool tuple_start(const Space *space, const Degrees *degrees, Arena *arena, BenchTuple *out,
                               Error *error) {
    *out = (BenchTuple){.space = space, .degrees = degrees};
    if (!knob_space(space->setting.model, degrees, space->setting.work.sequences, &space->domain, arena, &out->knobs,
                    error))
        return false;
    out->knob_count = knob_family_count(&out->knobs) * knob_family_size(&out->knobs);
    out->ways = ARENA_NEW(arena, struct Way, (size_t)out->knobs.method_count);
    return out->ways || error_memory(error);
}

/* Opens a way: the rates of all placements. */
static inline bool tuple_way_rates(BenchTuple *tuple, int64_t number, Arena *arena, Error *error) {
    const Space *space = tuple->space;
    struct Way *way = &tuple->ways[number];
    if (way->rates) return true;
    if (!tuple->placements &&
        !placements_enumerate(&space->mesh, tuple->degrees, arena, &tuple->placements, &tuple->placement_count, error))
        return false;
    Methods methods = method_space_at(&tuple->knobs.methods, number);
    lower_bound_rates_of(space->least, tuple->degrees, &methods, &way->least);
    way->rates = ARENA_NEW(arena, Rates, (size_t)tuple->placement_count);
    if (!way->rates) return error_memory(error);
    for (int64_t i = 0; i < tuple->placement_count; i++)
        rates_of_placement(&space->nested_mesh, &tuple->placements[i], &methods, &way->rates[i]);
    return true;
}

/* The same, and as arrays for batch_relaxed_seconds(). */
static inline bool tuple_way(BenchTuple *tuple, int64_t number, Arena *arena, Error *error) {
    struct Way *way = &tuple->ways[number];
    return tuple_way_rates(tuple, number, arena, error) &&
           (way->table.lane || rate_table_fill(way->rates, tuple->placement_count, arena, &way->table, error));
}

/* Why a knob setting is no plan, as the search has it; PRUNED_COUNT: it is one, and *shard is its shard. */
static inline PruneReason tuple_admits(const BenchTuple *tuple, const Knobs *knobs, Shard *shard) {
    const Space *space = tuple->space;
    if (!request_admits_knobs(space->request, tuple->degrees, knobs)) return PRUNED_REQUIRE;
    if (!schedule_allowed(knobs->schedule, tuple->degrees->of[ROLE_PIPELINE], knobs->microbatches,
                          knobs->virtual_stages) ||
        !shard_of_plan(space->setting.model, &space->setting.work, tuple->degrees, knobs, space->request->space.padding,
                       shard))
        return PRUNED_INDIVISIBLE;
    return knobs_redundant(space->setting.model, &space->domain, knobs, shard) ? PRUNED_EQUAL : PRUNED_COUNT;
}
