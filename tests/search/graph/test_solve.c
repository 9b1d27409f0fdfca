/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/graph/solve.h against trying every choice, and against GLPK alone. */
#include "base/util.h"
#include "search/graph/solve.h"
#include "tests/sanitizer.h"
#include "tests/search/graph/random_graph.h"

#include <criterion/criterion.h>
#include <glpk.h>
#include <math.h>

static double no_time(void *context) {
    (void)context;
    return 0;
}

static bool never(void *context) {
    (void)context;
    return false;
}

static GraphResult solved_as(const StrategyGraph *graph, GraphControl control, Arena *arena) {
    GraphResult result;
    Error error = {0};
    control.seconds = no_time;
    control.interrupted = never;
    control.time_limit = INFINITY;
    cr_assert(graph_solve(graph, &control, arena, &result, &error), "%s", error.text);
    return result;
}

static GraphResult solved_below(const StrategyGraph *graph, int64_t cutoff, int threads, double effort, Arena *arena) {
    return solved_as(graph, (GraphControl){.effort = effort, .cutoff = cutoff, .threads = threads}, arena);
}

static GraphResult solved(const StrategyGraph *graph, int threads, double effort, Arena *arena) {
    return solved_below(graph, 0, threads, effort, arena);
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

/* A cutoff of the optimum leaves nothing, and proves it; one above it changes nothing. */
Test(graph_solve, below_a_cutoff) {
    GraphDraw draws = {3};
    int cut = 0, looks = 0;
    for (int n = 0; n < 300; n++) {
        const RandomShape *shape = &SHAPES[n % (int)COUNT_OF(SHAPES)].shape;
        Arena arena = {0};
        StrategyGraph graph = random_graph(&draws, *shape, &arena);
        int64_t best = optimum_of(&graph, shape->horizon);
        if (best > 0) {
            GraphResult none = solved_below(&graph, best, 1, 1, &arena);
            cr_expect(!none.found && none.proof == GRAPH_GAP && none.bound == best, "%d: %d, bound %lld of %lld", n,
                      none.found, (long long)none.bound, (long long)best);
            GraphResult look = solved_as(
                &graph, (GraphControl){.effort = 1, .cutoff = best + best / 8 + 1, .gap_most = 1e-9, .threads = 1},
                &arena); /* true, if not the best */
            cr_expect(look.bound <= best && (!look.found || (int64_t)look.value.cost >= best), "%d", n);
            looks += look.proof == GRAPH_GAP;
            GraphResult one = solved_below(&graph, best + 1, 1, 1, &arena);
            cr_expect(one.proof == GRAPH_OPTIMAL && (int64_t)one.value.cost == best && one.bound == best, "%d", n);
            cut++;
        }
        arena_free(&arena);
    }
    cr_assert(cut > 100 && looks > 5 && looks < cut, "%d of %d", looks, cut);
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
        if (graph.node_count < 3000) { /* nothing large would remain of it */
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

/* ---- strength ---- */

/* How much of a graph the reductions leave, how often branch and bound branches, and how far what is not proven is
 * from its bound: counts, which no machine and no number of threads changes. Whoever changes the solver and makes it
 * stronger writes the lower counts here; weaker it is not to become. */
static const struct {
    const char *name;
    RandomShape shape;
    double limit; /* the share of the memory that can be live at a moment; 0: that of the random graph */
    int count;
    double effort;
    int64_t nodes, strategies, branches;
    double gap; /* the sum of (cost - bound) / cost */
} STRENGTH[] = {
    {"sparse", {80, 5, 110, 1000, 1, 5, 20}, 0.65, 40, 1e-3, 616, 1721, 107, 0},
    {"dense", {40, 5, 150, 1000, 1, 0, 20}, 0.65, 30, 1e-3, 289, 896, 782, 0.00254832},
    {"tied", {80, 6, 140, 100, 2, 40, 20}, 0.65, 40, 1e-3, 75, 205, 8, 0},
    {"not proven", {150, 6, 400, 1000, 0, 0, 20}, 0.6, 6, 1e-5, 300, 959, 252, 0.0345293},
};

/* Memory is short: so much of what can be live at the fullest moment. */
static void limit_memory(StrategyGraph *graph, double share) {
    int64_t full[64] = {0}, peak = 0;
    for (int i = 0; i < graph->node_count; i++) {
        int64_t most = 0;
        for (int64_t s = graph->strategy_start[i]; s < graph->strategy_start[i + 1]; s++)
            most = graph->usage[s] > most ? graph->usage[s] : most;
        for (int64_t t = graph->live_from[i]; t < graph->live_to[i]; t++) full[t] += most;
    }
    for (size_t t = 0; t < COUNT_OF(full); t++) peak = full[t] > peak ? full[t] : peak;
    graph->is_limited = true;
    graph->usage_limit = (int64_t)(share * (double)peak);
}

Test(graph_solve, is_as_strong_as_it_was) {
    GraphDraw draws = {3};
    for (size_t k = 0; k < (COUNT_OF(STRENGTH) + PROBLEMS_SHARE - 1) / PROBLEMS_SHARE; k++) {
        int64_t nodes = 0, strategies = 0, branches = 0;
        double gap = 0;
        for (int n = 0; n < STRENGTH[k].count; n++) {
            Arena arena = {0};
            StrategyGraph graph = random_graph(&draws, STRENGTH[k].shape, &arena);
            limit_memory(&graph, STRENGTH[k].limit);
            GraphResult result = solved(&graph, 1, STRENGTH[k].effort, &arena);
            nodes += result.core_nodes;
            strategies += result.core_strategies;
            branches += result.branches;
            if (result.found) gap += ((double)result.value.cost - (double)result.bound) / (double)result.value.cost;
            arena_free(&arena);
        }
        cr_expect_leq(nodes, STRENGTH[k].nodes, "%s: %lld nodes remain", STRENGTH[k].name, (long long)nodes);
        cr_expect_leq(strategies, STRENGTH[k].strategies, "%s: %lld remain", STRENGTH[k].name, (long long)strategies);
        cr_expect_leq(branches, STRENGTH[k].branches, "%s: %lld branches", STRENGTH[k].name, (long long)branches);
        cr_expect_leq(gap, STRENGTH[k].gap + 1e-6, "%s: %.9g from the bounds", STRENGTH[k].name, gap);
    }
}

/* ---- against GLPK alone: the textbook model, one-hot strategies, a variable for each pair ---- */

static void sum_is(glp_prob *lp, int count, int *columns, double *values, int kind, double bound) {
    int row = glp_add_rows(lp, 1);
    glp_set_mat_row(lp, row, count, columns, values);
    glp_set_row_bnds(lp, row, kind, bound, bound);
}

static void add_edge(glp_prob *lp, const StrategyGraph *graph, int e, int *columns, double *values) {
    int a = (int)graph->edge_first[e], b = (int)graph->edge_second[e];
    int rows = graph_strategies(graph, a), width = graph_strategies(graph, b);
    int first = glp_add_cols(lp, rows * width);
    for (int k = 0; k < rows * width; k++) {
        int64_t cost = graph->entry[graph->entry_start[e] + k];
        bool out = cost >= GRAPH_FORBIDDEN || (a == b && k / width != k % width);
        glp_set_obj_coef(lp, first + k, out ? 0 : (double)cost);
        glp_set_col_bnds(lp, first + k, out ? GLP_FX : GLP_DB, 0, out ? 0 : 1);
    }
    for (int end = 0; end < 2; end++)
        for (int s = 0; s < (end ? width : rows); s++) {
            int count = 1;
            columns[1] = 1 + (int)graph->strategy_start[end ? b : a] + s;
            values[1] = -1;
            for (int t = 0; t < (end ? rows : width); t++) {
                columns[++count] = first + (end ? t * width + s : s * width + t);
                values[count] = 1;
            }
            sum_is(lp, count, columns, values, GLP_FX, 0);
        }
}

/* -1 means that nothing fits. */
static int64_t glpk_optimum(const StrategyGraph *graph, int64_t horizon) {
    static int columns[4096];
    static double values[4096];
    int strategies = (int)graph->strategy_start[graph->node_count];
    glp_prob *lp = glp_create_prob();
    glp_add_cols(lp, strategies);
    for (int s = 0; s < strategies; s++) {
        bool out = graph->cost[s] >= GRAPH_FORBIDDEN;
        glp_set_col_kind(lp, s + 1, GLP_BV);
        glp_set_obj_coef(lp, s + 1, out ? 0 : (double)graph->cost[s]);
        if (out) glp_set_col_bnds(lp, s + 1, GLP_FX, 0, 0);
    }
    for (int i = 0; i < graph->node_count; i++) {
        int count = 0;
        for (int64_t s = graph->strategy_start[i]; s < graph->strategy_start[i + 1]; s++) {
            columns[++count] = (int)s + 1;
            values[count] = 1;
        }
        sum_is(lp, count, columns, values, GLP_FX, 1);
    }
    for (int e = 0; e < graph->edge_count; e++) add_edge(lp, graph, e, columns, values);
    for (int64_t time = 0; time < 2 * horizon && graph->is_limited; time++) {
        int count = 0;
        for (int i = 0; i < graph->node_count; i++)
            for (int64_t s = graph->strategy_start[i]; s < graph->strategy_start[i + 1]; s++) {
                if (time < graph->live_from[i] || time >= graph->live_to[i]) continue;
                columns[++count] = (int)s + 1;
                values[count] = (double)graph->usage[s];
            }
        if (count > 0) sum_is(lp, count, columns, values, GLP_UP, (double)graph->usage_limit);
    }
    glp_iocp parameters;
    glp_init_iocp(&parameters);
    parameters.presolve = GLP_ON;
    parameters.msg_lev = GLP_MSG_OFF;
    int code = glp_intopt(lp, &parameters);
    int64_t cost = -1;
    cr_assert(code == 0 || code == GLP_ENOPFS, "GLPK: %d", code);
    if (code == 0 && glp_mip_status(lp) == GLP_OPT) cost = llround(glp_mip_obj_val(lp));
    glp_delete_prob(lp);
    return cost;
}

Test(graph_solve, equals_glpk_at_mid_sizes) {
    static const struct {
        const char *name;
        RandomShape shape;
    } ROWS[] = {
        {"sparse", {40, 4, 45, 100, 8, 10, 40}},
        {"dense", {14, 4, 40, 100, 4, 5, 16}},
        {"nothing forbidden", {25, 5, 30, 100, 0, 0, 30}},
    };
    GraphDraw draws = {11};
    int feasible = 0;
    glp_term_out(GLP_OFF);
    for (size_t k = 0; k < COUNT_OF(ROWS); k++)
        for (int n = 0; n < 60; n++) {
            Arena arena = {0};
            StrategyGraph graph = random_graph(&draws, ROWS[k].shape, &arena);
            int64_t best = glpk_optimum(&graph, ROWS[k].shape.horizon);
            GraphResult result = solved(&graph, 1, 1, &arena);
            cr_assert_eq(result.proof, best < 0 ? GRAPH_INFEASIBLE : GRAPH_OPTIMAL, "%s %d", ROWS[k].name, n);
            if (best >= 0) cr_assert_eq((int64_t)result.value.cost, best, "%s %d", ROWS[k].name, n);
            feasible += best >= 0;
            arena_free(&arena);
        }
    cr_assert_gt(feasible, 40);
    glp_free_env();
}
