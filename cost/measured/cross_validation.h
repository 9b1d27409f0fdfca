/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/measured/cross_validation.h: what a fit says of runs that it has not seen. Runs are left out in folds, the rest
 * is fitted again, and the fold is predicted. A figure that only the fold had determined goes back to its prior,
 * because nothing else pulls at it. */
#ifndef SHARDOPT_COST_MEASURED_CROSS_VALIDATION_H
#define SHARDOPT_COST_MEASURED_CROSS_VALIDATION_H

#include "cost/measured/fit.h"

typedef enum {
    /* Whole groups of one source, model and chip generation, dealt to the folds from the largest to the smallest (ties
     * by name): a new model on a known machine. Where all runs are one group, which is what somebody's own often are,
     * run by run: what a fit without any of them is off by says nothing of a fit to them. */
    CROSS_GROUPS,
    CROSS_SOURCES /* one source a fold: what nobody has measured here, with software that may be new */
} CrossKind;

typedef struct {
    int folds;
    bool by_run;     /* CROSS_GROUPS of one group */
    int32_t *fold;   /* of each run; -1: it has no prediction */
    double *seconds; /* of each run, by the fit without its fold; 0: none */
} Cross;

/* For a bar: `done` of `folds` are done. */
typedef void CrossProgress(void *context, int done, int folds);

/* `full`: the fit to all, where folds begin. `folds`: of CROSS_GROUPS, >= 1, no more are made than there are groups.
 * `progress` may be NULL. */
bool cross_validate(const FitModel *model, const double *weights, const LeastSolution *full, CrossKind kind, int folds,
                    CrossProgress *progress, void *progress_context, Arena *arena, Cross *out, Error *error);

/* Runs of the same chip generation that other sources must have, for a source left out to be one of several. */
enum { CROSS_COVERED_RUNS = 10 };
/* covered[i]: other sources have so many usable runs of the chip generation of run i; alone[i]: they have none. */
void cross_coverage(const FitModel *model, bool *covered, bool *alone);

#endif
