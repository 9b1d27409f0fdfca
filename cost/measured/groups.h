/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/measured/groups.h: which measured runs stand beside each other as alternatives of one choice. Pure.
 *
 * Runs of one group have the same source, model and dimensions, machine, sequence, precision and release. What is
 * compared is the time of a token, so that plans with different batches can stand in one group: a planner too ranks by
 * the time of a token. Runs of the same plan (degrees, micro-batch, batch, recomputation) are repeats: their mean is
 * one plan. */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "cost/measured/run.h"

/* A run that was priced. */
typedef struct {
    const Run *run;
    double measured_seconds, predicted_seconds; /* of a step, > 0 */
    bool too_large;                             /* predicted not to fit its HBM */
} Ranked;

typedef struct {
    const Ranked *first;        /* of its repeats */
    double measured, predicted; /* of a token */
    bool too_large;             /* every repeat is called so */
    int64_t order;              /* for whoever is visited; 0 */
} MeasuredPlan;

/* One group of at least two plans, which it may change. */
typedef bool GroupVisit(void *context, MeasuredPlan *plans, int64_t count, Error *error);

/* Visits every group, in the order of source, model and machine, but for those of the source `without`
 * (cost/measured/labels.h; NULL: none). Runs without tokens are left out. False: memory is out, or a visit failed. */
bool groups_each(const Ranked *rows, int64_t count, const char *without, GroupVisit *visit, void *context,
                 Error *error);
