/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/serving/options/serving_options.h: the options of `shardopt inference`, and the question that they ask. */
#pragma once

#include "search/options/command_option.h"
#include "search/serving/question.h"

typedef enum {
    SERVING_MODEL,
    SERVING_CHIP,
    SERVING_PODS,
    SERVING_SLICE,
    SERVING_SLICES,
    SERVING_CHIPS,
    SERVING_NODES,
    SERVING_PROMPT,
    SERVING_OUTPUT,
    SERVING_LENGTHS,
    SERVING_CACHED,
    SERVING_TTFT,
    SERVING_TPOT,
    SERVING_RATE,
    SERVING_CONCURRENCY,
    SERVING_SPECULATE,
    SERVING_ENGINE,
    SERVING_MODE,
    SERVING_REQUIRE,
    SERVING_OBJECTIVE,
    SERVING_PRECISION,
    SERVING_KV_DTYPE,
    SERVING_PROFILE,
    SERVING_TOP,
    SERVING_BRUTE_FORCE,
    SERVING_TIME_LIMIT,
    SERVING_FORMAT,
    SERVING_FILE,
    SERVING_CERTIFICATE,
    SERVING_TIMING,
    SERVING_QUIET,
    SERVING_FROM,
    SERVING_RANK,
    SERVING_FROM_CONFIG,
    SERVING_OPTION_COUNT
} ServingOption;

/* The commands that have the table, as bits of CommandOption.use. */
enum { SERVING_USE_ANSWER = 1, SERVING_USE_EMIT = 2 };

extern const CommandOption SERVING_OPTIONS[SERVING_OPTION_COUNT];

/* As given; NULL when not. `where` is what errors name. */
typedef struct {
    const char *const *text, *const *where;
    World world;
    FILE *certificate; /* NULL: nobody asks for one */
} ServingWords;

/* The question, with what was given in words for the report to print again. */
typedef struct {
    ServingQuestion question;
    char machine[96];    /* "--nodes 1" */
    const char *model;   /* as given */
    const char *profile; /* as given */
    const char *profile_path;
    const char *lengths; /* as given; NULL: prompt and output were */
    bool weights_said;   /* by --precision; else as the authors publish them */
    bool engines_said, modes_said;
    int64_t top; /* points to show; 0: some that differ in kind */
} ServingAsked;

/* Fills in the defaults and loads what is named. What it points at lives in the arena. */
bool serving_question(const ServingWords *words, Arena *arena, ServingAsked *out, Error *error);

/* The table that --lengths names: one of cost/serving/workloads by its name ("azure-chat"), else a file. */
bool serving_workload_path(const char *argument, const char *where, Arena *arena, const char **path, Error *error);

/* Means over a table of lengths: lines of `prompt output [weight]`. Sequences in flight are weighed by how long they
 * stay. Pure. */
bool serving_lengths(const char *text, const char *where, ServingQuestion *question, Error *error);
