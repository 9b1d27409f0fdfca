/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/measured/ranges.h: how wide the likely range of a prediction has to be, by how wrong predictions of unseen runs
 * were.
 *
 * Of the runs of a profile's chips, each predicted by the fit without its fold, the 5% and 95% quantiles of
 * ln(measured / predicted), weighed like the fit. A few runs do not know their quantiles: with n runs in effect
 * ((sum w)^2 / sum w^2) the chip's own count n parts, those of all chips RANGE_PARENT_RUNS parts. 1 is always inside. A profile
 * without runs, kin of one with runs or not, is like a chip whose only source was left out: it takes the quantiles of
 * those runs, and no narrower ones than all chips'. */
#ifndef SHARDOPT_COST_MEASURED_RANGES_H
#define SHARDOPT_COST_MEASURED_RANGES_H

#include "cost/measured/cross_validation.h"

enum { RANGE_PARENT_RUNS = 20 };

/* measured / predicted lies between them nine times in ten. */
typedef struct {
    double low, high;
    double runs; /* in effect, 0: of no run */
} LikelyRange;

/* Of the runs with a weight: `log_ratios` of ln(measured / predicted). runs 0: nothing known, low = high = 1. */
bool range_of(const double *log_ratios, const double *weights, int64_t count, LikelyRange *out);
/* `own` where it has runs, towards `kin`. */
LikelyRange range_towards(LikelyRange own, LikelyRange parent);

typedef struct {
    LikelyRange *of_profile; /* of each entry of the set's profiles */
    LikelyRange all;         /* every unseen run */
    LikelyRange alone; /* runs of a chip that only the left-out source had; runs 0: fewer than RANGE_PARENT_RUNS */
} Ranges;

/* Puts likely_low and likely_high into every profile of the set, with their source; with FIT_VALUES only into those
 * that have runs here, and what they had is their kin. Resolves the set again. */
bool ranges_write(const FitModel *model, const Cross *groups, const Cross *sources, const double *weights,
                  ProfileSet *set, Arena *arena, Ranges *out, Error *error);

#endif
