/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/graph/solver.h: what a solve is made of: the state that its stages share, what is known so far, and the
 * stages that both ways of going on (solve_small.c, solve_large.c) use. Internal to search/layout/graph. */
#ifndef SHARDOPT_SEARCH_GRAPH_SOLVER_H
#define SHARDOPT_SEARCH_GRAPH_SOLVER_H

#include "search/graph/certify.h"
#include "search/graph/solve.h"
#include "search/graph/starts.h"

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
    int64_t cost;    /* of the best known; INT64_MAX: none */
    int64_t ceiling; /* nothing that fits costs as much */
    int64_t bound;
    double last_progress;
    double from; /* seconds: when work on the core in hand began */
    /* Of the cycle under way. */
    double cycle_from, cycle_until, cycle_work;
} Solver;

/* ---- time, and what is known ---- */

double solver_seconds(const Solver *solver); /* since it all began */
bool solver_is_timed(const Solver *solver);  /* there is a limit on time; else work counts */
/* Whether that share is over of the time that there was for the core in hand, or the user wants an end. */
bool solver_is_over(const Solver *solver, double share);
bool solver_stop(void *solver); /* the same of all the time; from any thread */
void solver_tell(Solver *solver, const char *stage);
void solver_tell_now_and_then(Solver *solver, const char *stage);
void solver_raise_bound(Solver *solver, int64_t bound);
bool solver_is_proven(const Solver *solver);
/* A choice of core states, evaluated on the input: the only way that anything becomes the best known. What a choice has
 * to be below from now on. */
int64_t solver_offer(void *solver, const int *choice);

/* ---- the core in hand ---- */

/* From what reductions left; prices go over. */
void solver_make_core(Solver *solver);
size_t solver_entries(const Solver *solver);
/* Small enough for branch and bound. */
bool solver_is_small(const Solver *solver);
/* A pass over the entries, within limits: what work is counted in. */
int64_t solver_pass(const Solver *solver);
/* Whether a core without nodes is left: what reductions chose is the last that could be better. */
bool solver_is_spent(Solver *solver);
/* Reduced costs take states and pairs away, which lets reductions go on, where that share of the core's states goes at
 * least. True: they did, and there is a new core. */
bool solver_fix_and_reduce(Solver *solver, double least);

/* ---- stages ---- */

int *solver_rounding(const Solver *solver); /* what prices and messages would choose */
/* Prices and messages until they come to rest, or that share of the time; the bound that they prove. */
void solver_find_bound(Solver *solver, double until);
/* The best prices in force, messages that suit them, and the bound that they prove. */
void solver_settle(Solver *solver);
/* The best prices, for all that descend. */
void solver_use_prices(Solver *solver);
/* A first choice that fits; where one is known, only a short try. */
void solver_find_choice(Solver *solver);
/* All descents from the best known, where it is a choice of the core in hand. */
void solver_start_from_best(Solver *solver);
/* How hot a cycle begins: what is near its bound needs little to get out of where it is. */
double solver_heat(const Solver *solver, double least, double most);
/* A cycle of annealing. work: INFINITY, or what ends it before the time does. */
void solver_cycle(Solver *solver, double hot, double work, double until);

/* ---- to the end ---- */

void solve_small(Solver *solver);
/* True, only where it `may_fix`: what is left is a smaller core, on which to go on. */
bool solve_large(Solver *solver, bool may_fix);

#endif
