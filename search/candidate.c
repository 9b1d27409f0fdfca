/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/candidate.h"

#include "base/util.h"

#include <math.h>
#include <stdlib.h>

int keyed_compare(const void *a, const void *b) {
    const Keyed *x = a, *y = b;
    int order = (x->bound > y->bound) - (x->bound < y->bound);
    return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

bool tuple_open(Tuple *tuple, const ExploreProblem *problem, const Degrees *degrees, Arena *arena, Error *error) {
    *tuple = (Tuple){.problem = problem, .degrees = degrees, .arena = arena};
    tuple->placement_total = placement_count(problem->table, degrees);
    if (!knob_space(problem->setting.model, degrees, problem->setting.work.sequences, &problem->offers, arena,
                    &tuple->space, error))
        return false;
    size_t methods = (size_t)tuple->space.method_count;
    tuple->least = ARENA_NEW(arena, Rates, methods);
    tuple->rates = ARENA_NEW(arena, Rates *, methods);
    tuple->table = ARENA_NEW(arena, RateTable, methods);
    if (!tuple->least || !tuple->rates || !tuple->table) return error_memory(error);
    for (int64_t i = 0; i < tuple->space.method_count; i++) {
        Methods way = method_space_at(&tuple->space.methods, i);
        least_rates_of(problem->least, degrees, &way, &tuple->least[i]);
        least_rates_folded(&problem->wiring, degrees, &way, &tuple->least[i]);
    }
    return true;
}

/* Of each placement who can place roles so: made when first asked for, by plans --for launchers and by padded ones. */
static bool tuple_placing(Tuple *tuple, Error *error) {
    const ExploreProblem *problem = tuple->problem;
    LauncherSet all = (1u << LAUNCHER_COUNT) - 1, asked = problem->request->launchers;
    if (tuple->placing) return true;
    tuple->placing = ARENA_NEW(tuple->arena, LauncherSet, (size_t)tuple->placement_count);
    if (!tuple->placing) return error_memory(error);
    launchers_placing(asked ? asked : all, &problem->wiring, problem->setting.chip->name, tuple->placements,
                      tuple->placement_count, tuple->placing);
    return true;
}

/* The placements in question: all, the pinned one, or those that a launcher asked for can make of these degrees. */
static bool tuple_placements(Tuple *tuple, Error *error) {
    const ExploreProblem *problem = tuple->problem;
    const Request *request = problem->request;
    if (!placements_enumerate(problem->wiring.mesh, tuple->degrees, tuple->arena, &tuple->placements,
                              &tuple->placement_count, error) ||
        (request->launchers && !tuple_placing(tuple, error)))
        return false;
    int64_t kept = 0;
    for (int64_t i = 0; i < tuple->placement_count; i++) {
        if (request->launchers && !tuple->placing[i]) continue;
        if (!request_admits_placement(request, problem->wiring.mesh, &tuple->placements[i])) continue;
        tuple->placements[kept] = tuple->placements[i];
        if (tuple->placing) tuple->placing[kept] = tuple->placing[i];
        kept++;
    }
    tuple->placement_count = kept;
    return true;
}

/* From the rates of another way where there are any: they differ in few groups. */
bool tuple_rates(Tuple *tuple, int64_t way, Error *error) {
    const Wiring *wiring = &tuple->problem->wiring;
    if (tuple->rates[way]) return true;
    if (!tuple->placements && !tuple_placements(tuple, error)) return false;
    const Rates *there = NULL;
    Methods methods = method_space_at(&tuple->space.methods, way), other = methods;
    for (int64_t i = 0; i < tuple->space.method_count && !there; i++) {
        there = tuple->rates[i];
        if (there) other = method_space_at(&tuple->space.methods, i);
    }
    Rates *rates = ARENA_NEW(tuple->arena, Rates, (size_t)tuple->placement_count);
    if (!rates) return error_memory(error);
    for (int64_t i = 0; i < tuple->placement_count; i++) {
        if (!there) {
            rates_of_placement(wiring, &tuple->placements[i], &methods, &rates[i]);
            continue;
        }
        rates[i] = there[i];
        rates_set_methods(wiring, &tuple->placements[i], &other, &methods, &rates[i]);
    }
    if (!rate_table_fill(rates, tuple->placement_count, tuple->arena, &tuple->table[way], error)) return false;
    tuple->rates[way] = rates;
    return true;
}

/* Whether one of `takers` can place roles so. */
static bool placed_by(const Tuple *tuple, int64_t placement, LauncherSet takers) {
    return takers == LAUNCHERS_NONE_NEEDED || (tuple->placing[placement] & takers) != 0;
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

/* Its relaxation at the least rates that the inner roles can have together. */
static bool joint_relaxed(const Tuple *tuple, const Candidate *candidate, ExploreCache *cache, double *bound,
                          Error *error) {
    const ExploreProblem *problem = tuple->problem;
    const Methods *methods = &candidate->knobs.methods;
    const Rates *least = &tuple->least[candidate->way];
    *bound = relaxed_seconds(&candidate->graph.rule, &candidate->relaxation, least) * problem->scale;
    if (!joint_holds(&problem->wiring.nesting, JOINT_WEIGHTS)) return true;
    const JointRates *joint =
        joint_rates(cache->joint, problem->machine, &problem->wiring, tuple->degrees, methods, JOINT_WEIGHTS, error);
    if (!joint) return false;
    *bound = INFINITY;
    for (int i = 0; i < joint->count; i++) {
        Rates rates = joint_apply(joint, i, methods, JOINT_WEIGHTS, least);
        *bound =
            min_real(*bound, relaxed_seconds(&candidate->graph.rule, &candidate->relaxation, &rates) * problem->scale);
    }
    return true;
}

/* No layout of it fits, or its relaxation at the joint rates is above the limit: *cut, and why is in *stats. */
static bool candidate_cut(const Tuple *tuple, const Candidate *candidate, double limit, ExploreCache *cache,
                          ExploreStats *stats, bool *cut, Error *error) {
    *cut = true;
    if (!candidate->relaxation.fits) {
        stats->pruned[PRUNED_MEMORY] += tuple->placement_total;
        note_missing(tuple, &candidate->knobs, candidate->relaxation.missing_bytes, stats);
        return true;
    }
    *cut = false;
    if (tuple->problem->request->brute_force) return true;
    double bound;
    if (!joint_relaxed(tuple, candidate, cache, &bound, error)) return false;
    if (bound > limit * CUT) {
        stats->pruned[PRUNED_KNOB_BOUND] += tuple->placement_total;
        explore_note_cut(stats, bound);
        *cut = true;
    }
    return true;
}

/* Placements in question whose relaxed time is within the limit, by rising time; in the arena. The tuple has its
 * rates. */
static bool placements_in_reach(const Tuple *tuple, const Candidate *candidate, double limit, Arena *arena,
                                Keyed **near, int64_t *count, ExploreStats *stats, Error *error) {
    *near = ARENA_NEW(arena, Keyed, (size_t)tuple->placement_count);
    double *relaxed = ARENA_NEW(arena, double, (size_t)tuple->placement_count);
    if (!*near || !relaxed) return error_memory(error);
    batch_relaxed_seconds(&candidate->graph.rule, &candidate->relaxation, &tuple->table[candidate->way], relaxed);
    double farther = INFINITY;
    *count = 0;
    for (int64_t i = 0; i < tuple->placement_count; i++) {
        double bound = relaxed[i] * tuple->problem->scale;
        if (!placed_by(tuple, i, candidate->takers)) continue;
        if (bound <= limit * CUT)
            (*near)[(*count)++] = (Keyed){bound, i};
        else
            farther = min_real(farther, bound);
    }
    explore_note_evaluated(stats, farther);
    qsort(*near, (size_t)*count, sizeof(Keyed), keyed_compare);
    return true;
}

static Row row_of_solution(const Tuple *tuple, const Knobs *knobs, const Placement *placement,
                           const LayoutSolution *solution) {
    const ExploreProblem *problem = tuple->problem;
    Row row = {.found = true,
               .ranked_seconds = solution->seconds * problem->scale,
               .degrees = *tuple->degrees,
               .knobs = *knobs,
               .placement = *placement,
               .layout = solution->layout,
               .machine = problem->machine,
               .sequences = problem->setting.work.sequences};
    for (int moment = 0; moment < MOMENT_COUNT; moment++)
        row.memory_bytes = max_real(row.memory_bytes, solution->resources.of[RES_MEMORY + moment]);
    return row;
}

/* Faster, or as fast and first by the tie rule, which among one candidate's plans is the order of placements. */
static bool beats(double seconds, const Placement *placement, const Row *best) {
    if (!best->found || seconds < best->ranked_seconds) return true;
    return seconds == best->ranked_seconds && placement_compare(placement, &best->placement) < 0;
}

/* The best layout over placements in reach: solves those whose bound lies below the best time so far. */
static bool best_of_placements(const Tuple *tuple, const Candidate *candidate, const Keyed *near, int64_t count,
                               double limit, Row *best, ExploreStats *stats, Error *error) {
    double scale = tuple->problem->scale;
    for (int64_t i = 0; i < count; i++) {
        double reach = best->found ? min_real(best->ranked_seconds, limit * CUT) : limit * CUT;
        if (near[i].bound > reach) break;
        const Placement *placement = &tuple->placements[near[i].index];
        const Rates *rates = &tuple->rates[candidate->way][near[i].index];
        bool later = best->found && placement_compare(placement, &best->placement) > 0;
        if (later &&
            relaxed_seconds(&candidate->graph.rule, &candidate->relaxation, rates) * scale >= best->ranked_seconds)
            continue;
        LayoutSolution solution;
        if (!layout_solve(&candidate->graph, rates, &solution, error)) return false;
        stats->layouts_solved += (Count)solution.solver_calls;
        if (!solution.found) break; /* memory is the same for all placements */
        if (solution.bound_seconds < solution.seconds * (1 - 1e-9))
            stats->least_open_bound = min_real(stats->least_open_bound, solution.bound_seconds * scale);
        if (beats(solution.seconds * scale, placement, best))
            *best = row_of_solution(tuple, &candidate->knobs, placement, &solution);
    }
    return true;
}

/* The best placement and layout of a candidate, if it is within the limit. */
static bool candidate_best(Tuple *tuple, const Candidate *candidate, double limit, ExploreCache *cache, Arena *arena,
                           Row *best, ExploreStats *stats, Error *error) {
    bool cut;
    if (!candidate_cut(tuple, candidate, limit, cache, stats, &cut, error)) return false;
    if (cut) return true;
    if (!tuple_rates(tuple, candidate->way, error)) return false;
    if (candidate->takers != LAUNCHERS_NONE_NEEDED && !tuple_placing(tuple, error)) return false;
    Keyed *near;
    int64_t count = 0;
    Count open = 0;
    for (int64_t i = 0; i < tuple->placement_count; i++) open += placed_by(tuple, i, candidate->takers);
    stats->evaluated += open;
    stats->pruned[PRUNED_REQUIRE] += tuple->placement_total - open;
    return placements_in_reach(tuple, candidate, limit, arena, &near, &count, stats, error) &&
           best_of_placements(tuple, candidate, near, count, limit, best, stats, error);
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

bool candidate_count_within(Tuple *tuple, int64_t index, const Shard *shard, LauncherSet takers, double limit,
                            Count *within, Error *error) {
    Arena arena = {0};
    Candidate candidate;
    bool ok = candidate_open(tuple, index, shard, takers, &arena, &candidate, error);
    if (ok && candidate.relaxation.fits) {
        ok = tuple_rates(tuple, candidate.way, error) &&
             (takers == LAUNCHERS_NONE_NEEDED || tuple_placing(tuple, error));
        const Rates *rates = tuple->rates[candidate.way];
        for (int64_t i = 0; ok && i < tuple->placement_count; i++)
            if (placed_by(tuple, i, takers) &&
                relaxed_seconds(&candidate.graph.rule, &candidate.relaxation, &rates[i]) * tuple->problem->scale <=
                    limit)
                ++*within;
    }
    arena_free(&arena);
    return ok;
}
