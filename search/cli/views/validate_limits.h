/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/views/validate_limits.h: what an error table must keep to: --max-error and --min-ranking. */
#pragma once

#include "cost/measured/validate.h"

#include <stdio.h>

typedef enum {
    GATE_MEDIAN,
    GATE_P90,
    GATE_WORST,
    GATE_BIAS, /* of every source, whichever its sign */
    GATE_SKIPPED,
    GATE_MEMORY_MEDIAN,
    GATE_MEMORY_P90,
    GATE_MEMORY_FITTING, /* plans called fitting that were measured not to fit: a number */
    GATE_TAU,            /* from here on at least: Kendall's tau without bloom */
    GATE_TAU_ALL,
    GATE_BEST, /* share of groups whose plan predicted best is within 3% of the best */
    GATE_COUNT
} ValidationLimit;

typedef struct {
    bool set[GATE_COUNT];
    double limit[GATE_COUNT];
} ValidationLimits;

/* "median=4%,p90=13%,bias=8%", or one share, of the median. `least`: of --min-ranking ("tau=0.8,best=90%"; one share is
 * tau). Errors name `where`. */
bool gate_parse(const char *text, const char *where, bool least, ValidationLimits *gate, Error *error);

/* One line for each limit that does not hold, and a limit of what the table has none of does not; how many. */
int gate_check(const ValidationLimits *gate, const Validation *validation, FILE *err);
/* The same of the errors alone: median, p90, worst, and bias of all rows. */
int gate_check_errors(const ValidationLimits *gate, const ErrorStats *stats, FILE *err);
