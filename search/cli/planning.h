/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/planning.h: what the commands that plan have in common: how their words are read, what they say next to
 * the result, and how they end. */
#pragma once

#include "base/text/terminal.h"
#include "search/cli/command.h"
#include "search/cli/interrupt.h"
#include "search/options/options.h"
#include "search/report/report.h"
#include "search/report/text/markdown.h"

/* Ends the --help of each of them; `more` is a further exit code, "1 something is worse, " or "". */
#define PLANNING_FOOTER(more)                                                                                          \
    "Numbers take k M G T (powers of ten) and Ki Mi Gi Ti; shares also %.\n"                                           \
    "Exit codes: 0 done, " more                                                                                        \
    "2 input is wrong, 3 no plan fits, 4 a limit ended the search, 70 a defect,\n130 interrupted."

/* The words of a command that plans, by Option. */
void options_of_line(const CommandLine *line, Options *out);

/* Both at once, for programs that ask from the inside: reads a command line (argv[0] is skipped) into *out. */
bool options_parse(int argc, char **argv, const Command *command, Arena *arena, Options *out, Error *error);

typedef enum { FORMAT_TEXT, FORMAT_JSON, FORMAT_MARKDOWN, FORMAT_HTML, FORMAT_CSV, FORMAT_BRIEF } OutputFormat;

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

/* Before a search: sets the threads; warns on `err` of what is planned though it is odd (not with --quiet), and says
 * with --verbose what is searched. */
void planning_announce(const Request *request, const OutputChoice *choice, FILE *err);

/* After it: what --timing and --verbose ask for. */
void planning_conclude(const SearchResult *result, const OutputChoice *choice, double seconds, FILE *err);

/* `memory` as what --output and --color say of the place where the text in it will be read. */
TextOut planning_text_out(FILE *memory, const OutputChoice *choice, Streams streams);

/* The report in one of the forms. */
bool report_write_as(const Report *report, OutputFormat format, TextOut out, Error *error);

/* An interrupt comes first, then a gap before "no plan fits": a search that was cut short has not shown that. */
int exit_of_result(const SearchResult *result);

/* A command that plans, from its words to its exit code: in between an interrupt ends its searches with what they have,
 * and the report is filled and written. */
typedef struct {
    Options options;
    Report *report;
    InterruptScope interrupts;
} Planning;
bool planning_begin(const CommandLine *line, Planning *out, Error *error);
int planning_end(const Planning *planning, bool ok); /* the exit code when *error stays empty */

/* A plan that is named by its file alone: `explain report.json`, `emit megatron report.json`. */

/* Whether a word without an option is a file: "-", or what has a name like one or is there. */
bool operand_is_file(const char *word);

/* Takes the word as --from REPORT, or as --from-config FILE where it is no report. The line is one of a command that
 * plans. False: it names a second plan, or cannot be read. */
bool operand_take_plan(CommandLine *line, const char *word, Error *error);

/* Lengths and batches that were typed in thousands ("--seq 8k"), where powers of two are usual. */

/* One warning on `err` that names the power of two of each; nothing where none was typed so, or with --quiet. */
void thousands_warn(const Request *request, const OutputChoice *choice, FILE *err);

/* The same after an answer, with what it costs: another search says how long a token takes with powers of two. It is
 * left out where no searches around the plan were requested (--sensitivity none) or a limit ended the first. */
bool thousands_warn_after(const Report *report, const OutputChoice *choice, FILE *err, Error *error);
