/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/commands/refitting.h: a report's plan priced anew, its profile moved to what was measured, and what wins
 * with it: of `trace --refit` and of `bench --read`. */
#pragma once

#include "search/report/report.h"
#include "search/trace/refit.h"

#include <cjson/cJSON.h>

/* Moves the profile a step. `report` is the plan priced with the profile as it stands, `terms` the same as a trace is
 * compared with it. */
typedef bool (*RefitStep)(void *context, const RefitInto *into, const Report *report, const PlanTerms *terms,
                          Refit *out, Error *error);

typedef struct {
    const char *report, *path; /* the report's file; where the profile is written */
    const cJSON *json;         /* the report */
    const char *rank;          /* as given; NULL: 1 */
    const char *source;        /* of figures that move */
    RefitStep step;
    void *context;
    int steps; /* at least 1; the profile is settled after so many */
} RefitAsk;

/* What came of it. Texts lie in the arena. */
typedef struct {
    Refit refit;
    const char *path;
    double before_seconds, plan_seconds; /* of the plan that was run, by the old profile and by the new one */
    const char *best;                    /* the plan that wins now; NULL: none fits */
    double best_seconds;
} RefitAnswer;

/* The plan of a report, priced with the profile that `profile` names; NULL: with the report's. In the arena. */
bool refitting_price(const RefitAsk *ask, const char *profile, Arena *arena, Report **out, Error *error);

/* Writes the profile, and searches with it. */
bool refitting_run(const RefitAsk *ask, Arena *arena, RefitAnswer *out, Error *error);

/* `measured` is the step that was measured; 0: none was. */
void refitting_write_text(const RefitAnswer *answer, double measured, TextOut out);
bool refitting_add_json(const RefitAnswer *answer, cJSON *to);
