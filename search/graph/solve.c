/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order of work: reduce; bound by messages and prices; find a choice that fits and improve it; fix by reduced costs
 * and reduce again; then the rest is small enough for branch and bound, or too large for a proof. */
#include "search/graph/solver.h"

#include "base/threads.h"
#include "base/util.h"

#include <math.h>

enum {
    ROUNDS_MAX = 6,  /* rounds of fixing and reducing again */
    LARGE_ROUNDS = 3 /* the number of them while the rest is large */
};
/* Shares of the time limit; entries looked at. */
static const double BOUND_UNTIL = 0.3, SMALL_CYCLE_UNTIL = 0.25, SMALL_CYCLE_WORK = 4e8;

static void work_on_core(Solver *solver) {
    for (int round = 0; round < ROUNDS_MAX; round++) {
        if (solver_is_spent(solver)) return;
        solver->from = round == 0 ? 0 : solver_seconds(solver);
        solver_find_bound(solver, round == 0 || !solver_is_small(solver) ? BOUND_UNTIL : 1);
        solver_tell(solver, "bound");
        solver_find_choice(solver);
        if (solver_is_proven(solver) || solver_is_over(solver, 1)) return;
        if (!solver_is_small(solver)) {
            if (!solve_large(solver, round + 1 < LARGE_ROUNDS)) return;
            continue;
        }
        double work = min_real(SMALL_CYCLE_WORK, 2000.0 * (double)(solver_entries(solver) + 100)) / (round + 1);
        solver_cycle(solver, solver_heat(solver, 0.1, 0.5), work, SMALL_CYCLE_UNTIL);
        solver_settle(solver);
        if (solver_is_proven(solver) || solver_is_over(solver, 1)) return;
        if (!solver_fix_and_reduce(solver, 0)) break;
    }
    if (!solver_is_proven(solver) && !solver_is_spent(solver)) solve_small(solver);
}

static void run(Solver *solver) {
    GraphResult *result = solver->result;
    solver->reduction = reduction_new(solver->graph, &solver->space);
    bool feasible = !solver->reduction->infeasible && reduction_run(solver->reduction);
    result->empty_node = -1;
    if (!feasible) {
        result->proof = GRAPH_INFEASIBLE;
        result->empty_node = solver->reduction->empty_node;
        result->excess_known = solver->reduction->excess > 0;
        result->excess = solver->reduction->excess;
        result->excess_time = solver->reduction->excess_time;
        return;
    }
    result->proof = GRAPH_GAP;
    solver_make_core(solver);
    result->core_nodes = solver->core->nodes;
    result->core_edges = solver->core->edges;
    result->core_strategies = solver->core->states;
    result->core_times = solver->core->times;
    solver_tell(solver, "reduced");
    work_on_core(solver);
    result->found = solver->cost < INT64_MAX;
    if (solver_is_proven(solver)) result->proof = GRAPH_OPTIMAL;
    result->bound = result->proof == GRAPH_OPTIMAL ? solver->cost : solver->bound;
}

bool graph_solve(const StrategyGraph *graph, const GraphControl *control, Arena *arena, GraphResult *result,
                 Error *error) {
    GraphControl own = *control;
    Solver *solver = ARENA_NEW(arena, Solver, 1);
    size_t nodes = (size_t)graph->node_count + 1;
    *result = (GraphResult){0};
    if (!solver) return error_memory(error);
    own.threads = threads_usable(own.threads);
    *solver = (Solver){.graph = graph, .control = &own, .result = result, .cost = INT64_MAX};
    solver->strategies = ARENA_NEW(arena, int, nodes);
    solver->scratch = ARENA_NEW(arena, int, nodes);
    if (!solver->strategies || !solver->scratch) return error_memory(error);
    if (setjmp(solver->space.out) != 0) {
        arena_free(&solver->space.arena);
        return error_memory(error);
    }
    run(solver);
    arena_free(&solver->space.arena);
    result->interrupted = control->interrupted(control->context);
    result->out_of_time = control->seconds(control->context) >= control->time_limit;
    if (!result->found) return true;
    result->choice = solver->strategies;
    return graph_evaluate(graph, result->choice, &result->value, error);
}
