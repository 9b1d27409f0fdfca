/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/bound/lower_rates.h: rates that no placement of a degree tuple goes below.
 *
 * Theorem (docs/search.md, "Lower-bound rates"). For each collective and each degree the table holds the least latency
 * and the least seconds per byte over all splits of the degree over the axes, at stride 1. No footprint of that degree
 * costs less in either component. The rates of a tuple give each of its groups these costs and an axis of its own, and
 * let none leave the scale-up network, so the step at these rates is no more than at those of any placement, in any
 * nesting order. */
#pragma once

#include "base/arena.h"
#include "cost/time/step.h"

/* The least cost of every collective, by the degree of its group, on one mesh. It is only read after it is made. */
typedef struct LowerBoundRates LowerBoundRates;
LowerBoundRates *lower_bound_rates_new(const Mesh *mesh, Arena *arena);              /* NULL means that memory is out */
LowerBoundRates *lower_bound_rates_copy(const LowerBoundRates *table, Arena *arena); /* NULL means that memory is out */
/* Lowers `to` to the least of both meshes, which have the same number of devices. */
void lower_bound_rates_merge(LowerBoundRates *to, const LowerBoundRates *from);
void lower_bound_rates_of(const LowerBoundRates *table, const Degrees *degrees, const Methods *methods, Rates *out);
/* Those of one group alone; the others stay as they are. */
void lower_bound_rate_of(const LowerBoundRates *table, const Degrees *degrees, const Methods *methods, Group group,
                         Rates *out);

/* Raises the lower-bound rates of the groups of a folded grid ("Folded grids"): its ranks take neighbours of what the
 * pipeline leaves of each axis, so only the ways to place the pipeline have to be tried, on each of `count` machines.
 * Without a folded grid the rates stay as they are. */
void lower_bound_rates_folded(const NestedMesh *nested_meshes, int count, const Degrees *degrees,
                              const Methods *methods, Rates *rates);
