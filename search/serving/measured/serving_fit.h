/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/serving/measured/serving_fit.h: what engines take beyond the kernels' own times, fitted to measured runs. A
 * cell is an engine on the chips of one entry of the profile, and of those that say `fit_with` one of them. A cell's
 * figures are the profile's own and the effects of all rows, of its engine, of its generation of chips (`generation` of
 * the entry), of both, and its own. That is partial pooling: each effect is held to 0, so that what many rows share is
 * said by the wider level, and what few of them say of their own counts for little (Gelman and Hill, "Data Analysis
 * Using Regression and Multilevel/Hierarchical Models", chapter 12). How closely effects are held is chosen by leaving
 * out folds of the rows that are fitted to. Rows say log(predicted / measured) of the time of a token, and of the first
 * token for the figures that it alone has; groups weigh one. Solved by cost/measured/least_squares.h, where a level's
 * prior is a multiple of those above it. */
#pragma once

#include "search/serving/measured/serving_score.h"

typedef enum {
    FITTED_KERNEL_EXTRA,
    FITTED_MESSAGE_EXTRA,
    FITTED_EXPERT_EXTRA,
    FITTED_LAYER,
    FITTED_STEP,
    FITTED_SEQUENCE,
    FITTED_PROMPT,
    FITTED_KNEE,
    FITTED_FIRST_TOKEN,
    FITTED_BURST,
    FITTED_COUNT
} FittedFigure;
const char *fitted_figure_key(FittedFigure figure); /* as profiles spell it */

enum { FIT_CELLS_MAX = 64, FIT_LEVELS = 5 };
typedef struct {
    int engine;
    const cJSON *chips; /* the names of the entry; NULL: of every other chip */
    const cJSON *older; /* versions of the engine that are fitted apart; NULL: its others */
    double value[FITTED_COUNT];
    bool moved[FITTED_COUNT]; /* whether rows say anything of it */
    int64_t rows, groups;     /* 0: what it has is its parent's */
    int member[FIT_LEVELS];
} FitCell;

typedef struct {
    FitCell cells[FIT_CELLS_MAX];
    int cell_count;
    FitCell pooled[ENGINES_MAX]; /* all cells of an engine as one: what its other GPUs borrow; rows 0: there are none */
    ServingScore before, fitted, unseen; /* unseen: each row as predicted by a fit without its fold's groups */
    int folds;
    double strength;      /* of the pooling, as the rows chose it */
    double likely_factor; /* nine of ten measured times of a token of unseen rows lie below the prediction times this */
    const ServingOutcome *rows; /* all of the table, as scored in `unseen`, of no folds in `fitted`; in the arena */
} ServingFit;

/* Fits to the rows; outcomes are made in the arena. `folds` of whole groups; 0: none, and `unseen` is empty. */
bool serving_fit(ServingReplay *with, const ServingRuns *runs, int folds, ServingFit *out, Error *error);

/* The profile that was begun with, with what was fitted in `fits`. The caller frees it; NULL: memory is out. */
cJSON *serving_fit_profile(const ServingFit *fit, const cJSON *begun, const char *table);
