/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/serving/measured/serving_score.h: how wrong replays are, and whether they put ways to serve in the order in
 * which they were measured. Rows of one group (a source, model, chip, engine and mode) share everything, so each weighs
 * one over the rows of its group. Errors are predicted / measured - 1. Pure. */
#pragma once

#include "search/serving/measured/serving_replay.h"

typedef enum { SCORE_TPOT, SCORE_TTFT, SCORE_RATE, SCORE_METRICS } ServingMetric;
const char *serving_metric_name(ServingMetric metric); /* "tpot" "ttft" "output_tokens_per_second" */

/* The kind of a run that was replayed: "dense", "mixture, all at once", "two pools", ... */
const char *served_kind(const ServingOutcome *outcome);

/* predicted / measured - 1 of one figure; NAN: it was not measured, or not predicted. */
double serving_metric_error(const ServingOutcome *outcome, ServingMetric metric);

typedef struct {
    int64_t rows, groups;
    double median, p90, worst; /* of magnitudes, weighed by group */
    double bias;               /* the median with its sign */
} ServingStats;

typedef enum {
    SERVED_BY_KIND,
    SERVED_BY_MODE,
    SERVED_BY_SOURCE,
    SERVED_BY_CHIP,
    SERVED_BY_ENGINE,
    SERVED_BY_MODEL,
    SERVED_BY_LAYOUT,
    SERVED_BY_COUNT
} ServedBy;
const char *served_by_name(ServedBy by); /* "kind" "mode" "source" "chip" "engine" "model" "layout" */

typedef struct {
    const char *name;
    ServingStats of[SCORE_METRICS];
} ServingGroup;

/* Loads: a source, model, chip, engine, weights and lengths, with several ways that were measured under it. */
typedef struct {
    int64_t loads;               /* with a choice under 10 ms */
    int64_t pairs;               /* that lie 5% apart in the time of a token, as measured */
    double tau_tpot, tau_chip;   /* Kendall's, of the time of a token, and of chip-seconds per token; NAN: no pair */
    int64_t best, best_within;   /* loads with several layouts at one number of requests in flight; of these, the one
                                  * predicted best was measured within 5% of the best */
    int64_t limits, limits_kept; /* choices under 10, 15, 20, 30, 50 ms, and those that keep the limit as measured */
} ServingOrder;

typedef struct {
    int64_t count, replayed;
    ServingStats all[SCORE_METRICS];
    ServingGroup *by[SERVED_BY_COUNT];
    int by_count[SERVED_BY_COUNT];
    ServingOrder order;
} ServingScore;

/* Scores the outcomes; *out points into them and the arena. False: memory is out. */
bool serving_score(const ServingOutcome *outcomes, int64_t count, Arena *arena, ServingScore *out, Error *error);

void serving_order(const ServingOutcome *outcomes, int64_t count, ServingOrder *out);

/* Statistics of some errors with weights. Sorts both. False: memory is out. */
bool serving_stats(double *errors, double *weights, int64_t count, ServingStats *out);
