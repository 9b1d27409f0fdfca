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
