/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/candidate.h"

#include "base/util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int keyed_compare(const void *a, const void *b) {
    const Keyed *x = a, *y = b;
    int order = (x->bound > y->bound) - (x->bound < y->bound);
    return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

/* Whether one of `takers` can place roles so. */
static bool placed_by(const Places *on, int64_t placement, LauncherSet takers) {
    return takers == LAUNCHERS_NONE_NEEDED || (on->placing[placement] & takers) != 0;
}

void note_missing(const Tuple *tuple, const Knobs *knobs, double missing, ExploreStats *stats) {
    if (missing >= stats->least_missing) return;
    stats->least_missing = missing;
    stats->missing_degrees = *tuple->degrees;
    stats->missing_knobs = *knobs;
}

/* The layouts it offers, and what none of them beats. */
typedef struct {
    Knobs knobs;
    int64_t way; /* number of its methods */
    LauncherSet takers;
    LayoutGraph graph;
    Relaxation relaxation;
} Candidate;

static bool candidate_open(const Tuple *tuple, int64_t index, const Shard *shard, LauncherSet takers, Arena *arena,
                           Candidate *out, Error *error) {
    out->knobs = knob_space_at(&tuple->space, index);
    out->way = knob_space_methods(&tuple->space, index);
    out->takers = takers;
    if (!layout_graph(&tuple->problem->setting, shard, &out->knobs, arena, &out->graph, error)) return false;
    layout_relax(&out->graph, &tuple->least[out->way], &out->relaxation);
    return true;
}

/* Its relaxation at the least rates that the inner roles can have together on one machine. */
static bool joint_relaxed(const Tuple *tuple, const Candidate *candidate, int machine, double limit, ExploreCache *cache,
                          double *bound, Error *error) {
    const ExploreProblem *problem = tuple->problem;
    const Methods *methods = &candidate->knobs.methods;
    const Wiring *wiring = &problem->wirings[machine];
    Rates least;
    tuple_least_on(tuple, machine, candidate->way, &least);
    *bound = relaxed_seconds(&candidate->graph.rule, &candidate->relaxation, &least) * problem->scale;
    if (*bound > limit || !joint_holds(&wiring->nesting, JOINT_WEIGHTS)) return true;
    const JointRates *joint = joint_rates(cache->joint, problem->first_machine + machine, wiring, tuple->degrees, methods,
                                          JOINT_WEIGHTS, error);
    if (!joint) return false;
    *bound = INFINITY;
    for (int i = 0; i < joint->count; i++) {
        Rates rates = joint_apply(joint, i, methods, JOINT_WEIGHTS, &least);
        *bound =
            min_real(*bound, relaxed_seconds(&candidate->graph.rule, &candidate->relaxation, &rates) * problem->scale);
    }
    return true;
}

/* A placement on one of the problem's machines, as one number for Keyed.index. */
static int64_t spot(int machine, int64_t placement) { return (int64_t)machine * PLACEMENTS_MAX + placement; }
static int spot_machine(int64_t index) { return (int)(index / PLACEMENTS_MAX); }
static int64_t spot_placement(int64_t index) { return index % PLACEMENTS_MAX; }

/* Spots, growing machine by machine. */
typedef struct {
    Keyed *items;
    int64_t count;
} Spots;

/* Adds the placements on one machine whose relaxed time is within the limit. The tuple has their rates. */
static bool add_spots(const Tuple *tuple, const Candidate *candidate, int machine, double limit, Arena *arena,
                      Spots *spots, ExploreStats *stats, Error *error) {
    const Places *on = &tuple->on[machine];
    Keyed *items = ARENA_NEW(arena, Keyed, (size_t)(spots->count + on->count));
    double *relaxed = ARENA_NEW(arena, double, (size_t)on->count);
    if (!items || !relaxed) return error_memory(error);
    if (spots->count > 0) memcpy(items, spots->items, (size_t)spots->count * sizeof(Keyed));
    spots->items = items;
    batch_relaxed_seconds(&candidate->graph.rule, &candidate->relaxation, &on->tables[candidate->way], relaxed);
    double farther = INFINITY;
    for (int64_t i = 0; i < on->count; i++) {
        double bound = relaxed[i] * tuple->problem->scale;
        if (!placed_by(on, i, candidate->takers)) continue;
        if (bound <= limit * CUT)
            items[spots->count++] = (Keyed){bound, spot(machine, i)};
        else
            farther = min_real(farther, bound);
    }
    explore_note_evaluated(stats, farther);
    return true;
}

/* The placements on one machine: cut together at the joint rates, or evaluated one by one. */
static bool evaluate_machine(Tuple *tuple, const Candidate *candidate, int machine, double limit, ExploreCache *cache,
                             Arena *arena, Spots *spots, ExploreStats *stats, Error *error) {
    Places *on = &tuple->on[machine];
    double bound;
    if (!tuple->problem->request->brute_force) {
        if (!joint_relaxed(tuple, candidate, machine, limit * CUT, cache, &bound, error)) return false;
        if (bound > limit * CUT) {
            stats->pruned[PRUNED_KNOB_BOUND] += on->total;
            explore_note_cut(stats, bound);
            return true;
        }
    }
    if (!tuple_rates(tuple, machine, candidate->way, cache, error) ||
        (candidate->takers != LAUNCHERS_NONE_NEEDED && !tuple_placing(tuple, machine, error)))
        return false;
    Count open = 0;
    for (int64_t i = 0; i < on->count; i++) open += placed_by(on, i, candidate->takers);
    stats->evaluated += open;
    stats->pruned[PRUNED_REQUIRE] += on->total - open;
    return add_spots(tuple, candidate, machine, limit, arena, spots, stats, error);
}

static Row row_of_solution(const Tuple *tuple, const Knobs *knobs, int64_t index, const LayoutSolution *solution) {
    const ExploreProblem *problem = tuple->problem;
    Row row = {.found = true,
               .ranked_seconds = solution->seconds * problem->scale,
               .degrees = *tuple->degrees,
               .knobs = *knobs,
               .placement = tuple->on[spot_machine(index)].placements[spot_placement(index)],
               .layout = solution->layout,
               .machine = problem->first_machine + spot_machine(index),
               .sequences = problem->setting.work.sequences};
    for (int moment = 0; moment < MOMENT_COUNT; moment++)
        row.memory_bytes = max_real(row.memory_bytes, solution->resources.of[RES_MEMORY + moment]);
    return row;
}

/* Whether a placement comes behind the best one by the tie rule, which among one candidate's plans is the order of
 * machines and placements. */
static bool comes_later(const Tuple *tuple, int64_t index, const Row *best) {
    int machine = tuple->problem->first_machine + spot_machine(index);
    if (machine != best->machine) return machine > best->machine;
    return placement_compare(&tuple->on[spot_machine(index)].placements[spot_placement(index)], &best->placement) >= 0;
}

/* The best layout over placements in reach: solves those whose bound lies below the best time so far. */
static bool best_of_spots(const Tuple *tuple, const Candidate *candidate, const Spots *spots, double limit, Row *best,
                          ExploreStats *stats, Error *error) {
    double scale = tuple->problem->scale;
    for (int64_t i = 0; i < spots->count; i++) {
        int64_t index = spots->items[i].index;
        double reach = best->found ? min_real(best->ranked_seconds, limit * CUT) : limit * CUT;
        if (spots->items[i].bound > reach) break;
        Rates rates;
        tuple_rates_at(tuple, spot_machine(index), candidate->way, spot_placement(index), &rates);
        bool later = best->found && comes_later(tuple, index, best);
        if (later &&
            relaxed_seconds(&candidate->graph.rule, &candidate->relaxation, &rates) * scale >= best->ranked_seconds)
            continue;
        LayoutSolution solution;
        if (!layout_solve(&candidate->graph, &rates, &solution, error)) return false;
        stats->layouts_solved += (Count)solution.solver_calls;
        if (!solution.found) break; /* memory is the same for all placements */
        if (solution.bound_seconds < solution.seconds * (1 - 1e-9))
            stats->least_open_bound = min_real(stats->least_open_bound, solution.bound_seconds * scale);
        double seconds = solution.seconds * scale;
        if (!best->found || seconds < best->ranked_seconds || (seconds == best->ranked_seconds && !later))
            *best = row_of_solution(tuple, &candidate->knobs, index, &solution);
    }
    return true;
}

/* The best placement and layout of a candidate, if it is within the limit. */
static bool candidate_best(Tuple *tuple, const Candidate *candidate, double limit, ExploreCache *cache, Arena *arena,
                           Row *best, ExploreStats *stats, Error *error) {
    Spots spots = {0};
    if (!candidate->relaxation.fits) {
        stats->pruned[PRUNED_MEMORY] += tuple->placement_total;
        note_missing(tuple, &candidate->knobs, candidate->relaxation.missing_bytes, stats);
        return true;
    }
    for (int machine = 0; machine < tuple->problem->machine_count; machine++)
        if (!evaluate_machine(tuple, candidate, machine, limit, cache, arena, &spots, stats, error)) return false;
    if (spots.count > 0) qsort(spots.items, (size_t)spots.count, sizeof(Keyed), keyed_compare);
    return best_of_spots(tuple, candidate, &spots, limit, best, stats, error);
}

bool candidate_explore(Tuple *tuple, int64_t index, const Shard *shard, LauncherSet takers, double limit,
                       ExploreCache *cache, Row *row, ExploreStats *stats, Error *error) {
    Arena arena = {0};
    Candidate candidate;
    Row best = {0};
    bool ok = candidate_open(tuple, index, shard, takers, &arena, &candidate, error) &&
              candidate_best(tuple, &candidate, limit, cache, &arena, &best, stats, error);
    if (ok && best.found && (!row->found || row_compare(&best, row) < 0)) *row = best;
    arena_free(&arena);
    return ok;
}

/* How many placements on one machine have a relaxed time within the limit. The batch is below it by less than its slack:
 * what lies between is looked at alone. */
static bool count_within(Tuple *tuple, const Candidate *candidate, int machine, double limit, ExploreCache *cache,
                         Arena *arena, Count *within, Error *error) {
    Places *on = &tuple->on[machine];
    double scale = tuple->problem->scale;
    if (!tuple_rates(tuple, machine, candidate->way, cache, error) ||
        (candidate->takers != LAUNCHERS_NONE_NEEDED && !tuple_placing(tuple, machine, error)))
        return false;
    double *relaxed = ARENA_NEW(arena, double, (size_t)on->count);
    if (!relaxed) return error_memory(error);
    batch_relaxed_seconds(&candidate->graph.rule, &candidate->relaxation, &on->tables[candidate->way], relaxed);
    for (int64_t i = 0; i < on->count; i++) {
        if (!placed_by(on, i, candidate->takers) || relaxed[i] * scale > limit) continue;
        bool sure = relaxed[i] * scale * (1 + 1e-11) <= limit;
        if (!sure) {
            Rates rates;
            tuple_rates_at(tuple, machine, candidate->way, i, &rates);
            sure = relaxed_seconds(&candidate->graph.rule, &candidate->relaxation, &rates) * scale <= limit;
        }
        *within += sure;
    }
    return true;
}

bool candidate_count_within(Tuple *tuple, int64_t index, const Shard *shard, LauncherSet takers, double limit,
                            ExploreCache *cache, Count *within, Error *error) {
    Arena arena = {0};
    Candidate candidate;
    bool ok = candidate_open(tuple, index, shard, takers, &arena, &candidate, error);
    for (int machine = 0; ok && candidate.relaxation.fits && machine < tuple->problem->machine_count; machine++)
        ok = count_within(tuple, &candidate, machine, limit, cache, &arena, within, error);
    arena_free(&arena);
    return ok;
}
