/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/graph/solver.h: the parts of a solve: the state that its stages share, the knowledge so far, and the stages
 * that cores of every size go through. Internal to search/graph. */
#pragma once

#include "search/graph/certify.h"
#include "search/graph/pool.h"
#include "search/graph/solve.h"

typedef struct {
    const StrategyGraph *graph;
    const GraphControl *control;
    Workspace space;
    GraphResult *result;
    Reduction *reduction;
    Core *core;
    Dual *dual;
    ExactBound *exact;
    Anneal *anneal;
    ChoicePool *pool;
    Starts *starts;
    int *strategies, *scratch;
    int64_t cost;    /* of the best known choice; INT64_MAX means none */
    int64_t ceiling; /* no choice that fits costs this much */
    int64_t bound;
    double last_progress;
    double from; /* seconds at which work on the current core began */
    /* Limits of the current cycle. */
    double cycle_from, cycle_until, cycle_work;
} Solver;

/* ---- time, and what is known ---- */

double solver_seconds(const Solver *solver); /* seconds since the beginning */
bool solver_is_timed(const Solver *solver);  /* true with a limit on time; otherwise work is counted */
/* Whether that share of the time for the current core is over, or the user wants to stop. */
bool solver_is_over(const Solver *solver, double share);
bool solver_stop(void *solver); /* the same for the whole time; from any thread */
void solver_tell(Solver *solver, const char *stage);
void solver_tell_now_and_then(Solver *solver, const char *stage);
void solver_raise_bound(Solver *solver, int64_t bound);
bool solver_is_proven(const Solver *solver);
/* Evaluates a choice of core states on the input: this is the only way by which a choice becomes the best known.
 * Returns the cost that choices have to be below from now on. */
int64_t solver_offer(void *solver, const int *choice);

/* ---- the core in hand ---- */

/* Makes the core from the reductions' result; prices carry over. */
void solver_make_core(Solver *solver);
size_t solver_entries(const Solver *solver);
/* Whether it is small enough for branch and bound. */
bool solver_is_small(const Solver *solver);
/* The work of one pass over the entries, within limits: the unit of work. */
int64_t solver_pass(const Solver *solver);
/* Whether a core without nodes is left: the choice that the reductions made is the last that could be better. */
bool solver_is_spent(Solver *solver);
/* Removes states and pairs by reduced costs, so that reductions can go on, if at least that share of the core's states
 * is removed. True means that this happened, and that there is a new core. */
bool solver_fix_and_reduce(Solver *solver, double least);

/* ---- stages ---- */

int *solver_rounding(const Solver *solver); /* the choice that prices and messages suggest */
/* Moves prices and messages until they come to rest, or until that share of the time; keeps the bound that they
 * prove. */
void solver_find_bound(Solver *solver, double until);
/* Puts the best prices in force, with messages that suit them, and keeps the bound that they prove. */
void solver_settle(Solver *solver);
/* Gives the best prices to all descents. */
void solver_use_prices(Solver *solver);
/* Finds a first choice that fits; where one is known, only a short try is made. */
void solver_find_choice(Solver *solver);
/* Starts all descents from the best known choice, where it is a choice of the current core. */
void solver_start_from_best(Solver *solver);
/* The temperature at which a cycle begins: a choice near its bound needs little to move away. */
double solver_heat(const Solver *solver, double least, double most);
/* Runs a cycle of annealing. `work` is INFINITY, or the amount that ends it before the time does. */
void solver_cycle(Solver *solver, double hot, double work, double until);
