/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/commands/named_plan.h: the price of a plan that somebody names, whether it fits or not: of `explain`, and
 * of `trace --from-config`. */
#pragma once

#include "search/options/one_plan.h"
#include "search/report/report.h"

/* A plan that somebody names, and what it is asked of. */
typedef struct {
    const Options *options;
    Request *request;
    const ReportPlan *from;
    Arena *arena;
} NamedPlan;

/* Prices the plan into the result of the report. What does not fit beside the reserve but in HBM is priced so before
 * anything goes to the host that nobody said is there: who names a plan that keeps everything in HBM has probably seen
 * it run. *lacking: the bytes of HBM that a chip lacks by this model. No plan in the result: it is not HBM alone, or an
 * interrupt came. */
bool named_plan_price(const NamedPlan *named, Report *report, double *lacking, Error *error);
