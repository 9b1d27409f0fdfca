/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mesh/mesh.h"

const char *axis_kind_name(AxisKind kind) {
    switch (kind) {
    case AXIS_RING:
        return "ring";
    case AXIS_LINE:
        return "line";
    case AXIS_SWITCH:
        return "switch";
    case AXIS_MESH:
        return "mesh";
    }
    return "?";
}

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
