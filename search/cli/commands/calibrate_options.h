/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/commands/calibrate_options.h: the words of `shardopt calibrate`. */
#pragma once

#include "search/cli/command.h"

typedef enum { CALIBRATE_TEXT, CALIBRATE_JSON, CALIBRATE_MARKDOWN } CalibrateFormat;
/* AUTO: from priors, unless the set was fitted to other runs. */
typedef enum { BEGIN_AUTO, BEGIN_PRIORS, BEGIN_VALUES } CalibrateBegin;

typedef struct {
    const char *file;    /* the table of runs */
    const char *output;  /* the set goes there; NULL: nowhere */
    const char *profile; /* NULL: the default set */
    const char *date;    /* NULL: today's */
    const char *only;    /* a stack: only its figures move; NULL: all */
    CalibrateFormat format;
    CalibrateBegin begin;
    const char *facts;  /* of a load test's JSON; NULL: none */
    int folds, threads; /* threads 0: OpenMP's own choice */
    bool exclude_flagged, verbose;
} CalibrateWords;

enum { CALIBRATE_OPTION_COUNT = 11 };
extern const CommandOption CALIBRATE_OPTIONS[CALIBRATE_OPTION_COUNT];

/* Texts are those of the line. */
bool calibrate_options_read(const CommandLine *line, CalibrateWords *out, Error *error);
