/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/command.h: what every command is. It takes words and streams and returns an exit code, so that a test can
 * run it in memory. argv[0] is the command's name; the result goes to `out` alone; a failure is in *error, and main
 * prints it. */
#ifndef SHARDOPT_SEARCH_CLI_COMMAND_H
#define SHARDOPT_SEARCH_CLI_COMMAND_H

#include "base/error.h"
#include "base/text/terminal.h"

#include <stddef.h>
#include <stdio.h>

typedef struct {
    FILE *out, *err;
    Terminal terminal; /* what `out` is: its width and its colours */
} Streams;

typedef struct {
    const char *name;
    int (*run)(int argc, char **argv, Streams streams, Error *error);
    const char *does; /* for help */
} Command;

enum {
    EXIT_DONE = 0,
    EXIT_GATE = 1,    /* a gate failed */
    EXIT_USAGE = 2,   /* usage or input is wrong, or a file cannot be read or written */
    EXIT_NO_PLAN = 3, /* no plan fits */
    EXIT_LIMIT = 4,   /* a limit ended the search before the proof */
    EXIT_DEFECT = 70, /* of the program, or memory is out */
    EXIT_INTERRUPTED = 130
};

int command_plan(int argc, char **argv, Streams streams, Error *error);
int command_explain(int argc, char **argv, Streams streams, Error *error);
int command_emit(int argc, char **argv, Streams streams, Error *error);
int command_models(int argc, char **argv, Streams streams, Error *error);
int command_chips(int argc, char **argv, Streams streams, Error *error);
int command_validate(int argc, char **argv, Streams streams, Error *error);
int command_calibrate(int argc, char **argv, Streams streams, Error *error);
int command_layout(int argc, char **argv, Streams streams, Error *error);
int command_sweep(int argc, char **argv, Streams streams, Error *error);
int command_check(int argc, char **argv, Streams streams, Error *error);
int command_diff(int argc, char **argv, Streams streams, Error *error);
int command_merge(int argc, char **argv, Streams streams, Error *error);

/* The exit code that an error stands for; EXIT_DONE: there is none. */
int exit_of_error(const Error *error);

/* Writes a result that is complete in memory: to the file `path` (beside, synced, renamed), or to `out` when it is
 * NULL. */
bool output_write(FILE *out, const char *path, const char *text, size_t length, Error *error);

/* The terminal behind `out`: its columns (those of $COLUMNS where it does not say), from TERMINAL_COLUMNS_LEAST to
 * TERMINAL_COLUMNS_MOST, and colour unless $NO_COLOR is set or $TERM is dumb. `(Terminal){0}` where `out` is no
 * terminal. */
enum { TERMINAL_COLUMNS_LEAST = 40, TERMINAL_COLUMNS_MOST = 400 };
Terminal terminal_of_stream(FILE *out);

/* The terminal that a result for `path` is read on: that of the command's output when `path` is NULL or "-", none when
 * it is a file. */
Terminal output_terminal(Streams streams, const char *path);

#endif
