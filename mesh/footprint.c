/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mesh/footprint.h"

int64_t footprint_degree(const Mesh *mesh, const Footprint *footprint) {
    int64_t degree = 1;
    for (int a = 0; a < mesh->axis_count; a++) degree *= footprint->on[a].factor;
    return degree;
}

unsigned footprint_axes(const Mesh *mesh, const Footprint *footprint) {
    unsigned axes = 0;
    for (int a = 0; a < mesh->axis_count; a++)
        if (footprint->on[a].factor > 1) axes |= 1u << a;
    return axes;
}
