/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/explore/tuple_node.h"

#include "search/answer/odd.h"
#include "search/launch/launcher.h"

bool tuple_node_make(TupleNode *tuple, Explorer *explorer, const Degrees *degrees, Arena *arena) {
    const ExploreProblem *problem = explorer->problem;
    *tuple = (TupleNode){.explorer = explorer,
                         .problem = problem,
                         .degrees = degrees,
                         .arena = arena,
                         .scale = explore_scale(problem, degrees)};
    if (!knob_space(problem->setting.model, degrees, problem->setting.work.sequences, &problem->domain, arena,
                    &tuple->space, &explorer->error))
        return false;
    if (problem->request->control.uncounted) knob_space_narrow(&tuple->space, degrees, problem->request);
    const SpaceRules *rules = &problem->request->space;
    tuple->able_launchers =
        launchers_of_degrees((rules->launchers ? rules->launchers : launchers_all()) & ~rules->unable,
                             problem->setting.model, &problem->setting.work, degrees, problem->catalog_mesh);
    size_t methods = (size_t)tuple->space.method_count;
    tuple->least = ARENA_NEW(arena, Rates, methods);
    tuple->least_known = ARENA_NEW(arena, bool, methods);
    tuple->on = ARENA_NEW(arena, MachinePlacements, (size_t)problem->machine_count);
    if (!tuple->least || !tuple->least_known || !tuple->on) return error_memory(&explorer->error);
    for (int i = 0; i < problem->machine_count; i++) {
        tuple->on[i].total = placement_count(problem->tables[i], degrees);
        tuple->placement_total += tuple->on[i].total;
    }
    return true;
}

double tuple_node_scale(const TupleNode *tuple, const Knobs *knobs) {
    const CostContext *setting = &tuple->problem->setting;
    return tuple->problem->scale * odd_factor(setting->profile, plan_odd(setting, tuple->degrees, knobs));
}

const Rates *tuple_node_minimum(const TupleNode *tuple, int64_t methods_index) {
    const ExploreProblem *problem = tuple->problem;
    Rates *least = &tuple->least[methods_index];
    if (tuple->least_known[methods_index]) return least;
    Methods methods = method_space_at(&tuple->space.methods, methods_index);
    lower_bound_rates_of(problem->least, tuple->degrees, &methods, least);
    lower_bound_rates_folded(problem->nested_meshes, problem->machine_count, tuple->degrees, &methods, least);
    tuple->least_known[methods_index] = true;
    return least;
}

bool tuple_node_launchers(TupleNode *tuple, int machine) {
    const ExploreProblem *problem = tuple->problem;
    MachinePlacements *on = &tuple->on[machine];
    LauncherSet requested = problem->request->space.launchers;
    if (on->able_launchers) return true;
    on->able_launchers = ARENA_NEW(tuple->arena, LauncherSet, (size_t)on->count);
    if (!on->able_launchers) return error_memory(&tuple->explorer->error);
    launchers_placing(requested ? requested : launchers_all(), &problem->nested_meshes[machine],
                      problem->setting.chip->name, on->placements, on->count, on->able_launchers);
    return true;
}

/* One walk over all placements on a machine; the first one lists the placements too. */
typedef struct {
    Rates *rates;
    int64_t room;
    Placement *placements;     /* NULL: they are known */
    const int64_t *walk_index; /* of the placements in question, NULL: all */
    int64_t at, kept;
} PlacementWalk;

static void list_placement(RatesWalk *walk) {
    PlacementWalk *listing = walk->context;
    int64_t at = listing->at++;
    if (listing->kept == listing->room || (listing->walk_index && listing->walk_index[listing->kept] != at)) return;
    if (listing->placements) listing->placements[at] = walk->placement;
    listing->rates[listing->kept++] = walk->rates;
}

/* The placements in question: all, the pinned one, or those that a launcher requested can make of these degrees. */
static bool choose_placements(TupleNode *tuple, int machine) {
    const ExploreProblem *problem = tuple->problem;
    const Request *request = problem->request;
    MachinePlacements *on = &tuple->on[machine];
    if (!request->space.launchers && request->space.pin_count == 0) return true;
    if (request->space.launchers && !tuple_node_launchers(tuple, machine)) return false;
    on->walk_index = ARENA_NEW(tuple->arena, int64_t, (size_t)on->count);
    if (!on->walk_index) return error_memory(&tuple->explorer->error);
    int64_t kept = 0;
    for (int64_t i = 0; i < on->count; i++) {
        if (request->space.launchers && !on->able_launchers[i]) continue;
        if (!request_admits_placement(request, problem->nested_meshes[machine].mesh, &on->placements[i])) continue;
        on->placements[kept] = on->placements[i];
        if (on->able_launchers) on->able_launchers[kept] = on->able_launchers[i];
        on->walk_index[kept++] = i;
    }
    on->count = kept;
    return true;
}

static bool open_machine(TupleNode *tuple, int machine) {
    Error *error = &tuple->explorer->error;
    MachinePlacements *on = &tuple->on[machine];
    size_t methods = (size_t)tuple->space.method_count;
    if (on->total > PLACEMENTS_MAX)
        return error_set(error, ERROR_INPUT, "degrees", "more than %d placements of one tuple of degrees",
                         PLACEMENTS_MAX);
    on->count = (int64_t)on->total;
    on->placements = ARENA_NEW(tuple->arena, Placement, (size_t)on->count);
    on->tables = ARENA_NEW(tuple->arena, RateTable, methods);
    on->filled = ARENA_NEW(tuple->arena, bool, methods);
    return (on->placements && on->tables && on->filled) || error_memory(error);
}

/* Walks all placements on a machine under one number of methods, into `listing`. */
static bool walk_machine(TupleNode *tuple, int machine, int64_t methods_index, PlacementWalk *listing) {
    const ExploreProblem *problem = tuple->problem;
    Error *error = &tuple->explorer->error;
    Methods methods = method_space_at(&tuple->space.methods, methods_index);
    RatesWalk walk = {.nested_mesh = &problem->nested_meshes[machine],
                      .methods = &methods,
                      .memo = tuple->explorer->cache->memo,
                      .site = problem->first_machine + machine,
                      .visit = list_placement,
                      .context = listing};
    if (!listing->rates || !rates_walk(&walk, tuple->degrees)) return error_memory(error);
    if ((Count)listing->at == tuple->on[machine].total) return true;
    return error_set(error, ERROR_INTERNAL, "search", "the placements of a tuple are not as many as counted");
}

bool tuple_node_rates(TupleNode *tuple, int machine, int64_t methods_index) {
    MachinePlacements *on = &tuple->on[machine];
    bool first = !on->placements;
    if (!first && on->filled[methods_index]) return true;
    if (first && !open_machine(tuple, machine)) return false;
    Arena arena = {0};
    PlacementWalk listing = {.rates = ARENA_NEW(&arena, Rates, (size_t)on->count),
                             .room = on->count,
                             .placements = first ? on->placements : NULL,
                             .walk_index = on->walk_index};
    bool ok = walk_machine(tuple, machine, methods_index, &listing) && (!first || choose_placements(tuple, machine));
    for (int64_t i = 0; ok && first && on->walk_index && i < on->count; i++)
        listing.rates[i] = listing.rates[on->walk_index[i]];
    ok = ok &&
         rate_table_fill(listing.rates, on->count, tuple->arena, &on->tables[methods_index], &tuple->explorer->error);
    on->filled[methods_index] = ok;
    arena_free(&arena);
    return ok;
}

/* Lists what launchers make. */
static bool list_made(const TupleNode *tuple, int machine) {
    const ExploreProblem *problem = tuple->problem;
    MachinePlacements *on = &tuple->on[machine];
    on->made = ARENA_NEW(tuple->arena, MadePlacements, 1);
    on->made_rates = ARENA_NEW(tuple->arena, Rates *, (size_t)tuple->space.method_count);
    return on->made && on->made_rates &&
           launch_placements(problem->request->space.launchers, &problem->nested_meshes[machine],
                             problem->setting.chip->name, tuple->degrees, tuple->arena, on->made);
}

bool tuple_node_made(const TupleNode *tuple, int machine, int64_t methods_index, const MadePlacements **out,
                     const Rates **rates) {
    MachinePlacements *on = &tuple->on[machine];
    *out = NULL;
    if (!on->made && !list_made(tuple, machine)) return false;
    const MadePlacements *made = on->made;
    if (made->too_many || made->any) return true;
    *out = made;
    if (!on->made_rates[methods_index] && made->count > 0) {
        Methods methods = method_space_at(&tuple->space.methods, methods_index);
        Rates *all = on->made_rates[methods_index] = ARENA_NEW(tuple->arena, Rates, (size_t)made->count);
        if (!all) return false;
        for (int64_t i = 0; i < made->count; i++)
            rates_of_placement(&tuple->problem->nested_meshes[machine], &made->made[i].placement, &methods, &all[i]);
    }
    *rates = on->made_rates[methods_index];
    return true;
}

void tuple_node_rates_at(const TupleNode *tuple, int machine, int64_t methods_index, int64_t placement, Rates *out) {
    Methods methods = method_space_at(&tuple->space.methods, methods_index);
    rates_of_placement(&tuple->problem->nested_meshes[machine], &tuple->on[machine].placements[placement], &methods,
                       out);
}

void tuple_node_minimum_rates_on(const TupleNode *tuple, int machine, int64_t methods_index, Rates *out) {
    const ExploreProblem *problem = tuple->problem;
    if (problem->machine_count == 1) {
        *out = *tuple_node_minimum(tuple, methods_index);
        return;
    }
    Methods methods = method_space_at(&tuple->space.methods, methods_index);
    lower_bound_rates_of(problem->leasts[machine], tuple->degrees, &methods, out);
    lower_bound_rates_folded(&problem->nested_meshes[machine], 1, tuple->degrees, &methods, out);
}
