/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/graph/solver.h"

#include "base/util.h"

#include <math.h>
#include <string.h>

enum {
    WORKERS_BY_WORK = 2, /* workers side by side where work is counted, whatever the threads */
    SMALL_SWEEPS = 3,    /* sweeps of messages for a change of prices */
    SETTLING_SWEEPS = 3, /* sweeps of messages at prices that stay */
    SMALL_NODES = 1500,
    SMALL_ENTRIES = 3000000
};
static const double BOUND_WORK = 12e9; /* entries looked at, without a time limit */
static const double HEAT_OF_GAP = 10;
/* The gain that a first step of prices could have, as a share of the cost; they start again from the prices at which
 * they came to rest. */
static const double FIRST_GAPS[] = {0.02, 0.002, 0.0002};
static const int64_t PASS_MAX = 1000000, REPAIR_PASSES = 4000;

double solver_seconds(const Solver *solver) { return solver->control->seconds(solver->control->context); }

/* The time at which that share of the time for the current core is over. */
static double end_of(const Solver *solver, double share) {
    double limit = solver->control->time_limit;
    return share < 1 && isfinite(limit) ? solver->from + share * (limit - solver->from) : limit;
}

bool solver_is_over(const Solver *solver, double share) {
    return solver->control->interrupted(solver->control->context) || solver_seconds(solver) >= end_of(solver, share);
}

bool solver_stop(void *context) { return solver_is_over(context, 1); }

bool solver_is_timed(const Solver *solver) { return isfinite(solver->control->time_limit); }

void solver_tell(Solver *solver, const char *stage) {
    if (!solver->control->progress) return;
    GraphProgress progress = {solver_seconds(solver), stage, solver->cost < INT64_MAX, solver->cost, solver->bound};
    solver->control->progress(solver->control->context, &progress);
}

void solver_tell_now_and_then(Solver *solver, const char *stage) {
    double now = solver_seconds(solver);
    if (now <= solver->last_progress + 1) return;
    solver->last_progress = now;
    solver_tell(solver, stage);
}

void solver_raise_bound(Solver *solver, int64_t bound) {
    if (bound > solver->bound) solver->bound = min_whole(bound, solver->cost);
}

bool solver_is_proven(const Solver *solver) { return solver->cost < INT64_MAX && solver->bound >= solver->cost; }

int64_t solver_offer(void *context, const int *choice) {
    Solver *solver = context;
    GraphValue value;
    for (int i = 0; i < solver->core->nodes; i++) solver->scratch[solver->core->node_of[i]] = choice[i];
    reduction_expand(solver->reduction, solver->scratch);
    if (!graph_evaluate(solver->graph, solver->scratch, &value, NULL)) longjmp(solver->space.out, 1);
    if (value.is_feasible && value.cost < solver->cost) {
        solver->cost = (int64_t)value.cost;
        memcpy(solver->strategies, solver->scratch, (size_t)solver->graph->node_count * sizeof *solver->strategies);
    }
    return solver->cost < INT64_MAX ? solver->cost : solver->ceiling;
}

static void offer_only(void *context, const int *choice) { solver_offer(context, choice); }

size_t solver_entries(const Solver *solver) { return solver->core->entry_start[solver->core->edges]; }

bool solver_is_small(const Solver *solver) {
    return solver->core->nodes <= SMALL_NODES && solver_entries(solver) <= SMALL_ENTRIES;
}

void solver_make_core(Solver *solver) {
    Core *core = core_new(solver->reduction, &solver->space);
    const Dual *before = solver->dual;
    solver->core = core;
    double range = core_cost_range(core);
    if (solver->ceiling == 0) solver->ceiling = (int64_t)core->constant + (int64_t)range + (int64_t)(range * 1e-12) + 2;
    core_fill(core, solver->cost < INT64_MAX ? min_real(range, (double)(solver->cost - core->constant) + 1) : range);
    solver->dual = dual_new(core, &solver->space);
    if (before) dual_price_as(solver->dual, before);
    solver->exact = certify_new(core, &solver->space);
    int workers = solver_is_timed(solver) ? solver->control->threads : WORKERS_BY_WORK;
    solver->anneal = anneal_new(core, workers, solver->control->threads, &solver->space);
    solver->pool = pool_new(solver->anneal, solver_stop, solver, &solver->space);
    solver->starts = starts_new(solver->pool, &solver->space);
}

int *solver_rounding(const Solver *solver) { return solver->starts->rounding[0]; }

int64_t solver_pass(const Solver *solver) {
    return min_whole(max_whole((int64_t)solver_entries(solver) + 1000, 5000), PASS_MAX);
}

void solver_settle(Solver *solver) {
    Dual *dual = solver->dual;
    dual_price_best(dual);
    for (int k = 0; k < SETTLING_SWEEPS; k++) dual_sweep(dual, solver_rounding(solver));
    certify(solver->exact, dual, NULL);
    solver_raise_bound(solver, certified_cost(solver->exact));
}

/* Runs the volume algorithm from the prices in force, with a first step that could gain `gap`; returns the rest of the
 * work. */
static double move_prices(Solver *solver, double gap, double work, double until) {
    Dual *dual = solver->dual;
    const Core *core = solver->core;
    bool small = solver_is_small(solver);
    /* On large cores messages of one sweep follow the prices closely enough. */
    int sweeps = small ? SMALL_SWEEPS : 1;
    double fine = small ? 1e-7 : 3e-7;
    double a_step = 2.0 * sweeps * (double)(core->matrix_size + core->message_size + 1) + core->times +
                    (double)core->item_usage[core->items];
    volume_start(dual, gap);
    while (core->times > 0 && !solver_is_over(solver, until) && work > 0) {
        double bound = dual->best_bound + (double)core->constant;
        if (isfinite(dual->best_bound) && dual->step < fine * (fabs(bound) + 1)) break;
        if (solver->cost < INT64_MAX && bound > (double)solver->cost) break;
        volume_step(dual, sweeps, solver_rounding(solver));
        work -= a_step;
        solver_tell_now_and_then(solver, "prices");
    }
    return work;
}

void solver_find_bound(Solver *solver, double until) {
    Dual *dual = solver->dual;
    double bound = 0;
    for (int k = 0; k < 20 && !solver_is_over(solver, until); k++) bound = dual_sweep(dual, solver_rounding(solver));
    double scale = fabs(bound) + (double)solver->core->constant + 1;
    double work = solver_is_timed(solver) ? INFINITY : BOUND_WORK * solver->control->effort;
    for (size_t start = 0; start < COUNT_OF(FIRST_GAPS) && work > 0; start++) {
        if (start > 0 && solver_is_over(solver, until)) break;
        work = move_prices(solver, FIRST_GAPS[start] * scale, work, until);
        solver_settle(solver);
    }
}

static double cycle_progress(void *context, int64_t work) {
    Solver *solver = context;
    double now = solver_seconds(solver), end = end_of(solver, solver->cycle_until);
    solver_tell_now_and_then(solver, "descent");
    if (solver_is_over(solver, solver->cycle_until) || solver_is_proven(solver)) return 1;
    double by_work = (double)work / solver->cycle_work, by_time = 0;
    if (solver_is_timed(solver)) by_time = (now - solver->cycle_from) / (end - solver->cycle_from);
    return max_real(by_work, by_time);
}

void solver_cycle(Solver *solver, double hot, double work, double until) {
    AnnealAsks asks = {solver, cycle_progress, offer_only};
    solver->cycle_from = solver_seconds(solver);
    solver->cycle_until = until;
    solver->cycle_work = work;
    int64_t chunk = isfinite(work) ? max_whole(min_whole((int64_t)(work / 64), 20000000), 1000) : 20000000;
    anneal_cycle(solver->anneal, hot, chunk, &asks);
}

void solver_use_prices(Solver *solver) {
    dual_price_best(solver->dual);
    for (int w = 0; w < solver->anneal->workers; w++) solver->anneal->descent[w]->priced = solver->dual->priced;
}

void solver_start_from_best(Solver *solver) {
    const Core *core = solver->core;
    if (solver->cost == INT64_MAX || !reduction_project(solver->reduction, solver->strategies, solver->scratch)) return;
    for (int i = 0; i < core->nodes; i++) solver_rounding(solver)[i] = solver->scratch[core->node_of[i]];
    for (int w = 0; w < solver->anneal->workers; w++)
        descent_start(solver->anneal->descent[w], solver_rounding(solver));
    if (anneal_best(solver->anneal)) pool_add(solver->pool, anneal_best(solver->anneal));
}

void solver_find_choice(Solver *solver) {
    const Descent *descent = solver->anneal->descent[0];
    solver_use_prices(solver);
    starts_repair(solver->starts, 0, solver->dual,
                  (solver->cost < INT64_MAX ? 100 : REPAIR_PASSES) * solver_pass(solver));
    if (isfinite(descent->best_cost)) solver_offer(solver, descent->best);
    solver_start_from_best(solver);
    solver_tell(solver, "first choice");
}

double solver_heat(const Solver *solver, double least, double most) {
    if (solver->cost == INT64_MAX || solver->cost <= 0) return most;
    double gap = 1 - (double)solver->bound / (double)solver->cost;
    return min_real(most, max_real(least, HEAT_OF_GAP * gap));
}

/* The share of the core's states that no cheaper choice has. */
static double share_excluded(const Solver *solver) {
    const Core *core = solver->core;
    int64_t count = 0;
    for (int i = 0; i < core->nodes; i++)
        for (int s = 0; s < core->count[i]; s++) count += certified_above(solver->exact, i, s, solver->cost);
    return (double)count / max_real(1, core->states);
}

bool solver_fix_and_reduce(Solver *solver, double least) {
    if (solver->cost == INT64_MAX) return false;
    certify_reduced(solver->exact);
    if (share_excluded(solver) < least) return false;
    if (certify_fix(solver->exact, solver->cost, solver->reduction) == 0) return false;
    if (!reduction_run(solver->reduction)) { /* no choice is cheaper than the best known */
        solver_raise_bound(solver, solver->cost);
        return false;
    }
    solver_make_core(solver);
    solver_tell(solver, "fixed");
    return true;
}

bool solver_is_spent(Solver *solver) {
    if (solver->core->nodes > 0) return false;
    solver_offer(solver, solver_rounding(solver));
    solver_raise_bound(solver, solver->cost);
    return true;
}
