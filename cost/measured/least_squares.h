/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/measured/least_squares.h: the smallest robust sum of squares over positive, bounded parameters with priors.
 *
 * With u = ln x, residuals r_i(x), weights w_i and the scale s it minimises
 *    sum_i w_i 2 (sqrt(1 + (r_i/s)^2) - 1)  +  sum_j ((u_j - ln m_j) / sigma_j)^2
 * in low <= x <= high, where m_j is the prior of the parameter, or `prior` times one or two other parameters. The first
 * term is the pseudo-Huber loss: (r/s)^2 for residuals that are small against s, 2|r/s| for large ones, so that s is
 * the standard deviation that a residual is believed to have, and a residual that is far off pulls with a bounded
 * force.
 *
 * The method is Levenberg-Marquardt on the reweighted normal matrix (Nocedal and Wright, Numerical Optimization, 2nd
 * ed., chapter 10; loss as weights: Holland and Welsch 1977); a parameter that a step carries over a bound is put on it
 * and the others are solved again. Derivatives are differences by columns, over only those rows that a parameter
 * moves. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Symmetric positive definite systems of some hundred unknowns. Matrices are stored whole, by rows. */

/* a = L L^T; L replaces the lower triangle, and the upper one stays as it is. False means that the matrix is not
 * positive definite (or not finite). */
bool cholesky_factor(int n, double *a);

/* Solves L L^T x = b in place of b. */
void cholesky_solve(int n, const double *factor, double *b);

/* Writes (L L^T)^-1 at [k][k] for every k; `work` has n doubles. */
void cholesky_inverse_diagonal(int n, const double *factor, double *work, double *diagonal);

typedef struct {
    double start;     /* moved into the bounds first */
    double low, high; /* 0 < low <= high */
    double prior;     /* > 0 */
    double sigma;     /* of ln x around ln of the prior, > 0 */
    int of[2];        /* the parameters that `prior` is a multiple of; -1: none */
} LeastParameter;

/* What a parameter is believed to be where the others are at x. */
double least_prior(const LeastParameter *parameter, const double *x);

/* The rows that a parameter moves, ascending. */
typedef struct {
    const int32_t *rows;
    int32_t count;
} LeastColumn;

/* Writes residuals[rows[k]] for k < count at the parameters x; a value that is not finite means that the model has no
 * answer there, and no step goes there. Several threads call it at once, each with its own `worker` below `threads`. */
typedef void LeastResiduals(void *context, int worker, const double *x, const int32_t *rows, int32_t count,
                            double *residuals);

typedef struct {
    int parameter_count;
    int32_t row_count;
    const LeastParameter *parameters;
    const LeastColumn *columns; /* one for each parameter */
    const double *weights;      /* of rows, >= 0; a row of weight 0 is left out and never requested */
    double scale;               /* s > 0 */
    LeastResiduals *residuals;
    void *context;
    int threads;       /* >= 1; the answer is the same for any number */
    int iterations;    /* Jacobians at most, >= 1 */
    double tolerance;  /* the solve ends when a step moves no ln x by more than this */
    bool no_posterior; /* computes no deviations and no Jacobian at the answer */
} LeastSquares;

typedef struct {
    double *x;
    /* Of ln x: the root of the diagonal of the inverse of the normal matrix of data and priors at the answer, with
     * bounds ignored; and the share of its prior's variance that the data took away, 0 to 1. NULL with no_posterior. */
    double *deviation, *data_share;
    double *jacobian; /* [parameter][row]: the derivatives of residuals by ln x at x; NULL with no_posterior */
    bool *at_bound;
    double *residuals; /* at x; 0 where the weight is 0 */
    double loss;       /* the sum above */
    int iterations;    /* Jacobians taken for steps */
    bool converged;    /* false means that `iterations` came first */
} LeastSolution;

/* Solves in the arena. False means that memory is out, or (ERROR_INPUT, with the row's number) that a row has no
 * residual at the start. */
bool least_squares_solve(const LeastSquares *problem, Arena *arena, LeastSolution *out, Error *error);
