/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/graph/certify.c: a bound holds whatever messages and prices it is made from, and no cheaper choice contains a
 * state or pair that it excludes. */
#include "base/util.h"
#include "search/graph/branch_and_bound.h"
#include "tests/search/graph/random_graph.h"

#include <criterion/criterion.h>

static double noise(GraphDraw *draws, double size) { return size * ((double)draw(draws, 2000001) / 1e6 - 1); }

/* The optimum of the graph with a single state of one node of the core; -1 means that none fits. */
static int64_t optimum_with(const StrategyGraph *graph, const Reduction *reduction, int node, int state,
                            int64_t horizon) {
    int choice[64] = {0}, states[64];
    int64_t best = -1;
    for (int i = 0; i < graph->node_count;) {
        int64_t cost = value_of(graph, choice, horizon);
        if (cost >= 0 && (best < 0 || cost < best) && reduction_project(reduction, choice, states) &&
            states[node] == state)
            best = cost;
        for (i = 0; i < graph->node_count && ++choice[i] == graph_strategies(graph, i); i++) choice[i] = 0;
    }
    return best;
}

typedef struct {
    int checked, excluded;
} Tally;

/* One graph, with messages and prices that are random, or the solver's with noise. */
static void check(const StrategyGraph *graph, int64_t horizon, GraphDraw *draws, Workspace *space, Tally *tally) {
    int64_t best = optimum_of(graph, horizon);
    Reduction *reduction = reduction_new(graph, space);
    if (reduction->infeasible || !reduction_run(reduction)) {
        cr_expect_lt(best, 0);
        return;
    }
    Core *core = core_new(reduction, space);
    core_fill(core, core_cost_range(core));
    Dual *dual = dual_new(core, space);
    ExactBound *exact = certify_new(core, space);
    bool good = draw(draws, 2);
    for (int t = 0; t < core->times; t++) dual->price[t] = draw(draws, 3) ? 0 : (double)draw(draws, 1000) / 64;
    dual_price(dual, dual->price);
    for (int k = 0; k < 5 && good; k++) dual_sweep(dual, NULL);
    for (size_t k = 0; k < core->message_size; k++) dual->message[k] += noise(draws, good ? 1 : 1000);
    certify(exact, dual, NULL);
    if (best < 0) return;
    cr_expect_leq(certified_cost(exact), best);
    certify_reduced(exact);
    for (int i = 0; i < core->nodes; i++)
        for (int s = 0; s < core->count[i]; s++) {
            if (!certified_above(exact, i, s, best + 1)) continue;
            int64_t with = optimum_with(graph, reduction, core->node_of[i], s, horizon);
            cr_expect(with < 0 || with > best, "a state of the best is excluded");
            tally->excluded++;
        }
    tally->checked += core->nodes > 0;
}

Test(graph_certify, bounds_from_any_messages) {
    static const RandomShape SHAPE = {7, 3, 14, 1000, 4, 0, 12};
    static Workspace space;
    GraphDraw draws = {7};
    Tally tally = {0};
    cr_assert_eq(setjmp(space.out), 0);
    for (int n = 0; n < 12000; n++) {
        Arena arena = {0};
        StrategyGraph graph = random_graph(&draws, SHAPE, &arena);
        check(&graph, SHAPE.horizon, &draws, &space, &tally);
        arena_free(&arena);
    }
    arena_free(&space.arena);
    cr_expect_gt(tally.checked, 200);
    cr_expect_gt(tally.excluded, 50);
}
