/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/commands/layout_options.h: the words of `shardopt layout`. */
#pragma once

#include "search/cli/command.h"

typedef struct {
    const char *path;              /* of the graph */
    const char *output, *solution; /* NULL: stdout; not written */
    double time_limit;             /* seconds; INFINITY: none */
    double effort;
    int threads; /* 0: as OpenMP decides */
    bool json, timing, verbose, quiet;
} LayoutOptions;

enum { LAYOUT_OPTION_COUNT = 9 };
extern const CommandOption LAYOUT_OPTIONS[LAYOUT_OPTION_COUNT];

/* Texts are those of the line. */
bool layout_options_read(const CommandLine *line, LayoutOptions *out, Error *error);
