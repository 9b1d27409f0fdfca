/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mesh/jax_placement.h"

#include <string.h>

int jax_physical_index(const Axis *axis) {
    if (axis->level != LEVEL_ICI) return -1;
    return strcmp(axis->name, "core") == 0 ? 3 : axis->name[0] - 'x';
}

JaxShape jax_physical_shape(const Mesh *mesh) {
    JaxShape shape = {.count = 3, .size = {1, 1, 1, 1}};
    for (int a = 0; a < mesh->axis_count; a++) {
        int p = jax_physical_index(&mesh->axes[a]);
        if (p < 0) continue;
        shape.size[p] = mesh->axes[a].size;
        if (p == 3) shape.count = 4;
    }
    return shape;
}

void jax_place(const Mesh *mesh, const Nesting *nesting, const JaxAssignment *assignment, Placement *placement) {
    for (int a = 0; a < mesh->axis_count; a++) {
        int p = jax_physical_index(&mesh->axes[a]);
        for (int l = 0; l < ROLE_COUNT && p >= 0; l++)
            placement->factor[a][jax_role(nesting, l)] = (int32_t)assignment->factor[p][l];
    }
}
