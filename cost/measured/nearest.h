/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/measured/nearest.h: the measured run that says most about a question: of the same chip, and near in model, size
 * of the machine, length of sequences and precision. Pure. */
#pragma once

#include "cost/measured/validate.h"

typedef struct {
    const char *model;        /* its name */
    double active_parameters; /* of a token */
    bool mixture;
    double chips, seq;
    Precision precision;
} NearestAsk;

/* The nearest of the outcomes, which are of one chip; NULL where none is of a like model: dense or a mixture as
 * requested, with at least half and at most twice the active parameters. Of runs that are equally near the last of the
 * table. */
const Outcome *nearest_run(const Outcome *outcomes, int64_t count, const NearestAsk *ask);

/* Whether a run can be the nearest, by what needs no replay. */
bool run_is_like(const Run *run, const NearestAsk *ask);

/* Tokens per second and chip of a run, by the step that was measured; 0 where the batch is not known. */
double outcome_tokens_per_second_per_chip(const Outcome *outcome);
