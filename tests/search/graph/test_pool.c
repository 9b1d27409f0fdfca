/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/graph/pool.h: every choice in the pool fits and has the cost that the pool records, evaluated on
 * the input by other code; turns make no member dearer, and no member gets below the optimum. */
#include "base/util.h"
#include "search/graph/pool.h"
#include "tests/search/graph/random_graph.h"

#include <criterion/criterion.h>
#include <math.h>

static bool never(void *context) {
    (void)context;
    return false;
}

typedef struct {
    int cores, optimal, members;
} Tally;

static int64_t value_in(const ChoicePool *pool, int member, const StrategyGraph *graph, const Reduction *reduction,
                        int64_t horizon) {
    const Core *core = pool->anneal->core;
    int choice[64];
    for (int i = 0; i < core->nodes; i++) choice[core->node_of[i]] = pool->choice[member][i];
    reduction_expand(reduction, choice);
    int64_t value = value_of(graph, choice, horizon);
    cr_expect_eq(value, (int64_t)llround(pool->cost[member]) + (int64_t)core->constant);
    return value;
}

static void check(const StrategyGraph *graph, int64_t horizon, int workers, Workspace *space, Tally *tally) {
    int64_t best = optimum_of(graph, horizon), least = INT64_MAX;
    Reduction *reduction = reduction_new(graph, space);
    if (reduction->infeasible || !reduction_run(reduction)) return;
    Core *core = core_new(reduction, space);
    if (core->nodes == 0) return;
    core_fill(core, core_cost_range(core) + 1);
    Dual *dual = dual_new(core, space);
    ChoicePool *pool = pool_new(anneal_new(core, workers, 1, space), never, NULL, space);
    Starts *starts = starts_new(pool, space);
    double before[POOL_MAX];
    volume_start(dual, 100);
    for (int round = 0; round < 6; round++) {
        for (int w = 0; w < workers; w++) volume_step(dual, 2, starts->rounding[w]);
        starts_round(starts, dual, 20000, 500);
    }
    cr_expect(best >= 0 || pool->count == 0, "something fits where nothing does");
    for (int turn = 0; turn < 8; turn++) {
        for (int k = 0; k < pool->count; k++) before[k] = pool->cost[k];
        pool_turn(pool, turn % 2 ? 0.1 : 0, 2000);
        for (int k = 0; k < pool->count; k++) cr_expect_leq(pool->cost[k], before[k]);
    }
    for (int k = 0; k < pool->count; k++) {
        int64_t value = value_in(pool, k, graph, reduction, horizon);
        cr_expect(value >= best && value >= 0, "a member does not fit, or is below the optimum");
        least = value < least ? value : least;
    }
    if (best < 0) return;
    tally->cores++;
    tally->members += pool->count;
    tally->optimal += least == best;
    if (pool->count > 0) cr_expect_eq(value_in(pool, pool_best(pool), graph, reduction, horizon), least);
}

Test(graph_pool, members_are_what_they_say) {
    static const RandomShape SHAPE = {9, 3, 20, 1000, 0, 0, 12};
    static Workspace space;
    GraphDraw draws = {3};
    Tally tally = {0};
    cr_assert_eq(setjmp(space.out), 0);
    for (int n = 0; n < 3000; n++) {
        Arena arena = {0};
        StrategyGraph graph = random_graph(&draws, SHAPE, &arena);
        check(&graph, SHAPE.horizon, 1 + n % 3, &space, &tally);
        arena_free(&arena);
    }
    arena_free(&space.arena);
    cr_assert_gt(tally.cores, 50, "%d cores", tally.cores);
    cr_assert_gt(tally.members, tally.cores);
    cr_assert_gt(tally.optimal, tally.cores * 9 / 10, "%d of %d", tally.optimal, tally.cores);
}

/* Two nodes with a state of 4 bytes that costs nothing and one of none that costs 5; 5 bytes are there. Both in memory
 * do not fit, and while a byte has no price nothing is worth leaving it: only prices that rise from 0 get there. */
Test(graph_pool, prices_rise_from_nothing_until_it_fits) {
    static Workspace space;
    StrategyGraph graph = {.node_count = 2,
                           .strategy_start = (int64_t[]){0, 2, 4},
                           .live_from = (int64_t[]){0, 0},
                           .live_to = (int64_t[]){1, 1},
                           .cost = (int64_t[]){0, 5, 0, 5},
                           .usage = (int64_t[]){4, 0, 4, 0},
                           .entry_start = (int64_t[]){0},
                           .is_limited = true,
                           .usage_limit = 5};
    cr_assert_eq(setjmp(space.out), 0);
    Core *core = core_new(reduction_new(&graph, &space), &space);
    cr_assert(core->nodes == 2 && core->times == 1);
    core_fill(core, core_cost_range(core) + 1);
    Dual *dual = dual_new(core, &space);
    ChoicePool *pool = pool_new(anneal_new(core, 1, 1, &space), never, NULL, &space);
    Starts *starts = starts_new(pool, &space);
    starts->rounding[0][0] = starts->rounding[0][1] = 0;
    starts_repair(starts, 0, dual, 20000);
    const Descent *descent = pool->anneal->descent[0];
    cr_expect(descent->best_cost == 5 || descent->best_cost == 10, "%g", descent->best_cost);
    arena_free(&space.arena);
}
