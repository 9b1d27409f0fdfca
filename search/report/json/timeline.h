/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/report/json/timeline.h: the step of a plan in time, as data: rows of bars. Internal to the JSON report.
 *
 * {"kinds": [{"name", "of"}], "rows": [{"name", "kind": [index of kinds], "begin_seconds": [], "end_seconds": [],
 * "microbatch": [from 1 on; 0: of none]}]}: the four lists of a row have one entry per bar. `of` is what a picture
 * paints alike: a role, forward, backward, matmul ... Seconds have eight digits. */
#pragma once

#include "search/report/report.h"

enum { TIMELINE_KINDS_MAX = 128, TIMELINE_NAME_SIZE = 96 };

/* A set of rows while it is written. */
typedef struct {
    cJSON *rows, *kinds;
    cJSON *kind, *begin, *end, *microbatch; /* of the last row */
    char names[TIMELINE_KINDS_MAX][TIMELINE_NAME_SIZE];
    int kind_count;
    bool ok; /* false: memory is out */
} BarRows;

BarRows bars_begin(cJSON *to);
/* A row, which bars go to until the next; NULL: memory is out. */
cJSON *bars_row(BarRows *bars, const char *name);
/* Nothing of a bar that takes no time. */
void bars_add(BarRows *bars, const char *name, const char *of, double begin, double end, int64_t microbatch);
/* Of eight digits. */
bool json_add_short(cJSON *to, const char *key, double value);

/* What a lane of a group is called: "tensor", "expert weights". */
const char *lane_name(Group group);
/* Seconds of what a group moves in one phase of one microbatch; over replicas at the start and at the end of a step. */
double lane_seconds(const Estimate *estimate, Group group, Phase phase);

/* timeline_layer.c: one layer of one microbatch, op by op, forward and backward, of the kind of layer that the model
 * has most of; recomputation is left out. */
bool layer_add_json(cJSON *to, const Request *request, const RankedPlan *ranked);

/* "timeline" of plan 1. */
bool timeline_add_json(cJSON *to, const Report *report);
