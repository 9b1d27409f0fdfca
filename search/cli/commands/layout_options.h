/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/commands/layout_options.h: the words of `shardopt layout`. */
#ifndef SHARDOPT_SEARCH_CLI_COMMANDS_LAYOUT_OPTIONS_H
#define SHARDOPT_SEARCH_CLI_COMMANDS_LAYOUT_OPTIONS_H

#include "base/arena.h"
#include "base/error.h"

#include <stdio.h>

typedef struct {
    const char *path;              /* of the graph */
    const char *output, *solution; /* NULL: stdout; not written */
    double time_limit;             /* seconds; INFINITY: none */
    double effort;
    int threads; /* 0: as OpenMP decides */
    bool json, timing, verbose, quiet, help;
} LayoutOptions;

/* argv[0] is the command. Strict; texts in the arena. */
bool layout_options_parse(int argc, char **argv, Arena *arena, LayoutOptions *out, Error *error);
void layout_options_help(FILE *out);

#endif
