/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/command.h: what every command is. It takes words and streams and returns an exit code, so that a test can run
 * it in memory. argv[0] is the command's name; the result goes to `out` alone; a failure is in *error, and main prints it. */
#ifndef SHARDOPT_SEARCH_CLI_COMMAND_H
#define SHARDOPT_SEARCH_CLI_COMMAND_H

#include "base/error.h"

#include <stdio.h>

typedef struct {
    FILE *out, *err;
} Streams;

int command_models(int argc, char **argv, Streams streams, Error *error);
int command_chips(int argc, char **argv, Streams streams, Error *error);

#endif
