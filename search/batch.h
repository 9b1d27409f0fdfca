/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/batch.h: the relaxed time of many placements at once: rates as arrays, one loop per group that the compiler
 * vectorises. The same sums as cost/step.h in another order, so results carry a directed slack and serve for cuts and
 * order alone. */
#ifndef SHARDOPT_SEARCH_BATCH_H
#define SHARDOPT_SEARCH_BATCH_H

#include "search/layout/layout.h"

/* Rates of the placements of one degree tuple under one context method. */
typedef struct {
    int64_t count;
    int axis_count;
    bool active[GROUP_COUNT];                                   /* the group has more than one chip */
    double *latency[GROUP_COUNT][2], *per_byte[GROUP_COUNT][2]; /* [placement] */
    /* 1: the group leaves the scale-up network there, 0: not; NULL: on none of the placements */
    double *far[GROUP_COUNT];
    /* 1: the group lies on the axis, 0: not; NULL: on none of the placements */
    double *on[GROUP_COUNT][MESH_AXES_MAX];
} RateTable;

/* NULL fields where a group is one chip. False: memory is out. */
bool rate_table_fill(const Rates *rates, int64_t count, Arena *arena, RateTable *out, Error *error);

/* out[i] <= relaxed_seconds(rule, relaxation, rates of placement i), by less than 1e-11 of it. */
void batch_relaxed_seconds(const StepRule *rule, const Relaxation *relaxation, const RateTable *table, double *out);

#endif
