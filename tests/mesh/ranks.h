/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tests/mesh/ranks.h: groups of ranks, chip by chip: from a footprint, and from a launcher's rank formula. */
#pragma once

#include "mesh/mesh.h"

#include <criterion/criterion.h>

/* The first rank of the group that `rank` is in, from the footprint alone: on each axis the group's own digit is set to
 * zero. Two ranks are in one group when this is the same. */
static inline int64_t first_of_footprint(const Mesh *mesh, const Footprint *footprint, int64_t rank) {
    int64_t first = 0, place = 1;
    for (int axis = 0; axis < mesh->axis_count; axis++) {
        int64_t at = rank % mesh->axes[axis].size, stride = footprint->on[axis].stride;
        at -= at / stride % footprint->on[axis].factor * stride;
        first += at * place;
        rank /= mesh->axes[axis].size, place *= mesh->axes[axis].size;
    }
    return first;
}

/* The same from a rank formula: rank = digit0 + n0 (digit1 + n1 (digit2 + ...)); digit `which` is set to zero. */
static inline int64_t first_of_formula(const int64_t *sizes, int which, int64_t rank) {
    int64_t stride = 1;
    for (int i = 0; i < which; i++) stride *= sizes[i];
    return rank - rank / stride % sizes[which] * stride;
}

static inline void expect_groups(const char *name, const Mesh *mesh, const Footprint *footprint, const int64_t *sizes,
                                 int which) {
    cr_expect_eq(footprint_degree(mesh, footprint), sizes[which], "%s: %d ranks, not %d", name,
                 (int)footprint_degree(mesh, footprint), (int)sizes[which]);
    for (int64_t rank = 0; rank < mesh->devices; rank++) {
        int64_t found = first_of_footprint(mesh, footprint, rank), expected = first_of_formula(sizes, which, rank);
        if (found != expected) {
            cr_expect(false, "%s: rank %d is with %d, not with %d", name, (int)rank, (int)found, (int)expected);
            return;
        }
    }
}
