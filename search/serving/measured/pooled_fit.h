/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/serving/measured/pooled_fit.h: robust regression with partial pooling. A figure of a row is the sum of
 * effects, one of each level of pooling (all rows, those of its engine, of its generation of chips, ...), and each
 * effect is held to 0: what many rows share is told by the wider level, and what few of them say of their own counts
 * for little (Gelman and Hill, "Data Analysis Using Regression and Multilevel/Hierarchical Models", chapter 12).
 * Residuals count as themselves, not squared, beyond a margin (Huber), by repeated weighing. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum { POOL_LEVELS = 5, POOL_FIGURES_MAX = 16, POOL_FOLDS = 5 };

/* A residual and how it moves with each figure, at the effects of the problem. */
typedef struct {
    double residual, weight;
    int member[POOL_LEVELS]; /* which effect of each level it has */
    bool judges;             /* whether it counts where strengths are compared */
    int fold;                /* 0 to POOL_FOLDS - 1: rows that share what they say share one */
    double slope[POOL_FIGURES_MAX];
} PoolRow;

typedef struct {
    int figures, members[POOL_LEVELS];
    double penalty[POOL_LEVELS]; /* half of it times the square of an effect counts beside the residuals */
    PoolRow *rows;
    int64_t count;
    const double *effects; /* where slopes were taken: of each level, of each of its members, each figure */
    Arena *arena;
} PoolProblem;

int pooled_size(const PoolProblem *problem);

/* What a residual counts. */
double pooled_loss(double residual);
double pooled_penalty(const PoolProblem *problem, double strength, const double *effects);

/* The effects for which straight lines through the rows count least, penalties times `strength`, without the rows of a
 * fold (-1: with all). False: memory is out. */
bool pooled_solve(const PoolProblem *problem, double strength, int without_fold, double *out);

/* Of some strengths the one that predicts folds best that were left out in turn; 1 where there are fewer than two.
 * False: memory is out. */
bool pooled_strength(const PoolProblem *problem, double *out);
