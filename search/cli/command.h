/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/command.h: what a command is: one row of data from which its words are read, and from which --help, the
 * manual page and the completion of shells are printed, so that an option is described once. A command takes words and
 * streams and returns an exit code, so that a test can run it in memory. The result goes to `out` alone; a failure is
 * in *error, and main prints it. */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/text/terminal.h"
#include "search/options/command_option.h"

#include <stddef.h>
#include <stdio.h>

typedef struct {
    FILE *out, *err;
    Terminal terminal; /* what `out` is: its width and its colours */
} Streams;

/* What the manual says of a command in addition to its options. */
typedef struct {
    const char *tag, *text; /* a tag of NULL ends a list */
} CommandNote;

typedef struct Command Command;

/* The words of a command line. Everything lives in `arena`. */
typedef struct {
    const Command *command;
    Arena *arena;
    const char *text[OPTIONS_MAX];  /* by number; NULL means not given; "" is a flag that is */
    const char *where[OPTIONS_MAX]; /* what errors name: "--pods" */
    const char **arguments;         /* the words that are no options; ends with NULL */
    int argument_count;
    bool wants_help, wants_version;
    const char *advice; /* what --ignore-unknown left out; NULL: nothing */
} CommandLine;

struct Command {
    const char *name, *summary; /* "plan", and the line of `shardopt --help` */
    const char *usage;          /* the words after "shardopt "; one line for each form */
    const char *about;          /* a paragraph of its --help; NULL means none */
    const char *details;        /* its paragraph of the manual */
    const CommandOption *options;
    int option_count;
    unsigned use;                /* which rows of the table it has; 0 means all */
    bool takes_arguments;        /* false: a word that is no option is an error */
    const char *argument_values; /* what completion proposes in its place, as in CommandOption.values */
    const char *footer;          /* the end of its --help: numbers, exit codes */
    void (*list)(FILE *out);     /* prints what else its --help lists; NULL means nothing */
    const CommandNote *notes;    /* NULL means none */
    const char *examples;        /* lines that a test runs in the order of the commands; each ends with a newline */
    /* Does the work: the words were read, and do not ask for help. Returns the exit code when *error stays empty. */
    int (*run)(const CommandLine *line, Streams streams, Error *error);
    /* NULL for most: the command that these words are for, of another table; NULL: this one. */
    const Command *(*other)(int argc, char **argv);
    /* NULL for most: the words are read by command_run(). Otherwise this runs in its place (`sweep`, over ranks). */
    int (*run_words)(int argc, char **argv, Streams streams, Error *error);
};

enum {
    EXIT_DONE = 0,
    EXIT_GATE = 1,    /* a check failed */
    EXIT_USAGE = 2,   /* usage or input is wrong, or a file cannot be read or written */
    EXIT_NO_PLAN = 3, /* no plan fits */
    EXIT_LIMIT = 4,   /* a limit ended the search before the proof */
    EXIT_DEFECT = 70, /* of the program, or memory is out */
    EXIT_INTERRUPTED = 130
};

/* Reads the words (argv[0] is the command's name), answers --help and --version itself, and otherwise runs the command.
 * Returns the exit code. */
int command_run(const Command *command, int argc, char **argv, Streams streams, Error *error);

/* Whether the row `number` of the command's table is an option of the command. */
static inline bool command_has_option(const Command *command, int number) {
    const CommandOption *row = &command->options[number];
    return row->name && (row->use == 0 || (row->use & command->use) != 0);
}

/* Reads the words of a command line; argv[0] is skipped. Unknown and repeated options, options without their value and
 * stray words are errors. */
bool command_line_read(const Command *command, int argc, char **argv, Arena *arena, CommandLine *out, Error *error);

/* Says what --ignore-unknown left out, unless --quiet. */
void command_advise(const CommandLine *line, FILE *err);

/* Prints what --help or --version requests. False: neither was requested. */
bool command_line_answered(const CommandLine *line, FILE *out);

/* Readers of one value. An option that is not given leaves *out, the default, as it is. The choice is the index of the
 * value in the row's `values`; a file is a name that is not empty. */
bool line_choice(const CommandLine *line, int option, int *out, Error *error);
bool line_file(const CommandLine *line, int option, const char **out, Error *error);
bool line_threads(const CommandLine *line, int option, int *out, Error *error);

/* For commands of one file: the only argument, into *out. `missing` is what is said when there is none. */
bool line_one_file(const CommandLine *line, const char *missing, const char **out, Error *error);

/* The exit code that an error stands for; EXIT_DONE when there is none. */
int exit_of_error(const Error *error);

/* Writes a result that is complete in memory: to the file `path` (a new file, synced, renamed), or to `out` when it is
 * NULL or "-"; `out` of NULL: to a file whatever its name. */
bool output_write(FILE *out, const char *path, const char *text, size_t length, Error *error);

/* A result in the making: whole in memory first, so that nothing is half-written; nothing is printed on failure. */
typedef struct {
    FILE *file;
    char *text;
    size_t length;
} Draft;
bool draft_open(Draft *draft, Error *error);
/* Ends it. `ok`: all was written to it; where that is so it goes where output_write() would write it. A writer that
 * failed without a reason had no memory. */
bool draft_write(Draft *draft, bool ok, FILE *out, const char *path, Error *error);

/* Whether `out` is a pipe that nobody reads any more: what fails to be written to it is no error. */
bool output_reader_gone(FILE *out);

/* Says by errno (0: unknown) why the output of a command could not be written. Always returns false. */
bool output_failed(Error *error);

/* Whether every file that the command line has written is another than all others it names; where one is not, what is
 * written would be lost, or what is read. Standard output takes one of them alone. */
bool files_are_apart(const CommandLine *line, Error *error);

/* The terminal behind `out`: its columns (those of $COLUMNS where it does not say), from TERMINAL_COLUMNS_LEAST to
 * TERMINAL_COLUMNS_MOST, and colour unless $NO_COLOR is set or $TERM is dumb. `(Terminal){0}` where `out` is no
 * terminal. */
enum { TERMINAL_COLUMNS_LEAST = 40, TERMINAL_COLUMNS_MOST = 400 };
Terminal terminal_of_stream(FILE *out);

/* The terminal that a result for `path` is read on: that of the command's output when `path` is NULL or "-", none when
 * it is a file. */
Terminal output_terminal(Streams streams, const char *path);
