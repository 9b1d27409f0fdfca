/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order of work: reduce; bound by messages and prices; find a choice that fits and improve it; fix by reduced costs
 * and reduce again; then the rest is small enough for branch and bound, or too large for a proof. */
#include "search/graph/solve.h"
#include "search/graph/branch_and_bound.h"
#include "search/graph/pool.h"

#include "base/threads.h"
#include "base/util.h"

#include <math.h>
#include <string.h>

/* What the stages of a solve share, and what is known so far. */
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
    int64_t cost;    /* of the best known choice, or the cutoff; INT64_MAX means neither */
    bool found;      /* there is such a choice */
    int64_t ceiling; /* no choice that fits costs this much */
    int64_t bound;
    double last_progress;
    double from; /* seconds at which work on the current core began */
    /* Limits of the current cycle. */
    double cycle_from, cycle_until, cycle_work;
} Solver;

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

/* Since the beginning. */
static double seconds_since(const Solver *solver) { return solver->control->seconds(solver->control->context); }

/* The time at which that share of the time for the current core is over. */
static double end_of(const Solver *solver, double share) {
    double limit = solver->control->time_limit;
    return share < 1 && isfinite(limit) ? solver->from + share * (limit - solver->from) : limit;
}

/* Whether that share of the time for the current core is over, or the user wants to stop. */
static bool is_over(const Solver *solver, double share) {
    return solver->control->interrupted(solver->control->context) || seconds_since(solver) >= end_of(solver, share);
}

/* The same for the whole time; from any thread. */
static bool is_stopped(void *context) { return is_over(context, 1); }

/* With a limit on time; otherwise work is counted. */
static bool is_timed(const Solver *solver) { return isfinite(solver->control->time_limit); }

static void report(Solver *solver, const char *stage) {
    if (!solver->control->progress) return;
    GraphProgress progress = {seconds_since(solver), stage, solver->found, solver->cost, solver->bound};
    solver->control->progress(solver->control->context, &progress);
}

static void report_now_and_then(Solver *solver, const char *stage) {
    double now = seconds_since(solver);
    if (now <= solver->last_progress + 1) return;
    solver->last_progress = now;
    report(solver, stage);
}

static void raise_bound(Solver *solver, int64_t bound) {
    if (bound > solver->bound) solver->bound = min_whole(bound, solver->cost);
}

static bool is_proven(const Solver *solver) { return solver->cost < INT64_MAX && solver->bound >= solver->cost; }

/* Evaluates a choice of core states on the input: this is the only way by which a choice becomes the best known.
 * Returns the cost that choices have to be below from now on. */
static int64_t take_choice(void *context, const int *choice) {
    Solver *solver = context;
    GraphValue value;
    for (int i = 0; i < solver->core->nodes; i++) solver->scratch[solver->core->node_of[i]] = choice[i];
    reduction_expand(solver->reduction, solver->scratch);
    if (!graph_evaluate(solver->graph, solver->scratch, &value, NULL)) longjmp(solver->space.out, 1);
    if (value.is_feasible && value.cost < solver->cost) {
        solver->cost = (int64_t)value.cost;
        solver->found = true;
        memcpy(solver->strategies, solver->scratch, (size_t)solver->graph->node_count * sizeof *solver->strategies);
    }
    return solver->cost < INT64_MAX ? solver->cost : solver->ceiling;
}

static void take_choice_only(void *context, const int *choice) { take_choice(context, choice); }

static size_t entry_count(const Solver *solver) { return solver->core->entry_start[solver->core->edges]; }

/* Whether it is small enough for branch and bound. */
static bool is_small(const Solver *solver) {
    return solver->core->nodes <= SMALL_NODES && entry_count(solver) <= SMALL_ENTRIES;
}

/* Makes the core from the reductions' result; prices carry over. */
static void make_core(Solver *solver) {
    Core *core = core_new(solver->reduction, &solver->space);
    const Dual *before = solver->dual;
    solver->core = core;
    double range = core_cost_range(core);
    if (solver->ceiling == 0) solver->ceiling = (int64_t)core->constant + (int64_t)range + (int64_t)(range * 1e-12) + 2;
    if (solver->cost < INT64_MAX) { /* costs are not below 0 */
        raise_bound(solver, (int64_t)core->constant);
        range = min_real(range, max_real((double)(solver->cost - core->constant), 0) + 1);
    }
    core_fill(core, range);
    solver->dual = dual_new(core, &solver->space);
    if (before) dual_price_as(solver->dual, before);
    solver->exact = certify_new(core, &solver->space);
    int workers = is_timed(solver) ? solver->control->threads : WORKERS_BY_WORK;
    solver->anneal = anneal_new(core, workers, solver->control->threads, &solver->space);
    solver->pool = pool_new(solver->anneal, is_stopped, solver, &solver->space);
    solver->starts = starts_new(solver->pool, &solver->space);
}

/* The choice that prices and messages suggest. */
static int *rounding_of(const Solver *solver) { return solver->starts->rounding[0]; }

/* The work of one pass over the entries, within limits: the unit of work. */
static int64_t pass_work(const Solver *solver) {
    return min_whole(max_whole((int64_t)entry_count(solver) + 1000, 5000), PASS_MAX);
}

/* Puts the best prices in force, with messages that suit them, and keeps the bound that they prove. */
static void settle(Solver *solver) {
    Dual *dual = solver->dual;
    dual_price_best(dual);
    for (int k = 0; k < SETTLING_SWEEPS; k++) dual_sweep(dual, rounding_of(solver));
    certify(solver->exact, dual, NULL);
    raise_bound(solver, certified_cost(solver->exact));
}

/* Runs the volume algorithm from the prices in force, with a first step that could gain `gap`; returns the rest of the
 * work. */
static double move_prices(Solver *solver, double gap, double work, double until) {
    Dual *dual = solver->dual;
    const Core *core = solver->core;
    bool small = is_small(solver);
    /* On large cores messages of one sweep follow the prices closely enough. */
    int sweeps = small ? SMALL_SWEEPS : 1;
    double fine = small ? 1e-7 : 3e-7;
    double a_step = 2.0 * sweeps * (double)(core->matrix_size + core->message_size + 1) + core->times +
                    (double)core->item_usage[core->items];
    volume_start(dual, gap);
    while (core->times > 0 && !is_over(solver, until) && work > 0) {
        double bound = dual->best_bound + (double)core->constant;
        if (isfinite(dual->best_bound) && dual->step < fine * (fabs(bound) + 1)) break;
        if (solver->cost < INT64_MAX && bound > (double)solver->cost) break;
        volume_step(dual, sweeps, rounding_of(solver));
        work -= a_step;
        report_now_and_then(solver, "prices");
    }
    return work;
}

/* Moves prices and messages until they come to rest, or until that share of the time; keeps the bound that they
 * prove. */
static void find_bound(Solver *solver, double until) {
    Dual *dual = solver->dual;
    double bound = 0;
    for (int k = 0; k < 20 && !is_over(solver, until); k++) bound = dual_sweep(dual, rounding_of(solver));
    double scale = fabs(bound) + (double)solver->core->constant + 1;
    double work = is_timed(solver) ? INFINITY : BOUND_WORK * solver->control->effort;
    for (size_t start = 0; start < COUNT_OF(FIRST_GAPS) && work > 0; start++) {
        if (start > 0 && (is_over(solver, until) || solver->core->times == 0)) break; /* without prices all are alike */
        work = move_prices(solver, FIRST_GAPS[start] * scale, work, until);
        settle(solver);
    }
}

static double cycle_progress(void *context, int64_t work) {
    Solver *solver = context;
    double now = seconds_since(solver), end = end_of(solver, solver->cycle_until);
    report_now_and_then(solver, "descent");
    if (is_over(solver, solver->cycle_until) || is_proven(solver)) return 1;
    double by_work = (double)work / solver->cycle_work, by_time = 0;
    if (is_timed(solver)) by_time = (now - solver->cycle_from) / (end - solver->cycle_from);
    return max_real(by_work, by_time);
}

/* Runs a cycle of annealing. `work` is INFINITY, or the amount that ends it before the time does. */
static void anneal_core(Solver *solver, double hot, double work, double until) {
    AnnealHooks hooks = {solver, cycle_progress, take_choice_only};
    solver->cycle_from = seconds_since(solver);
    solver->cycle_until = until;
    solver->cycle_work = work;
    int64_t chunk = isfinite(work) ? max_whole(min_whole((int64_t)(work / 64), 20000000), 1000) : 20000000;
    anneal_cycle(solver->anneal, hot, chunk, &hooks);
}

/* Gives the best prices to all descents. */
static void use_prices(Solver *solver) {
    dual_price_best(solver->dual);
    for (int w = 0; w < solver->anneal->workers; w++) solver->anneal->descent[w]->priced = solver->dual->priced;
}

/* Starts all descents from the best known choice, where it is a choice of the current core. */
static void start_from_best(Solver *solver) {
    const Core *core = solver->core;
    if (!solver->found || !reduction_project(solver->reduction, solver->strategies, solver->scratch)) return;
    for (int i = 0; i < core->nodes; i++) rounding_of(solver)[i] = solver->scratch[core->node_of[i]];
    for (int w = 0; w < solver->anneal->workers; w++) descent_start(solver->anneal->descent[w], rounding_of(solver));
    if (anneal_best(solver->anneal)) pool_add(solver->pool, anneal_best(solver->anneal));
}

/* Finds a first choice that fits; where one is known, only a short try is made. */
static void find_choice(Solver *solver) {
    const Descent *descent = solver->anneal->descent[0];
    use_prices(solver);
    starts_repair(solver->starts, 0, solver->dual,
                  (solver->cost < INT64_MAX ? 100 : REPAIR_PASSES) * pass_work(solver));
    if (isfinite(descent->best_cost)) take_choice(solver, descent->best);
    start_from_best(solver);
    report(solver, "first choice");
}

/* The temperature at which a cycle begins: a choice near its bound needs little to move away. */
static double heat_of(const Solver *solver, double least, double most) {
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

/* Removes states and pairs by reduced costs, so that reductions can go on, if at least that share of the core's states
 * is removed. True means that this happened, and that there is a new core. */
static bool fix_and_reduce(Solver *solver, double least) {
    if (solver->cost == INT64_MAX) return false;
    certify_reduced(solver->exact);
    if (share_excluded(solver) < least) return false;
    if (certify_fix(solver->exact, solver->cost, solver->reduction) == 0) return false;
    if (!reduction_run(solver->reduction)) { /* no choice is cheaper than the best known */
        raise_bound(solver, solver->cost);
        return false;
    }
    make_core(solver);
    report(solver, "fixed");
    return true;
}

/* Whether the core has no nodes any more: the choice that the reductions made is the last that could be better. */
static bool is_spent(Solver *solver) {
    if (solver->core->nodes > 0) return false;
    take_choice(solver, rounding_of(solver));
    raise_bound(solver, solver->cost);
    return true;
}

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

static void take_pool_best(Solver *solver) {
    int best = pool_best(solver->pool);
    if (best >= 0) take_choice(solver, solver->pool->choice[best]);
}

/* Rounds many prices near the best, and keeps the best results. */
static void find_starts(Solver *solver) {
    Starts *starts = solver->starts;
    int workers = solver->anneal->workers;
    double rounds = is_timed(solver) ? INFINITY : ceil(STARTS * solver->control->effort / workers);
    for (double round = 0; round < rounds && !is_over(solver, STARTS_UNTIL); round++) {
        for (int w = 0; w < workers; w++)
            for (int k = 0; k < STEPS_A_START; k++) volume_step(solver->dual, 1, starts->rounding[w]);
        use_prices(solver);
        starts_round(starts, solver->dual, START_REPAIR_PASSES * pass_work(solver), START_PASSES * pass_work(solver));
        take_pool_best(solver);
        report_now_and_then(solver, "starts");
    }
    settle(solver);
    use_prices(solver);
    report(solver, "starts");
}

/* Works on the pool round after round, longer each time that a round brings nothing. */
static void work_on_pool(Solver *solver) {
    ChoicePool *pool = solver->pool;
    int turns = (pool->count + solver->anneal->workers - 1) / solver->anneal->workers;
    double effort = is_timed(solver) ? INFINITY : solver->control->effort, rounds = POOL_ROUNDS * effort;
    int64_t work = (int64_t)(min_real(1, effort) * (double)(POOL_PASSES * pass_work(solver)));
    for (double round = 0; round < rounds && pool->count > 1 && !is_over(solver, POOL_UNTIL); round++) {
        int64_t before = solver->cost;
        for (int turn = 0; turn < turns && !is_over(solver, POOL_UNTIL); turn++) {
            pool_turn(pool, HEATS[(int64_t)round % (int64_t)COUNT_OF(HEATS)], work);
            take_pool_best(solver);
            report_now_and_then(solver, "pool");
        }
        if (solver->cost == before && work < INT64_MAX / 4) work *= 2;
    }
    start_from_best(solver);
}

/* True, only with `may_fix`, means that there is a smaller core, on which to go on. */
static bool solve_large(Solver *solver, bool may_fix) {
    double effort = solver->control->effort;
    bool timed = is_timed(solver);
    find_starts(solver);
    work_on_pool(solver);
    if (is_proven(solver) || is_over(solver, 1)) return false;
    if (may_fix && fix_and_reduce(solver, FIXED_LEAST)) return true;
    anneal_core(solver, heat_of(solver, 0.03, 1), timed ? INFINITY : CYCLE_WORK * effort, FIRST_CYCLE_UNTIL);
    if (is_proven(solver) || is_over(solver, 1)) return false;
    anneal_core(solver, heat_of(solver, 0.02, 0.3), timed ? INFINITY : 2 * CYCLE_WORK * effort, 1);
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
    BranchHooks hooks = {solver, is_stopped, take_choice};
    int64_t cutoff = solver->cost < INT64_MAX ? solver->cost : solver->ceiling;
    int64_t branches = (int64_t)min_real(work / (100.0 * (double)(entry_count(solver) + 1000)) + 10, 1e15);
    const BranchTools tools = {solver->dual, solver->exact, solver->anneal->descent[0], &solver->space};
    BranchResult result = branch_and_bound(&tools, cutoff, branches, &hooks);
    solver->result->branches += result.branches;
    if (result.finished && solver->cost == INT64_MAX) solver->result->proof = GRAPH_INFEASIBLE;
    if (result.finished && solver->cost < INT64_MAX) raise_bound(solver, solver->cost);
    if (!result.finished) raise_bound(solver, result.bound);
}

/* Branch and bound and annealing take turns, each twice as long as the last: the one proves, the other finds choices,
 * which in turn fix more states at the root. */
static void solve_small(Solver *solver) {
    double length = is_timed(solver) ? 1 : solver->control->effort;
    for (int turn = 0; turn < TURNS_MAX || is_timed(solver); turn++, length *= 2) {
        find_bound(solver, 1);
        for (int fix = 0; fix < FIXES_MAX && !is_proven(solver) && fix_and_reduce(solver, 0); fix++) {
            if (is_spent(solver)) return;
            find_bound(solver, 1);
        }
        if (is_proven(solver) || is_over(solver, 1)) return;
        size_t times = (size_t)solver->core->times;
        double *price = workspace_take(&solver->space, times + 1, sizeof *price);
        memcpy(price, solver->dual->price, times * sizeof *price);
        report(solver, "branch and bound");
        search_small(solver, SEARCH_WORK * length);
        memcpy(solver->dual->best_price, price, times * sizeof *price);
        workspace_give(&solver->space, price, times + 1, sizeof *price);
        if (is_proven(solver) || solver->result->proof == GRAPH_INFEASIBLE || is_over(solver, 1)) return;

        settle(solver);
        if (!anneal_best(solver->anneal)) find_choice(solver);
        use_prices(solver);
        anneal_core(solver, heat_of(solver, 0.05, 1), TURN_WORK * length, 1);
        settle(solver);
        if (is_proven(solver) || is_over(solver, 1)) return;
    }
}

/* ---- the order of work ---- */

enum {
    ROUNDS_MAX = 6,  /* rounds of fixing and reducing again */
    LARGE_ROUNDS = 3 /* the number of them while the rest is large */
};
/* Shares of the time limit; entries looked at. */
static const double BOUND_UNTIL = 0.3, SMALL_CYCLE_UNTIL = 0.25, SMALL_CYCLE_WORK = 4e8;

/* Whether the first choice, or the cutoff, is too far from the first bound for more than a look. */
static bool is_unpromising(const Solver *solver) {
    double most = solver->control->gap_most;
    return most > 0 && (solver->cost == INT64_MAX || 1 - (double)solver->bound / (double)solver->cost > most);
}

static void work_on_core(Solver *solver) {
    for (int round = 0; round < ROUNDS_MAX; round++) {
        if (is_proven(solver) || is_spent(solver)) return;
        solver->from = round == 0 ? 0 : seconds_since(solver);
        find_bound(solver, round == 0 || !is_small(solver) ? BOUND_UNTIL : 1);
        report(solver, "bound");
        if (is_proven(solver)) return;
        find_choice(solver);
        if (is_proven(solver) || is_over(solver, 1) || (round == 0 && is_unpromising(solver))) return;
        if (!is_small(solver)) {
            if (!solve_large(solver, round + 1 < LARGE_ROUNDS)) return;
            continue;
        }
        double work = min_real(SMALL_CYCLE_WORK, 2000.0 * (double)(entry_count(solver) + 100)) / (round + 1);
        anneal_core(solver, heat_of(solver, 0.1, 0.5), work, SMALL_CYCLE_UNTIL);
        settle(solver);
        if (is_proven(solver) || is_over(solver, 1)) return;
        if (!fix_and_reduce(solver, 0)) break;
    }
    if (!is_proven(solver) && !is_spent(solver)) solve_small(solver);
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
    make_core(solver);
    result->core_nodes = solver->core->nodes;
    result->core_edges = solver->core->edges;
    result->core_strategies = solver->core->states;
    result->core_times = solver->core->times;
    report(solver, "reduced");
    work_on_core(solver);
    result->found = solver->found;
    if (is_proven(solver) && solver->found) result->proof = GRAPH_OPTIMAL;
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
    *solver = (Solver){.graph = graph, .control = &own, .result = result};
    solver->cost = own.cutoff > 0 ? own.cutoff : INT64_MAX;
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
