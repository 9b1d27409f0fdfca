/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where JAX puts the axes of a mesh of devices on a TPU slice: for launchers that are written in it. */
#include "mesh/jax_mesh.h"
#include "search/launch/placement.h"

static const char BY_HAND[] = "JAX numbers the devices of so small a slice by hand";

JaxShape launch_ici_shape(const Mesh *mesh, const Placement *placement, const Nesting *nesting) {
    JaxShape shape = {.count = ROLE_COUNT};
    for (int l = 0; l < ROLE_COUNT; l++) {
        shape.size[l] = 1;
        for (int a = 0; a < mesh->axis_count; a++)
            if (jax_physical_index(&mesh->axes[a]) >= 0) shape.size[l] *= placement->factor[a][jax_role(nesting, l)];
    }
    return shape;
}

void launch_add_assignment(const LaunchAsk *ask, const Nesting *nesting, const JaxAssignment *assignment,
                           const char *option, LaunchWays *out) {
    LaunchWay *way = &out->way[out->count++];
    *way = (LaunchWay){.placement = *ask->placement, .nesting = *nesting, .option = option};
    jax_place(ask->mesh, nesting, assignment, &way->placement);
}

void launch_on_device_mesh(const LaunchAsk *ask, const Nesting *nesting, const char *split, LaunchWays *out) {
    if (!mesh_of_tpus(ask->mesh)) {
        out->way[out->count++] = (LaunchWay){*ask->placement, *nesting, NULL};
        return;
    }
    JaxShape physical = jax_physical_shape(ask->mesh), logical = launch_ici_shape(ask->mesh, ask->placement, nesting);
    JaxAssignment assignment;
    if (jax_small_order(ask->chip, &physical, &logical)) {
        int roles = 0;
        for (int l = 0; l < logical.count; l++) roles += logical.size[l] > 1;
        out->unpriced = BY_HAND;
        out->order_unknown = roles > 1; /* one role has all: whatever the order, that is the whole slice */
        if (out->order_unknown) return;
    }
    if (jax_mesh_assign(&physical, &logical, false, &assignment) == JAX_MESH_PLACED)
        launch_add_assignment(ask, nesting, &assignment, NULL, out);
    else if (jax_mesh_assign(&physical, &logical, true, &assignment) == JAX_MESH_PLACED)
        launch_add_assignment(ask, nesting, &assignment, split, out);
}
