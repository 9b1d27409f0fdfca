/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/explore/tuple_node.h"

#include "base/util.h"
#include "cost/played.h"
#include "search/engine/explore/explorer.h"
#include "search/engine/explore/frontier.h"
#include "search/launch/launcher.h"

#include <math.h>

/* One knob setting: the layouts it allows, and what none of them beats. */
typedef struct {
    TupleNode *tuple;
    Arena arena; /* of what follows */
    Knobs knobs;
    int64_t methods_index;
    LauncherSet able_launchers;
    double scale; /* tuple_node_scale() */
    Shard shard;
    double useless; /* ranked seconds above which a plan decides nothing: there is a better one */
    LayoutGraph graph;
    Relaxation relaxation;
} Candidate;

/* The caller frees candidate->arena, also after a failure. */
static bool candidate_open(Candidate *candidate, TupleNode *tuple, int64_t index, const Admission *admission) {
    enum { WORK = 8 }; /* the graph of its layouts, in bounds */
    tuple->explorer->stats.work += WORK;
    *candidate = (Candidate){.tuple = tuple,
                             .knobs = knob_space_at(&tuple->space, index),
                             .methods_index = knob_space_methods(&tuple->space, index),
                             .able_launchers = admission->able_launchers,
                             .shard = admission->shard};
    candidate->scale = tuple_node_scale(tuple, &candidate->knobs);
    if (!layout_graph(&tuple->problem->setting, &admission->shard, &candidate->knobs, &candidate->arena,
                      &candidate->graph, &tuple->explorer->error))
        return false;
    layout_relax(&candidate->graph, tuple_node_minimum(tuple, candidate->methods_index), &candidate->relaxation);
    return true;
}

/* ---- placements ---- */

/* In seconds that the tuple's scale makes ranked ones. */
static double relaxed_at(const void *what, const Rates *rates) {
    const Candidate *candidate = what;
    double seconds = relaxed_seconds(&candidate->graph.rule, &candidate->relaxation, rates);
    return seconds * (candidate->scale / candidate->tuple->scale);
}

/* Whether some able launcher can place roles so. */
static bool placed_by(const MachinePlacements *on, int64_t placement, LauncherSet able_launchers) {
    return able_launchers == ANY_LAUNCHER || (on->able_launchers[placement] & able_launchers) != 0;
}

/* One placement, whose relaxed time by the vectorised loop is no more than the true one. */
static bool evaluate_placement(Candidate *candidate, BoundedPlacement *item, int64_t index, double limit,
                               PlacementList *list) {
    TupleNode *tuple = candidate->tuple;
    if (item->bound <= limit) {
        tuple_node_rates_at(tuple, item->machine, candidate->methods_index, index, &item->rates);
        item->bound = relaxed_at(candidate, &item->rates) * tuple->scale;
    }
    if (item->bound > limit)
        list->cut_bound = min_real(list->cut_bound, item->bound);
    else if (!placement_list_add(list, item))
        return error_memory(&tuple->explorer->error);
    return true;
}

/* Every placement on one machine, all of them by the vectorised loop. */
static bool evaluate_machine(Candidate *candidate, int machine, double limit, PlacementList *list) {
    TupleNode *tuple = candidate->tuple;
    MachinePlacements *on = &tuple->on[machine];
    if (!tuple_node_rates(tuple, machine, candidate->methods_index) ||
        (candidate->able_launchers != ANY_LAUNCHER && !tuple_node_launchers(tuple, machine)))
        return false;
    list->visited += on->total;
    list->refused += on->total - (Count)on->count;
    double *relaxed = ARENA_NEW(&candidate->arena, double, (size_t)on->count), scale = candidate->scale;
    if (!relaxed) return error_memory(&tuple->explorer->error);
    batch_relaxed_seconds(&candidate->graph.rule, &candidate->relaxation, &on->tables[candidate->methods_index],
                          relaxed);
    for (int64_t i = 0; i < on->count; i++) {
        BoundedPlacement item = {.bound = relaxed[i] * scale, .machine = machine, .placement = on->placements[i]};
        if (!placed_by(on, i, candidate->able_launchers))
            list->refused++;
        else if (!evaluate_placement(candidate, &item, i, limit, list))
            return false;
    }
    return true;
}

static bool evaluate_all(Candidate *candidate, double limit, PlacementList *list) {
    for (int machine = 0; machine < candidate->tuple->problem->machine_count; machine++)
        if (explorer_stops(candidate->tuple->explorer) || !evaluate_machine(candidate, machine, limit, list))
            return false;
    return true;
}

/* Placements whose relaxed time is within the limit. */
static bool find_within(Candidate *candidate, double limit, PlacementList *list) {
    if (candidate->tuple->problem->request->control.brute_force) return evaluate_all(candidate, limit, list);
    FrontierQuery query = {.methods_index = candidate->methods_index,
                           .able_launchers = candidate->able_launchers,
                           .bound = relaxed_at,
                           .what = candidate,
                           .threshold = limit};
    return frontier_find(candidate->tuple, &query, list);
}

/* Counts what became of all placements. */
static void count_evaluated(const TupleNode *tuple, const PlacementList *list) {
    ExploreStats *stats = &tuple->explorer->stats;
    stats->evaluated += list->visited - list->refused;
    stats->pruned[PRUNED_REQUIRE] += list->refused;
    stats->pruned[PRUNED_KNOB_BOUND] += tuple->placement_total - list->visited;
    if (list->visited < tuple->placement_total)
        explore_note_cut(stats, list->cut_bound);
    else
        explore_note_evaluated(stats, list->cut_bound);
}

/* ---- layouts ---- */

/* What the plan takes: the formula's seconds, or the played ones. */
static double plan_seconds(const Candidate *candidate, const BoundedPlacement *at, const LayoutSolution *solution) {
    const Plan plan = {*candidate->tuple->degrees, candidate->knobs, at->placement, solution->layout};
    const PlayedPlan played = {&candidate->tuple->problem->setting, &candidate->shard, &plan, &at->rates};
    return step_of_both(solution->seconds, played_seconds(&played));
}

static BestPlan plan_of_solution(const Candidate *candidate, const BoundedPlacement *at,
                                 const LayoutSolution *solution) {
    const ExploreProblem *problem = candidate->tuple->problem;
    return (BestPlan){.found = true,
                      .ranked_seconds = plan_seconds(candidate, at, solution) * candidate->scale,
                      .degrees = *candidate->tuple->degrees,
                      .knobs = candidate->knobs,
                      .placement = at->placement,
                      .layout = solution->layout,
                      .nesting = problem->nested_meshes[at->machine].nesting,
                      .machine = problem->first_machine + at->machine,
                      .sequences = problem->setting.work.sequences,
                      .memory_bytes = resources_peak(&solution->resources)};
}

enum { LAYOUTS_A_BOUND = 64 }; /* so many bounds of counts of layers take as long as one of a plan */
typedef enum { LAYOUT_TRIED, LAYOUT_NONE_FITS, LAYOUT_FAILED } LayoutTried;

/* The best layout on one placement by the formula, kept in *best where the plan with it beats what is there. A solver's
 * 80 kB of stack are apart from those of the walk, which link-time optimisation would put below them. */
__attribute__((noinline)) static LayoutTried try_placement(const Candidate *candidate, const BoundedPlacement *at,
                                                           BestPlan *best) {
    const TupleNode *tuple = candidate->tuple;
    ExploreStats *stats = &tuple->explorer->stats;
    double scale = candidate->scale;
    LayoutSolution solution;
    if (!layout_solve(&candidate->graph, &at->rates, &solution, &tuple->explorer->error)) return LAYOUT_FAILED;
    stats->layouts_solved += (Count)solution.solver_calls;
    stats->work += solution.work / LAYOUTS_A_BOUND;
    if (!solution.found) return LAYOUT_NONE_FITS;
    if (solution.bound_seconds < solution.seconds * (1 - LAYOUT_TOLERANCE))
        stats->least_open_bound = min_real(stats->least_open_bound, solution.bound_seconds * scale);
    double beaten_above = best->found ? min_real(best->ranked_seconds, candidate->useless) : candidate->useless;
    if (solution.seconds * scale > beaten_above) return LAYOUT_TRIED;
    BestPlan plan = plan_of_solution(candidate, at, &solution);
    if (!best->found || best_plan_compare(&plan, best) < 0) *best = plan;
    return LAYOUT_TRIED;
}

/* The best layout over placements by rising bound: those whose bound lies below the best time so far are solved. */
static bool best_of(const Candidate *candidate, const PlacementList *list, const BoundedIndex *order, double limit,
                    BestPlan *best) {
    const TupleNode *tuple = candidate->tuple;
    for (int64_t i = 0; i < list->count; i++) {
        const BoundedPlacement *at = &list->items[order[i].index];
        double beaten_above = best->found ? min_real(best->ranked_seconds, limit) : limit;
        if (at->bound > beaten_above) break;
        if (explorer_stops(tuple->explorer)) return false;
        LayoutTried tried = try_placement(candidate, at, best);
        if (tried == LAYOUT_FAILED) return false;
        if (tried == LAYOUT_NONE_FITS) break; /* memory is the same for all placements */
    }
    return true;
}

/* The best placement and layout among the listed placements. */
static bool best_on_list(Candidate *candidate, const PlacementList *list, double limit, BestPlan *best) {
    BoundedIndex *order = ARENA_NEW(&candidate->arena, BoundedIndex, (size_t)list->count);
    if (!order) return error_memory(&candidate->tuple->explorer->error);
    for (int64_t i = 0; i < list->count; i++) order[i] = (BoundedIndex){list->items[i].bound, i};
    bounded_indices_sort(order, list->count);
    return best_of(candidate, list, order, limit, best);
}

/* The best placement and layout of a candidate, where it is within the limit. */
static bool candidate_best(Candidate *candidate, double limit, BestPlan *best) {
    TupleNode *tuple = candidate->tuple;
    ExploreStats *stats = &tuple->explorer->stats;
    if (!candidate->relaxation.fits) {
        stats->pruned[PRUNED_MEMORY] += tuple->placement_total;
        explore_note_missing(stats, tuple->degrees, &candidate->knobs, candidate->relaxation.missing_bytes);
        return true;
    }
    PlacementList list = PLACEMENT_LIST_EMPTY;
    bool ok = find_within(candidate, limit * CUT, &list);
    if (ok) count_evaluated(tuple, &list);
    ok = ok && best_on_list(candidate, &list, limit * CUT, best);
    placement_list_free(&list);
    return ok;
}

bool candidate_explore(TupleNode *tuple, int64_t index, const Admission *admission, double limit, BestPlan *best) {
    Candidate candidate;
    BestPlan own = {0};
    bool ok = candidate_open(&candidate, tuple, index, admission);
    candidate.useless = best->found ? max_real(best->ranked_seconds, limit * CUT) : INFINITY;
    ok = ok && candidate_best(&candidate, limit, &own);
    bool kept = ok || tuple->explorer->interrupted; /* what was found before an interrupt is a plan all the same */
    if (kept && own.found && (!best->found || best_plan_compare(&own, best) < 0)) *best = own;
    arena_free(&candidate.arena);
    return ok;
}

bool candidate_count_within(TupleNode *tuple, int64_t index, const Admission *admission, double limit, Count *within) {
    Candidate candidate;
    PlacementList list = PLACEMENT_LIST_EMPTY;
    bool ok = candidate_open(&candidate, tuple, index, admission);
    if (ok && candidate.relaxation.fits) ok = find_within(&candidate, limit, &list);
    *within += (Count)list.count;
    placement_list_free(&list);
    arena_free(&candidate.arena);
    return ok;
}

SizesVerdict knobs_sizes(const TupleNode *tuple, const Knobs *knobs) {
    const ExploreProblem *problem = tuple->problem;
    SizesVerdict out;
    out.allow = schedule_allowed(knobs->schedule, tuple->degrees->of[ROLE_PIPELINE], knobs->microbatches,
                                 knobs->virtual_stages) &&
                shard_of_plan(problem->setting.model, &problem->setting.work, tuple->degrees, knobs, problem->padding,
                              &out.shard);
    return out;
}

static bool refused(Admission *out, PruneReason reason) {
    out->reason = reason;
    return false;
}

bool knobs_admitted(const TupleNode *tuple, const Knobs *knobs, Admission *out) {
    SizesVerdict sizes = knobs_sizes(tuple, knobs);
    return knobs_admitted_of_sizes(tuple, knobs, &sizes, out);
}

bool knobs_admitted_of_sizes(const TupleNode *tuple, const Knobs *knobs, const SizesVerdict *sizes, Admission *out) {
    const ExploreProblem *problem = tuple->problem;
    const CostContext *setting = &problem->setting;
    LauncherSet requested = problem->request->space.launchers;
    out->able_launchers = ANY_LAUNCHER;
    if (!request_admits_knobs(problem->request, tuple->degrees, knobs)) return refused(out, PRUNED_REQUIRE);
    if (problem->request->control.odd_only && !plan_odd(setting, tuple->degrees, knobs))
        return refused(out, PRUNED_REQUIRE);
    if (!sizes->allow) return refused(out, PRUNED_INDIVISIBLE);
    out->shard = sizes->shard;
    Knobs own = *knobs;
    if (problem->request->space.split_given) own.stages = STAGES_EVEN;
    if (knobs_redundant(setting->model, &problem->domain, &own, &out->shard)) return refused(out, PRUNED_EQUAL);
    PaddingSet padding = out->shard.padding;
    bool padded = problem->padding == PADDING_LAUNCHABLE && padding != 0;
    if (requested == 0 && !padded) return true;
    Plan plan = {.degrees = *tuple->degrees, .knobs = *knobs};
    out->able_launchers = launchers_of_knobs(tuple->able_launchers, setting->model, &setting->work, &plan, padding,
                                             problem->catalog_mesh);
    return out->able_launchers != 0 || refused(out, requested ? PRUNED_REQUIRE : PRUNED_INDIVISIBLE);
}
