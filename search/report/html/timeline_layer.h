/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/report/html/timeline_layer.h: one layer of a plan in time, op by op, forward and backward: compute, and
 * alongside it what communicates. Part of the picture of a step. */
#pragma once

#include "base/text/svg.h"
#include "base/text/table.h"
#include "search/engine/search.h"

/* In each phase every op with what it communicates over each group, and three groups of weights. */
enum { LAYER_BARS_MAX = (int)PHASE_COUNT * ((int)OPS_MAX * (1 + (int)GROUP_DATA) + 3) };

typedef struct {
    double from, to; /* seconds */
    int lane;        /* 0: compute; else of a group */
    Paint paint;
    char name[64];
} LayerBar;

typedef struct {
    LayerBar bars[LAYER_BARS_MAX];
    int count;
    int group[GROUP_COUNT + 1], lanes; /* the group of each lane from 1 on */
    double forward, end;               /* seconds */
} LayerLine;

/* What a lane of a group is called: "tensor", "expert weights". */
const char *lane_name(Group group);

/* Seconds of what it moves in one phase of one microbatch; over replicas at the start and at the end of a step. */
double timeline_lane_seconds(const Estimate *estimate, Group group, Phase phase);

/* Of the kind of layer that the model has most of; recomputation is left out. */
void layer_line(const Request *request, const RankedPlan *ranked, LayerLine *out);
double layer_line_height(const LayerLine *line);
void layer_line_draw(Svg *svg, const LayerLine *line, double top, double left, double right);
/* Each op and each transfer as a row: its name and phase, seconds, share of the layer, nothing. */
void layer_line_list(const LayerLine *line, Table *table);
