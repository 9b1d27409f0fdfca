/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/commands/kinds.h: the kinds of answer. `explain diff check sweep emit validate calibrate` are one command
 * each, which looks at the report, table or word in front of it and hands the work to its kind. A new kind is a row of
 * kinds.c. */
#pragma once

#include "search/cli/command.h"
#include "search/cli/commands/check_plans.h"
#include "search/cli/planning.h"
#include "search/cli/sweep/point.h"
#include "search/cli/views/validate_limits.h"
#include "search/serving/options/served.h"

/* The words of `shardopt validate`. */

typedef enum { VALIDATE_TEXT, VALIDATE_JSON, VALIDATE_MARKDOWN, VALIDATE_HTML } ValidateFormat;

typedef struct {
    const char *path; /* of the table */
    ValidateFormat format;
    const char *output, *plot; /* NULL: stdout; no picture */
    const char *profile;       /* NULL: the default set */
    const char *sets;          /* runs are priced under each set of this file, and nothing else is done; NULL: not */
    RunFilter filter;
    ValidationLimits gate;
    int64_t worst;
    const char *facts; /* of a load test's JSON; NULL: none */
    int threads;       /* 0: as OpenMP decides */
    bool verbose;
} ValidateOptions;

/* The words of `shardopt calibrate`. */

typedef enum { CALIBRATE_TEXT, CALIBRATE_JSON, CALIBRATE_MARKDOWN } CalibrateFormat;
/* AUTO: from priors, unless the set was fitted to other runs. */
typedef enum { BEGIN_AUTO, BEGIN_PRIORS, BEGIN_VALUES } CalibrateBegin;

typedef struct {
    const char *file;    /* the table of runs */
    const char *output;  /* the set goes there; NULL: nowhere */
    const char *profile; /* NULL: the default set */
    const char *date;    /* NULL: today's */
    const char *only;    /* a stack: only its figures move; NULL: all */
    CalibrateFormat format;
    CalibrateBegin begin;
    const char *facts;  /* of a load test's JSON; NULL: none */
    int folds, threads; /* threads 0: OpenMP's own choice */
    bool exclude_flagged, verbose;
} CalibrateWords;

typedef struct {
    const char *command; /* the command for such questions, as reports and `sweep` call it; NULL: `plan` */
    /* Reports, which stay the caller's. Exit codes, as a command's run() returns them. */
    int (*explain)(const CommandLine *line, const cJSON *report, Streams streams, Error *error);
    int (*emit)(const CommandLine *line, const char *format, const cJSON *report, Streams streams, Error *error);
    PlanAgain *again;     /* for `check`; what it compares, and what `diff` does, is a ReportKind */
    const Command *sweep; /* whose options a grid has; NULL: those of `sweep` */
    PointChips *point_chips;
    PointSearch *point;
    /* Tables of measured runs. */
    bool (*validate)(const ValidateOptions *options, Arena *arena, Streams streams, int *code, Error *error);
    bool (*calibrate)(const CalibrateWords *words, Arena *arena, Streams streams, int *code, Error *error);
} AnswerKind;

/* By the words of its request; what is no report at all is of training, which says what is wrong with it. */
const AnswerKind *kind_of_report(const cJSON *report);
/* By its columns; a file that cannot be read is of training. */
const AnswerKind *kind_of_table(const char *path, Arena *arena);
/* Whether none of these options is given, which are of training runs alone, or the table is of those. */
bool kind_takes(const AnswerKind *kind, const CommandLine *line, const int *options, size_t count, Error *error);
/* By the first word of `sweep`; NULL: it is none. */
const AnswerKind *kind_of_word(const char *word);

int training_explain(const CommandLine *line, const cJSON *report, Streams streams, Error *error);
int training_emit(const CommandLine *line, const char *format, const cJSON *report, Streams streams, Error *error);
bool training_validate(const ValidateOptions *options, Arena *arena, Streams streams, int *code, Error *error);
bool training_calibrate(const CalibrateWords *words, Arena *arena, Streams streams, int *code, Error *error);

bool kernel_validate(const ValidateOptions *options, Arena *arena, Streams streams, int *code, Error *error);

int serving_explain(const CommandLine *line, const cJSON *report, Streams streams, Error *error);
int serving_emit(const CommandLine *line, const char *format, const cJSON *report, Streams streams, Error *error);
bool serving_validate(const ValidateOptions *options, Arena *arena, Streams streams, int *code, Error *error);
bool serving_calibrate(const CalibrateWords *words, Arena *arena, Streams streams, int *code, Error *error);

/* The command that these words of `explain` and `emit` are for, whose options are those of `inference`, where they name
 * a script that serves, or an engine; NULL: they do not. */
const Command *serving_explain_command(int argc, char **argv);
const Command *serving_emit_command(int argc, char **argv);
void serving_emit_list(FILE *out); /* the formats, for `emit --help` */
