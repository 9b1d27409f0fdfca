/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/options.h: the options of every command that plans: first as words, each with where it stands, then
 * resolved into a Request. A report's `request` gives the same words, so that both ways are read by the same rules. */
#ifndef SHARDOPT_SEARCH_CLI_OPTIONS_H
#define SHARDOPT_SEARCH_CLI_OPTIONS_H

#include "search/cli/command.h"
#include "search/request/request.h"

typedef enum {
    OPTION_BASELINE,
    OPTION_TOLERANCE,
    OPTION_UPDATE,
    OPTION_WITHIN,
    OPTION_MARKDOWN,
    OPTION_JUNIT, /* of `check` */
    OPTION_MODEL,
    OPTION_CHIP,
    OPTION_PODS,
    OPTION_SLICE,
    OPTION_SLICES,
    OPTION_CHIPS,
    OPTION_NODES,
    OPTION_OVERSUBSCRIPTION,
    OPTION_BATCH,
    OPTION_SEQUENCES,
    OPTION_SEQ,
    OPTION_TOKENS,
    OPTION_REQUIRE,
    OPTION_FOR,
    OPTION_MAX_IDLE,
    OPTION_BATCH_TOLERANCE,
    OPTION_PADDING,
    OPTION_SCHEDULES,
    OPTION_NESTING,
    OPTION_OBJECTIVE,
    OPTION_TOP,
    OPTION_VARIANTS,
    OPTION_PRECISION,
    OPTION_OPTIMIZER,
    OPTION_STATE_DTYPES,
    OPTION_REMAT,
    OPTION_HBM_RESERVE,
    OPTION_PROFILE,
    OPTION_STACK,
    OPTION_BRUTE_FORCE,
    OPTION_TIME_LIMIT,
    OPTION_THREADS,
    OPTION_PLAN,
    OPTION_FROM,
    OPTION_RANK,
    OPTION_FROM_CONFIG,
    OPTION_CONFIG_FORMAT, /* of `explain` and `emit` */
    OPTION_WHY_NOT,       /* of `explain` */
    OPTION_SHARD,
    OPTION_RESUME, /* of `sweep` */
    OPTION_CERTIFICATE,
    OPTION_FORMAT,
    OPTION_OUTPUT,
    OPTION_TIMING,
    OPTION_VERBOSE,
    OPTION_QUIET,
    OPTION_COLOR,
    OPTION_VERSION,
    OPTION_COUNT
} Option;

/* As given: NULL when not; "" for a flag. `where` is what errors name: "--pods", or "report.json: request.pods". */
typedef struct {
    const char *text[OPTION_COUNT];
    const char *where[OPTION_COUNT];
} Options;

/* The commands that plan, as bits of CommandOption.use. */
enum { USE_PLAN = 1, USE_EXPLAIN = 2, USE_SWEEP = 4, USE_EMIT = 8, USE_CHECK = 16 };

/* The rows of all of them, by Option. */
extern const CommandOption PLANNING_OPTIONS[OPTION_COUNT];

/* Ends the --help of each of them; `more` is a further exit code, "1 something is worse, " or "". */
#define PLANNING_FOOTER(more)                                                                                          \
    "Numbers take k M G T (powers of ten) and Ki Mi Gi Ti; shares also %.\n"                                           \
    "Exit codes: 0 done, " more "2 input is wrong, 3 no plan fits, 4 a limit ended the search, 70 a defect."

const char *option_name(Option option); /* "max-idle" */

/* Whether it is part of what was asked, and therefore of a report's `request`. */
bool option_asks(Option option);

/* The words of a command that plans, by Option. */
void options_of_line(const CommandLine *line, Options *out);

/* Both at once, for programs that ask from the inside: reads a command line (argv[0] is skipped) into *out. */
bool options_parse(int argc, char **argv, const Command *command, Arena *arena, Options *out, Error *error);

/* Fills in the defaults and loads what is named: model, chip, profile, stack. What it points at lives in the arena. */
bool request_from_options(const Options *options, Arena *arena, Request *out, Error *error);

typedef enum { FORMAT_TEXT, FORMAT_JSON, FORMAT_MARKDOWN, FORMAT_HTML, FORMAT_CSV, FORMAT_COUNT } OutputFormat;

typedef enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } OutputColor;

/* How the answer is to be written; none of it changes the answer. */
typedef struct {
    OutputFormat format;
    OutputColor color;
    bool timing, verbose, quiet;
    const char *path;        /* NULL: stdout */
    const char *certificate; /* where the certificate goes too; NULL: nowhere */
} OutputChoice;
bool output_from_options(const Options *options, OutputChoice *out, Error *error);

#endif
