/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/commands.h: the one list of commands. A new command is a file commands/NAME.c with its row, a declaration
 * here and a place in the list of commands.c. */
#pragma once

#include "search/cli/command.h"

extern const Command COMMAND_PLAN, COMMAND_EXPLAIN, COMMAND_EMIT, COMMAND_MODELS, COMMAND_CHIPS, COMMAND_VALIDATE,
    COMMAND_CALIBRATE, COMMAND_CHECK, COMMAND_LAYOUT, COMMAND_DIFF, COMMAND_SWEEP, COMMAND_MERGE, COMMAND_INFERENCE,
    COMMAND_TRACE, COMMAND_BENCH, COMMAND_RL, COMMAND_PROGRAM;

/* In the order in which help lists them; the first is meant when a command line begins with an option. */
enum { COMMAND_COUNT = 17 };
extern const Command *const COMMANDS[COMMAND_COUNT];

/* NULL: *error says that there is none of that name, and which is nearest. */
const Command *command_named(const char *name, Error *error);
/* Whether the zoo has a model of that name: a first word is often what to plan. */
bool word_is_model(const char *name);
bool command_is(const char *name); /* whether a command is called so */

/* What is printed of the commands' rows: help, the manual page, and the completion of shells. */

/* `shardopt COMMAND --help`, with its examples (tests/install/examples.sh runs them). */
void help_of_command(const Command *command, FILE *out);

/* The row of --ignore-unknown, and whether a command has it: it knows words of other programs (names.tsv). */
extern const CommandOption COMMAND_IGNORE_ROW;
bool command_ignores(const Command *command);

/* The numbers of its table's rows by section, those first that a reader looks for, each with its heading. Returns
 * how many. */
int command_sections(const Command *command, int rows[OPTIONS_MAX], const char *headings[OPTIONS_MAX]);

/* `shardopt --help`: the commands. */
void help_of_program(FILE *out);

/* The commands and their options as JSON, of which packaging/words.py makes the manual page, docs/shardopt.1, and the
 * completions, docs/completion/. False: memory is out, or the stream failed. */
bool command_rows_write(FILE *out);

/* The figures of plans and of points, as JSON; tests/schema/figures.py makes tables of docs/json.md and parts of
 * docs/schema of it. False: memory is out, or the stream failed. */
bool figures_write(FILE *out);
