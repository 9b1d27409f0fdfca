/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/commands/trace_plan.h: the options of `trace`, and the plan that they name: of a report, or of the launch
 * file that was run, priced as `explain` prices it. */
#pragma once

#include "search/cli/command.h"
#include "search/trace/plan_terms.h"

enum {
    TRACE_FROM,
    TRACE_RANK,
    TRACE_FROM_CONFIG,
    TRACE_CONFIG_FORMAT,
    TRACE_MODEL,
    TRACE_CHIP,
    TRACE_NODES,
    TRACE_CHIPS,
    TRACE_SLICE,
    TRACE_SLICES,
    TRACE_PODS,
    TRACE_BATCH,
    TRACE_SEQUENCES,
    TRACE_SEQ,
    TRACE_PRECISION,
    TRACE_OPTIMIZER,
    TRACE_REMAT,
    TRACE_PROFILE,
    TRACE_STACK,
    TRACE_REFIT,
    TRACE_FORMAT,
    TRACE_OUTPUT,
    TRACE_OPTION_COUNT
};
extern const CommandOption TRACE_OPTIONS[TRACE_OPTION_COUNT];

/* The plan beside which a trace is read. */
typedef struct {
    const char *name;     /* the file that names it; NULL: none was given */
    const char *rank;     /* as --rank has it; NULL: the first */
    struct cJSON *report; /* its report, the caller's to delete; terms refer to it */
    PlanTerms terms;
} TracePlan;

/* *out is all zero before. What is odd about a launch file is said on `err`. */
bool trace_plan_read(const CommandLine *line, FILE *err, TracePlan *out, Error *error);
