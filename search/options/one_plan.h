/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/options/one_plan.h: one plan, as --plan names it, or out of the report that --from or the launch configuration
 * that --from-config names: a search in which all of it is required, so that its layout and its estimate are there. */
#pragma once

#include "base/arena.h"
#include "search/engine/search.h"
#include "search/options/options.h"
#include "search/options/report_options.h"
#include "search/report/report.h"

#include <stdio.h>

/* The request of --plan, --from or --from-config, exactly one of which `command` was given: degrees and knobs are
 * requirements, the placement of a report or a configuration is pinned. `from` (all zero before) is filled from these;
 * its `plan` stays empty for --plan. */
bool one_plan_request(const Options *options, const char *command, Arena *arena, Request *request, ReportPlan *from,
                      Error *error);

/* Narrows a request of `explain --plans` down to a plan as --plan names it; `where` names it in errors. */
bool one_plan_require(Request *request, const char *plan, const char *where, Error *error);

/* Narrows a request down to a plan of a report or a configuration; `where` names the file. */
bool one_plan_pin(const ReportPlan *plan, const char *where, Request *request, Error *error);

/* The request that the plan stands in, with neither its degrees nor its knobs required: what it is compared with. */
bool one_plan_open(const Options *options, Arena *arena, Request *request, Error *error);

/* Searches, and leaves in *result only the plan's own row; none where it does not fit. */
bool one_plan_search(const Request *request, const ReportPlan *from, Arena *arena, SearchResult *result, Error *error);

/* Warns on `err` of how a configuration was read. */
void one_plan_notes(const ReportPlan *from, FILE *err);

/* The same, and where the step is another than the report's: the program or its data have changed since. */
void one_plan_compare(const SearchResult *result, const ReportPlan *from, FILE *err);

/* The price of a plan that somebody names, whether it fits or not: of `explain`, and
 * of `trace --from-config`. */

/* A plan that somebody names, and the request that it belongs to. */
typedef struct {
    const Options *options;
    Request *request;
    const ReportPlan *from;
    Arena *arena;
} NamedPlan;

typedef struct {
    double lacking_bytes; /* of HBM, that a chip lacks by this model; 0: it fits */
    double host_seconds; /* a step with what may go there on the host; 0: not requested, or it does not fit so either */
} NamedPrice;

/* Prices the plan into the result of the report, as it is named: nothing goes to the host that nobody sends there,
 * since who names a plan that keeps everything in HBM has probably seen it run. No plan in the result: it is not HBM
 * alone, or an interrupt came. */
bool named_plan_price(const NamedPlan *named, Report *report, NamedPrice *out, Error *error);
