/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/serving/options/serving_options.h: the question that the options of
 * `shardopt inference` ask. */
#pragma once

#include "search/options/machine_words.h"
#include "search/serving/day.h"
#include "search/serving/question.h"

/* The question, with what was given in words for the report to print again. */
typedef struct {
    ServingQuestion question;
    RequestedMachine machine;
    const char *model;   /* as given */
    const char *profile; /* as given */
    const char *profile_path;
    const char *lengths;  /* as given; NULL: prompt and output were */
    const char *left_out; /* of their file, for a warning; NULL: none */
    bool weights_said;    /* by --precision; else as the authors publish them */
    bool engines_said, modes_said;
    int64_t degree_chips; /* those of the machine where nobody gave its size, but degrees of --require; else 0 */
    ServingDay day;       /* of --rates; else empty */
    int64_t top;          /* points to show; 0: some that differ in kind */
} ServingRequested;

/* Fills in the defaults and loads what is named. What it points at lives in the arena. */
bool serving_question(const Options *options, Arena *arena, ServingRequested *out, Error *error);

/* The table that --lengths names: one of cost/serving/workloads by its name ("azure-chat"), else a file. */
bool serving_workload_path(const char *argument, const char *where, Arena *arena, const char **path, Error *error);

/* Means over a table of lengths: lines of `prompt output [weight]`. Sequences in flight are weighed by how long they
 * stay. Other lines are left out (base/rows.h). */
bool serving_lengths(const char *text, const char *where, Arena *arena, ServingQuestion *question,
                     const char **left_out, Error *error);
