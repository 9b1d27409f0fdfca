/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order of work: reduce; bound by messages and prices; find a choice that fits and improve it; fix by reduced costs
 * and reduce again; then the rest is small enough for branch and bound, or too large for a proof. */
#include "search/graph/branch_and_bound.h"
#include "search/graph/solver.h"

#include "base/threads.h"
#include "base/util.h"

#include <math.h>
#include <string.h>

/* ---- cores too large for branch and bound: many starts, a pool of the best of them, removal of the states that the
 * bound excludes, and where those are few, annealing to the end ---- */

enum {
    STARTS = 24,      /* where work is counted */
    POOL_ROUNDS = 5,  /* the same */
    STEPS_A_START = 4 /* price changes per start: no two starts have the same prices */
};
/* Shares of the time limit, and work (entries looked at) without one. */
static const double STARTS_UNTIL = 0.42, POOL_UNTIL = 0.75, FIRST_CYCLE_UNTIL = 0.9;
static const double CYCLE_WORK = 2e9;
static const double FIXED_LEAST = 0.05; /* share of the core's states: below it a new beginning is not worthwhile */
static const double HEATS[] = {0.01, 0.1, 0.003, 0.03}; /* of a round of the pool */
/* The work that a start may take until it fits, and then to improve; and the annealing of a member of the pool. */
static const int64_t START_REPAIR_PASSES = 400, START_PASSES = 30, POOL_PASSES = 200;

static void offer_pool(Solver *solver) {
    int best = pool_best(solver->pool);
    if (best >= 0) solver_offer(solver, solver->pool->choice[best]);
}

/* Rounds many prices near the best, and keeps the best results. */
static void find_starts(Solver *solver) {
    Starts *starts = solver->starts;
    int workers = solver->anneal->workers;
    double rounds = solver_is_timed(solver) ? INFINITY : ceil(STARTS * solver->control->effort / workers);
    for (double round = 0; round < rounds && !solver_is_over(solver, STARTS_UNTIL); round++) {
        for (int w = 0; w < workers; w++)
            for (int k = 0; k < STEPS_A_START; k++) volume_step(solver->dual, 1, starts->rounding[w]);
        solver_use_prices(solver);
        starts_round(starts, solver->dual, START_REPAIR_PASSES * solver_pass(solver),
                     START_PASSES * solver_pass(solver));
        offer_pool(solver);
        solver_tell_now_and_then(solver, "starts");
    }
    solver_settle(solver);
    solver_use_prices(solver);
    solver_tell(solver, "starts");
}

/* Works on the pool round after round, longer each time that a round brings nothing. */
static void work_on_pool(Solver *solver) {
    ChoicePool *pool = solver->pool;
    int turns = (pool->count + solver->anneal->workers - 1) / solver->anneal->workers;
    double effort = solver_is_timed(solver) ? INFINITY : solver->control->effort, rounds = POOL_ROUNDS * effort;
    int64_t work = (int64_t)(min_real(1, effort) * (double)(POOL_PASSES * solver_pass(solver)));
    for (double round = 0; round < rounds && pool->count > 1 && !solver_is_over(solver, POOL_UNTIL); round++) {
        int64_t before = solver->cost;
        for (int turn = 0; turn < turns && !solver_is_over(solver, POOL_UNTIL); turn++) {
            pool_turn(pool, HEATS[(int64_t)round % (int64_t)COUNT_OF(HEATS)], work);
            offer_pool(solver);
            solver_tell_now_and_then(solver, "pool");
        }
        if (solver->cost == before && work < INT64_MAX / 4) work *= 2;
    }
    solver_start_from_best(solver);
}

/* True, only with `may_fix`, means that a smaller core is left, on which to go on. */
static bool solve_large(Solver *solver, bool may_fix) {
    double effort = solver->control->effort;
    bool timed = solver_is_timed(solver);
    find_starts(solver);
    work_on_pool(solver);
    if (solver_is_proven(solver) || solver_is_over(solver, 1)) return false;
    if (may_fix && solver_fix_and_reduce(solver, FIXED_LEAST)) return true;
    solver_cycle(solver, solver_heat(solver, 0.03, 1), timed ? INFINITY : CYCLE_WORK * effort, FIRST_CYCLE_UNTIL);
    if (solver_is_proven(solver) || solver_is_over(solver, 1)) return false;
    solver_cycle(solver, solver_heat(solver, 0.02, 0.3), timed ? INFINITY : 2 * CYCLE_WORK * effort, 1);
    return false;
}

/* ---- small cores: reduced costs fix the states they can, then proof and better choices take turns ---- */

enum {
    FIXES_MAX = 4, /* in a row before branch and bound */
    TURNS_MAX = 5  /* turns of branch and bound, where work is counted */
};
static const double SEARCH_WORK = 1e9, TURN_WORK = 2e8; /* entries looked at */

/* Branch and bound for an amount of work. */
static void search_small(Solver *solver, double work) {
    BranchHooks hooks = {solver, solver_stop, solver_offer};
    int64_t cutoff = solver->cost < INT64_MAX ? solver->cost : solver->ceiling;
    int64_t branches = (int64_t)min_real(work / (100.0 * (double)(solver_entries(solver) + 1000)) + 10, 1e15);
    const BranchTools tools = {solver->dual, solver->exact, solver->anneal->descent[0], &solver->space};
    BranchResult result = branch_and_bound(&tools, cutoff, branches, &hooks);
    solver->result->branches += result.branches;
    if (result.finished && solver->cost == INT64_MAX) solver->result->proof = GRAPH_INFEASIBLE;
    if (result.finished && solver->cost < INT64_MAX) solver_raise_bound(solver, solver->cost);
    if (!result.finished) solver_raise_bound(solver, result.bound);
}

/* Branch and bound and annealing take turns, each twice as long as the last: the one proves, the other finds choices,
 * which in turn fix more states at the root. */
static void solve_small(Solver *solver) {
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

/* ---- the order of work ---- */

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
