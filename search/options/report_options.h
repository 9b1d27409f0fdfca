/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/options/report_options.h: a report of format_version 1 read back, its `request` as options and one of its
 * plans; and a launch configuration (config_options.c). */
#pragma once

#include "search/options/options.h"

/* What identifies a plan among those of one search; from a report, or from a launch configuration. */
typedef struct {
    bool known;      /* false: none was read */
    Degrees degrees; /* all six */
    Knobs knobs;     /* of which those in `said` count; its schedule always does, and is none where nothing is said */
    KnobSet said;
    int64_t chips_used;
    int64_t sequences;  /* of its batch; 0: the report does not say */
    double seconds;     /* its step; 0: the report does not say */
    Pin pins[PINS_MAX]; /* its placement */
    int pin_count;
    char remat[REMAT_TEXT_SIZE]; /* of a report: the policy that its layout is, where the request leaves it open; "" */
    const char *const *notes;    /* what to say of how it was read */
    int note_count;
    int64_t lines[ROLE_COUNT]; /* of the keys of a launch file that set the degrees (search/launch/import.h); else 0 */
} ReportPlan;

/* Whether no option of the table is given that a report has in its request; else an error. */
bool options_have_no_input(const CommandOption *table, const Options *options, Error *error);

/* Reads the file that --from names. `given` may say how to write the answer, and --rank and --threads; options that ask
 * are in the report and are errors. Strict: a key that is no option, a value of the wrong kind, a missing plan are
 * errors that name the key. */
bool options_from_report(const Options *given, Arena *arena, Options *out, ReportPlan *plan, Error *error);

/* The same of a report that was read already; --from of `given` is what errors call it. */
bool options_of_report(const cJSON *report, const Options *given, Arena *arena, Options *out, ReportPlan *plan,
                       Error *error);

/* The two halves of that, of a report that was read: its `request` into *out, which is to be empty of what is an input
 * of a search; and its plan of that rank. `where` names the report in errors, and in those of the options. */
bool report_request_read(const cJSON *report, const char *where, Arena *arena, Options *out, Error *error);
bool report_plan_read(const cJSON *report, const char *where, int64_t rank, ReportPlan *out, Error *error);

/* Reads the file that --from-config names. What `given` says counts before what the file says. `plan`: its plan, with
 * its launcher's own placement. `of_plan`: the options that price it, whatever shardopt thinks of what its launcher
 * takes: it runs. `open` (or NULL): those of the search that it is held against, what its launcher can launch (unless
 * --for says otherwise), with the file's work and without its recomputation. */
bool options_from_config(const Options *given, Arena *arena, Options *open, Options *of_plan, ReportPlan *plan,
                         Error *error);
