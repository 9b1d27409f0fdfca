/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/explore/explore.h"

#include "base/util.h"
#include "search/engine/explore/tuple_node.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- one tuple ---- */

/* Where placements above the threshold were left, all of the setting is: its counts are taken back until then. */
static bool leave_candidate(Explorer *explorer, const ExploreStats *before, int64_t index, Count plans) {
    ExploreStats *stats = &explorer->stats;
    Deferred left = {.kind = LEFT_CANDIDATE,
                     .bound = stats->least_above_threshold,
                     .index = index,
                     .plans = plans,
                     .evaluated = stats->evaluated - before->evaluated,
                     .required = stats->pruned[PRUNED_REQUIRE] - before->pruned[PRUNED_REQUIRE]};
    stats->least_above_threshold = before->least_above_threshold;
    stats->least_cut_bound = before->least_cut_bound;
    stats->evaluated = before->evaluated;
    memcpy(stats->pruned, before->pruned, sizeof stats->pruned);
    return explorer_leave(explorer, left);
}

/* A knob setting that was listed: the best of its placements and layouts, into *best where it beats what is there. */
static bool explore_knobs(TupleNode *tuple, int64_t index, double limit, BestPlan *best) {
    Explorer *explorer = tuple->explorer;
    ExploreStats before = explorer->stats;
    Knobs knobs = knob_space_at(&tuple->space, index);
    Admission admission;
    if (!knobs_admitted(tuple, &knobs, &admission))
        return error_set(&explorer->error, ERROR_INTERNAL, "search", "knobs were admitted once and not again");
    if (explorer->left) explorer->stats.least_above_threshold = INFINITY;
    if (!candidate_explore(tuple, index, &admission, limit, best)) return false;
    /* Where the row has a plan up to the threshold, what is above is worse than that. */
    bool beaten = best->found && best->ranked_seconds <= explorer->stats.threshold;
    bool above = explorer->stats.least_above_threshold < INFINITY && !beaten;
    return !explorer->left || !above || leave_candidate(explorer, &before, index, tuple->placement_total);
}

/* The best plan with the expert grid and schedule of a knob setting, made when it is first requested; NULL means that
 * memory is out. */
static BestPlan *best_of_row(const TupleNode *tuple, int64_t index, BestPlan **best) {
    Knobs knobs = knob_space_at(&tuple->space, index);
    int64_t grid = knob_space_methods(&tuple->space, index) % tuple->space.methods.grid_count;
    BestPlan **row = &best[grid * SCHEDULE_COUNT + (int64_t)knobs.schedule];
    if (!*row) *row = ARENA_NEW(tuple->arena, BestPlan, 1);
    return *row;
}

/* One listed knob setting; `best` are the best plans by expert grid and schedule, `threshold` is ranked. */
static bool explore_listed(TupleNode *tuple, const BoundedIndex *item, BestPlan **best, double threshold) {
    Explorer *explorer = tuple->explorer;
    const SearchControl *control = &tuple->problem->request->control;
    BestPlan own = {0}, *plan = control->variants ? &own : best_of_row(tuple, item->index, best);
    if (!plan) return error_memory(&explorer->error);
    double limit = plan->found ? min_real(threshold, plan->ranked_seconds) : threshold;
    if (explorer_stops(explorer)) return false;
    if (item->bound > limit * CUT && !control->brute_force) {
        explorer->stats.pruned[PRUNED_KNOB_BOUND] += tuple->placement_total;
        explore_note_cut(&explorer->stats, item->bound);
        return true;
    }
    return explore_knobs(tuple, item->index, limit, plan) &&
           (!own.found || best_plan_list_add(&explorer->plans, &own, &explorer->error));
}

/* What was left of a tuple; NULL in place of its items means that the whole tuple is meant. */
typedef struct {
    const Deferred *items;
    int64_t count;
} TupleLeft;

static bool explore_expanded(TupleNode *tuple, double threshold, TupleLeft left, BoundedIndexList *knob_list) {
    Explorer *explorer = tuple->explorer;
    bool ok = left.items ? knob_list_go_on(tuple, left.items, left.count, knob_list) : knob_list_make(tuple, knob_list);
    if (!ok || knob_list->count == 0) return ok;
    int64_t rows = (int64_t)tuple->space.methods.grid_count * SCHEDULE_COUNT;
    BestPlan **best = ARENA_NEW(tuple->arena, BestPlan *, (size_t)rows);
    if (!best) return error_memory(&explorer->error);
    for (int64_t i = 0; ok && i < knob_list->count; i++)
        ok = explore_listed(tuple, &knob_list->items[i], best, threshold);
    /* An interrupted search keeps what it has found. */
    for (int64_t i = 0; (ok || explorer->interrupted) && i < rows; i++)
        if (best[i] && best[i]->found && !best_plan_list_add(&explorer->plans, best[i], &explorer->error)) ok = false;
    return ok;
}

static bool explore_some(Explorer *explorer, const Degrees *degrees, double threshold, TupleLeft left) {
    Arena arena = {.budget = explorer->budget};
    TupleNode tuple;
    BoundedIndexList knob_list = {0};
    explorer->stats.threshold = threshold;
    bool ok =
        tuple_node_make(&tuple, explorer, degrees, &arena) && explore_expanded(&tuple, threshold, left, &knob_list);
    free(knob_list.items);
    arena_free(&arena);
    return ok;
}

/* Adds the best plan of each schedule and expert grid (with --variants: of each knob setting) that is not above the
 * threshold (ranked) to explorer->plans; what is above may be left out. */
static bool explore_tuple(Explorer *explorer, const Degrees *degrees, double threshold) {
    return explore_some(explorer, degrees, threshold, (TupleLeft){NULL, 0});
}

/* The same with what an earlier search of these degrees has left (all of the explorer's batch). What is above the
 * threshold still goes to explorer->left. */
static bool explore_left(Explorer *explorer, const Degrees *degrees, double threshold, const Deferred *left,
                         int64_t count) {
    return explore_some(explorer, degrees, threshold, (TupleLeft){left, count});
}

/* ---- how many are near ---- */

static bool count_knobs_within(TupleNode *tuple, int64_t index, const Knobs *like, double limit, Count *within) {
    Knobs knobs = knob_space_at(&tuple->space, index);
    Admission admission;
    if (explorer_stops(tuple->explorer)) return false;
    if (!knobs_compete(&knobs, like) || !knobs_admitted(tuple, &knobs, &admission)) return true;
    const Rates *least = tuple_node_minimum(tuple, knob_space_methods(&tuple->space, index));
    Bounds bounds = explorer_bounds(tuple->explorer);
    double bytes, bound = knob_bound(&bounds, &admission.shard, &knobs, least, &bytes);
    if (bound * tuple_node_scale(tuple, &knobs) > limit) return true;
    return candidate_count_within(tuple, index, &admission, limit, within);
}

bool explore_count_within(Explorer *explorer, const BestPlan *plan, double limit, Count *within) {
    Arena arena = {0};
    TupleNode tuple;
    *within = 0;
    bool ok = tuple_node_make(&tuple, explorer, &plan->degrees, &arena);
    int64_t size = ok ? knob_family_count(&tuple.space) * knob_family_size(&tuple.space) : 0;
    for (int64_t i = 0; ok && i < size; i++) ok = count_knobs_within(&tuple, i, &plan->knobs, limit, within);
    arena_free(&arena);
    return ok;
}

/* Where one plan is wanted, what was found is the limit from here on, with what is tied with it. */
static void lower_limit(const Explorer *explorer, double *limit) {
    const SearchControl *control = &explorer->problem->request->control;
    for (int64_t i = 0; i < explorer->plans.count && control->top == 1; i++)
        *limit = min_real(*limit, tie_end(control, explorer->plans.items[i].ranked_seconds));
}

/* Counts once more, `times` times, what `stats` has gained since `before`. */
static void repeat(ExploreStats *stats, const ExploreStats *before, int64_t times) {
    stats->evaluated += (stats->evaluated - before->evaluated) * (Count)times;
    for (int i = 0; i < PRUNED_COUNT; i++) stats->pruned[i] += (stats->pruned[i] - before->pruned[i]) * (Count)times;
}

/* Every order, on meshes of the explorer's problem that can be changed. */
static bool explore_all(Explorer *explorer, NestedMesh *nested_meshes, const Degrees *degrees, double *limit) {
    for (int64_t order = 0, orders = nesting_orders(degrees); order < orders; order++) {
        ExploreStats before = explorer->stats;
        Nesting nesting = nesting_order(degrees, order);
        for (int i = 0; i < explorer->problem->machine_count; i++) nested_meshes[i].nesting = nesting;
        explorer->stats.ordered = false;
        if (!explore_tuple(explorer, degrees, *limit)) return false;
        lower_limit(explorer, limit);
        if (!explorer->stats.ordered) {
            repeat(&explorer->stats, &before, orders - 1 - order);
            return true;
        }
    }
    return true;
}

bool explore_orders(Explorer *explorer, const Degrees *degrees, double *limit) {
    const ExploreProblem *problem = explorer->problem;
    if (!problem->request->space.nesting_all) {
        if (!explore_tuple(explorer, degrees, *limit)) return false;
        lower_limit(explorer, limit);
        return true;
    }
    Arena arena = {0};
    ExploreProblem own = *problem;
    NestedMesh *nested_meshes = ARENA_NEW(&arena, NestedMesh, (size_t)problem->machine_count);
    if (!nested_meshes) return error_memory(&explorer->error);
    memcpy(nested_meshes, problem->nested_meshes, (size_t)problem->machine_count * sizeof(NestedMesh));
    own.nested_meshes = nested_meshes;
    explorer->problem = &own;
    bool ok = explore_all(explorer, nested_meshes, degrees, limit);
    explorer->problem = problem;
    arena_free(&arena);
    return ok;
}

bool explore_orders_left(Explorer *explorer, const Degrees *degrees, const Deferred *left, int64_t count,
                         double *limit) {
    if (!explore_left(explorer, degrees, *limit, left, count)) return false;
    lower_limit(explorer, limit);
    return true;
}
