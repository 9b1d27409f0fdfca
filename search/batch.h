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
    uint8_t *axes[GROUP_COUNT]; /* Rates.axes; of groups of more than one chip */
    uint16_t *far_groups;       /* Rates.far */
} RateTable;

/* A table for `count` placements of a tuple, to be filled one by one and then finished; `active`: groups of more than one
 * chip. False: memory is out. */
bool rate_table_new(int64_t count, int axis_count, const bool active[GROUP_COUNT], Arena *arena, RateTable *out,
                    Error *error);
void rate_table_set(RateTable *table, int64_t placement, const Rates *rates);
/* Before it is finished: only these placements, `kept` of them, rising. */
void rate_table_keep(RateTable *table, const int64_t *placements, int64_t kept);
bool rate_table_finish(RateTable *table, Arena *arena, Error *error);

/* NULL fields where a group is one chip. False: memory is out. */
bool rate_table_fill(const Rates *rates, int64_t count, Arena *arena, RateTable *out, Error *error);

/* out[i] <= relaxed_seconds(rule, relaxation, rates of placement i), by less than 1e-11 of it. */
void batch_relaxed_seconds(const StepRule *rule, const Relaxation *relaxation, const RateTable *table, double *out);

#endif
