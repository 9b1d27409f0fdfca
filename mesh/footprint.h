/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mesh/footprint.h: where a group of chips lies: on every physical axis it has a factor (the number of its chips along
 * the axis) and a stride (the distance between them). All collective costs of a group depend on its footprint alone. */
#pragma once

#include "mesh/mesh.h"

typedef struct {
    int64_t factor; /* >= 1; 1 means that the group is not on this axis */
    int64_t stride; /* >= 1; the product of the factors that nest inside */
} Span;

typedef struct {
    Span on[MESH_AXES_MAX];
} Footprint;

/* Chips of the group: the product of the factors. */
int64_t footprint_degree(const Mesh *mesh, const Footprint *footprint);

/* The axes that the group lies on: bit a for axis a of the mesh. */
unsigned footprint_axes(const Mesh *mesh, const Footprint *footprint);
