/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The machines of a space: the one requested and its idle shapes, grouped by their device count. */
#include "search/engine/explore/tuple_list.h"

#include "base/util.h"
#include "search/launch/launcher.h"

/* Plans are ordered by time per requested token. Chips that are allocated stay allocated, so chip-hours and cost order
 * the machines of one request alike. */
static double scale_of(const Request *request, int64_t sequences) {
    return (double)request->question.work.sequences / (double)sequences;
}

static ExploreProblem problem_on(const TupleList *tuples, const DeviceCountGroup *group, int first, int count,
                                 int64_t sequences) {
    ExploreProblem problem = {.request = tuples->request,
                              .setting = request_cost_context(tuples->request),
                              .domain = group->domain,
                              .least = group->least,
                              .nested_meshes = &tuples->nested_meshes[first],
                              .tables = &tuples->tables[first],
                              .leasts = &tuples->leasts[first],
                              .machine_count = count,
                              .first_machine = first,
                              .catalog_mesh = &tuples->shapes[first].machine.mesh,
                              .padding = group->padding,
                              .scale = scale_of(tuples->request, sequences)};
    problem.setting.work.sequences = sequences;
    return problem;
}

ExploreProblem tuple_list_problem(const TupleList *tuples, int group, int64_t sequences) {
    const DeviceCountGroup *on = &tuples->groups[group];
    return problem_on(tuples, on, on->first, on->shape_count, sequences);
}

ExploreProblem tuple_list_problem_of_shape(const TupleList *tuples, int shape, int64_t sequences) {
    const DeviceCountGroup *group = tuples->groups;
    while (shape >= group->first + group->shape_count) group++;
    return problem_on(tuples, group, shape, 1, sequences);
}

double group_floor_seconds(const TupleList *tuples, int group) {
    const Request *request = tuples->request;
    CostContext setting = request_cost_context(request);
    double flops = model_flops_per_token(setting.model, FLOPS_CAUSAL, request->question.work.seq) *
                   (double)request->question.work.sequences * (double)request->question.work.seq;
    int64_t chips = 0;
    for (int i = 0; i < tuples->groups[group].shape_count; i++)
        chips = max_whole(chips, tuples->shapes[tuples->groups[group].first + i].machine.mesh.chips);
    return flops / (setting.precision_flops_per_second * (double)chips) * SLACK;
}

/* ---- machines ---- */

/* Whether a shape joins a group: the same degrees can be given to roles on it, and the same knobs are offered. Slices
 * of one chip each have a network alone and no torus; then more ways to lay experts are in the space. */
static bool joins(const DeviceCountGroup *group, const TupleList *tuples, const Mesh *mesh, const KnobDomain *domain) {
    return tuples->shapes[group->first].mesh.devices == mesh->devices && group->domain.switched == domain->switched;
}

/* A shape, in the group of the one before it where it joins that. */
static bool add_shape(TupleList *tuples, const Machine *machine, Error *error) {
    const Request *request = tuples->request;
    int index = tuples->shape_count++;
    MachineShape *shape = &tuples->shapes[index];
    *shape = (MachineShape){.machine = *machine, .mesh = profile_mesh(&request->question.profile, &machine->mesh)};
    tuples->nested_meshes[index] = (NestedMesh){&shape->mesh, request->space.nesting};
    CostContext setting = request_cost_context(request);
    KnobDomain domain = knob_domain(&setting, &shape->mesh, request->space.schedules);
    if (index > 0 && joins(&tuples->groups[tuples->group_count - 1], tuples, &shape->mesh, &domain)) {
        tuples->groups[tuples->group_count - 1].shape_count++;
        return true;
    }
    Count count;
    if (!degrees_count(&shape->mesh, request->space.roles, &count) || count > INT64_MAX / 2)
        return error_set(error, ERROR_INPUT, request->requested.machine,
                         "%s has too many ways to give degrees to roles", machine->text);
    tuples->groups[tuples->group_count++] =
        (DeviceCountGroup){.first = index,
                           .shape_count = 1,
                           .tuples = (int64_t)count,
                           .domain = domain,
                           .padding = padding_on(request->space.padding, request->space.launchers, &machine->mesh)};
    return knob_domain_fits(&tuples->groups[tuples->group_count - 1].domain, setting.model, &shape->mesh, error);
}

static int64_t perimeter(const Machine *machine) {
    return machine->slice.size[0] + machine->slice.size[1] + machine->slice.size[2];
}

/* Puts the most cubic first among shapes of the same chips and slices: where two take the same time, that one is
 * meant. */
static void cubic_first(Machine *machines, int count) {
    for (int i = 1; i < count; i++)
        for (int j = i; j > 0; j--) {
            Machine *a = &machines[j - 1], *b = &machines[j], swap = *a;
            if (a->mesh.chips != b->mesh.chips || a->slices != b->slices || perimeter(a) <= perimeter(b)) break;
            *a = *b, *b = swap;
        }
}

/* Makes room for what the machines have, where other searches want to know it. */
static bool keep_counts(const TupleList *tuples, Error *error) {
    struct PlanCounts *counts = tuples->request->control.counts;
    if (!counts || counts->machines) return true;
    counts->machines = ARENA_NEW(counts->arena, CountedMachine, (size_t)tuples->shape_count);
    counts->machine_count = tuples->shape_count;
    return counts->machines || error_memory(error);
}

bool tuple_list_make_groups(TupleList *tuples, Arena *arena, Error *error) {
    const Request *request = tuples->request;
    MachineList idle = {0};
    if (request->space.max_idle > 0 && !machine_idle_shapes(&request->question.chip, &request->question.machine,
                                                            request->space.max_idle, arena, &idle, error))
        return false;
    cubic_first(idle.machines, idle.count);
    size_t count = (size_t)idle.count + 1;
    tuples->shapes = ARENA_NEW(arena, MachineShape, count);
    tuples->nested_meshes = ARENA_NEW(arena, NestedMesh, count);
    tuples->tables = ARENA_NEW(arena, const PlacementTable *, count);
    tuples->leasts = ARENA_NEW(arena, const LowerBoundRates *, count);
    tuples->groups = ARENA_NEW(arena, DeviceCountGroup, count);
    if (!tuples->shapes || !tuples->nested_meshes || !tuples->tables || !tuples->leasts || !tuples->groups)
        return error_memory(error);
    if (!add_shape(tuples, &request->question.machine, error)) return false;
    for (int i = 0; i < idle.count; i++)
        if (!add_shape(tuples, &idle.machines[i], error)) return false;
    return keep_counts(tuples, error);
}
