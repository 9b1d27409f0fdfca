/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Regression with pooling, beside closed forms of a ridge and beside what was planted. */
#include "search/serving/measured/pooled_fit.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { MEMBERS = POOL_LEVELS };
static const double MARGIN = 0.03; /* of the loss: as residuals that lie within it are squared */

static PoolProblem problem_of(PoolRow *rows, int64_t count, const double *effects, Arena *arena) {
    PoolProblem problem = {.figures = 1, .rows = rows, .count = count, .effects = effects, .arena = arena};
    for (int level = 0; level < POOL_LEVELS; level++) {
        problem.members[level] = 1;
        problem.penalty[level] = 1;
    }
    return problem;
}

/* Rows of one member: an effect x is spread over the levels by the inverse of their penalties p, which then count
 * x^2 / (2 sum(1 / p)), and beside residuals r + s x within the margin M
 * x = -sum(w s r) / (sum(w s^2) + M / sum(1 / p)). */
Test(pooled_fit, rows_of_one_member_are_a_ridge) {
    PoolRow rows[] = {{.residual = -0.010, .weight = 1, .slope = {0.2}},
                      {.residual = -0.004, .weight = 2, .slope = {0.1}},
                      {.residual = 0.003, .weight = 0.5, .slope = {-0.3}}};
    double effects[MEMBERS] = {0}, out[MEMBERS], up = 0, down = 0, sum = 0, inverse = 0, half = 0;
    Arena arena = {0};
    PoolProblem problem = problem_of(rows, 3, effects, &arena);
    for (int level = 0; level < POOL_LEVELS; level++) problem.penalty[level] = level + 1;
    for (int level = 0; level < POOL_LEVELS; level++) inverse += 1 / problem.penalty[level];
    cr_assert_eq(pooled_size(&problem), MEMBERS);
    cr_assert(pooled_solve(&problem, 0.25, -1, out));
    for (int i = 0; i < 3; i++) {
        up -= rows[i].weight * rows[i].slope[0] * rows[i].residual;
        down += rows[i].weight * rows[i].slope[0] * rows[i].slope[0];
    }
    for (int level = 0; level < POOL_LEVELS; level++) sum += out[level];
    cr_expect_float_eq(sum, up / (down + MARGIN * 0.25 / inverse), 1e-12, "%g", sum);
    for (int level = 0; level < POOL_LEVELS; level++) {
        cr_expect_float_eq(out[level], sum / problem.penalty[level] / inverse, 1e-12);
        half += problem.penalty[level] * out[level] * out[level] / 2;
    }
    cr_expect_float_eq(pooled_penalty(&problem, 0.25, out), 0.25 * half, 1e-15);
    arena_free(&arena);
}

/* Squared within the margin and straight beyond it, without a step or a kink between them. */
Test(pooled_fit, losses_are_hubers) {
    cr_expect_float_eq(pooled_loss(0.01), 0.01 * 0.01 / (2 * MARGIN), 1e-15);
    cr_expect_float_eq(pooled_loss(-0.2), 0.2 - MARGIN / 2, 1e-15);
    cr_expect_float_eq(pooled_loss(MARGIN * (1 + 1e-9)), pooled_loss(MARGIN * (1 - 1e-9)), 1e-9);
}

/* One row of eleven is absurd: the others say 0.5, and their mean with it would be 0.95. */
Test(pooled_fit, one_absurd_row_moves_little) {
    PoolRow rows[11];
    double effects[MEMBERS] = {0}, out[MEMBERS], sum = 0;
    Arena arena = {0};
    for (int i = 0; i < 11; i++) rows[i] = (PoolRow){.residual = i < 10 ? -0.5 : -5.5, .weight = 1, .slope = {1}};
    PoolProblem problem = problem_of(rows, 11, effects, &arena);
    cr_assert(pooled_solve(&problem, 1e-6, -1, out));
    for (int level = 0; level < POOL_LEVELS; level++) sum += out[level];
    cr_expect_float_eq(sum, 0.5, 0.02, "%g", sum);
    arena_free(&arena);
}

/* Two members of the last level, of twenty rows and of one: what is common goes to the levels that they share, and the
 * one row alone does not tell its member's effect as twenty would. */
Test(pooled_fit, what_is_shared_is_told_by_all) {
    enum { OF_FIRST = 20, OF_SECOND = 1, ALL = OF_FIRST + OF_SECOND };
    PoolRow rows[ALL];
    double effects[MEMBERS + 1] = {0}, out[MEMBERS + 1], shared = 0;
    Arena arena = {0};
    for (int i = 0; i < ALL; i++) {
        bool second = i >= OF_FIRST;
        rows[i] = (PoolRow){.residual = second ? -0.9 : -0.5, .weight = 1, .slope = {1}};
        rows[i].member[POOL_LEVELS - 1] = second;
    }
    PoolProblem problem = problem_of(rows, ALL, effects, &arena);
    problem.members[POOL_LEVELS - 1] = 2;
    cr_assert_eq(pooled_size(&problem), MEMBERS + 1);
    cr_assert(pooled_solve(&problem, 4, -1, out));
    for (int level = 0; level < POOL_LEVELS - 1; level++) shared += out[level];
    double first = shared + out[POOL_LEVELS - 1], second = shared + out[POOL_LEVELS];
    cr_expect_float_eq(first, 0.5, 0.02, "%g", first);
    cr_expect(second > first && second < 0.85, "one row alone is held to the others: %g", second);
    /* without the fold of the second member's row it is what its kin are, and its own effect 0 */
    rows[OF_FIRST].fold = 1;
    cr_assert(pooled_solve(&problem, 4, 1, out));
    cr_expect_float_eq(out[POOL_LEVELS], 0, 1e-12);
    arena_free(&arena);
}

/* Folds that repeat each other are predicted best by the least strength, and folds of noise by the greatest. */
Test(pooled_fit, strength_is_what_predicts_others) {
    PoolRow rows[40];
    double effects[MEMBERS] = {0}, strength;
    Arena arena = {0};
    for (int i = 0; i < 40; i++)
        rows[i] = (PoolRow){.residual = -0.5, .weight = 1, .slope = {1}, .judges = true, .fold = i % POOL_FOLDS};
    PoolProblem problem = problem_of(rows, 40, effects, &arena);
    cr_assert(pooled_strength(&problem, &strength));
    cr_expect_lt(strength, 1, "%g", strength);
    for (int i = 0; i < 40; i++) rows[i].residual = i % POOL_FOLDS % 2 ? 0.5 : -0.5; /* each fold is of one sign */
    cr_assert(pooled_strength(&problem, &strength));
    cr_expect_gt(strength, 8, "%g", strength);
    arena_free(&arena);
}
