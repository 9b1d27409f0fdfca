/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/util.h"
#include "cost/measured/replay.h"
#include "mesh/host_link.h"
#include "mesh/jax_mesh.h"
#include "mesh/machine.h"
#include "mesh/slice.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool replay_skip(Replay *replay, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(replay->skipped, sizeof replay->skipped, format, list);
    va_end(list);
    return false;
}

static bool torus(Replay *replay) {
    const RunRequest *request = &replay->run->request;
    Machine machine;
    SliceShape shape;
    int sizes;
    int64_t chips = request->chips / request->slices;
    bool found = request->slice[0] ? slice_parse(request->slice, &shape, &sizes) && slice_chips(shape) == chips
                                   : slice_default(&replay->chip, chips, &shape);
    if (!found || request->chips % request->slices != 0)
        return replay_skip(replay, "%lld chips are not %lld slices of %s", (long long)request->chips,
                           (long long)request->slices, replay->chip.name);
    machine_of_slice(&replay->chip, shape, request->slices, &machine);
    replay->mesh = machine.mesh;
    replay->slices = request->slices;
    return true;
}

/* The network between nodes: the source's figure replaces the catalog's. */
static void set_network(double gigabits, Replay *replay) {
    double chips = (double)replay->chip.chips_per_host;
    for (int a = 0; gigabits > 0 && a < replay->mesh.axis_count; a++)
        if (replay->mesh.axes[a].level == LEVEL_NETWORK)
            replay->mesh.axes[a].bytes_per_second = gigabits / 8 * 1e9 / chips;
}

bool replay_machine(const ReplayData *data, Replay *replay) {
    const RunRequest *request = &replay->run->request;
    const Chip *chip = catalog_find(&data->chips, request->chip);
    if (!chip) return replay_skip(replay, "the catalog has no %.40s", request->chip);
    if (chip->scaleup == SCALEUP_UNKNOWN)
        return replay_skip(replay, "the catalog does not know how %.40s are joined", chip->name);
    replay->chip = *chip;
    if (chip_has_domains(chip)) {
        Machine machine;
        if (request->chips > chip->chips_per_host && request->chips % chip->chips_per_host != 0)
            return replay_skip(replay, "%lld chips are no whole nodes of %d", (long long)request->chips,
                               (int)chip->chips_per_host);
        machine_of_gpus(chip, request->chips, &machine);
        replay->mesh = machine.mesh;
        replay->slices = 1;
        set_network(request->node_gigabits, replay);
    } else if (!torus(replay)) {
        return false;
    }
    for (int a = 0; a < replay->mesh.axis_count; a++)
        if (!(replay->mesh.axes[a].bytes_per_second > 0))
            return replay_skip(replay, "the catalog has no rate of %s between %s", replay->mesh.axes[a].name,
                               chip->name);
    replay->chip = chip_device(chip);
    chip_use_driver_memory(&replay->chip);
    host_set_job(&replay->chip, request->chips);
    return true;
}

/* Consecutive ranks: each role in turn, innermost first, takes from the innermost axes the factor that divides both.
 * Every prime of the axes finds a role, so nothing is left. */
static void fill(const Mesh *mesh, const Nesting *nesting, int64_t left[ROLE_COUNT], int64_t room[MESH_AXES_MAX],
                 Placement *placement) {
    for (int i = 0; i < ROLE_COUNT; i++) {
        Role role = nesting->order[i];
        for (int axis = 0; axis < mesh->axis_count; axis++) {
            int64_t taken = common_divisor(left[role], room[axis]);
            placement->factor[axis][role] = (int32_t)(placement->factor[axis][role] * taken);
            left[role] /= taken;
            room[axis] /= taken;
        }
    }
}

/* The roles on the axis that joins slices: replicas first, then roles that shard parameters, then stages and
 * experts. */
static void fill_outer(int axis, int64_t left[ROLE_COUNT], int64_t room[MESH_AXES_MAX], Placement *placement) {
    static const Role OUTER[] = {ROLE_DATA, ROLE_FSDP, ROLE_PIPELINE, ROLE_EXPERT, ROLE_SEQUENCE, ROLE_TENSOR};
    for (int i = 0; i < ROLE_COUNT; i++) {
        int64_t taken = common_divisor(left[OUTER[i]], room[axis]);
        placement->factor[axis][OUTER[i]] = (int32_t)taken;
        left[OUTER[i]] /= taken;
        room[axis] /= taken;
    }
}

static bool jax_places(const Mesh *mesh, const Nesting *nesting, const int64_t left[ROLE_COUNT], Placement *placement) {
    JaxShape physical = jax_physical_shape(mesh), logical = {.count = ROLE_COUNT};
    JaxAssignment assignment;
    bool split;
    for (int l = 0; l < ROLE_COUNT; l++) logical.size[l] = left[jax_role(nesting, l)];
    if (!jax_mesh_assign(&physical, &logical, &split, &assignment)) return false;
    jax_place(mesh, nesting, &assignment, placement);
    return true;
}

/* How frameworks nest roles: the axes of JAX's meshes as MaxText orders them, from e591f30cb configs/base.yml; ranks as
 * Megatron's parallel_state.py (d98e8a64dd) and torchtitan's parallel_dims.py (b5bcd76c) number them. */
static const Nesting MESH_AXES = {{ROLE_EXPERT, ROLE_TENSOR, ROLE_SEQUENCE, ROLE_FSDP, ROLE_DATA, ROLE_PIPELINE}};
static const Nesting RANKS = {{ROLE_TENSOR, ROLE_SEQUENCE, ROLE_EXPERT, ROLE_FSDP, ROLE_DATA, ROLE_PIPELINE}};

bool replay_placement(Replay *replay) {
    const Mesh *mesh = &replay->mesh;
    Placement *placement = &replay->plan.placement;
    bool torus = !chip_has_domains(&replay->chip);
    int64_t left[ROLE_COUNT], room[MESH_AXES_MAX];
    replay->nesting = torus || replay->run->request.jax_mesh ? MESH_AXES : RANKS;
    memcpy(left, replay->plan.degrees.of, sizeof left);
    for (int axis = 0; axis < mesh->axis_count; axis++) {
        room[axis] = mesh->axes[axis].size;
        for (int role = 0; role < ROLE_COUNT; role++) placement->factor[axis][role] = 1;
    }
    for (int axis = 0; axis < mesh->axis_count; axis++)
        if (mesh->axes[axis].level == LEVEL_DCN) fill_outer(axis, left, room, placement);
    if (torus && jax_places(mesh, &replay->nesting, left, placement)) return true;
    fill(mesh, &replay->nesting, left, room, placement);
    for (int role = 0; role < ROLE_COUNT; role++)
        if (left[role] != 1) return replay_skip(replay, "its degrees do not divide its machine");
    return true;
}
