/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/explore/candidate.h"

#include "base/util.h"
#include "search/explore/frontier.h"

#include <math.h>
#include <stdlib.h>

int bounded_index_compare(const void *a, const void *b) {
    const BoundedIndex *x = a, *y = b;
    int order = (x->bound > y->bound) - (x->bound < y->bound);
    return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

/* Whether one of `able_launchers` can place roles so. */
static bool placed_by(const MachinePlacements *on, int64_t placement, LauncherSet able_launchers) {
    return able_launchers == ANY_LAUNCHER || (on->able_launchers[placement] & able_launchers) != 0;
}

void note_missing(const OpenTuple *tuple, const Knobs *knobs, double missing, ExploreStats *stats) {
    if (missing >= stats->least_missing) return;
    stats->least_missing = missing;
    stats->missing_degrees = *tuple->degrees;
    stats->missing_knobs = *knobs;
}

/* The layouts it offers, and what none of them beats. */
typedef struct {
    Knobs knobs;
    int64_t methods_index; /* number of its methods */
    LauncherSet able_launchers;
    LayoutGraph graph;
    Relaxation relaxation;
} Candidate;

static bool candidate_open(const OpenTuple *tuple, int64_t index, const Shard *shard, LauncherSet able_launchers,
                           Arena *arena, Candidate *out, Error *error) {
    out->knobs = knob_space_at(&tuple->space, index);
    out->methods_index = knob_space_methods(&tuple->space, index);
    out->able_launchers = able_launchers;
    if (!layout_graph(&tuple->problem->setting, shard, &out->knobs, arena, &out->graph, error)) return false;
    layout_relax(&out->graph, &tuple->least[out->methods_index], &out->relaxation);
    return true;
}

static double relaxed_at(const void *what, const Rates *rates) {
    const Candidate *candidate = what;
    return relaxed_seconds(&candidate->graph.rule, &candidate->relaxation, rates);
}

/* Every placement on one machine, all by the vectorised loop; its bounds are no more than the true ones. */
static bool evaluate_machine(OpenTuple *tuple, const Candidate *candidate, int machine, double limit,
                             ExploreCache *cache, Arena *arena, PlacementList *list, Error *error) {
    MachinePlacements *on = &tuple->on[machine];
    if (!open_tuple_rates(tuple, machine, candidate->methods_index, cache, error) ||
        (candidate->able_launchers != ANY_LAUNCHER && !open_tuple_launchers(tuple, machine, error)))
        return false;
    list->visited += on->total;
    list->refused += on->total - (Count)on->count;
    double *relaxed = ARENA_NEW(arena, double, (size_t)on->count), scale = tuple->problem->scale;
    if (!relaxed) return error_memory(error);
    batch_relaxed_seconds(&candidate->graph.rule, &candidate->relaxation, &on->tables[candidate->methods_index],
                          relaxed);
    for (int64_t i = 0; i < on->count; i++) {
        BoundedPlacement item = {.bound = relaxed[i] * scale, .machine = machine, .placement = on->placements[i]};
        if (!placed_by(on, i, candidate->able_launchers)) {
            list->refused++;
            continue;
        }
        if (item.bound <= limit) {
            open_tuple_rates_at(tuple, machine, candidate->methods_index, i, &item.rates);
            item.bound = relaxed_at(candidate, &item.rates) * scale;
        }
        if (item.bound > limit)
            list->cut_bound = min_real(list->cut_bound, item.bound);
        else if (!placement_list_add(list, &item))
            return error_memory(error);
    }
    return true;
}

static bool evaluate_all(OpenTuple *tuple, const Candidate *candidate, double limit, ExploreCache *cache, Arena *arena,
                         PlacementList *list, Error *error) {
    for (int machine = 0; machine < tuple->problem->machine_count; machine++)
        if (!evaluate_machine(tuple, candidate, machine, limit, cache, arena, list, error)) return false;
    return true;
}

/* Placements whose relaxed time is within the limit. */
static bool find_within(OpenTuple *tuple, const Candidate *candidate, double limit, ExploreCache *cache, Arena *arena,
                        PlacementList *list, Error *error) {
    return tuple->problem->request->control.brute_force
               ? evaluate_all(tuple, candidate, limit, cache, arena, list, error)
               : frontier_find(tuple, candidate->methods_index, candidate->able_launchers, relaxed_at, candidate, limit,
                               cache, list, error);
}

/* What became of all placements. */
static void count_evaluated(const OpenTuple *tuple, const PlacementList *list, ExploreStats *stats) {
    stats->evaluated += list->visited - list->refused;
    stats->pruned[PRUNED_REQUIRE] += list->refused;
    stats->pruned[PRUNED_KNOB_BOUND] += tuple->placement_total - list->visited;
    if (list->visited < tuple->placement_total)
        explore_note_cut(stats, list->cut_bound);
    else
        explore_note_evaluated(stats, list->cut_bound);
}

static BestPlan row_of_solution(const OpenTuple *tuple, const Knobs *knobs, const BoundedPlacement *at,
                                const LayoutSolution *solution) {
    const ExploreProblem *problem = tuple->problem;
    BestPlan row = {.found = true,
                    .ranked_seconds = solution->seconds * problem->scale,
                    .degrees = *tuple->degrees,
                    .knobs = *knobs,
                    .placement = at->placement,
                    .layout = solution->layout,
                    .nesting = problem->nested_meshes[at->machine].nesting,
                    .machine = problem->first_machine + at->machine,
                    .sequences = problem->setting.work.sequences,
                    .memory_bytes = resources_peak(&solution->resources)};
    return row;
}

/* Whether a placement comes behind the best one by the tie rule, which among one candidate's plans is the order of
 * machines and placements. */
static bool comes_later(const OpenTuple *tuple, const BoundedPlacement *at, const BestPlan *best) {
    int machine = tuple->problem->first_machine + at->machine;
    if (machine != best->machine) return machine > best->machine;
    return placement_compare(&at->placement, &best->placement) >= 0;
}

/* The best layout over placements in reach: solves those whose bound lies below the best time so far. */
static bool best_of(const OpenTuple *tuple, const Candidate *candidate, const PlacementList *list,
                    const BoundedIndex *order, double limit, BestPlan *best, ExploreStats *stats, Error *error) {
    double scale = tuple->problem->scale;
    for (int64_t i = 0; i < list->count; i++) {
        const BoundedPlacement *at = &list->items[order[i].index];
        double reach = best->found ? min_real(best->ranked_seconds, limit) : limit;
        if (at->bound > reach) break;
        bool later = best->found && comes_later(tuple, at, best);
        if (later && at->bound >= best->ranked_seconds) continue;
        LayoutSolution solution;
        if (!layout_solve(&candidate->graph, &at->rates, &solution, error)) return false;
        stats->layouts_solved += (Count)solution.solver_calls;
        if (!solution.found) break; /* memory is the same for all placements */
        if (solution.bound_seconds < solution.seconds * (1 - LAYOUT_TOLERANCE))
            stats->least_open_bound = min_real(stats->least_open_bound, solution.bound_seconds * scale);
        double seconds = solution.seconds * scale;
        if (!best->found || seconds < best->ranked_seconds || (seconds == best->ranked_seconds && !later))
            *best = row_of_solution(tuple, &candidate->knobs, at, &solution);
    }
    return true;
}

/* The best placement and layout of a candidate, if it is within the limit. */
static bool candidate_best(OpenTuple *tuple, const Candidate *candidate, double limit, ExploreCache *cache,
                           Arena *arena, BestPlan *best, ExploreStats *stats, Error *error) {
    if (!candidate->relaxation.fits) {
        stats->pruned[PRUNED_MEMORY] += tuple->placement_total;
        note_missing(tuple, &candidate->knobs, candidate->relaxation.missing_bytes, stats);
        return true;
    }
    PlacementList list = PLACEMENT_LIST_EMPTY;
    BoundedIndex *order = NULL;
    bool ok = find_within(tuple, candidate, limit * CUT, cache, arena, &list, error);
    if (ok) count_evaluated(tuple, &list, stats);
    if (ok) order = ARENA_NEW(arena, BoundedIndex, (size_t)list.count);
    ok = ok && (order || error_memory(error));
    for (int64_t i = 0; ok && i < list.count; i++) order[i] = (BoundedIndex){list.items[i].bound, i};
    if (ok) qsort(order, (size_t)list.count, sizeof(BoundedIndex), bounded_index_compare);
    ok = ok && best_of(tuple, candidate, &list, order, limit * CUT, best, stats, error);
    placement_list_free(&list);
    return ok;
}

bool candidate_explore(OpenTuple *tuple, int64_t index, const Shard *shard, LauncherSet able_launchers, double limit,
                       ExploreCache *cache, BestPlan *row, ExploreStats *stats, Error *error) {
    Arena arena = {0};
    Candidate candidate;
    BestPlan best = {0};
    bool ok = candidate_open(tuple, index, shard, able_launchers, &arena, &candidate, error) &&
              candidate_best(tuple, &candidate, limit, cache, &arena, &best, stats, error);
    if (ok && best.found && (!row->found || best_plan_compare(&best, row) < 0)) *row = best;
    arena_free(&arena);
    return ok;
}

bool candidate_count_within(OpenTuple *tuple, int64_t index, const Shard *shard, LauncherSet able_launchers,
                            double limit, ExploreCache *cache, Count *within, Error *error) {
    Arena arena = {0};
    Candidate candidate;
    PlacementList list = PLACEMENT_LIST_EMPTY;
    bool ok = candidate_open(tuple, index, shard, able_launchers, &arena, &candidate, error);
    if (ok && candidate.relaxation.fits) ok = find_within(tuple, &candidate, limit, cache, &arena, &list, error);
    *within += (Count)list.count;
    placement_list_free(&list);
    arena_free(&arena);
    return ok;
}
