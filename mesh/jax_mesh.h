/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mesh/jax_mesh.h: where JAX's mesh_utils lays a logical mesh: the factor of every physical axis that each logical axis
 * gets. Pure.
 *
 * Source: jax-ml/jax cec06d116c, jax/_src/mesh_utils.py; its rules are in docs/model.md, "Where launchers place
 * roles", and its results on 174 meshes stand in tests/data/mesh/jax_mesh_cases.tsv. Physical axes are in JAX's order:
 * x, y, z, then the cores of a chip; axes of size 1 stay. Logical axes are in the order of mesh_shape: least intense
 * first. */
#pragma once

#include "mesh/factorization.h"
#include "mesh/nesting.h"

#include <stdbool.h>
#include <stdint.h>

enum { JAX_PHYSICAL_MAX = 5, JAX_LOGICAL_MAX = 12, JAX_ORDER_MAX = 32 };

typedef struct {
    int count;
    int64_t size[JAX_LOGICAL_MAX]; /* >= 1 */
} JaxShape;

/* factor[p][l]: of physical axis p for logical axis l. On one physical axis logical axes nest, the last (most intense)
 * at stride 1; inside one logical axis the highest physical axis varies fastest. */
typedef struct {
    int64_t factor[JAX_PHYSICAL_MAX][JAX_LOGICAL_MAX];
} JaxAssignment;

/* Does what create_device_mesh does on a torus of any generation, without the orders of small slices (below). At most
 * four physical axes. *split: some logical axis is no product of whole physical axes, which JAX takes only where
 * allow_split_physical_axes is given; then everything is split anew. False: the products differ. */
bool jax_mesh_assign(const JaxShape *physical, const JaxShape *logical, bool *split, JaxAssignment *out);

/* Small slices are ordered by hand instead, whatever the rule above says: devices in this order are cut into the mesh
 * shape. `chip` is the name in the catalog ("tpu-v5e"). NULL means that there is no such order and the rule holds.
 * Devices are numbered as JAX sorts them there: x fastest (tpu7x: the two cores of a chip first). */
typedef struct {
    int count;
    int device[JAX_ORDER_MAX];
} JaxOrder;
const JaxOrder *jax_small_order(const char *chip, const JaxShape *physical, const JaxShape *logical);

/* MaxText's custom_mesh on a 16 x 16 slice (utils/max_utils.py, e591f30cb): blocks of 2x2 or 2x4 chips, so that the
 * inner degree is a ring of neighbours. The degrees above 1 must be 64 and then 4, or 32 and then 8, in the order of
 * the mesh; NULL means that they are not. Fills *out with the factors of x and y. */
const char *maxtext_custom_mesh(const JaxShape *physical, const JaxShape *logical, JaxAssignment *out);

/* Converts between a mesh with roles on its axes and the shapes of JAX's mesh_utils. Roles are
 * JAX's logical axes, outermost first: the nesting turned round. Pure. */

/* Index of a torus axis in JAX's physical shape: x y z, then the cores of a chip; -1 means DCN. */
int jax_physical_index(const Axis *axis);

/* A slice of the mesh as JAX's physical shape: three axes, and a fourth where chips have cores. */
JaxShape jax_physical_shape(const Mesh *mesh);

/* The role of a logical axis. */
static inline Role jax_role(const Nesting *nesting, int logical) { return nesting->order[ROLE_COUNT - 1 - logical]; }

/* Writes the assignment inside every slice into a placement; the factors of the DCN stay. */
void jax_place(const Mesh *mesh, const Nesting *nesting, const JaxAssignment *assignment, Placement *placement);
