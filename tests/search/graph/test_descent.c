/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two nodes that only gain together: a move over both finds it, where no move of one alone does. */
#include "base/util.h"
#include "search/graph/descent.h"

#include <criterion/criterion.h>

/* Both at 0 cost 1, both at 1 nothing, one of each 10. Nothing is in memory. */
Test(graph_descent, two_move_together) {
    static Workspace space;
    StrategyGraph graph = {.node_count = 2,
                           .edge_count = 1,
                           .strategy_start = (int64_t[]){0, 2, 4},
                           .live_from = (int64_t[]){0, 0},
                           .live_to = (int64_t[]){0, 0},
                           .cost = (int64_t[]){0, 0, 0, 0},
                           .usage = (int64_t[]){0, 0, 0, 0},
                           .edge_first = (int64_t[]){0},
                           .edge_second = (int64_t[]){1},
                           .entry_start = (int64_t[]){0, 4},
                           .entry = (int64_t[]){1, 10, 10, 0},
                           .usage_limit = INT64_MAX};
    cr_assert_eq(setjmp(space.out), 0);
    Core *core = core_new(reduction_new(&graph, &space), &space);
    cr_assert_eq(core->nodes, 2);
    core_fill(core, core_cost_range(core) + 1);
    Descent *descent = descent_new(core, &space, 1);
    descent_start(descent, (int[]){0, 0});
    cr_expect_eq(descent->cost, 1);
    descent_run(descent, 2000);
    cr_expect(descent->cost == 0 && descent->best_cost == 0, "%g", descent->best_cost);
    cr_expect(descent->best[0] == 1 && descent->best[1] == 1);
    arena_free(&space.arena);
}
