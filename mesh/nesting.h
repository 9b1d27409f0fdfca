/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mesh/nesting.h: in which order roles nest within a physical axis. Degrees and factors say how many chips of an axis a
 * role takes; the nesting says how far apart they stand. */
#ifndef SHARDOPT_MESH_NESTING_H
#define SHARDOPT_MESH_NESTING_H

#include "mesh/factorization.h"

typedef struct {
    Role order[ROLE_COUNT]; /* innermost (neighbours) first; every role once */
} Nesting;

/* tensor, expert, sequence, fsdp, data, pipeline: the order of the enum. */
Nesting nesting_canonical(void);

/* Named orders, as launchers nest roles; `name` as --nesting spells it. False: there is none of that name. */
bool nesting_named(const char *name, Nesting *out);

/* The names, from 0 on, "default" (the canonical one) first; NULL behind the last. */
const char *nesting_name(int index);

/* "tensor, expert, sequence, fsdp, data, pipeline": innermost first. Returns `text`. */
enum { NESTING_TEXT_SIZE = 64 };
const char *nesting_text(const Nesting *nesting, char text[NESTING_TEXT_SIZE]);

/* Orders of a tuple that differ at all: of its roles above 1, n!. Number 0 is the canonical one; they rise role by
 * role, from the inside. Roles of degree 1 stand where they make no difference: behind all that come before them in the
 * canonical order. Some orders still place the same: roles that share no axis have none between them. */
int64_t nesting_orders(const Degrees *degrees);
Nesting nesting_order(const Degrees *degrees, int64_t number);

/* A total order, the canonical one first of those with the same roles above 1; <0: a is first. */
int nesting_compare(const Nesting *a, const Nesting *b);

/* How far apart the members of a group of roles stand on one axis: the product of the factors of all other roles that
 * nest inside the group's outermost member. So many groups share every link between neighbours, wherever in the order
 * they stand, and the group closes on itself when factor x stride is the whole axis. 1 for a group of one chip. */
int64_t nesting_stride(const Nesting *nesting, const int32_t factors[ROLE_COUNT], RoleSet members);

/* Where the group of some roles lies: on each axis the product of their factors, at the stride above. */
Footprint nesting_footprint(const Mesh *mesh, const Nesting *nesting, const Placement *placement, RoleSet members);

#endif
