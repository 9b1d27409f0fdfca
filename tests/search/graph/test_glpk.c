/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/graph/solve.h against GLPK alone: the textbook model, one-hot strategies, a variable for each pair. */
#include "base/util.h"
#include "search/graph/solve.h"
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

Test(graph_glpk, mid_sizes) {
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
            Error error = {0};
            GraphResult result;
            GraphControl control = {
                .seconds = no_time, .interrupted = never, .time_limit = INFINITY, .effort = 1, .threads = 1};
            StrategyGraph graph = random_graph(&draws, ROWS[k].shape, &arena);
            int64_t best = glpk_optimum(&graph, ROWS[k].shape.horizon);
            cr_assert(graph_solve(&graph, &control, &arena, &result, &error));
            cr_assert_eq(result.proof, best < 0 ? GRAPH_INFEASIBLE : GRAPH_OPTIMAL, "%s %d", ROWS[k].name, n);
            if (best >= 0) cr_assert_eq((int64_t)result.value.cost, best, "%s %d", ROWS[k].name, n);
            feasible += best >= 0;
            arena_free(&arena);
        }
    cr_assert_gt(feasible, 40);
    glp_free_env();
}
