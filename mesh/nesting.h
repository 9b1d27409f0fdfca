/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mesh/nesting.h: the order in which roles nest within a physical axis. Degrees and factors say how many chips of an
 * axis a role takes; the nesting says how far apart they stand. */
#pragma once

#include "mesh/factorization.h"

typedef struct {
    Role order[ROLE_COUNT]; /* innermost (neighbours) first; every role once */
} Nesting;

/* tensor, expert, sequence, fsdp, data, pipeline: the order of the enum. */
Nesting nesting_canonical(void);

/* "tensor, expert, sequence, fsdp, data, pipeline": innermost first. Returns `text`. */
enum { NESTING_TEXT_SIZE = 64 };
const char *nesting_text(const Nesting *nesting, char text[NESTING_TEXT_SIZE]);

/* The number of orders of a tuple that differ at all: n! for n roles above 1. Number 0 is the canonical order; they
 * rise role by role, from the inside. Roles of degree 1 stand where they make no difference: after all roles that come
 * before them in the canonical order. Some orders still place the same: the order of roles that share no axis does not
 * matter. */
int64_t nesting_orders(const Degrees *degrees);
Nesting nesting_order(const Degrees *degrees, int64_t number);

/* A total order in which the canonical one comes first among those with the same roles above 1; <0 means that a is
 * first. */
int nesting_compare(const Nesting *a, const Nesting *b);

/* How far apart the members of a group of roles stand on one axis: the product of the factors of all other roles that
 * nest inside the group's outermost member. The same number of groups share every link between neighbours, wherever
 * they stand in the order, and the group closes on itself when factor x stride is the whole axis. It is 1 for a group
 * of one chip. */
int64_t nesting_stride(const Nesting *nesting, const int32_t factors[ROLE_COUNT], RoleSet members);

/* Where the group of some roles lies: on each axis it has the product of their factors, at the stride above. */
Footprint nesting_footprint(const Mesh *mesh, const Nesting *nesting, const Placement *placement, RoleSet members);
