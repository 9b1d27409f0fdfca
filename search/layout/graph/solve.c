/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order of work: reduce; bound by messages and prices; find a choice that fits and better it; where what is left is
 * small, fix by reduced costs and reduce again, then branch and bound to the proof; where it is large, anneal to the end. */
#include "search/layout/graph/solve.h"

#include "base/util.h"
#include "search/layout/graph/anneal.h"
#include "search/layout/graph/certify.h"
#include "search/layout/graph/jump.h"
#include "search/layout/graph/starts.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum {
    ROUNDS_MAX = 6,      /* of fixing and reducing again */
    WORKERS_BY_WORK = 2, /* side by side where work counts, whatever the threads */
    SMALL_SWEEPS = 3,    /* of messages for a change of prices */
    SETTLING_SWEEPS = 3, /* of messages at prices that stay */
    FIXES_MAX = 4,       /* in a row before branch and bound */
    TURNS_MAX = 5,       /* of branch and bound, where work counts */
    STARTS = 24,         /* of a large core, where work counts */
    POOL_ROUNDS = 2,     /* the same */
    STEPS_A_START = 4,   /* of prices: no two from the same */
    SMALL_NODES = 1500,
    SMALL_ENTRIES = 3000000
};
/* Shares of the time limit, and work (entries looked at) without one. */
static const double BOUND_UNTIL = 0.3, STARTS_UNTIL = 0.42, POOL_UNTIL = 0.75, FIRST_CYCLE_UNTIL = 0.9,
                    SMALL_CYCLE_UNTIL = 0.25;
static const double LARGE_BOUND_WORK = 12e9, LARGE_CYCLE_WORK = 4e9, SMALL_CYCLE_WORK = 4e8, SMALL_SEARCH_WORK = 1e9,
                    SMALL_TURN_WORK = 2e8;
static const double HEAT_OF_GAP = 10;
static const double FIXED_LEAST = 0.05; /* of a large core's states: else it is not worth beginning again */
static const double HEATS[] = {0.01, 0.1, 0.003, 0.03}; /* of a round of the pool */
/* What a first step of prices could gain, as a share of the cost; they start again from where they came to rest. */
static const double FIRST_GAPS[] = {0.02, 0.002, 0.0002};
/* In passes over the entries: what a start may take to fit, and then to get better in. */
static const int64_t PASS_MAX = 1000000, REPAIR_PASSES = 4000, START_REPAIR_PASSES = 400, START_PASSES = 30,
                     POOL_PASSES = 200;

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
    Pool *pool;
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

static double seconds(const Solver *solver) { return solver->control->seconds(solver->control->context); }

/* When that share is over of the time that there was for the core in hand. */
static double end_of(const Solver *solver, double share) {
    double limit = solver->control->time_limit;
    return share < 1 && isfinite(limit) ? solver->from + share * (limit - solver->from) : limit;
}

static bool is_over(const Solver *solver, double share) {
    return solver->control->interrupted(solver->control->context) || seconds(solver) >= end_of(solver, share);
}

static bool stop(void *context) { return is_over(context, 1); }
static bool is_timed(const Solver *solver) { return isfinite(solver->control->time_limit); }

static void tell(Solver *solver, const char *stage) {
    if (!solver->control->progress) return;
    GraphProgress progress = {seconds(solver), stage, solver->cost < INT64_MAX, solver->cost, solver->bound};
    solver->control->progress(solver->control->context, &progress);
}

static void tell_now_and_then(Solver *solver, const char *stage) {
    double now = seconds(solver);
    if (now <= solver->last_progress + 1) return;
    solver->last_progress = now;
    tell(solver, stage);
}

static void raise_bound(Solver *solver, int64_t bound) {
    if (bound > solver->bound) solver->bound = min_whole(bound, solver->cost);
}

static bool is_proven(const Solver *solver) { return solver->cost < INT64_MAX && solver->bound >= solver->cost; }

/* A choice of core states, evaluated on the input: the only way that anything becomes the best known. */
static int64_t offer(void *context, const int *choice) {
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

static void offer_only(void *context, const int *choice) { offer(context, choice); }

static size_t entries(const Solver *solver) { return solver->core->entry_start[solver->core->edges]; }

static bool is_small(const Solver *solver) {
    return solver->core->nodes <= SMALL_NODES && entries(solver) <= SMALL_ENTRIES;
}

/* ---- stages ---- */

static void make_core(Solver *solver) {
    Core *core = core_new(solver->reduction, &solver->space);
    const Dual *before = solver->dual;
    solver->core = core;
    double range = core_cost_range(core);
    if (solver->ceiling == 0) solver->ceiling = (int64_t)core->constant + (int64_t)range + (int64_t)(range * 1e-12) + 2;
    core_fill(core, solver->cost < INT64_MAX ? min_real(range, (double)(solver->cost - core->constant) + 1) : range);
    solver->dual = dual_new(core, &solver->space);
    if (before) dual_price_as(solver->dual, before);
    solver->exact = certify_new(core, &solver->space);
    int workers = is_timed(solver) ? solver->control->threads : WORKERS_BY_WORK;
    solver->anneal = anneal_new(core, workers, solver->control->threads, &solver->space);
    solver->pool = pool_new(solver->anneal, stop, solver, &solver->space);
    solver->starts = starts_new(solver->pool, &solver->space);
}

/* What prices and messages would choose. */
static int *rounding(const Solver *solver) { return solver->starts->rounding[0]; }

/* In entries looked at. */
static int64_t pass(const Solver *solver) {
    return min_whole(max_whole((int64_t)entries(solver) + 1000, 5000), PASS_MAX);
}

/* The best prices in force, messages that suit them, and the bound that they prove. */
static void settle(Solver *solver) {
    Dual *dual = solver->dual;
    dual_price_best(dual);
    for (int k = 0; k < SETTLING_SWEEPS; k++) dual_sweep(dual, rounding(solver));
    certify(solver->exact, dual, NULL);
    raise_bound(solver, certified_cost(solver->exact));
}

/* The volume algorithm from the prices in force, with a first step that could gain `gap`; returns what is left of the
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
        volume_step(dual, sweeps, rounding(solver));
        work -= a_step;
        tell_now_and_then(solver, "prices");
    }
    return work;
}

static void find_bound(Solver *solver, double until) {
    Dual *dual = solver->dual;
    double bound = 0;
    for (int k = 0; k < 20 && !is_over(solver, until); k++) bound = dual_sweep(dual, rounding(solver));
    double scale = fabs(bound) + (double)solver->core->constant + 1;
    double work = is_timed(solver) ? INFINITY : LARGE_BOUND_WORK * solver->control->effort;
    for (size_t start = 0; start < COUNT_OF(FIRST_GAPS); start++) {
        work = move_prices(solver, FIRST_GAPS[start] * scale, work, until);
        settle(solver);
    }
}

static double cycle_progress(void *context, int64_t work) {
    Solver *solver = context;
    double now = seconds(solver), end = end_of(solver, solver->cycle_until);
    tell_now_and_then(solver, "descent");
    if (is_over(solver, solver->cycle_until) || is_proven(solver)) return 1;
    double by_work = (double)work / solver->cycle_work, by_time = 0;
    if (is_timed(solver)) by_time = (now - solver->cycle_from) / (end - solver->cycle_from);
    return max_real(by_work, by_time);
}

/* work: INFINITY, or what ends the cycle before the time does. */
static void run_cycle(Solver *solver, double hot, double work, double until) {
    AnnealAsks asks = {solver, cycle_progress, offer_only};
    solver->cycle_from = seconds(solver);
    solver->cycle_until = until;
    solver->cycle_work = work;
    int64_t chunk = isfinite(work) ? max_whole(min_whole((int64_t)(work / 64), 20000000), 1000) : 20000000;
    anneal_cycle(solver->anneal, hot, chunk, &asks);
}

/* The best prices, for all that descend. */
static void use_prices(Solver *solver) {
    dual_price_best(solver->dual);
    for (int w = 0; w < solver->anneal->workers; w++) solver->anneal->descent[w]->priced = solver->dual->priced;
}

/* All descents from the best known, where it is a choice of the core in hand. */
static void start_from_best(Solver *solver) {
    const Core *core = solver->core;
    if (solver->cost == INT64_MAX || !reduction_project(solver->reduction, solver->strategies, solver->scratch)) return;
    for (int i = 0; i < core->nodes; i++) rounding(solver)[i] = solver->scratch[core->node_of[i]];
    for (int w = 0; w < solver->anneal->workers; w++) descent_start(solver->anneal->descent[w], rounding(solver));
    if (anneal_best(solver->anneal)) pool_add(solver->pool, anneal_best(solver->anneal));
}

/* A first choice that fits; where one is known, only a short try. */
static void find_choice(Solver *solver) {
    const Descent *descent = solver->anneal->descent[0];
    use_prices(solver);
    starts_repair(solver->starts, 0, solver->dual, (solver->cost < INT64_MAX ? 100 : REPAIR_PASSES) * pass(solver));
    if (isfinite(descent->best_cost)) offer(solver, descent->best);
    start_from_best(solver);
    tell(solver, "first choice");
}

static void offer_pool(Solver *solver) {
    int best = pool_best(solver->pool);
    if (best >= 0) offer(solver, solver->pool->choice[best]);
}

/* Roundings of many prices near the best, and the best of what they lead to. */
static void find_starts(Solver *solver) {
    Starts *starts = solver->starts;
    int workers = solver->anneal->workers;
    double rounds = is_timed(solver) ? INFINITY : ceil(STARTS * solver->control->effort / workers);
    for (double round = 0; round < rounds && !is_over(solver, STARTS_UNTIL); round++) {
        for (int w = 0; w < workers; w++)
            for (int k = 0; k < STEPS_A_START; k++) volume_step(solver->dual, 1, starts->rounding[w]);
        use_prices(solver);
        starts_round(starts, solver->dual, START_REPAIR_PASSES * pass(solver), START_PASSES * pass(solver));
        offer_pool(solver);
        tell_now_and_then(solver, "starts");
    }
    settle(solver);
    use_prices(solver);
    tell(solver, "starts");
}

/* The pool round and round, longer each time that it brings nothing. */
static void work_on_pool(Solver *solver) {
    Pool *pool = solver->pool;
    int turns = (pool->count + solver->anneal->workers - 1) / solver->anneal->workers;
    double rounds = is_timed(solver) ? INFINITY : POOL_ROUNDS * solver->control->effort;
    int64_t work = POOL_PASSES * pass(solver);
    for (double round = 0; round < rounds && pool->count > 1 && !is_over(solver, POOL_UNTIL); round++) {
        int64_t before = solver->cost;
        for (int turn = 0; turn < turns && !is_over(solver, POOL_UNTIL); turn++) {
            pool_turn(pool, HEATS[(int64_t)round % (int64_t)COUNT_OF(HEATS)], work);
            offer_pool(solver);
            tell_now_and_then(solver, "pool");
        }
        if (solver->cost == before && work < INT64_MAX / 4) work *= 2;
    }
    start_from_best(solver);
}

/* How hot a cycle begins: what is near its bound needs little to get out of where it is. */
static double heat(const Solver *solver, double least, double most) {
    if (solver->cost == INT64_MAX || solver->cost <= 0) return most;
    double gap = 1 - (double)solver->bound / (double)solver->cost;
    return min_real(most, max_real(least, HEAT_OF_GAP * gap));
}

/* Of the core's states, the share that no cheaper choice has. */
static double share_fixed(Solver *solver) {
    const Core *core = solver->core;
    int64_t count = 0;
    if (solver->cost == INT64_MAX) return 0;
    certify_reduced(solver->exact);
    for (int i = 0; i < core->nodes; i++)
        for (int s = 0; s < core->count[i]; s++) count += certified_above(solver->exact, i, s, solver->cost);
    return (double)count / max_real(1, core->states);
}

/* Reduced costs take states and pairs away, which lets reductions go on. True: they did, and there is a new core. */
static bool fix_and_reduce(Solver *solver) {
    if (solver->cost == INT64_MAX) return false;
    int64_t fixed = certify_fix(solver->exact, solver->cost, solver->reduction);
    if (fixed == 0) return false;
    if (!reduction_run(solver->reduction)) { /* nothing is cheaper than the best known */
        raise_bound(solver, solver->cost);
        return false;
    }
    make_core(solver);
    tell(solver, "fixed");
    return true;
}

/* True: what is left is a smaller core, on which to go on. */
static bool work_on_large(Solver *solver) {
    double effort = solver->control->effort;
    bool timed = is_timed(solver);
    find_starts(solver);
    work_on_pool(solver);
    if (is_proven(solver) || is_over(solver, 1)) return false;
    if (share_fixed(solver) >= FIXED_LEAST && fix_and_reduce(solver)) return true;
    run_cycle(solver, heat(solver, 0.03, 1), timed ? INFINITY : LARGE_CYCLE_WORK * effort, FIRST_CYCLE_UNTIL);
    if (is_proven(solver) || is_over(solver, 1)) return false;
    run_cycle(solver, heat(solver, 0.02, 0.3), timed ? INFINITY : 2 * LARGE_CYCLE_WORK * effort, 1);
    return false;
}

/* Branch and bound for an amount of work. */
static void search_small(Solver *solver, double work) {
    JumpAsks asks = {solver, stop, offer};
    int64_t cutoff = solver->cost < INT64_MAX ? solver->cost : solver->ceiling;
    int64_t branches = (int64_t)min_real(work / (100.0 * (double)(entries(solver) + 1000)) + 10, 1e15);
    JumpResult result =
        jump_search(solver->dual, solver->exact, solver->anneal->descent[0], cutoff, branches, &asks, &solver->space);
    solver->result->branches += result.branches;
    if (result.finished && solver->cost == INT64_MAX) solver->result->proof = GRAPH_INFEASIBLE;
    if (result.finished && solver->cost < INT64_MAX) raise_bound(solver, solver->cost);
    if (!result.finished) raise_bound(solver, result.bound);
}

/* Whether a core without nodes is left: what reductions chose is the last that could be better. */
static bool is_spent(Solver *solver) {
    if (solver->core->nodes > 0) return false;
    offer(solver, rounding(solver));
    raise_bound(solver, solver->cost);
    return true;
}

/* Branch and bound and annealing in turns, each twice as long as the last: the one proves, the other finds, and what is
 * found fixes more at the root. */
static void search_in_turns(Solver *solver) {
    double length = is_timed(solver) ? 1 : solver->control->effort;
    for (int turn = 0; turn < TURNS_MAX || is_timed(solver); turn++, length *= 2) {
        find_bound(solver, 1);
        for (int fix = 0; fix < FIXES_MAX && !is_proven(solver) && fix_and_reduce(solver); fix++) {
            if (is_spent(solver)) return;
            find_bound(solver, 1);
        }
        if (is_proven(solver) || is_over(solver, 1)) return;
        size_t times = (size_t)solver->core->times;
        double *price = workspace_take(&solver->space, times + 1, sizeof *price);
        memcpy(price, solver->dual->price, times * sizeof *price);
        tell(solver, "branch and bound");
        search_small(solver, SMALL_SEARCH_WORK * length);
        memcpy(solver->dual->best_price, price, times * sizeof *price);
        workspace_give(&solver->space, price, times + 1, sizeof *price);
        if (is_proven(solver) || solver->result->proof == GRAPH_INFEASIBLE || is_over(solver, 1)) return;

        settle(solver);
        if (!anneal_best(solver->anneal)) find_choice(solver);
        use_prices(solver);
        run_cycle(solver, heat(solver, 0.05, 1), SMALL_TURN_WORK * length, 1);
        settle(solver);
        if (is_proven(solver) || is_over(solver, 1)) return;
    }
}

static void work_on_core(Solver *solver) {
    for (int round = 0; round < ROUNDS_MAX; round++) {
        if (is_spent(solver)) return;
        solver->from = round == 0 ? 0 : seconds(solver);
        find_bound(solver, round == 0 || !is_small(solver) ? BOUND_UNTIL : 1);
        tell(solver, "bound");
        find_choice(solver);
        if (is_proven(solver) || is_over(solver, 1)) return;
        if (!is_small(solver)) {
            if (!work_on_large(solver)) return;
            continue;
        }
        double work = min_real(SMALL_CYCLE_WORK, 2000.0 * (double)(entries(solver) + 100)) / (round + 1);
        run_cycle(solver, heat(solver, 0.1, 0.5), work, SMALL_CYCLE_UNTIL);
        settle(solver);
        if (is_proven(solver) || is_over(solver, 1)) return;
        if (!fix_and_reduce(solver)) break;
    }
    if (!is_proven(solver) && !is_spent(solver)) search_in_turns(solver);
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
    tell(solver, "reduced");
    work_on_core(solver);
    result->found = solver->cost < INT64_MAX;
    if (is_proven(solver)) result->proof = GRAPH_OPTIMAL;
    result->bound = result->proof == GRAPH_OPTIMAL ? solver->cost : solver->bound;
}

bool graph_solve(const StrategyGraph *graph, const GraphControl *control, Arena *arena, GraphResult *result,
                 Error *error) {
    GraphControl own = *control;
    Solver *solver = ARENA_NEW(arena, Solver, 1);
    size_t nodes = (size_t)graph->node_count + 1;
    *result = (GraphResult){0};
    if (!solver) return error_memory(error);
    if (own.threads <= 0) own.threads = omp_get_max_threads();
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
