/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/commands/calibrate_options.h: the words of `shardopt calibrate`. */
#ifndef SHARDOPT_SEARCH_CLI_COMMANDS_CALIBRATE_OPTIONS_H
#define SHARDOPT_SEARCH_CLI_COMMANDS_CALIBRATE_OPTIONS_H

#include "base/arena.h"
#include "base/error.h"

#include <stdio.h>

typedef enum { CALIBRATE_TEXT, CALIBRATE_JSON, CALIBRATE_MARKDOWN } CalibrateFormat;
/* AUTO: from priors, unless the set was fitted to other runs. */
typedef enum { BEGIN_AUTO, BEGIN_PRIORS, BEGIN_VALUES } CalibrateBegin;

typedef struct {
    const char *file;    /* the table of runs */
    const char *output;  /* the set goes there; NULL: nowhere */
    const char *profile; /* NULL: the default set */
    const char *date;    /* NULL: today's */
    CalibrateFormat format;
    CalibrateBegin begin;
    int folds, threads; /* threads 0: OpenMP's own choice */
    bool exclude_flagged, verbose, help;
} CalibrateWords;

/* In the arena. */
bool calibrate_options(int argc, char **argv, Arena *arena, CalibrateWords *out, Error *error);
void calibrate_help(FILE *out);

#endif
