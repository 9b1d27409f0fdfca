/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks the solver against answers worked out by hand. Residuals are functions of u = ln x; s is the scale of the
 * loss. */
#include "base/util.h"
#include "cost/measured/least_squares.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { ROWS = 64 };
#define ALONE {-1, -1}

typedef double RowResidual(int32_t row, const double *x);

static void ask(void *context, int worker, const double *x, const int32_t *rows, int32_t count, double *residuals) {
    (void)worker;
    RowResidual *const *residual = context;
    for (int32_t k = 0; k < count; k++) residuals[rows[k]] = (*residual)(rows[k], x);
}

/* All parameters move all rows. */
static bool solve(RowResidual *residual, int rows, int count, const LeastParameter *parameters, double scale,
                  int threads, Arena *arena, LeastSolution *out, Error *error) {
    static int32_t every[ROWS];
    static double weights[ROWS];
    static LeastColumn columns[8];
    for (int i = 0; i < ROWS; i++) every[i] = i, weights[i] = 1;
    for (int j = 0; j < count; j++) columns[j] = (LeastColumn){every, rows};
    LeastSquares problem = {.parameter_count = count,
                            .row_count = rows,
                            .parameters = parameters,
                            .columns = columns,
                            .weights = weights,
                            .scale = scale,
                            .residuals = ask,
                            .context = &residual,
                            .threads = threads,
                            .iterations = 60,
                            .tolerance = 1e-9};
    return least_squares_solve(&problem, arena, out, error);
}

static LeastSolution solved(RowResidual *residual, int rows, int count, const LeastParameter *parameters, double scale,
                            Arena *arena) {
    LeastSolution out;
    Error error = {0};
    cr_assert(solve(residual, rows, count, parameters, scale, 1, arena, &out, &error), "%s", error.text);
    cr_expect(out.converged);
    return out;
}

/* A = [[4, 2], [2, 3]] = L L^T with L = [[2, 0], [1, sqrt 2]]; A^-1 = [[3, -2], [-2, 4]] / 8. */
Test(least_squares, cholesky) {
    double a[] = {4, 2, 2, 3}, b[] = {8, 8}, work[2], diagonal[2], indefinite[] = {1, 2, 2, 1};
    cr_assert(cholesky_factor(2, a));
    cr_expect_float_eq(a[3], sqrt(2), 1e-15);
    cholesky_solve(2, a, b); /* 4x + 2y = 8, 2x + 3y = 8 */
    cr_expect_float_eq(b[0], 1, 1e-15);
    cr_expect_float_eq(b[1], 2, 1e-15);
    cholesky_inverse_diagonal(2, a, work, diagonal);
    cr_expect_float_eq(diagonal[0], 3.0 / 8, 1e-15);
    cr_expect_float_eq(diagonal[1], 4.0 / 8, 1e-15);
    cr_expect_not(cholesky_factor(2, indefinite));
}

/* A line through four points, a + b t: small against s = 1, so that the loss is a sum of squares, with priors of
 * a ~ N(0, 1/2), b ~ N(0, 1/3). */
static const double T[] = {0, 1, 2, 3}, Y[] = {1e-4, 3e-4, 2e-4, 5e-4};
static double line(int32_t row, const double *x) { return log(x[0]) + log(x[1]) * T[row] - Y[row]; }

Test(least_squares, linear_regression_with_priors) {
    Arena arena = {0};
    const LeastParameter parameters[] = {{1.1, 0.1, 10, 1, 1 / sqrt(2), ALONE}, {0.9, 0.1, 10, 1, 1 / sqrt(3), ALONE}};
    LeastSolution out = solved(line, 4, 2, parameters, 1, &arena);
    /* [4 + 2, 6; 6, 14 + 3] (a b) = (sum Y, sum T Y) = (11e-4, 22e-4); determinant 6 * 17 - 36 = 66 */
    cr_expect_float_eq(log(out.x[0]), (17 * 11e-4 - 6 * 22e-4) / 66, 1e-9);
    cr_expect_float_eq(log(out.x[1]), (6 * 22e-4 - 6 * 11e-4) / 66, 1e-9);
    cr_expect_float_eq(out.deviation[0], sqrt(17.0 / 66), 1e-6);
    cr_expect_float_eq(out.deviation[1], sqrt(6.0 / 66), 1e-6);
    cr_expect_float_eq(out.data_share[0], 1 - 17.0 / 66 * 2, 1e-6);
    cr_expect_float_eq(out.data_share[1], 1 - 6.0 / 66 * 3, 1e-6);
    cr_expect_not(out.at_bound[0] || out.at_bound[1]);
    arena_free(&arena);
}

/* ln of 2 t^1.5 + 0.25: measured without noise, priors far off and weak. */
static double power_law(int32_t row, const double *x) {
    double t = 0.1 * (row + 1);
    return log((x[0] * pow(t, x[1]) + x[2]) / (2 * pow(t, 1.5) + 0.25));
}

Test(least_squares, known_nonlinear) {
    Arena arena = {0};
    const LeastParameter parameters[] = {
        {1, 0.01, 100, 1, 1e3, ALONE}, {1, 0.1, 10, 1, 1e3, ALONE}, {1, 0.001, 10, 1, 1e3, ALONE}};
    LeastSolution out = solved(power_law, 40, 3, parameters, 0.04, &arena);
    const double expected[] = {2, 1.5, 0.25};
    for (int j = 0; j < 3; j++) cr_expect_float_eq(out.x[j], expected[j], 1e-5, "%d: %g", j, out.x[j]);
    cr_expect(out.iterations < 30, "%d", out.iterations);
    cr_expect(out.data_share[0] > 0.999);
    arena_free(&arena);
}

/* Sixteen rows say u = 0, and the seventeenth 0.017: their mean. Rows are asked for in packs of 16: the last pack is
 * one row. */
static double the_last_differs(int32_t row, const double *x) { return log(x[0]) - (row == 16 ? 0.017 : 0); }

Test(least_squares, a_pack_of_one_row_counts) {
    Arena arena = {0};
    const LeastParameter parameters[] = {{1.5, 1e-3, 1e3, 1, 1e4, ALONE}};
    LeastSolution out = solved(the_last_differs, 17, 1, parameters, 1, &arena);
    cr_expect_float_eq(log(out.x[0]), 0.001, 1e-6, "%g", log(out.x[0]));
    arena_free(&arena);
}

/* Five runs say u = 0, and one says 10^6 s: it pulls with a force that tends to 1, and five push back with 5 z / sqrt(1
 * + z^2), so z = u / s = 1 / sqrt(24). The mean would be 10^6 s / 6. */
static double outlier(int32_t row, const double *x) { return log(x[0]) - (row == 5 ? 0.01 * 1e6 : 0); }

Test(least_squares, an_outlier_pulls_with_a_bounded_force) {
    Arena arena = {0};
    const LeastParameter parameters[] = {{1.5, 1e-3, 1e3, 1, 1e4, ALONE}};
    LeastSolution out = solved(outlier, 6, 1, parameters, 0.01, &arena);
    cr_expect_float_eq(log(out.x[0]) / 0.01, 1 / sqrt(24), 1e-5);
    arena_free(&arena);
}

/* (u + v - 1)^2 + (u - v / 2)^2 times 10^-8, weak priors: free, u = 1/3, v = 2/3; with u <= 0 it is v = 4/5 of the line
 * through (v - 1)^2 + v^2 / 4. Small against s = 1. */
static double crossing(int32_t row, const double *x) {
    double u = log(x[0]), v = log(x[1]);
    return 1e-4 * (row == 0 ? u + v - 1 : u - v / 2);
}

Test(least_squares, bounds) {
    Arena arena = {0};
    const LeastParameter inside[] = {{1, 0.1, 10, 1, 1e9, ALONE}, {1, 0.1, 10, 1, 1e9, ALONE}};
    const LeastParameter tight[] = {{0.5, 0.1, 1, 1, 1e9, ALONE}, {1, 0.1, 10, 1, 1e9, ALONE}};
    const LeastParameter pinned[] = {{3, 1, 1, 1, 1e9, ALONE}, {9, 2.5, 10, 1, 1e9, ALONE}};
    LeastSolution out = solved(crossing, 2, 2, inside, 1, &arena);
    cr_expect_float_eq(log(out.x[0]), 1.0 / 3, 1e-6);
    cr_expect_float_eq(log(out.x[1]), 2.0 / 3, 1e-6);
    out = solved(crossing, 2, 2, tight, 1, &arena);
    cr_expect_eq(out.x[0], 1.0);
    cr_expect(out.at_bound[0] && !out.at_bound[1]);
    cr_expect_float_eq(log(out.x[1]), 4.0 / 5, 1e-6);
    out = solved(crossing, 2, 2, pinned, 1, &arena); /* the parameter has no room, and the optimum is e^0.8 below
                                                      * the lower bound */
    cr_expect_eq(out.x[0], 1.0);
    cr_expect_eq(out.x[1], 2.5);
    cr_expect(out.at_bound[0] && out.at_bound[1]);
    arena_free(&arena);
}

/* Sixteen runs of standard deviation s say x0 = 0.5. x1 is believed to be 0.9 x0, x2 to be 1.2 x1, x4 to be 2 x1 x2; x3
 * stands alone. No run moves those four. The logarithm of x4 is 2 u0 + 2 e1 + e2 + e4 with the deviations e. */
static double first_only(int32_t row, const double *x) {
    (void)row;
    return log(x[0] / 0.5);
}

Test(least_squares, priors_follow_their_kin) {
    Arena arena = {0};
    const LeastParameter parameters[] = {
        {1, 0.1, 10, 1, 1e4, ALONE},   {1, 0.1, 10, 0.9, 0.05, {0, -1}},  {1, 0.1, 10, 1.2, 0.1, {1, -1}},
        {2, 0.1, 10, 0.7, 0.3, ALONE}, {1, 0.01, 10, 2, 0.2, {1, 2}}};
    LeastSolution out = solved(first_only, 16, 5, parameters, 0.04, &arena);
    const double expected[] = {0.5, 0.45, 0.54, 0.7, 2 * 0.45 * 0.54};
    const double variance = 0.04 * 0.04 / 16;
    const double deviation[] = {sqrt(variance), sqrt(variance + 0.0025), sqrt(variance + 0.0125), 0.3,
                                sqrt(4 * variance + 4 * 0.0025 + 0.01 + 0.04)};
    for (int j = 0; j < 5; j++) {
        cr_expect_float_eq(out.x[j], expected[j], 1e-6, "%d: %g", j, out.x[j]);
        cr_expect_float_eq(out.deviation[j], deviation[j], 1e-6, "%d: %g", j, out.deviation[j]);
    }
    cr_expect_float_eq(out.data_share[3], 0, 1e-12);
    arena_free(&arena);
}

/* The model has no answer from x = 2 on, and the best is at 1.9: steps that pass 2 are shortened. */
static double walled(int32_t row, const double *x) {
    return row == 0 && x[0] >= 2 ? NAN : 0.02 * (sqrt(2) - sqrt(2.1 - min_real(x[0], 2)));
}
static double nowhere(int32_t row, const double *x) { return row == 1 ? NAN : x[0]; }

Test(least_squares, no_answer) {
    Arena arena = {0};
    Error error = {0};
    LeastSolution out;
    const LeastParameter parameters[] = {{1.99, 0.1, 10, 1, 1e3, ALONE}};
    out = solved(walled, 2, 1, parameters, 0.01, &arena);
    cr_expect(out.x[0] < 2 && fabs(out.residuals[0]) < 1e-4, "%g", out.x[0]);
    cr_expect_not(solve(nowhere, 2, 1, parameters, 1, 1, &arena, &out, &error));
    cr_expect_eq(error.kind, ERROR_INPUT);
    cr_expect_not_null(strstr(error.text, "run 2"));
    arena_free(&arena);
}

Test(least_squares, nothing_to_fit) {
    Arena arena = {0};
    const LeastParameter parameters[] = {{1, 0.1, 10, 2, 0.5, ALONE}};
    LeastSolution out = solved(line, 0, 1, parameters, 1, &arena);
    cr_expect_float_eq(out.x[0], 2, 1e-9);
    cr_expect_float_eq(out.deviation[0], 0.5, 1e-12);
    out = solved(power_law, 0, 0, parameters, 1, &arena);
    cr_expect_eq(out.loss, 0);
    arena_free(&arena);
}

Test(least_squares, same_bytes_for_any_number_of_threads) {
    Arena arena = {0};
    const LeastParameter parameters[] = {
        {1, 0.01, 100, 1.5, 0.3, ALONE}, {1, 0.1, 10, 1, 0.5, {0, -1}}, {1, 0.001, 10, 1, 2, ALONE}};
    LeastSolution one, other;
    cr_assert(solve(power_law, 40, 3, parameters, 0.04, 1, &arena, &one, NULL));
    const int threads[] = {2, 7};
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        cr_assert(solve(power_law, 40, 3, parameters, 0.04, threads[i], &arena, &other, NULL));
        cr_expect_eq(memcmp(one.x, other.x, 3 * sizeof(double)), 0);
        cr_expect_eq(memcmp(one.deviation, other.deviation, 3 * sizeof(double)), 0);
        cr_expect_eq(memcmp(&one.loss, &other.loss, sizeof(double)), 0);
    }
    arena_free(&arena);
}
