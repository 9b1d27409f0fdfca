/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/layout/graph/solve.h against trying every choice, and against GLPK alone. */
#include "base/util.h"
#include "search/layout/graph/solve.h"
#include "tests/layout/random_graph.h"

#include <criterion/criterion.h>
#include <math.h>

static double no_time(void *context) {
    (void)context;
    return 0;
}

static bool never(void *context) {
    (void)context;
    return false;
}

static GraphResult solved(const StrategyGraph *graph, int threads, double effort, Arena *arena) {
    GraphControl control = {
        .seconds = no_time, .interrupted = never, .time_limit = INFINITY, .effort = effort, .threads = threads};
    GraphResult result;
    Error error = {0};
    cr_assert(graph_solve(graph, &control, arena, &result, &error), "%s", error.text);
    return result;
}

static const struct {
    const char *name;
    RandomShape shape;
    int count;
} SHAPES[] = {
    {"few nodes, many edges", {5, 4, 12, 100, 15, 10, 12}, 1500},
    {"ties", {7, 3, 8, 100, 10, 60, 12}, 1500},
    {"nothing forbidden", {6, 4, 10, 1000, 0, 0, 8}, 1000},
    {"a chain of moments, hardly any edges", {8, 3, 3, 50, 5, 0, 30}, 1000},
    {"large costs", {5, 4, 8, INT64_C(1000000000000), 10, 10, 10}, 500},
    {"equal costs", {6, 3, 10, 2, 20, 20, 10}, 500},
};

Test(graph_solve, equals_trying_every_choice) {
    Draw draws = {1};
    int feasible = 0, infeasible = 0;
    for (size_t k = 0; k < COUNT_OF(SHAPES); k++)
        for (int n = 0; n < SHAPES[k].count; n++) {
            Arena arena = {0};
            StrategyGraph graph = random_graph(&draws, SHAPES[k].shape, &arena);
            int64_t best = optimum_of(&graph, SHAPES[k].shape.horizon);
            GraphResult result = solved(&graph, 1, 1, &arena);
            best < 0 ? infeasible++ : feasible++;
            if (best < 0) {
                cr_assert_eq(result.proof, GRAPH_INFEASIBLE, "%s %d: proof %d", SHAPES[k].name, n, result.proof);
                cr_assert(!result.found);
            } else {
                cr_assert_eq(result.proof, GRAPH_OPTIMAL, "%s %d: proof %d", SHAPES[k].name, n, result.proof);
                cr_assert_eq((int64_t)result.value.cost, best, "%s %d: %lld, not %lld", SHAPES[k].name, n,
                             (long long)result.value.cost, (long long)best);
                cr_assert_eq(value_of(&graph, result.choice, SHAPES[k].shape.horizon), best);
                cr_assert_eq(result.bound, best);
            }
            arena_free(&arena);
        }
    cr_assert_gt(feasible, 2000);
    cr_assert_gt(infeasible, 500);
}
