/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/bound/batch.h: the relaxed time of many placements at once: rates as arrays, loops that the compiler
 * vectorises, and only over what a knob setting moves. The same sums as cost/time/step.h in another order, so results
 * carry a directed slack and serve for cuts and order alone. */
#pragma once

#include "cost/time/step.h"
#include "search/engine/bound/batch_loops.h"
#include "search/engine/layout/layout.h"

/* Rates of many placements as arrays, a lane for each group of chips, for batch.h. */

/* Of one group the placements on which it stays within the scale-up network, or those on which it leaves it where that
 * matters (Rates.far): rates are zero on the others, so that each lane has one exposed share. */
typedef struct {
    Group group;
    bool far;
    bool one_piece;  /* the second affine piece never decides */
    double *rate[4]; /* [placement]: latency, seconds per byte of the first piece, then of the second; NULL: zero */
    double *most[4], *least[4]; /* [block]: the largest and the least of each */
    unsigned axes;              /* that the group lies on somewhere */
    int chips;                  /* lanes of the same chips have the same number: the first such group */
} Lane;

enum { LANES_MAX = 2 * GROUP_COUNT };

/* Rates of the placements of one degree tuple under one context method. Arrays end in zeros up to a whole vector. */
typedef struct {
    int64_t count;
    int axis_count, lane_count;
    Lane *lane;      /* groups of one chip have none */
    uint64_t *where; /* [placement]: lane_bit() of the groups on each axis */
} RateTable;

/* The bit of `where` that says whether a lane's chips lie on an axis. */
static inline uint64_t lane_bit(const Lane *lane, int axis) {
    return (uint64_t)1 << (axis * GROUP_COUNT + lane->chips);
}
_Static_assert(MESH_AXES_MAX *GROUP_COUNT <= 64, "a bit for each group on each axis");

/* False: memory is out. */
bool rate_table_fill(const Rates *rates, int64_t count, Arena *arena, RateTable *out, Error *error);

/* Placements that are summed up at once: all arrays that one row reads and writes stay in the first-level cache. */
enum { BATCH_BLOCK = 256 };

/* out[i] <= relaxed_seconds(rule, relaxation, rates of placement i), by less than 1e-11 of it. */
void batch_relaxed_seconds(const StepRule *rule, const Relaxation *relaxation, const RateTable *table, double *out);
