/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/measured/fit.h: the figures of a set of profiles that measured runs say something about, fitted to them.
 *
 * A parameter is a figure that may move (sigma > 0) and that the prediction of a run moves with, through the kin of its
 * chip or of its software. The residual of a run is ln(predicted / measured). Runs that repeat each other must not
 * outvote the others: a run weighs 1/sqrt(n) where n runs share its source, model, chip generation and precision, so
 * that a group weighs sqrt(n). What is minimised, and how: cost/measured/least_squares.h; a scale of 4% is what a run
 * of one table differs from the next. */
#ifndef SHARDOPT_COST_MEASURED_FIT_H
#define SHARDOPT_COST_MEASURED_FIT_H

#include "cost/profile/profile_set.h"
#include "cost/measured/least_squares.h"

/* A run as a fit sees it. */
typedef struct {
    const char *id, *source, *model, *precision; /* source: its family */
    const SetEntry *chip, *stack;                /* whose figures it takes, of the problem's set; stack may be NULL */
    double measured_seconds;                     /* > 0 */
    int unknowns;                                /* settings that had to be guessed */
    bool flagged;                                /* odd, by what is known of it (cost/measured/data/flagged.tsv) */
} FitRun;

/* Seconds of run `run` under a set whose entries have the places of the problem's. Pure; several threads at once.
 * False, or not a positive number: no prediction. */
typedef bool FitPredict(const void *context, int32_t run, const ProfileSet *set, double *seconds);

typedef enum {
    FIT_PRIORS, /* of the set's file, where the fit begins too: its values do not matter */
    /* The values that the set has, as far as runs determined them: a few new runs go on from there. A cluster differs
     * from those published by less than is unknown without any run: the logarithm is believed to half of sigma. */
    FIT_VALUES
} FitStart;

typedef struct {
    const ProfileSet *set; /* resolved */
    const FitRun *runs;
    int32_t run_count;
    FitPredict *predict;
    const void *context;
    FitStart start;
    int threads;    /* >= 1 */
    int iterations; /* Jacobians of a whole fit, at most; 0: 40 */
} FitProblem;

/* A figure that is fitted: entries[at.entry].figures[at.figure] of profiles or stacks. */
typedef struct {
    bool of_stack;
    bool held; /* kept at its prior by fit_hold() */
    SetAt at;
    LeastParameter least;
} FitParameter;

/* What stays the same from fold to fold. */
typedef struct {
    const FitProblem *problem;
    FitParameter *parameters;
    LeastColumn *columns; /* of each parameter: the runs that it moves at all, near the start */
    int parameter_count;
    bool *usable;            /* of each run: it has a prediction */
    const char **generation; /* of each run: the entry that gives its chip's matrix_efficiency */
    ProfileSet *sets;        /* one copy of the set for each thread */
} FitModel;

/* A set with entries of its own, in the arena. False: memory is out. */
bool fit_set_copy(const ProfileSet *set, Arena *arena, ProfileSet *out);

bool fit_prepare(const FitProblem *problem, Arena *arena, FitModel *out, Error *error);

/* 1/sqrt(n) of every usable run, 0 of the others, and of flagged ones when they are excluded. */
void fit_weights(const FitModel *model, bool exclude_flagged, double *weights);

/* Fits with these weights from these parameters (NULL: where `start` says); `iterations` Jacobians at most, 0: the
 * problem's. */
bool fit_solve(const FitModel *model, const double *weights, const double *start, int iterations, bool posterior,
               Arena *arena, LeastSolution *out, Error *error);

/* Seconds of all usable runs under the parameters x; 0 of the others. */
void fit_predictions(const FitModel *model, const double *x, double *seconds);

/* A figure is determined where the fit left it less than this much of its prior's deviation: half of its variance came
 * from runs. */
#define FIT_DETERMINED 0.7

/* How much of a parameter its prior is. */
typedef enum {
    FIT_OF_RUNS,    /* determined */
    FIT_LEANS,      /* partly its prior */
    FIT_KEPT_PRIOR, /* the fit left 95% of its prior's deviation or more, and it is held there */
} FitWeight;
FitWeight fit_weight(const FitParameter *parameter, double deviation);

/* Holds parameters at their prior for the fits that follow: all that have kept it, or, where there is none of these and
 * `all`, the one that leans on it most. How many. With FIT_PRIORS a fit is repeated once, without `all`; with
 * FIT_VALUES with `all` until there are none: what the runs do not determine has not moved. */
int fit_hold(FitModel *model, const LeastSolution *solution, bool all);

/* To five digits: what a fit writes must not hang on the last bit of a library's logarithm. */
double fit_rounded(double value);

/* Writes the parameters, rounded, into a set whose entries have the places of the problem's: value, deviation, runs
 * (how many of those with a weight it moves by 1% or more, when it moves by one deviation of its prior) and determined.
 * Figures that no run moves go to their prior, which may have followed its kin; with FIT_VALUES these and those held
 * are left alone. */
bool fit_write(const FitModel *model, const LeastSolution *solution, const double *weights, ProfileSet *set,
               Error *error);

#endif
