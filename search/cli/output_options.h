/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/output_options.h: a command line that plans, read: what it asks, and how the answer is to be written. */
#pragma once

#include "search/cli/command.h"
#include "search/options/options.h"

/* Ends the --help of each of them; `more` is a further exit code, "1 something is worse, " or "". */
#define PLANNING_FOOTER(more)                                                                                          \
    "Numbers take k M G T (powers of ten) and Ki Mi Gi Ti; shares also %.\n"                                           \
    "Exit codes: 0 done, " more                                                                                        \
    "2 input is wrong, 3 no plan fits, 4 a limit ended the search, 70 a defect,\n130 interrupted."

/* The words of a command that plans, by Option. */
void options_of_line(const CommandLine *line, Options *out);

/* Both at once, for programs that ask from the inside: reads a command line (argv[0] is skipped) into *out. */
bool options_parse(int argc, char **argv, const Command *command, Arena *arena, Options *out, Error *error);

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
