/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/bound/lower_rates.h"

#include "base/util.h"
#include "cost/plan/grid.h"
#include "mesh/factorization.h"

#include <math.h>
#include <string.h>

struct LowerBoundRates {
    int64_t *divisors; /* in rising order */
    int64_t count;
    CollectiveCost (*cost)[4]; /* all_gather, all_to_all, permute, dispatch */
};

static int column(Collective op) {
    return op == COLLECTIVE_ALL_TO_ALL ? 1 : op == COLLECTIVE_PERMUTE ? 2 : op == COLLECTIVE_DISPATCH ? 3 : 0;
}

LowerBoundRates *lower_bound_rates_new(const Mesh *mesh, Arena *arena) {
    LowerBoundRates *table = ARENA_NEW(arena, LowerBoundRates, 1);
    if (!table) return NULL;
    table->divisors = divisors_of(mesh->devices, arena);
    if (!table->divisors) return NULL;
    while (table->divisors[table->count] <= mesh->devices) table->count++;
    table->cost = arena_alloc(arena, (size_t)table->count, sizeof(*table->cost));
    if (!table->cost) return NULL;
    static const Collective OPS[] = {COLLECTIVE_ALL_GATHER, COLLECTIVE_ALL_TO_ALL, COLLECTIVE_PERMUTE,
                                     COLLECTIVE_DISPATCH};
    for (int64_t i = 0; i < table->count; i++)
        for (int op = 0; op < 4; op++) table->cost[i][op] = collective_cost_least(OPS[op], mesh, table->divisors[i]);
    return table;
}

LowerBoundRates *lower_bound_rates_copy(const LowerBoundRates *table, Arena *arena) {
    LowerBoundRates *copy = ARENA_NEW(arena, LowerBoundRates, 1);
    if (!copy) return NULL;
    *copy = *table; /* the same divisors */
    copy->cost = arena_alloc(arena, (size_t)table->count, sizeof(*table->cost));
    if (!copy->cost) return NULL;
    memcpy(copy->cost, table->cost, (size_t)table->count * sizeof(*table->cost));
    return copy;
}

void lower_bound_rates_merge(LowerBoundRates *to, const LowerBoundRates *from) {
    for (int64_t i = 0; i < to->count; i++)
        for (int op = 0; op < 4; op++)
            for (int piece = 0; piece < 2; piece++) {
                CollectiveCost *cost = &to->cost[i][op];
                const CollectiveCost *other = &from->cost[i][op];
                cost->latency_seconds[piece] = min_real(cost->latency_seconds[piece], other->latency_seconds[piece]);
                cost->seconds_per_byte[piece] = min_real(cost->seconds_per_byte[piece], other->seconds_per_byte[piece]);
            }
}

static const CollectiveCost *least_row(const LowerBoundRates *table, int64_t degree) {
    int64_t low = 0, high = table->count - 1;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (table->divisors[middle] < degree)
            low = middle + 1;
        else
            high = middle;
    }
    return table->cost[low];
}

void lower_bound_rate_of(const LowerBoundRates *table, const Degrees *degrees, const Methods *methods, Group group,
                         Rates *out) {
    int64_t degree = rates_open(degrees, methods, group, out);
    out->cost[group] = least_row(table, degree)[column(group_collective(group, methods->context))];
}

void lower_bound_rates_of(const LowerBoundRates *table, const Degrees *degrees, const Methods *methods, Rates *out) {
    for (int group = 0; group < GROUP_COUNT; group++) lower_bound_rate_of(table, degrees, methods, (Group)group, out);
}

/* The groups whose chips a folded grid decides, in the order of GridFootprints. */
static const Group FOLDED_GROUPS[] = {GROUP_EXPERT_TENSOR, GROUP_EXPERT, GROUP_EXPERT_WEIGHTS, GROUP_EXPERT_DATA};

/* Lowers `least` to the costs of a folded grid over all ways to place the pipeline on the axes from `axis` on. */
static void least_over_pipeline(const NestedMesh *nested_mesh, const GridRanks *ranks, int axis, int64_t stages,
                                Placement *placement, CollectiveCost least[4]) {
    const Mesh *mesh = nested_mesh->mesh;
    if (axis == mesh->axis_count) {
        if (stages > 1) return;
        GridFootprints at = grid_footprints(mesh, placement, ranks);
        const Footprint *footprints[] = {&at.expert_tensor, &at.expert, &at.weights, &at.data};
        for (int i = 0; i < 4; i++) {
            CollectiveCost cost =
                collective_cost(group_collective(FOLDED_GROUPS[i], CONTEXT_NONE), mesh, footprints[i]);
            for (int piece = 0; piece < 2; piece++) {
                least[i].latency_seconds[piece] =
                    min_real(least[i].latency_seconds[piece], cost.latency_seconds[piece]);
                least[i].seconds_per_byte[piece] =
                    min_real(least[i].seconds_per_byte[piece], cost.seconds_per_byte[piece]);
            }
        }
        return;
    }
    int64_t most = min_whole(stages, mesh->axes[axis].size);
    for (int64_t factor = 1; factor <= most; factor++) {
        if (stages % factor != 0 || mesh->axes[axis].size % factor != 0) continue;
        placement->factor[axis][ROLE_PIPELINE] = (int32_t)factor;
        least_over_pipeline(nested_mesh, ranks, axis + 1, stages / factor, placement, least);
    }
}

void lower_bound_rates_folded(const NestedMesh *nested_meshes, int count, const Degrees *degrees,
                              const Methods *methods, Rates *rates) {
    GridRanks ranks;
    if (methods->grid.expert == 0 || !grid_ranks(degrees, methods, &ranks)) return;
    CollectiveCost least[4];
    for (int i = 0; i < 4; i++) least[i] = (CollectiveCost){{INFINITY, INFINITY}, {INFINITY, INFINITY}};
    for (int i = 0; i < count; i++) {
        Placement placement = {0};
        least_over_pipeline(&nested_meshes[i], &ranks, 0, degrees->of[ROLE_PIPELINE], &placement, least);
    }
    for (int i = 0; i < 4; i++)
        if (least[i].latency_seconds[0] < INFINITY) rates->cost[FOLDED_GROUPS[i]] = least[i];
}
