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
    tuple->placement_total = problem_placements(problem, degrees);
    if (!knob_space(problem->setting.model, degrees, problem->setting.work.sequences, &problem->offers, arena,
                    &tuple->space, error))
        return false;
    size_t methods = (size_t)tuple->space.method_count;
    tuple->least = ARENA_NEW(arena, Rates, methods);
    tuple->table = arena_alloc(arena, methods, sizeof(*tuple->table));
    if (!tuple->least || !tuple->table) return error_memory(error);
    for (int64_t i = 0; i < tuple->space.method_count; i++) {
        Methods way = method_space_at(&tuple->space.methods, i);
        least_rates_of(problem->least, degrees, &way, &tuple->least[i]);
        least_rates_folded(problem->wirings, problem->machine_count, degrees, &way, &tuple->least[i]);
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
    for (int64_t machine = 0, from = 0; machine < problem->machine_count; from = tuple->ends[machine++])
        launchers_placing(asked ? asked : all, &problem->wirings[machine], problem->setting.chip->name,
                          tuple->placements + from, tuple->ends[machine] - from, tuple->placing + from);
    return true;
}

/* One walk over all placements of the tuple: into the table, and the first time into the list of placements too. */
typedef struct {
    RateTable *table;
    Placement *placements; /* NULL: they are known */
    const int64_t *walked; /* of the placements in question, NULL: all */
    int64_t at, kept;
} Listing;

static void list_placement(RatesWalk *walk) {
    Listing *listing = walk->context;
    int64_t at = listing->at++;
    if (listing->placements) listing->placements[at] = walk->placement;
    if (listing->kept == listing->table->count || (listing->walked && listing->walked[listing->kept] != at)) return;
    rate_table_set(listing->table, listing->kept++, &walk->rates);
}

static bool walk_placements(const Tuple *tuple, const Methods *methods, ExploreCache *cache, Listing *listing,
                            Error *error) {
    const ExploreProblem *problem = tuple->problem;
    for (int i = 0; i < problem->machine_count; i++) {
        RatesWalk walk = {.wiring = &problem->wirings[i],
                          .methods = methods,
                          .memo = cache->memo,
                          .site = problem->first_machine + i,
                          .levels = ROLE_COUNT,
                          .visit = list_placement,
                          .context = listing};
        if (!rates_walk(&walk, tuple->degrees)) return error_memory(error);
        if (listing->placements) tuple->ends[i] = listing->at;
    }
    return true;
}

/* The placements in question: all, the pinned one, or those that a launcher asked for can make of these degrees. */
static bool choose_placements(Tuple *tuple, Error *error) {
    const ExploreProblem *problem = tuple->problem;
    const Request *request = problem->request;
    if (!request->launchers && request->pin_count == 0) return true;
    if (request->launchers && !tuple_placing(tuple, error)) return false;
    tuple->walked = ARENA_NEW(tuple->arena, int64_t, (size_t)tuple->placement_count + 1);
    if (!tuple->walked) return error_memory(error);
    int64_t kept = 0, i = 0;
    for (int machine = 0; machine < problem->machine_count; machine++) {
        for (; i < tuple->ends[machine]; i++) {
            if (request->launchers && !tuple->placing[i]) continue;
            if (!request_admits_placement(request, problem->wirings[machine].mesh, &tuple->placements[i])) continue;
            tuple->placements[kept] = tuple->placements[i];
            if (tuple->placing) tuple->placing[kept] = tuple->placing[i];
            tuple->walked[kept++] = i;
        }
        tuple->ends[machine] = kept;
    }
    tuple->placement_count = kept;
    return true;
}

bool tuple_rates(Tuple *tuple, int64_t way, ExploreCache *cache, Error *error) {
    RateTable *table = &tuple->table[way].rates;
    bool active[GROUP_COUNT], first = !tuple->placements;
    if (tuple->table[way].filled) return true;
    if (first) {
        if (tuple->placement_total > PLACEMENTS_MAX)
            return error_set(error, ERROR_INPUT, "degrees", "more than %d placements of one tuple of degrees",
                             PLACEMENTS_MAX);
        tuple->placement_count = (int64_t)tuple->placement_total;
        tuple->placements = ARENA_NEW(tuple->arena, Placement, (size_t)tuple->placement_count);
        tuple->ends = ARENA_NEW(tuple->arena, int64_t, (size_t)tuple->problem->machine_count);
        if (!tuple->placements || !tuple->ends) return error_memory(error);
    }
    Methods methods = method_space_at(&tuple->space.methods, way);
    for (Group group = 0; group < GROUP_COUNT; group++)
        active[group] = group_degree(group, tuple->degrees, &methods) > 1;
    int axes = 0;
    for (int i = 0; i < tuple->problem->machine_count; i++)
        axes = (int)max_whole(axes, tuple->problem->wirings[i].mesh->axis_count);
    Listing listing = {.table = table, .placements = first ? tuple->placements : NULL, .walked = tuple->walked};
    if (!rate_table_new(tuple->placement_count, axes, active, tuple->arena, table, error) ||
        !walk_placements(tuple, &methods, cache, &listing, error))
        return false;
    if (listing.at != (int64_t)tuple->placement_total)
        return error_set(error, ERROR_INTERNAL, "search", "the placements of a tuple are not as many as counted");
    if (first) {
        if (!choose_placements(tuple, error)) return false;
        if (tuple->walked) rate_table_keep(table, tuple->walked, tuple->placement_count);
    }
    tuple->table[way].filled = true;
    return rate_table_finish(table, tuple->arena, error);
}

int tuple_machine(const Tuple *tuple, int64_t placement) {
    int machine = 0;
    while (placement >= tuple->ends[machine]) machine++;
    return machine;
}

void tuple_rates_at(const Tuple *tuple, int64_t way, int64_t placement, Rates *out) {
    Methods methods = method_space_at(&tuple->space.methods, way);
    rates_of_placement(&tuple->problem->wirings[tuple_machine(tuple, placement)], &tuple->placements[placement], &methods,
                       out);
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
    if (!joint_holds(problem->wirings, problem->machine_count, JOINT_WEIGHTS)) return true;
    const JointRates *joint = joint_rates(cache->joint, problem->first_machine, problem->wirings, problem->machine_count,
                                          tuple->degrees, methods, JOINT_WEIGHTS, error);
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
    batch_relaxed_seconds(&candidate->graph.rule, &candidate->relaxation, &tuple->table[candidate->way].rates, relaxed);
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

static Row row_of_solution(const Tuple *tuple, const Knobs *knobs, int64_t placement, const LayoutSolution *solution) {
    const ExploreProblem *problem = tuple->problem;
    Row row = {.found = true,
               .ranked_seconds = solution->seconds * problem->scale,
               .degrees = *tuple->degrees,
               .knobs = *knobs,
               .placement = tuple->placements[placement],
               .layout = solution->layout,
               .machine = problem->first_machine + tuple_machine(tuple, placement),
               .sequences = problem->setting.work.sequences};
    for (int moment = 0; moment < MOMENT_COUNT; moment++)
        row.memory_bytes = max_real(row.memory_bytes, solution->resources.of[RES_MEMORY + moment]);
    return row;
}

/* Whether a placement comes behind the best one by the tie rule, which among one candidate's plans is the order of
 * machines and placements. */
static bool comes_later(const Tuple *tuple, int64_t placement, const Row *best) {
    int machine = tuple->problem->first_machine + tuple_machine(tuple, placement);
    if (machine != best->machine) return machine > best->machine;
    return placement_compare(&tuple->placements[placement], &best->placement) >= 0;
}

/* The best layout over placements in reach: solves those whose bound lies below the best time so far. */
static bool best_of_placements(const Tuple *tuple, const Candidate *candidate, const Keyed *near, int64_t count,
                               double limit, Row *best, ExploreStats *stats, Error *error) {
    double scale = tuple->problem->scale;
    for (int64_t i = 0; i < count; i++) {
        double reach = best->found ? min_real(best->ranked_seconds, limit * CUT) : limit * CUT;
        if (near[i].bound > reach) break;
        Rates rates;
        tuple_rates_at(tuple, candidate->way, near[i].index, &rates);
        bool later = best->found && comes_later(tuple, near[i].index, best);
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
            *best = row_of_solution(tuple, &candidate->knobs, near[i].index, &solution);
    }
    return true;
}

/* The best placement and layout of a candidate, if it is within the limit. */
static bool candidate_best(Tuple *tuple, const Candidate *candidate, double limit, ExploreCache *cache, Arena *arena,
                           Row *best, ExploreStats *stats, Error *error) {
    bool cut;
    if (!candidate_cut(tuple, candidate, limit, cache, stats, &cut, error)) return false;
    if (cut) return true;
    if (!tuple_rates(tuple, candidate->way, cache, error)) return false;
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

/* How many placements have a relaxed time within the limit. The batch is below it by less than its slack: what lies
 * between is looked at alone. */
static bool count_within(const Tuple *tuple, const Candidate *candidate, double limit, Arena *arena, Count *within,
                         Error *error) {
    double *relaxed = ARENA_NEW(arena, double, (size_t)tuple->placement_count), scale = tuple->problem->scale;
    if (!relaxed) return error_memory(error);
    batch_relaxed_seconds(&candidate->graph.rule, &candidate->relaxation, &tuple->table[candidate->way].rates, relaxed);
    for (int64_t i = 0; i < tuple->placement_count; i++) {
        if (!placed_by(tuple, i, candidate->takers) || relaxed[i] * scale > limit) continue;
        bool sure = relaxed[i] * scale * (1 + 1e-11) <= limit;
        if (!sure) {
            Rates rates;
            tuple_rates_at(tuple, candidate->way, i, &rates);
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
    if (ok && candidate.relaxation.fits)
        ok = tuple_rates(tuple, candidate.way, cache, error) &&
             (takers == LAUNCHERS_NONE_NEEDED || tuple_placing(tuple, error)) &&
             count_within(tuple, &candidate, limit, &arena, within, error);
    arena_free(&arena);
    return ok;
}
