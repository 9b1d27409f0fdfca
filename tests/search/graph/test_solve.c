/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/graph/solve.h against trying every choice, and against GLPK alone. */
#include "base/util.h"
#include "search/graph/solve.h"
#include "tests/search/graph/random_graph.h"

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
    GraphDraw draws = {1};
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

/* The graph is too large to be searched to a proof: starts, the pool and annealing have to give the same result for any
 * number of threads, and their claims about it have to be true. */
Test(graph_solve, large_is_the_same_for_any_threads) {
    static const RandomShape SHAPE = {9000, 3, 16000, 1000, 0, 0, 40};
    GraphDraw draws = {2};
    int large = 0;
    for (int n = 0; n < 6; n++) {
        Arena arena = {0};
        StrategyGraph graph = random_graph(&draws, SHAPE, &arena);
        if (graph.node_count < 3000) { /* nothing large would be left of it */
            arena_free(&arena);
            continue;
        }
        int64_t full[80] = {0}, peak = 0;
        for (int i = 0; i < graph.node_count; i++) {
            int64_t most = 0;
            for (int64_t s = graph.strategy_start[i]; s < graph.strategy_start[i + 1]; s++)
                most = graph.usage[s] > most ? graph.usage[s] : most;
            for (int64_t t = graph.live_from[i]; t < graph.live_to[i]; t++) full[t] += most;
        }
        for (size_t t = 0; t < COUNT_OF(full); t++) peak = full[t] > peak ? full[t] : peak;
        graph.is_limited = true;
        graph.usage_limit = peak * 6 / 10; /* of the memory that can be live: between the mean and the most of each */
        GraphResult one = solved(&graph, 1, 1e-3, &arena);
        large += one.core_nodes > 1500;
        for (int threads = 2; threads <= 4; threads += 2) {
            GraphResult more = solved(&graph, threads, 1e-3, &arena);
            cr_assert_eq(more.found, one.found);
            cr_assert_eq(more.bound, one.bound, "%d threads: bound %lld, not %lld", threads, (long long)more.bound,
                         (long long)one.bound);
            if (one.found) cr_assert_arr_eq(more.choice, one.choice, (size_t)graph.node_count * sizeof *one.choice);
        }
        if (one.found) {
            cr_assert_eq(value_of(&graph, one.choice, SHAPE.horizon), (int64_t)one.value.cost);
            cr_assert_leq(one.bound, (int64_t)one.value.cost);
        }
        arena_free(&arena);
    }
    cr_assert_gt(large, 2);
}
