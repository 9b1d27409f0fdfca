/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/measured/replay_parts.h"

#include "base/util.h"
#include "mesh/jax_mesh.h"

#include <string.h>

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
    replay->nesting = torus || replay_on_jax(replay) ? MESH_AXES : RANKS;
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
