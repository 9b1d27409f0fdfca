/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cores too large for branch and bound: many starts, a pool of the best of them, removal of the states that the bound
 * excludes, and where those are few, annealing to the end. */
#include "search/graph/solver.h"

#include "base/util.h"

#include <math.h>

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

bool solve_large(Solver *solver, bool may_fix) {
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
