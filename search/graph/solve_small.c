/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cores small enough for branch and bound: reduced costs fix the states they can, then proof and better choices take
 * turns. */
#include "search/graph/branch_and_bound.h"
#include "search/graph/solver.h"

#include "base/util.h"

#include <string.h>

enum {
    FIXES_MAX = 4, /* in a row before branch and bound */
    TURNS_MAX = 5  /* turns of branch and bound, where work is counted */
};
static const double SEARCH_WORK = 1e9, TURN_WORK = 2e8; /* entries looked at */

/* Branch and bound for an amount of work. */
static void search_small(Solver *solver, double work) {
    JumpAsks asks = {solver, solver_stop, solver_offer};
    int64_t cutoff = solver->cost < INT64_MAX ? solver->cost : solver->ceiling;
    int64_t branches = (int64_t)min_real(work / (100.0 * (double)(solver_entries(solver) + 1000)) + 10, 1e15);
    const JumpTools tools = {solver->dual, solver->exact, solver->anneal->descent[0], &solver->space};
    JumpResult result = jump_search(&tools, cutoff, branches, &asks);
    solver->result->branches += result.branches;
    if (result.finished && solver->cost == INT64_MAX) solver->result->proof = GRAPH_INFEASIBLE;
    if (result.finished && solver->cost < INT64_MAX) solver_raise_bound(solver, solver->cost);
    if (!result.finished) solver_raise_bound(solver, result.bound);
}

/* Branch and bound and annealing take turns, each twice as long as the last: the one proves, the other finds choices,
 * which in turn fix more states at the root. */
void solve_small(Solver *solver) {
    double length = solver_is_timed(solver) ? 1 : solver->control->effort;
    for (int turn = 0; turn < TURNS_MAX || solver_is_timed(solver); turn++, length *= 2) {
        solver_find_bound(solver, 1);
        for (int fix = 0; fix < FIXES_MAX && !solver_is_proven(solver) && solver_fix_and_reduce(solver, 0); fix++) {
            if (solver_is_spent(solver)) return;
            solver_find_bound(solver, 1);
        }
        if (solver_is_proven(solver) || solver_is_over(solver, 1)) return;
        size_t times = (size_t)solver->core->times;
        double *price = workspace_take(&solver->space, times + 1, sizeof *price);
        memcpy(price, solver->dual->price, times * sizeof *price);
        solver_tell(solver, "branch and bound");
        search_small(solver, SEARCH_WORK * length);
        memcpy(solver->dual->best_price, price, times * sizeof *price);
        workspace_give(&solver->space, price, times + 1, sizeof *price);
        if (solver_is_proven(solver) || solver->result->proof == GRAPH_INFEASIBLE || solver_is_over(solver, 1)) return;

        solver_settle(solver);
        if (!anneal_best(solver->anneal)) solver_find_choice(solver);
        solver_use_prices(solver);
        solver_cycle(solver, solver_heat(solver, 0.05, 1), TURN_WORK * length, 1);
        solver_settle(solver);
        if (solver_is_proven(solver) || solver_is_over(solver, 1)) return;
    }
}
