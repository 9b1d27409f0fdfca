/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/commands/trace_plan.h: the plan of a run that `trace` and `bench` are about: of a report, or of the
 * launch file that was run, priced as `explain` prices it. */
#pragma once

#include "search/cli/command.h"
#include "search/trace/comparison.h"

/* The plan that a trace is compared with. */
typedef struct {
    const char *name;     /* the file that names it; NULL: none was given */
    const char *rank;     /* as --rank has it; NULL: the first */
    struct cJSON *report; /* its report, the caller's to delete; terms refer to it */
    PlanTerms terms;
} TracePlan;

/* *out is all zero before. What is odd about a launch file is said on `err`. */
bool trace_plan_read(const CommandLine *line, FILE *err, TracePlan *out, Error *error);
