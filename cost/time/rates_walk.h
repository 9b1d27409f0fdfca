/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/time/rates_walk.h: every way to place the roles of a degree tuple, with the rates of each.
 *
 * Roles are placed from the innermost of the nesting outward, each on all axes. What a group costs depends on its own
 * roles and on those inside of them alone, so that it is looked up once when its outermost role has been placed, and
 * holds for everything below: the inner groups are priced some hundred times for some thousand placements. */
#pragma once

#include "cost/time/step.h"
#include "mesh/collective.h"

typedef struct RatesWalk RatesWalk;
struct RatesWalk {
    const NestedMesh *nested_mesh;
    const Methods *methods;
    CollectiveMemo *memo;
    int site;                       /* the number of the wiring's mesh in the memo */
    void (*visit)(RatesWalk *walk); /* at each placement, with `placement` and `rates` as rates_of_placement has them */
    /* Where a role has been placed that settles groups: whether any placement below is wanted. `rates` has what the
     * settled groups cost, settled[level] the groups. NULL: all are wanted. */
    bool (*enter)(RatesWalk *walk, int level);
    void *context; /* of both */

    Placement placement;
    Rates rates;

    /* Inside. */
    int64_t degree[ROLE_COUNT];                    /* by level */
    int64_t rest[ROLE_COUNT + 1][MESH_AXES_MAX];   /* of each axis, before a level is placed */
    int64_t inside[ROLE_COUNT + 1][MESH_AXES_MAX]; /* product of the factors of the levels before */
    const int64_t *divisors[MESH_AXES_MAX];        /* of each axis, rising, a last one above all */
    struct {
        Group group, alias;              /* alias: the same chips under another name, or itself */
        bool alone;                      /* the level's role is the only one of more than one chip in it */
    } settled[ROLE_COUNT][GROUP_COUNT];  /* groups whose outermost role stands at a level */
    int settled_count[ROLE_COUNT], last; /* last: the outermost level above degree 1 */
};

/* Walks in one fixed order. The caller fills the first part. False: memory is out, or the degrees do not multiply to
 * the mesh's devices. */
bool rates_walk(RatesWalk *walk, const Degrees *degrees);
