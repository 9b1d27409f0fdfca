/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/serving/measured/pooled_fit.h"

#include "base/util.h"
#include "cost/measured/least_squares.h"

#include <math.h>
#include <string.h>

static const double MARGIN = 0.03; /* below it a residual counts squared: about what two runs of a test differ by */
enum { REWEIGHINGS = 10 };

int pooled_size(const PoolProblem *problem) {
    int effects = 0;
    for (int level = 0; level < POOL_LEVELS; level++) effects += problem->members[level];
    return effects * problem->figures;
}

double pooled_loss(double residual) {
    double size = fabs(residual);
    return size < MARGIN ? size * size / (2 * MARGIN) : size - MARGIN / 2;
}

/* The number of an effect says its level. */
static double penalty_at(const PoolProblem *problem, int effect) {
    int level = 0, member = effect / problem->figures;
    while (member >= problem->members[level]) member -= problem->members[level++];
    return problem->penalty[level];
}

double pooled_penalty(const PoolProblem *problem, double strength, const double *effects) {
    double sum = 0;
    for (int i = 0; i < pooled_size(problem); i++) sum += penalty_at(problem, i) * effects[i] * effects[i] / 2;
    return strength * sum;
}

/* Where the effects of a row's members begin. */
static void starts_of(const PoolProblem *problem, const PoolRow *row, int starts[POOL_LEVELS]) {
    int before = 0;
    for (int level = 0; level < POOL_LEVELS; level++) {
        starts[level] = (before + row->member[level]) * problem->figures;
        before += problem->members[level];
    }
}

static double residual_at(const PoolProblem *problem, const PoolRow *row, const double *effects) {
    int starts[POOL_LEVELS];
    double residual = row->residual;
    starts_of(problem, row, starts);
    for (int level = 0; level < POOL_LEVELS; level++)
        for (int f = 0; f < problem->figures; f++)
            residual += row->slope[f] * (effects[starts[level] + f] - problem->effects[starts[level] + f]);
    return residual;
}

/* Adds weight x slope slope' to the lower half of the matrix, and what the row asks for to the right-hand side. */
static void add_row(const PoolProblem *problem, const PoolRow *row, double weight, double *matrix, double *right) {
    int starts[POOL_LEVELS], size = pooled_size(problem), count = 0;
    int at[POOL_LEVELS * POOL_FIGURES_MAX];
    double slope[POOL_LEVELS * POOL_FIGURES_MAX], wanted = -row->residual;
    starts_of(problem, row, starts);
    for (int level = 0; level < POOL_LEVELS; level++)
        for (int f = 0; f < problem->figures; f++) {
            if (row->slope[f] == 0) continue;
            at[count] = starts[level] + f;
            slope[count] = row->slope[f];
            wanted += slope[count] * problem->effects[at[count]];
            count++;
        }
    for (int i = 0; i < count; i++) {
        right[at[i]] += weight * slope[i] * wanted;
        for (int j = 0; j <= i; j++)
            matrix[(size_t)at[i] * (size_t)size + (size_t)at[j]] += weight * slope[i] * slope[j];
    }
}

bool pooled_solve(const PoolProblem *problem, double strength, int without_fold, double *out) {
    int size = pooled_size(problem);
    Arena arena = {0};
    double *matrix = ARENA_NEW(&arena, double, (size_t)size *(size_t)size);
    bool ok = matrix != NULL;
    memcpy(out, problem->effects, (size_t)size * sizeof *out);
    for (int round = 0; round < REWEIGHINGS && ok; round++) {
        double *right = ARENA_NEW(&arena, double, (size_t)size);
        if (!right) ok = false;
        if (!ok) break;
        memset(matrix, 0, (size_t)size * (size_t)size * sizeof *matrix);
        for (int i = 0; i < size; i++) matrix[(size_t)i * (size_t)size + (size_t)i] = strength * penalty_at(problem, i);
        for (int64_t r = 0; r < problem->count; r++) {
            const PoolRow *row = &problem->rows[r];
            if (!(row->weight > 0) || row->fold == without_fold) continue;
            double size_now = fabs(residual_at(problem, row, out));
            add_row(problem, row, row->weight / max_real(MARGIN, size_now), matrix, right);
        }
        if (!cholesky_factor(size, matrix)) break; /* what was reached stands */
        cholesky_solve(size, matrix, right);
        memcpy(out, right, (size_t)size * sizeof *out);
    }
    arena_free(&arena);
    return ok;
}

/* What the rows of each fold count when the others are fitted to. */
static bool left_out_loss(const PoolProblem *problem, double strength, double *effects, double *out) {
    *out = 0;
    for (int fold = 0; fold < POOL_FOLDS; fold++) {
        if (!pooled_solve(problem, strength, fold, effects)) return false;
        for (int64_t r = 0; r < problem->count; r++) {
            const PoolRow *row = &problem->rows[r];
            if (row->fold == fold && row->weight > 0 && row->judges)
                *out += row->weight * pooled_loss(residual_at(problem, row, effects));
        }
    }
    return true;
}

bool pooled_strength(const PoolProblem *problem, double *out) {
    static const double STRENGTHS[] = {1.0 / 64, 1.0 / 8, 1, 2, 4, 8, 16, 32};
    double *effects = ARENA_NEW(problem->arena, double, (size_t)pooled_size(problem)), best = INFINITY;
    unsigned folds = 0;
    *out = 1;
    for (int64_t r = 0; r < problem->count; r++)
        if (problem->rows[r].weight > 0) folds |= 1u << problem->rows[r].fold;
    if (!effects) return false;
    if ((folds & (folds - 1)) == 0) return true;
    for (size_t i = 0; i < COUNT_OF(STRENGTHS); i++) {
        double loss;
        if (!left_out_loss(problem, STRENGTHS[i], effects, &loss)) return false;
        if (loss < best) best = loss, *out = STRENGTHS[i];
    }
    return true;
}
