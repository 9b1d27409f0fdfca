/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lower-bound rates stand below the rates of every placement, and the walk over placements meets each of them once with
 * the rates that it has. */
#include "cost/time/rates_walk.h"
#include "search/engine/bound/lower_rates.h"
#include "tests/search/brute_space.h"
#include "tests/search/random_problem.h"

/* Any way of exchange that a wide mixture would have here. */
static Methods random_methods(Draw *draw, const Mesh *mesh, const Degrees *degrees) {
    static Methods all[1 << 16];
    Model wide = {.layers = 1, .kind_count = 1};
    wide.kinds[0] = (LayerKind){.heads = 64, .experts = 64};
    bool switched = true;
    for (int i = 0; i < mesh->axis_count; i++) switched = switched && mesh->axes[i].kind == AXIS_SWITCH;
    return all[draw_below(draw, brute_methods(&wide, switched, degrees, all))];
}

/* Rates of every placement are at least the least of its degrees, part by part; and the table gives what the walk over
 * footprints gives. */
Test(lower_rates, stand_below_every_placement) {
    Draw draw = draw_seeded(77);
    int64_t compared = 0;
    for (int round = 0; round < 120; round++) {
        Arena arena = {0};
        Error error = {0};
        Mesh mesh = random_mesh(&draw, 48);
        const LowerBoundRates *table = lower_bound_rates_new(&mesh, &arena);
        Degrees *tuples;
        int64_t count;
        DegreesList listed = {0};
        cr_assert(table && degrees_enumerate(&mesh, ROLES_ALL, 100000, &arena, &listed, &error));
        tuples = listed.tuples, count = listed.count;
        for (int i = 0; i < 12; i++) {
            const Degrees *degrees = &tuples[draw_below(&draw, count)];
            Methods methods = random_methods(&draw, &mesh, degrees);
            NestedMesh nested_mesh = {&mesh, nesting_canonical()};
            Rates least, walked, rates;
            lower_bound_rates_of(table, degrees, &methods, &least);
            rates_least(&mesh, degrees, &methods, &walked);
            cr_expect_arr_eq(least.cost, walked.cost, sizeof least.cost);
            cr_expect_arr_eq(least.axes, walked.axes, sizeof least.axes);
            Placement *placements;
            int64_t ways;
            cr_assert(placements_enumerate(&mesh, degrees, &arena, &placements, &ways, &error));
            for (int64_t j = 0; j < ways; j++) {
                rates_of_placement(&nested_mesh, &placements[j], &methods, &rates);
                const double *low = (const double *)least.cost, *own = (const double *)rates.cost;
                for (size_t k = 0; k < sizeof rates.cost / (sizeof(double)); k++)
                    cr_expect(low[k] <= own[k], "group %zu: %g > %g", k / 4, low[k], own[k]);
                compared++;
            }
        }
        arena_free(&arena);
    }
    cr_expect(compared > 2000, "%lld", (long long)compared);
}

typedef struct {
    const Placement *placements;
    int64_t count, at;
    bool *met;
} Walked;

static void meet(RatesWalk *walk) {
    Walked *walked = walk->context;
    Rates rates;
    rates_of_placement(walk->nested_mesh, &walk->placement, walk->methods, &rates);
    cr_expect_arr_eq(rates.cost, walk->rates.cost, sizeof rates.cost);
    cr_expect_arr_eq(rates.axes, walk->rates.axes, sizeof rates.axes);
    cr_expect(rates.leaves_scale_up == walk->rates.leaves_scale_up && rates.axis_count == walk->rates.axis_count &&
              !walk->rates.is_lower_bound);
    for (int64_t i = 0; i < walked->count; i++) {
        if (placement_compare(&walked->placements[i], &walk->placement) != 0) continue;
        cr_expect(!walked->met[i], "a placement was met twice");
        walked->met[i] = true;
    }
    walked->at++;
}

/* The walk comes to every placement once, with the rates that it has: under any nesting. */
Test(lower_rates, walk) {
    Draw draw = draw_seeded(78);
    CollectiveMemo *memo = collective_memo_new();
    cr_assert_not_null(memo);
    int64_t met = 0;
    for (int round = 0; round < 120; round++) {
        Arena arena = {0};
        Error error = {0};
        Mesh mesh = random_mesh(&draw, 48);
        Degrees *tuples;
        int64_t count;
        DegreesList listed = {0};
        cr_assert(degrees_enumerate(&mesh, ROLES_ALL, 100000, &arena, &listed, &error));
        tuples = listed.tuples, count = listed.count;
        NestedMesh nested_mesh = {&mesh, nesting_canonical()};
        for (int i = ROLE_COUNT - 1; i > 0 && round % 2; i--) {
            int64_t with = draw_below(&draw, i + 1);
            Role swap = nested_mesh.nesting.order[i];
            nested_mesh.nesting.order[i] = nested_mesh.nesting.order[with];
            nested_mesh.nesting.order[with] = swap;
        }
        for (int i = 0; i < 12; i++) {
            const Degrees *degrees = &tuples[draw_below(&draw, count)];
            Methods methods = random_methods(&draw, &mesh, degrees);
            Placement *placements;
            Walked walked = {0};
            cr_assert(placements_enumerate(&mesh, degrees, &arena, &placements, &walked.count, &error));
            walked.placements = placements;
            walked.met = ARENA_NEW(&arena, bool, (size_t)walked.count);
            RatesWalk walk = {.nested_mesh = &nested_mesh,
                              .methods = &methods,
                              .memo = memo,
                              .site = round,
                              .visit = meet,
                              .context = &walked};
            cr_assert(rates_walk(&walk, degrees));
            cr_expect_eq(walked.at, walked.count);
            met += walked.at;
        }
        arena_free(&arena);
    }
    collective_memo_free(memo);
    cr_expect(met > 2000, "%lld", (long long)met);
}
