/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/report/html/pictures.h: the pictures of a report. Each draws one SVG, says in words what it shows, and lists
 * its figures in a table for who does not see it. Pure but for the stream it is given. */
#pragma once

#include "base/text/svg.h"
#include "base/text/table.h"
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

/* What all of them use. */
static inline const RankedPlan *view_first(const PageView *view) {
    return view->report->result.plan_count > 0 ? &view->report->result.plans[0] : NULL;
}

/* A plan that somebody named, and not the best of a search; and what texts call it. */
static inline bool view_is_named(const PageView *view) { return !view->report->requested; }
static inline const char *view_plan(const PageView *view) { return view_is_named(view) ? "The plan" : "Plan 1"; }
