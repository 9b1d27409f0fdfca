/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/measured/cholesky.h: symmetric positive definite systems of some hundred unknowns. Matrices are stored whole, by
 * rows. */
#pragma once

#include <stdbool.h>

/* a = L L^T; L replaces the lower triangle, and the upper one stays as it is. False means that the matrix is not
 * positive definite (or not finite). */
bool cholesky_factor(int n, double *a);

/* Solves L L^T x = b in place of b. */
void cholesky_solve(int n, const double *factor, double *b);

/* Writes (L L^T)^-1 at [k][k] for every k; `work` has n doubles. */
void cholesky_inverse_diagonal(int n, const double *factor, double *work, double *diagonal);
