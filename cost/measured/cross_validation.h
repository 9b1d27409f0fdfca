/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/measured/cross_validation.h: how well a fit predicts runs that it has not seen. Runs are left out in folds, the
 * rest is fitted again, and the fold is predicted. A figure that only the fold had determined goes back to its prior,
 * because nothing else pulls at it. */
#pragma once

#include "cost/measured/fit.h"

typedef enum {
    /* Whole groups of one source, model and chip generation, dealt to the folds from the largest to the smallest (ties
     * by name): they stand for a new model on a known machine. Of a fit of one software alone (FitProblem.only), whose
     * runs are a sweep, they are the cells of one model and number of chips. Where all runs are one group, as one
     * user's own runs often are, each run is a group: the error of a fit without any of them says nothing about a fit
     * to them. */
    CROSS_GROUPS,
    CROSS_SOURCES /* one source per fold: a source that nobody has measured here, perhaps with new software */
} CrossKind;

typedef struct {
    int folds;
    bool by_run;     /* true for CROSS_GROUPS with a single group */
    int32_t *fold;   /* of each run; -1 means that it has no prediction */
    double *seconds; /* of each run, by the fit without its fold; 0 means none */
} Cross;

/* For a progress bar: `done` of `folds` are done. */
typedef void CrossProgress(void *context, int done, int folds);

/* A fit to all runs: the solution of the model under these weights of its runs. */
typedef struct {
    const FitModel *model;
    const double *weights;
    const LeastSolution *solution;
} FittedModel;

/* How runs are left out. `folds` >= 1 applies to CROSS_GROUPS; there are at most as many folds as groups. */
typedef struct {
    CrossKind kind;
    int folds;
    CrossProgress *progress; /* may be NULL */
    void *progress_context;
} CrossFolds;

/* Folds begin where the fit to all runs ended. */
bool cross_validate(const FittedModel *fitted, const CrossFolds *folds, Arena *arena, Cross *out, Error *error);

/* The number of runs of the same chip generation that other sources must have, for a source left out to be one of
 * several. */
enum { CROSS_COVERED_RUNS = 10 };
/* covered[i] means that other sources have at least that number of usable runs of the chip generation of run i;
 * alone[i] means that they have none. */
void cross_coverage(const FitModel *model, bool *covered, bool *alone);

/* How wide the likely range of a prediction has to be, from the errors of predictions of unseen runs.
 *
 * For the runs of a profile's chips, each predicted by the fit without its fold, it takes the 5% and 95% quantiles of
 * ln(measured / predicted), weighed like the fit. A few runs do not know their quantiles: with n runs in effect ((sum
 * w)^2 / sum w^2) the chip's own range counts n parts, that of all chips RANGE_PARENT_RUNS parts. 1 is always inside. A
 * profile without runs, whether its parent has runs or not, is like a chip whose only source was left out: it takes the
 * quantiles of those runs, but none narrower than those of all chips. */

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
