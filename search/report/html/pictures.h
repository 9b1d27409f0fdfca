/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/report/html/pictures.h: the pictures of a report. Each draws one SVG, says in words what it shows, and lists
 * its figures in a table for who does not see it. Pure but for the stream it is given. */
#pragma once

#include "base/text/bars.h"
#include "search/engine/search.h"
#include "search/report/html/facts.h"

enum { PLANS_SHOWN = 10 }; /* where all plans have a row */

typedef struct {
    const Report *report;
    const PageFacts *facts; /* NULL: none were requested */
    Arena *arena;           /* of tables */
} PageView;

/* Draws to `out`, fills the words and the table. False: the report has nothing to show of it (nothing was written). */
typedef bool Picture(const PageView *view, FILE *out, Prose *words, Table *table);

Picture picture_step;        /* where a step goes, of all plans */
Picture picture_memory;      /* HBM by row against the limit, at each moment that can peak */
Picture picture_mesh;        /* which role lies on which axis */
Picture picture_timeline;    /* stages, microbatches and what communicates meanwhile */
Picture picture_pareto;      /* time against memory, and against chips */
Picture picture_scaling;     /* time against the size of the machine and of the batch */
Picture picture_sensitivity; /* how the step and the winner move with each figure */

/* How roles nest on each axis of a mesh: its rows of chips, level by level, in a picture of SVG_PANEL. */
typedef struct {
    const Mesh *mesh;
    const Placement *placement;
    Nesting nesting;
    const char *const *words; /* by role, where it is called otherwise than role_name() says; NULL: nowhere */
} MeshRoles;
MeshRoles ranked_roles(const RankedPlan *ranked); /* points into the plan */
double mesh_roles_height(const MeshRoles *roles);
void mesh_roles_draw(Svg *svg, const MeshRoles *roles, double y);
void mesh_roles_list(const MeshRoles *roles, int axis, Prose *out); /* "tensor 4 (1 apart)"; nothing: no role */

/* A row of HBM, for stacked bars. */
void memory_bar(Bars *bars, const MemoryRows *rows, double limit, const char *label);

/* What all of them use. */
static inline const RankedPlan *view_first(const PageView *view) {
    return view->report->result.plan_count > 0 ? &view->report->result.plans[0] : NULL;
}

/* A plan that somebody named, and not the best of a search; and what texts call it. */
static inline bool view_is_named(const PageView *view) { return !view->report->requested; }
static inline const char *view_plan(const PageView *view) { return view_is_named(view) ? "The plan" : "Plan 1"; }

/* tables.c: what the page and the Markdown share: tables, and what the text report says, as one line of text each.
 * Everything is in the arena of the view; NULL, or a failed table, means that memory is out. */

Table plans_table(const PageView *view);
Table alternatives_table(const PageView *view); /* without rows: no way out was tried */
Table misses_table(const PageView *view);       /* plans 2 to k, and what would make them win; needs facts */
Table closest_table(const PageView *view);      /* degrees that were cut, by their bound */
Table nearest_table(const PageView *view);      /* machines that fit, where nothing does */
Table chip_table(const PageView *view);         /* every figure, with its source */
Table profile_table(const PageView *view);
Table request_table(const PageView *view); /* options in force */

const char *verdict_text(const PageView *view);                   /* of plan 1, or how far off the nearest is */
const char *compare_to_best_text(const PageView *view, int rank); /* plan `rank` > 1 against plan 1 */
const char *assumed_text(const PageView *view);
const char *searched_text(const PageView *view);
const char *sensitivities_text(const PageView *view); /* "": nothing was requested */
const char *title_text(const PageView *view);         /* "llama3.1-405b on 8 pods of TPU v5p" */

/* timeline_layer.c: one layer of a plan in time, op by op, forward and backward: compute, and alongside it what
 * communicates. Part of the picture of a step. */

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
