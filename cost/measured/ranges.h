/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/measured/ranges.h: how wide the likely range of a prediction has to be, from the errors of predictions of unseen
 * runs.
 *
 * For the runs of a profile's chips, each predicted by the fit without its fold, it takes the 5% and 95% quantiles of
 * ln(measured / predicted), weighed like the fit. A few runs do not know their quantiles: with n runs in effect ((sum
 * w)^2 / sum w^2) the chip's own range counts n parts, that of all chips RANGE_PARENT_RUNS parts. 1 is always inside. A
 * profile without runs, whether its parent has runs or not, is like a chip whose only source was left out: it takes the
 * quantiles of those runs, but none narrower than those of all chips. */
#pragma once

#include "cost/measured/cross_validation.h"

enum { RANGE_PARENT_RUNS = 20 };

/* measured / predicted lies between them nine times in ten. */
typedef struct {
    double low, high;
    double runs; /* runs in effect; 0 means that there are none */
} LikelyRange;

/* The range of the runs with a weight; `log_ratios` holds ln(measured / predicted). runs 0 means that nothing is known:
 * low = high = 1. */
bool range_of(const double *log_ratios, const double *weights, int64_t count, LikelyRange *out);
/* `own` where it has many runs, drawn towards `parent` where it has few. */
LikelyRange range_towards(LikelyRange own, LikelyRange parent);

/* What a fit says of runs that it has not seen: by groups, and by sources. */
typedef struct {
    const Cross *groups, *sources;
} CrossBoth;

typedef struct {
    LikelyRange *of_profile; /* of each entry of the set's profiles */
    LikelyRange all;         /* every unseen run */
    LikelyRange alone; /* runs of a chip that only the left-out source had; runs 0 means fewer than RANGE_PARENT_RUNS */
} Ranges;

/* Puts likely_low and likely_high into every profile of the set, with their source; with FIT_VALUES only into profiles
 * that have runs here, whose former range is then the parent. Resolves the set again. */
bool ranges_write(const FittedModel *fitted, const CrossBoth *unseen, ProfileSet *set, Arena *arena, Ranges *out,
                  Error *error);
