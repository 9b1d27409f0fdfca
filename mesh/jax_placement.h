/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mesh/jax_placement.h: converts between a mesh with roles on its axes and the shapes of JAX's mesh_utils. Roles are
 * JAX's logical axes, outermost first: the nesting turned round. Pure. */
#pragma once

#include "mesh/factorization.h"
#include "mesh/jax_mesh.h"
#include "mesh/nesting.h"

/* Index of a torus axis in JAX's physical shape: x y z, then the cores of a chip; -1 means DCN. */
int jax_physical_index(const Axis *axis);

/* A slice of the mesh as JAX's physical shape: three axes, and a fourth where chips have cores. */
JaxShape jax_physical_shape(const Mesh *mesh);

/* The role of a logical axis. */
static inline Role jax_role(const Nesting *nesting, int logical) { return nesting->order[ROLE_COUNT - 1 - logical]; }

/* Writes the assignment inside every slice into a placement; the factors of the DCN stay. */
void jax_place(const Mesh *mesh, const Nesting *nesting, const JaxAssignment *assignment, Placement *placement);
