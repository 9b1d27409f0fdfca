/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/measured/cholesky.h"

#include <math.h>
#include <stddef.h>

#define AT(a, i, j) ((a)[(size_t)(i) * (size_t)n + (size_t)(j)])

bool cholesky_factor(int n, double *a) {
    for (int j = 0; j < n; j++) {
        for (int i = j; i < n; i++) {
            double rest = AT(a, i, j);
            for (int k = 0; k < j; k++) rest -= AT(a, i, k) * AT(a, j, k);
            if (i > j)
                AT(a, i, j) = rest / AT(a, j, j);
            else if (rest > 0 && isfinite(rest))
                AT(a, j, j) = sqrt(rest);
            else
                return false;
        }
    }
    return true;
}

static void solve_lower(int n, const double *factor, int from, double *b) {
    for (int i = from; i < n; i++) {
        for (int k = from; k < i; k++) b[i] -= AT(factor, i, k) * b[k];
        b[i] /= AT(factor, i, i);
    }
}

void cholesky_solve(int n, const double *factor, double *b) {
    solve_lower(n, factor, 0, b);
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) b[i] -= AT(factor, k, i) * b[k];
        b[i] /= AT(factor, i, i);
    }
}

/* The inverse is L^-T L^-1: its k-th diagonal element is the squared norm of the k-th column of L^-1, which begins at
 * k. */
void cholesky_inverse_diagonal(int n, const double *factor, double *work, double *diagonal) {
    for (int k = 0; k < n; k++) {
        for (int i = k; i < n; i++) work[i] = i == k;
        solve_lower(n, factor, k, work);
        diagonal[k] = 0;
        for (int i = k; i < n; i++) diagonal[k] += work[i] * work[i];
    }
}
