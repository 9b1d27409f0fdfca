/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/measured/fit.h: fits the figures of a set of profiles to measured runs.
 *
 * A parameter is a figure that may move (sigma > 0) and that the prediction of some run depends on, through the
 * ancestors of its chip or of its software. The residual of a run is ln(predicted / measured). Runs that repeat each
 * other must not outvote the others: a run weighs 1/sqrt(n) where n runs share its source, model, chip generation and
 * precision, so that a group weighs sqrt(n). cost/measured/least_squares.h says what is minimised, and how; the scale
 * is 4%, the difference between one run of a table and the next. */
#pragma once

#include "cost/measured/least_squares.h"
#include "cost/profile/profile_set.h"

/* A run as a fit sees it. */
typedef struct {
    const char *id, *source, *model, *precision; /* source: its family */
    const SetEntry *chip, *stack; /* the entries of the problem's set whose figures it takes; stack may be NULL */
    int64_t chips;                /* of its machine */
    double measured_seconds;      /* > 0 */
    int unknowns;                 /* the number of settings that had to be guessed */
    bool flagged;                 /* odd, as its line says */
} FitRun;

/* Predicts the seconds of run `run` under a set whose entries have the places of the problem's. Pure; several threads
 * call it at once. False, or a number that is not positive, means that there is no prediction. */
typedef bool FitPredict(const void *context, int32_t run, const ProfileSet *set, double *seconds);

typedef enum {
    FIT_PRIORS, /* the priors of the set's file, where the fit begins too: its values do not matter */
    /* The values of the set, as far as runs determined them: a few new runs go on from there. A cluster differs from
     * the published ones by less than the uncertainty without any run: the logarithm is believed to half of sigma. */
    FIT_VALUES
} FitStart;

typedef struct {
    const ProfileSet *set; /* resolved */
    const FitRun *runs;
    int32_t run_count;
    FitPredict *predict;
    const void *context;
    FitStart start;
    /* The name of one entry: only its figures, and those of its descendants, are fitted, while all others stay as the
     * set has them; NULL: all. */
    const char *only;
    int threads;    /* >= 1 */
    int iterations; /* Jacobians of a whole fit, at most; 0 means 40 */
} FitProblem;

/* A figure that is fitted: entries[at.entry].figures[at.figure] of profiles or stacks. */
typedef struct {
    bool of_stack;
    bool held; /* kept at its prior by fit_hold() */
    SetAt at;
    LeastParameter least;
} FitParameter;

/* The part that stays the same from fold to fold. */
typedef struct {
    const FitProblem *problem;
    FitParameter *parameters;
    LeastColumn *columns; /* of each parameter: the runs that it moves at all, near the start */
    int parameter_count;
    bool *usable;            /* of each run: it has a prediction */
    const char **generation; /* of each run: the entry that gives its chip's matrix_efficiency */
    ProfileSet *sets;        /* one copy of the set for each thread */
} FitModel;

/* Copies a set with entries of its own into the arena. False means that memory is out. */
bool fit_set_copy(const ProfileSet *set, Arena *arena, ProfileSet *out);

bool fit_prepare(const FitProblem *problem, Arena *arena, FitModel *out, Error *error);

/* Writes 1/sqrt(n) for every usable run, and 0 for the others, and for flagged ones when they are excluded. */
void fit_weights(const FitModel *model, bool exclude_flagged, double *weights);

/* Fits with these weights from these parameters (NULL means those of `start`), with at most `iterations` Jacobians; 0
 * means the problem's number. */
typedef struct {
    const double *start; /* parameters; NULL means those that the problem's `start` names */
    int iterations;      /* Jacobians, at most; 0 means the problem's number */
    bool posterior;      /* whether the deviations are worked out too */
} FitSearch;
bool fit_solve(const FitModel *model, const double *weights, FitSearch search, Arena *arena, LeastSolution *out,
               Error *error);

/* Seconds of all usable runs under the parameters x; 0 for the others. */
void fit_predictions(const FitModel *model, const double *x, double *seconds);

/* A figure is determined where the fit left less than this share of its prior's deviation: half of its variance came
 * from runs. */
#define FIT_DETERMINED 0.7

/* How much of a parameter comes from its prior. */
typedef enum {
    FIT_OF_RUNS,    /* determined */
    FIT_LEANS,      /* its prior determines a part of it */
    FIT_KEPT_PRIOR, /* the fit left 95% of its prior's deviation or more, and the figure is held there */
} FitWeight;
FitWeight fit_weight(const FitParameter *parameter, double deviation);

/* Holds parameters at their prior for the following fits and returns their number: all that have kept it, or, where
 * there are none of these and `all` is set, the one that leans on it most. With FIT_PRIORS a fit is repeated once,
 * without `all`; with FIT_VALUES it is repeated with `all` until there are none: figures that the runs do not determine
 * have not moved. */
int fit_hold(FitModel *model, const LeastSolution *solution, bool all);

/* Rounds to five digits: the numbers that a fit writes must not depend on the last bit of a library's logarithm. */
double fit_rounded(double value);

/* Writes the parameters, rounded, into a set whose entries have the places of the problem's: value, deviation, runs
 * (the number of weighted runs that it moves by 1% or more, when it moves by one deviation of its prior) and
 * determined. Figures that no run moves go to their prior, which may have followed its parent; with FIT_VALUES these
 * and the held ones stay as they are. */
bool fit_write(const FitModel *model, const LeastSolution *solution, const double *weights, ProfileSet *set,
               Error *error);

/* A few runs of one cluster tell about its chip and its software alone. Other entries take the figures that these
 * inherit: before such runs are fitted (FIT_VALUES) every inherited figure becomes one of the entry's own, believed to
 * equal its parent's, and afterwards the figures that the runs did not move are its parent's again. */

/* Gives the entries of these runs, which belong to the set, figures of their own, and resolves the set again. */
bool fit_own_figures(ProfileSet *set, const FitRun *runs, int32_t count, Error *error);

/* Removes those of them that are not determined. Places of figures in entries change. */
bool fit_drop_own(ProfileSet *set, Error *error);
