/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/measured/least_squares.h"

#include "base/util.h"

#include <assert.h>
#include <math.h>
#include <omp.h>
#include <stddef.h>
#include <string.h>

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

enum { CHUNK = 16, TRIES = 12 };
static const double DIFFERENCE = 1e-4;              /* of ln x */
static const double BLOCK_MAX = 64.0 * 1024 * 1024; /* doubles of a Jacobian: half a gigabyte */

typedef struct {
    const LeastSquares *problem;
    int n;         /* parameters */
    int32_t *rows; /* the rows with a weight */
    int32_t counted;
    int32_t **own; /* of each parameter: the rows that it moves, without those that have no weight */
    int32_t *own_count;
    double *u, *next, *step;  /* ln x */
    double *r, *next_r;       /* by row */
    double *jacobian;         /* [parameter][row]: d r / d ln x; only own rows are kept up to date */
    double *normal, *factor;  /* n x n */
    double *gradient, *right; /* half the gradient of the loss */
    double *work_x, *work_r;  /* one slice for each thread */
    int *picked;              /* the free parameters, in order */
    bool *held;
} Solver;

static double clamp(double value, double low, double high) { return value < low ? low : value > high ? high : value; }

static bool solver_make(const LeastSquares *problem, Arena *arena, Solver *s, Error *error) {
    size_t n = (size_t)problem->parameter_count, rows = (size_t)problem->row_count, threads = (size_t)problem->threads;
    *s = (Solver){.problem = problem, .n = problem->parameter_count};
    if ((double)n * (double)rows > BLOCK_MAX)
        return error_set(error, ERROR_INPUT, "calibrate", "%zu parameters times %zu runs are too many; give fewer runs",
                         n, rows);
    s->rows = ARENA_NEW(arena, int32_t, rows);
    s->own = ARENA_NEW(arena, int32_t *, n);
    s->own_count = ARENA_NEW(arena, int32_t, n);
    s->u = ARENA_NEW(arena, double, n);
    s->next = ARENA_NEW(arena, double, n);
    s->step = ARENA_NEW(arena, double, n);
    s->r = ARENA_NEW(arena, double, rows);
    s->next_r = ARENA_NEW(arena, double, rows);
    s->jacobian = ARENA_NEW(arena, double, n *rows);
    s->normal = ARENA_NEW(arena, double, n *n);
    s->factor = ARENA_NEW(arena, double, n *n);
    s->gradient = ARENA_NEW(arena, double, n);
    s->right = ARENA_NEW(arena, double, n);
    s->work_x = ARENA_NEW(arena, double, n *threads);
    s->work_r = ARENA_NEW(arena, double, rows *threads);
    s->picked = ARENA_NEW(arena, int, n);
    s->held = ARENA_NEW(arena, bool, n);
    if (!s->rows || !s->own || !s->own_count || !s->u || !s->next || !s->step || !s->r || !s->next_r || !s->jacobian ||
        !s->normal || !s->factor || !s->gradient || !s->right || !s->work_x || !s->work_r || !s->picked || !s->held)
        return error_memory(error);
    for (int32_t i = 0; i < problem->row_count; i++)
        if (problem->weights[i] > 0) s->rows[s->counted++] = i;
    for (size_t j = 0; j < n; j++) {
        const LeastColumn *column = &problem->columns[j];
        s->own[j] = ARENA_NEW(arena, int32_t, (size_t)column->count);
        if (!s->own[j]) return error_memory(error);
        for (int32_t k = 0; k < column->count; k++)
            if (problem->weights[column->rows[k]] > 0) s->own[j][s->own_count[j]++] = column->rows[k];
    }
    return true;
}

static void natural(const Solver *s, const double *u, double *x) {
    for (int j = 0; j < s->n; j++)
        x[j] = clamp(exp(u[j]), s->problem->parameters[j].low, s->problem->parameters[j].high);
}

/* Residuals of all rows that count. One thread writes each of them; it does not matter which. */
static void residuals_at(Solver *s, const double *u, double *r) {
    const LeastSquares *p = s->problem;
    natural(s, u, s->work_x);
    int32_t chunks = (s->counted + CHUNK - 1) / CHUNK;
#pragma omp parallel for schedule(dynamic, 1) num_threads(p->threads)
    for (int32_t chunk = 0; chunk < chunks; chunk++) {
        int32_t first = chunk * CHUNK, count = s->counted - first < CHUNK ? s->counted - first : CHUNK;
        p->residuals(p->context, omp_get_thread_num(), s->work_x, s->rows + first, count, r);
    }
}

/* One column by a forward difference, or backward where there is no room above. Where the model has no answer next to
 * the point, the other side is tried; without an answer there the column is flat. */
static void column_at(Solver *s, int j, int worker) {
    const LeastSquares *p = s->problem;
    size_t rows = (size_t)p->row_count;
    double *x = s->work_x + (size_t)worker * (size_t)s->n, *r = s->work_r + (size_t)worker * rows;
    double *column = s->jacobian + (size_t)j * rows;
    natural(s, s->u, x);
    double at = x[j], side = log(p->parameters[j].high / at) > DIFFERENCE ? DIFFERENCE : -DIFFERENCE;
    x[j] = at * exp(side);
    p->residuals(p->context, worker, x, s->own[j], s->own_count[j], r);
    for (int32_t k = 0; k < s->own_count[j]; k++) {
        int32_t row = s->own[j][k];
        column[row] = (r[row] - s->r[row]) / side;
        if (isfinite(column[row])) continue;
        x[j] = at * exp(-side);
        p->residuals(p->context, worker, x, &row, 1, r);
        column[row] = (s->r[row] - r[row]) / side;
        if (!isfinite(column[row])) column[row] = 0;
        x[j] = at * exp(side);
    }
}

static void jacobian_at(Solver *s) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(s->problem->threads)
    for (int j = 0; j < s->n; j++) column_at(s, j, omp_get_thread_num());
}

double least_prior(const LeastParameter *parameter, const double *x) {
    double prior = parameter->prior;
    for (size_t k = 0; k < COUNT_OF(parameter->of); k++)
        if (parameter->of[k] >= 0) prior *= x[parameter->of[k]];
    return prior;
}

/* u_j - ln prior_j, where the prior may follow other parameters. */
static double prior_distance(const LeastSquares *p, const double *u, int j) {
    const LeastParameter *parameter = &p->parameters[j];
    double distance = u[j] - log(parameter->prior);
    for (size_t k = 0; k < COUNT_OF(parameter->of); k++)
        if (parameter->of[k] >= 0) distance -= u[parameter->of[k]];
    return distance;
}

/* The loss is infinite where the model has no answer. */
static double loss_at(const Solver *s, const double *u, const double *r) {
    const LeastSquares *p = s->problem;
    double loss = 0;
    for (int32_t k = 0; k < s->counted; k++) {
        double scaled = r[s->rows[k]] / p->scale, square = scaled * scaled;
        loss += p->weights[s->rows[k]] * 2 * square / (1 + sqrt(1 + square)); /* sqrt - 1 without its cancellation */
    }
    for (int j = 0; j < s->n; j++) {
        double distance = prior_distance(p, u, j) / p->parameters[j].sigma;
        loss += distance * distance;
    }
    return isfinite(loss) ? loss : INFINITY;
}

/* The weight that turns the loss into a square: its slope over the residual. */
static double square_weight(const LeastSquares *p, double weight, double residual) {
    double scaled = residual / p->scale;
    return weight / (p->scale * p->scale * sqrt(1 + scaled * scaled));
}

static void add_prior(const LeastSquares *p, double *normal, int n, int j) {
    const LeastParameter *parameter = &p->parameters[j];
    double precision = 1 / (parameter->sigma * parameter->sigma);
    const int at[] = {j, parameter->of[0], parameter->of[1]};
    for (size_t a = 0; a < COUNT_OF(at); a++)
        for (size_t b = 0; b < COUNT_OF(at); b++)
            if (at[a] >= 0 && at[b] >= 0) normal[at[a] * n + at[b]] += (a == 0) == (b == 0) ? precision : -precision;
}

/* Normal matrix and half the gradient at u, from s->r and s->jacobian. It is serial, so that sums have one order. */
static void normal_at(Solver *s) {
    const LeastSquares *p = s->problem;
    int n = s->n;
    size_t rows = (size_t)p->row_count;
    memset(s->normal, 0, (size_t)n * (size_t)n * sizeof(double));
    memset(s->gradient, 0, (size_t)n * sizeof(double));
    for (int j = 0; j < n; j++) {
        const double *column = s->jacobian + (size_t)j * rows;
        for (int32_t k = 0; k < s->own_count[j]; k++) {
            int32_t row = s->own[j][k];
            double slope = square_weight(p, p->weights[row], s->r[row]) * column[row];
            if (slope == 0) continue;
            s->gradient[j] += slope * s->r[row];
            for (int i = 0; i <= j; i++) s->normal[j * n + i] += slope * s->jacobian[(size_t)i * rows + (size_t)row];
        }
    }
    for (int j = 0; j < n; j++)
        for (int i = 0; i < j; i++) s->normal[i * n + j] = s->normal[j * n + i];
    for (int j = 0; j < n; j++) {
        double sigma = p->parameters[j].sigma, pull = prior_distance(p, s->u, j) / (sigma * sigma);
        s->gradient[j] += pull;
        for (size_t k = 0; k < COUNT_OF(p->parameters[j].of); k++)
            if (p->parameters[j].of[k] >= 0) s->gradient[p->parameters[j].of[k]] -= pull;
        add_prior(p, s->normal, n, j);
    }
}

/* The damped step of the parameters that are not held, given the steps of the held ones. */
static bool free_step(Solver *s, double damping) {
    int n = s->n, count = 0;
    for (int j = 0; j < n; j++)
        if (!s->held[j]) s->picked[count++] = j;
    for (int a = 0; a < count; a++) {
        int j = s->picked[a];
        s->right[a] = -s->gradient[j];
        for (int i = 0; i < n; i++)
            if (s->held[i]) s->right[a] -= s->normal[j * n + i] * s->step[i];
        for (int b = 0; b <= a; b++) s->factor[a * count + b] = s->normal[j * n + s->picked[b]];
        s->factor[a * count + a] *= 1 + damping;
    }
    if (!cholesky_factor(count, s->factor)) return false;
    cholesky_solve(count, s->factor, s->right);
    for (int a = 0; a < count; a++) s->step[s->picked[a]] = s->right[a];
    return true;
}

/* A step inside the bounds: a parameter on a bound that is pushed outward stays there; one that a step carries over a
 * bound is put on it, and the rest is solved again. This ends, because every round holds one more parameter. */
static bool bounded_step(Solver *s, double damping) {
    const LeastParameter *parameters = s->problem->parameters;
    for (int j = 0; j < s->n; j++) {
        double low = log(parameters[j].low), high = log(parameters[j].high);
        s->held[j] = (s->u[j] <= low && s->gradient[j] >= 0) || (s->u[j] >= high && s->gradient[j] <= 0);
        s->step[j] = 0;
    }
    for (bool over = true; over;) {
        if (!free_step(s, damping)) return false;
        over = false;
        for (int j = 0; j < s->n; j++) {
            double low = log(parameters[j].low), high = log(parameters[j].high), to = s->u[j] + s->step[j];
            if (s->held[j] || (to >= low && to <= high)) continue;
            s->step[j] = clamp(to, low, high) - s->u[j];
            s->held[j] = over = true;
        }
    }
    return true;
}

/* Takes one accepted step from u, or none. *moved is the largest change of a ln x. */
static bool descend(Solver *s, double *damping, double *loss, double *moved) {
    for (int attempt = 0; attempt < TRIES; attempt++, *damping *= 4) {
        if (!bounded_step(s, *damping)) continue;
        *moved = 0;
        for (int j = 0; j < s->n; j++) {
            s->next[j] = s->u[j] + s->step[j];
            *moved = max_real(*moved, fabs(s->step[j]));
        }
        residuals_at(s, s->next, s->next_r);
        double next = loss_at(s, s->next, s->next_r);
        if (next > *loss) continue;
        *loss = next;
        memcpy(s->u, s->next, (size_t)s->n * sizeof *s->u);
        memcpy(s->r, s->next_r, (size_t)s->problem->row_count * sizeof *s->r);
        *damping = max_real(*damping / 10, 1e-12);
        return true;
    }
    return false;
}

static bool start(Solver *s, double *loss, Error *error) {
    for (int j = 0; j < s->n; j++) {
        const LeastParameter *parameter = &s->problem->parameters[j];
        assert(parameter->low > 0 && parameter->low <= parameter->high && parameter->prior > 0 && parameter->sigma > 0);
        s->u[j] = log(clamp(parameter->start, parameter->low, parameter->high));
    }
    residuals_at(s, s->u, s->r);
    for (int32_t k = 0; k < s->counted; k++)
        if (!isfinite(s->r[s->rows[k]]))
            return error_set(error, ERROR_INPUT, "calibrate", "run %d of those replayed has no prediction at the start",
                             (int)s->rows[k] + 1);
    *loss = loss_at(s, s->u, s->r);
    return true;
}

/* Deviations of ln x after the fit, and the share of each prior's own variance that the data have taken away. */
static bool posterior(Solver *s, Arena *arena, LeastSolution *out, Error *error) {
    int n = s->n;
    size_t size = (size_t)n;
    out->deviation = ARENA_NEW(arena, double, size);
    out->data_share = ARENA_NEW(arena, double, size);
    out->jacobian = ARENA_NEW(arena, double, size *(size_t)s->problem->row_count);
    if (!out->deviation || !out->data_share || !out->jacobian) return error_memory(error);
    jacobian_at(s);
    memcpy(out->jacobian, s->jacobian, size * (size_t)s->problem->row_count * sizeof(double));
    normal_at(s);
    memcpy(s->factor, s->normal, size * size * sizeof(double));
    if (!cholesky_factor(n, s->factor))
        return error_set(error, ERROR_INTERNAL, "calibrate", "the normal matrix is not positive definite");
    cholesky_inverse_diagonal(n, s->factor, s->right, out->deviation);
    memset(s->factor, 0, size * size * sizeof(double));
    for (int j = 0; j < n; j++) add_prior(s->problem, s->factor, n, j);
    if (!cholesky_factor(n, s->factor))
        return error_set(error, ERROR_INTERNAL, "calibrate", "priors follow each other in a circle");
    cholesky_inverse_diagonal(n, s->factor, s->right, out->data_share);
    for (int j = 0; j < n; j++) {
        out->data_share[j] = clamp(1 - out->deviation[j] / out->data_share[j], 0, 1);
        out->deviation[j] = sqrt(out->deviation[j]);
    }
    return true;
}

bool least_squares_solve(const LeastSquares *problem, Arena *arena, LeastSolution *out, Error *error) {
    Arena scratch = {0};
    Solver s;
    double loss = 0, damping = 1e-4, moved = 0;
    bool ok = false;
    *out = (LeastSolution){0};
    if (!solver_make(problem, &scratch, &s, error) || !start(&s, &loss, error)) goto done;
    while (out->iterations < problem->iterations && !out->converged) {
        jacobian_at(&s);
        normal_at(&s);
        out->iterations++;
        out->converged = !descend(&s, &damping, &loss, &moved) || moved <= problem->tolerance;
    }
    size_t n = (size_t)s.n, rows = (size_t)problem->row_count;
    out->x = ARENA_NEW(arena, double, n);
    out->at_bound = ARENA_NEW(arena, bool, n);
    out->residuals = ARENA_NEW(arena, double, rows);
    out->loss = loss;
    ok = (out->x && out->at_bound && out->residuals) || error_memory(error);
    if (!ok) goto done;
    natural(&s, s.u, out->x);
    memcpy(out->residuals, s.r, rows * sizeof(double));
    for (int j = 0; j < s.n; j++) {
        const LeastParameter *parameter = &problem->parameters[j];
        out->at_bound[j] =
            s.u[j] <= log(parameter->low) + DIFFERENCE / 10 || s.u[j] >= log(parameter->high) - DIFFERENCE / 10;
    }
    ok = problem->no_posterior || posterior(&s, arena, out, error);
done:
    arena_free(&scratch);
    return ok;
}
