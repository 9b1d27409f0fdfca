/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/measured/score.h: how wrong predictions are: the statistics of an error table. Pure.
 *
 * The error of a run is predicted / measured - 1: a negative error means that the prediction is too fast. Quantiles are
 * those of its magnitude, between the two neighbouring ranks by linear interpolation: of n sorted values the quantile q
 * lies at rank q (n - 1), the first being 0. The bias is the median of the errors with their signs. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <stdint.h>

/* One predicted run. Names are compared as name_matches() does; "" is a name too. */
typedef enum { BY_SOURCE, BY_CHIP, BY_FRAMEWORK, BY_STACK, BY_KIND, BY_COUNT } ScoreBy;
const char *score_by_name(ScoreBy by); /* "source" "chip" "framework" "stack" "kind" */

typedef struct {
    const char *id, *model, *precision;
    const char *label[BY_COUNT];
    int64_t chips;
    double flops;                               /* of the model, in a step, on all chips: for the baseline */
    double measured_seconds, predicted_seconds; /* measured 0 means that only its memory was measured; the run
                                                 * counts there alone */
    double likely_low_seconds, likely_high_seconds;
    double measured_bytes, predicted_bytes; /* HBM of a chip; measured 0 means not measured */
} Scored;

typedef struct {
    int64_t count;
    double median, p90, worst; /* of magnitudes; 0 when there is none */
    double bias;
    int64_t worst_at; /* index of the row; -1 means none, or that rows were joined */
} ErrorStats;

/* The quantile 0 <= q <= 1 of n >= 1 sorted values. */
double quantile(const double *sorted, int64_t n, double q);

/* Statistics of n errors. False means that memory is out. */
bool error_stats(const double *errors, int64_t n, ErrorStats *out);

/* The rows of one name. */
typedef struct {
    const char *name;
    ErrorStats rows;
    /* Each (source, model, chip) counted once, with the median magnitude and the median error of its rows, so that a
     * sweep of one plan does not outweigh everything else. */
    ErrorStats families;
    /* The errors of a planner that takes the median model FLOP/s per chip of all rows of the same chip and precision
     * (the row's own among them) for every plan. */
    ErrorStats baseline;
    double likely; /* share of the rows that were measured inside their likely range */
} ScoreGroup;

/* The rows of one stack whose memory was measured. */
typedef struct {
    const char *name;
    ErrorStats bytes;
} MemoryGroup;

typedef struct {
    ScoreGroup all;
    ScoreGroup *by[BY_COUNT]; /* sorted by name */
    int64_t by_count[BY_COUNT];
    ErrorStats memory;            /* of bytes */
    MemoryGroup *memory_by_stack; /* sorted by name */
    int64_t memory_stacks;
} Score;

/* Scores every row; `out` points into the arena and into the rows. Only a lack of memory can make it fail. */
bool score_make(const Scored *rows, int64_t count, Arena *arena, Score *out, Error *error);
