/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/command.h: what every command is. It takes words and streams and returns an exit code, so that a test can
 * run it in memory. argv[0] is the command's name; the result goes to `out` alone; a failure is in *error, and main
 * prints it. */
#ifndef SHARDOPT_SEARCH_CLI_COMMAND_H
#define SHARDOPT_SEARCH_CLI_COMMAND_H

#include "base/error.h"

#include <stddef.h>
#include <stdio.h>

typedef struct {
    FILE *out, *err;
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


#endif
