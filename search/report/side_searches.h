/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The searches around the search of a report, and what is made of them. Internal to the report. */
#pragma once

#include "search/report/report.h"

/* The best plan of a changed request, in an arena of its own that ends here; *found false: none fits. */
typedef struct {
    bool found, cut_short;
    bool left_out;  /* cut short because it took more work than --sensitivity fast lets it have */
    int64_t effort; /* what it took: search_effort() */
    RankedPlan best;
} SideAnswer;

/* What a search takes, to be compared between searches of one report: the bounds that it made, and in bounds what it
 * takes to list tuples of degrees and to open them. The same for any number of threads. */
int64_t search_effort(const SearchResult *result);

bool report_ask(Report *report, Request *changed, SideAnswer *out, Error *error);

/* Several questions at once. Without a time limit they run in parallel, each by one thread: a search alone cannot
 * keep many busy. The answers are the same. */
typedef struct {
    Request changed;      /* as request_copy() has it, and then changed */
    bool no_slower;       /* only what is no slower per token than plan 1 is of interest (there is a plan 1) */
    double limit_seconds; /* only plans up to this ranked time are; 0: all */
    bool patient;         /* a search of all that there is: it may take twice the work of the others */
    int64_t work_limit;   /* of its own, for whoever counts for himself what is left out; 0: that of the report */
    SideAnswer answer;
} SideSearch;
SideSearch *side_searches_new(int count, Error *error); /* free with free() */
bool report_ask_all(Report *report, SideSearch *questions, int count, Error *error);

enum { QUESTIONS_MAX = 12 }; /* at once */

/* A copy of the request to change: one plan, cutting allowed. */
void request_copy(const Request *request, Request *copy);

/* Tells a search for a changed request to look first at the degrees of a plan that is known for `request`. */
void request_seed(const Request *request, const RankedPlan *plan, Request *changed);

/* The same on the machine of a plan, with its order of roles, nothing idle. */
void request_fix_machine(const RankedPlan *best, Request *changed);

/* Requires degrees, and knobs but for those in `open`. False: with the conditions that are there they are too many. */
bool request_require(const Degrees *degrees, const Knobs *knobs, KnobSet open, Request *changed);
/* Requires the placement of a plan, in its order of roles. */
void request_pin(const RankedPlan *plan, Request *changed);

/* What links carry, within domains and slices (`scale_up`) or between them, times `factor`. False: the machine has no
 * such links. */
bool request_scale_links(Request *request, bool scale_up, double factor);

bool report_make_alternatives(Report *report, Request *scratch, Error *error);
bool report_make_sensitivities(Report *report, Arena *arena, Error *error);
/* Rows that differ in kind from plan 1, in place of near equivalents (rows.c); what a free layout would gain: with
 * SENSITIVITY_ROWS by a quick search, so at least that. */
bool report_make_rows(Report *report, Arena *arena, Error *error);
/* What headroom costs: three searches, each about as long as the plan's own. */
bool report_make_headroom(Report *report, Arena *arena, Error *error);
/* What each of the first rows takes under launchers that cannot express its layout. */
bool report_make_expressible(Report *report, Arena *arena, Error *error);
bool report_make_nearest(Report *report, Request *scratch, Error *error);
/* Of fine-tuning what fits in HBM alone, each requested by itself: what it costs is its step. */
bool report_make_ways_out(Report *report, Request *scratch, Error *error);
