/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/explore/best_plan.h: a plan that was found, the order of plans, and lists of them. */
#pragma once

#include "base/error.h"
#include "cost/plan/plan.h"
#include "mesh/nesting.h"

/* The best plan of one (degrees, expert grid, schedule). */
typedef struct {
    bool found;
    double ranked_seconds;
    double memory_bytes;
    Degrees degrees;
    Knobs knobs;
    Placement placement;
    Layout layout;
    Nesting nesting;   /* the order of roles in which the placement is to be read */
    int machine;       /* index of the machine among those that are searched */
    int64_t sequences; /* of its batch */
} BestPlan;

/* The total order of plans: ranked time, memory, degrees, knobs, batch, machine, placement, nesting. A negative result
 * means that `a` is better. */
int best_plan_compare(const BestPlan *a, const BestPlan *b);

/* Whether knob settings of the same degrees compete for one row of the answer: they have one schedule and one expert
 * grid. */
bool knobs_compete(const Knobs *a, const Knobs *b);

/* A list that grows; the caller frees `items`. */
typedef struct {
    BestPlan *items;
    int64_t count, room;
} BestPlanList;
bool best_plan_list_add(BestPlanList *list, const BestPlan *plan, Error *error);
