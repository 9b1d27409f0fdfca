/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/commands/validate_options.h: the words of `shardopt validate`. */
#pragma once

#include "search/cli/command.h"
#include "search/cli/views/validate_limits.h"

typedef enum { VALIDATE_TEXT, VALIDATE_JSON, VALIDATE_MARKDOWN, VALIDATE_HTML } ValidateFormat;

typedef struct {
    const char *path; /* of the table */
    ValidateFormat format;
    const char *output, *plot; /* NULL: stdout; no picture */
    const char *profile;       /* NULL: the default set */
    RunFilter filter;
    ValidationLimits gate;
    int64_t worst;
    const char *facts; /* of a load test's JSON; NULL: none */
    int threads;       /* 0: as OpenMP decides */
    bool verbose;
} ValidateOptions;

enum { VALIDATE_OPTION_COUNT = 12 };
extern const CommandOption VALIDATE_OPTIONS[VALIDATE_OPTION_COUNT];

/* Texts are those of the line. */
bool validate_options_read(const CommandLine *line, ValidateOptions *out, Error *error);
