/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/serving/options/served.h: a question of `shardopt inference` answered, from options or from a report that was
 * written before, for every command and for the library. */
#pragma once

#include "base/sha256.h"
#include "search/serving/options/serving_options.h"
#include "search/serving/report/serving_report.h"

/* Large: from an arena, not from the stack. */
typedef struct {
    ServingRequested request;
    ServingAnswer answer;
    ServingReport report;
    ServingSaid said[OPTION_COUNT];
    char data_sha256[SHA256_HEX_SIZE], profile_sha256[SHA256_HEX_SIZE];
} Served;

/* Reads the question, searches, and has the report ready to be written. The options have to outlive *out. */
bool serve(const Options *options, Arena *arena, Served *out, Error *error);
/* Finds the nearest measured run of the best point; serve() does. */
bool served_add_nearest(Served *served, Arena *arena, Error *error);

/* Prices the layouts of cost/serving/published for the question's model and chip; serve() does. */
bool served_add_published(Served *served, Arena *arena, Error *error);

void served_free(Served *served); /* of a zeroed one too */

/* Ends: 0 the front is there, 3 it is empty, 4 a limit ended the search. */
int served_code(const Served *served);

/* Whether a document is a report of `shardopt inference`. */
bool serving_report_is(const cJSON *json);

/* The options that a report was requested with; the environment of *out stays. Texts point into the report. */
bool serving_options_of_report(const cJSON *report, const char *file, Options *out, Error *error);

/* Points of a report as they were, by its rank; NULL with an error: there is none. */
const ServingPoint *served_point(const Served *served, int64_t rank, const char *where, Error *error);
