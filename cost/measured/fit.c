/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/measured/fit.h"

#include "base/util.h"

#include <assert.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* This text is recognised by its address: a set that was read has texts of its own. */
static const char OWN[] = "calibrate: by runs of this entry alone; assumed equal to its parent's";

/* Gives the entry all figures that it takes from its parent and that may move, in the order of the table. */
static void own_figures(const SetEntry *list, SetEntry *entry) {
    int count, merged = 0, next = 0;
    const ProfileFigure *kinds = profile_figures(&count);
    SetFigure figures[SET_FIGURES_MAX];
    for (int k = 0; k < count; k++) {
        const SetFigure *taken = set_entry_figure(list, entry, &kinds[k]);
        if (next < entry->figure_count && entry->figures[next].figure == &kinds[k]) {
            figures[merged++] = entry->figures[next++];
        } else if (taken && taken->sigma > 0) {
            SetFigure *own = &figures[merged++];
            *own = *taken;
            own->prior = 1;
            snprintf(own->of, sizeof own->of, "%s", entry->parent);
            own->runs = 0;
            own->determined = false;
            own->source = OWN;
        }
    }
    memcpy(entry->figures, figures, (size_t)merged * sizeof *figures);
    entry->figure_count = merged;
}

bool fit_own_figures(ProfileSet *set, const FitRun *runs, int32_t count, Error *error) {
    for (int of_stack = 0; of_stack <= 1; of_stack++) {
        SetEntry *list = of_stack ? set->stacks : set->profiles;
        /* The last entry comes first: the figures that an entry takes must still be where the set says. */
        for (int e = (of_stack ? set->stack_count : set->profile_count) - 1; e >= 0; e--) {
            bool used = false;
            for (int32_t i = 0; i < count; i++) used = used || (of_stack ? runs[i].stack : runs[i].chip) == &list[e];
            if (used && list[e].parent[0]) own_figures(list, &list[e]);
        }
    }
    return profile_set_resolve(set, "calibrate", error);
}

bool fit_drop_own(ProfileSet *set, Error *error) {
    for (int of_stack = 0; of_stack <= 1; of_stack++) {
        SetEntry *list = of_stack ? set->stacks : set->profiles;
        for (int e = 0; e < (of_stack ? set->stack_count : set->profile_count); e++) {
            int kept = 0;
            for (int f = 0; f < list[e].figure_count; f++) {
                const SetFigure *figure = &list[e].figures[f];
                if (figure->source != OWN || figure->determined) list[e].figures[kept++] = *figure;
            }
            list[e].figure_count = kept;
        }
    }
    return profile_set_resolve(set, "calibrate", error);
}

enum { ITERATIONS = 40 };
static const double SCALE = 0.04; /* of ln(predicted / measured): see docs/model.md, "Calibration" */
static const double TOLERANCE = 1e-4;
static const double KNOWN_SIGMA = 0.5; /* of sigma, see FIT_VALUES */

static const double HELD_SIGMA = 1e-6;
static const double HOPELESS = 0.95; /* share of the prior's deviation that is left */

/* ---- copies of the set, one a thread ---- */

bool fit_set_copy(const ProfileSet *set, Arena *arena, ProfileSet *out) {
    *out = *set;
    out->profiles = ARENA_NEW(arena, SetEntry, (size_t)set->profile_count);
    out->stacks = ARENA_NEW(arena, SetEntry, (size_t)set->stack_count);
    if (!out->profiles || !out->stacks) return false;
    memcpy(out->profiles, set->profiles, (size_t)set->profile_count * sizeof(SetEntry));
    memcpy(out->stacks, set->stacks, (size_t)set->stack_count * sizeof(SetEntry));
    return true;
}

static SetFigure *figure_at(const ProfileSet *set, bool of_stack, SetAt at) {
    return &(of_stack ? set->stacks : set->profiles)[at.entry].figures[at.figure];
}

static void put_values(const FitModel *model, const double *x, ProfileSet *set) {
    for (int j = 0; j < model->parameter_count; j++) {
        const FitParameter *parameter = &model->parameters[j];
        figure_at(set, parameter->of_stack, parameter->at)->value = x[j];
    }
}

/* 0 means that there is no prediction. */
static double predicted_seconds(const FitModel *model, int32_t run, const ProfileSet *set) {
    const FitProblem *problem = model->problem;
    double seconds = 0;
    return problem->predict(problem->context, run, set, &seconds) && isfinite(seconds) && seconds > 0 ? seconds : 0;
}

static int parameter_of(const FitModel *model, bool of_stack, SetAt at) {
    for (int j = 0; j < model->parameter_count; j++) {
        const FitParameter *parameter = &model->parameters[j];
        if (parameter->of_stack == of_stack && parameter->at.entry == at.entry && parameter->at.figure == at.figure)
            return j;
    }
    return -1;
}

/* Whether an entry is one that the problem fits: all are, or it descends from the one that is named. */
static bool is_fitted(const FitProblem *problem, const SetEntry *list, const SetEntry *entry) {
    if (!problem->only) return true;
    for (; strcmp(entry->name, problem->only) != 0; entry = &list[entry->parent_at])
        if (entry->parent_at < 0) return false;
    return true;
}

/* Puts every figure that may move to its prior, except those that `model` has as parameters (NULL means no model). A
 * prior may be a multiple of another figure, which it follows. Entries stand after their parents, but `of` may name any
 * entry: there is one round for each link of the longest chain. */
static void put_priors(const FitProblem *problem, const FitModel *model, ProfileSet *set) {
    for (int round = 0; round < SET_ENTRIES_MAX; round++) {
        bool changed = false;
        for (int of_stack = 0; of_stack <= 1; of_stack++) {
            SetEntry *list = of_stack ? set->stacks : set->profiles;
            int entries = of_stack ? set->stack_count : set->profile_count;
            for (int e = 0; e < entries; e++)
                for (int f = 0; is_fitted(problem, list, &list[e]) && f < list[e].figure_count; f++) {
                    SetFigure *figure = &list[e].figures[f];
                    SetAt at = {(int16_t)e, (int16_t)f};
                    if (!(figure->sigma > 0) || (model && parameter_of(model, of_stack, at) >= 0)) continue;
                    double prior = min_real(max_real(set_figure_prior(list, figure), figure->figure->fit_low),
                                            figure->figure->fit_high);
                    changed = changed || figure->value != prior;
                    figure->value = prior;
                    figure->deviation = figure->sigma;
                    figure->runs = 0;
                    figure->determined = false;
                }
        }
        if (!changed) return;
    }
}

/* ---- which figures are parameters ---- */

/* `set` stands where the fit begins. With FIT_VALUES its values are the priors, and do not follow any other figure. */
static LeastParameter least_of(const FitProblem *problem, const SetFigure *figure) {
    const ProfileFigure *kind = figure->figure;
    double low = kind->fit_low > 0 ? kind->fit_low : 1e-12;
    LeastParameter least = {.low = low, .high = max_real(kind->fit_high, low), .of = {-1, -1}};
    least.start = min_real(max_real(figure->value, least.low), least.high);
    least.prior = least.start;
    least.sigma =
        problem->start == FIT_PRIORS ? figure->sigma : max_real(figure->deviation, KNOWN_SIGMA * figure->sigma);
    return least;
}

static bool takes(const SetEntry *entry, int kind, SetAt at) {
    return entry && entry->at[kind].entry == at.entry && entry->at[kind].figure == at.figure;
}

/* Finds the runs that move when a figure moves by a deviation of its prior, up or down: a figure of a precision, of
 * experts or of a link that a run does not use leaves that run unchanged. */
static bool moved_runs(FitModel *model, const FitParameter *parameter, const double *base, ProfileSet *set,
                       Arena *arena, LeastColumn *out) {
    const FitProblem *problem = model->problem;
    SetFigure *figure = figure_at(set, parameter->of_stack, parameter->at);
    const LeastParameter *least = &parameter->least;
    int count;
    int kind = (int)(figure->figure - profile_figures(&count));
    int32_t *rows = ARENA_NEW(arena, int32_t, (size_t)problem->run_count);
    if (!rows) return false;
    double value = figure->value, reach = exp(least->sigma);
    *out = (LeastColumn){.rows = rows};
    for (int32_t i = 0; i < problem->run_count; i++) {
        const FitRun *run = &problem->runs[i];
        if (!model->usable[i] || !takes(parameter->of_stack ? run->stack : run->chip, kind, parameter->at)) continue;
        figure->value = min_real(value * reach, least->high);
        bool moves = predicted_seconds(model, i, set) != base[i];
        figure->value = max_real(value / reach, least->low);
        moves = moves || predicted_seconds(model, i, set) != base[i];
        figure->value = value;
        if (moves) rows[out->count++] = i;
    }
    return true;
}

/* All figures that may move, first profiles, then stacks. */
static int candidates(const FitProblem *problem, const ProfileSet *set, FitParameter *out) {
    int count = 0;
    for (int of_stack = 0; of_stack <= 1; of_stack++) {
        const SetEntry *list = of_stack ? set->stacks : set->profiles;
        int entries = of_stack ? set->stack_count : set->profile_count;
        for (int e = 0; e < entries; e++)
            for (int f = 0; is_fitted(problem, list, &list[e]) && f < list[e].figure_count; f++) {
                const SetFigure *figure = &list[e].figures[f];
                if (!(figure->sigma > 0) || !(figure->figure->fit_high > 0)) continue;
                if (out)
                    out[count] = (FitParameter){
                        .of_stack = of_stack, .at = {(int16_t)e, (int16_t)f}, .least = least_of(problem, figure)};
                count++;
            }
    }
    return count;
}

/* Keeps the candidates that some run depends on, and those whose multiple is the prior of one of them. */
static bool choose_parameters(FitModel *model, const double *base, Arena *arena, Error *error) {
    const FitProblem *problem = model->problem;
    int count = candidates(problem, &model->sets[0], NULL);
    FitParameter *all = ARENA_NEW(arena, FitParameter, (size_t)count);
    LeastColumn *columns = ARENA_NEW(arena, LeastColumn, (size_t)count);
    bool *wanted = ARENA_NEW(arena, bool, (size_t)count);
    if (!all || !columns || !wanted) return error_memory(error);
    candidates(problem, &model->sets[0], all);
    bool whole = true;
#pragma omp parallel for schedule(dynamic, 1) num_threads(problem->threads) reduction(&& : whole)
    for (int j = 0; j < count; j++) {
        Arena own = {0}; /* arenas are not shared between threads */
        ProfileSet *set = &model->sets[omp_get_thread_num()];
        LeastColumn column;
        bool ok = moved_runs(model, &all[j], base, set, &own, &column);
#pragma omp critical(fit_column)
        {
            int32_t *rows = ok ? ARENA_NEW(arena, int32_t, (size_t)column.count) : NULL;
            if (rows) {
                memcpy(rows, column.rows, (size_t)column.count * sizeof *rows);
                columns[j] = (LeastColumn){rows, column.count};
            }
            whole = whole && rows;
        }
        arena_free(&own);
    }
    if (!whole) return error_memory(error);
    for (int j = 0; j < count; j++) wanted[j] = columns[j].count > 0;
    for (bool more = problem->start == FIT_PRIORS; more;) {
        more = false;
        for (int j = 0; j < count; j++) {
            const SetFigure *figure = figure_at(problem->set, all[j].of_stack, all[j].at);
            if (!wanted[j] || figure->of_at.entry < 0) continue;
            for (int i = 0; i < count; i++) {
                if (wanted[i] || all[i].of_stack != all[j].of_stack || all[i].at.entry != figure->of_at.entry ||
                    all[i].at.figure != figure->of_at.figure)
                    continue;
                wanted[i] = more = true;
            }
        }
    }
    model->parameters = all;
    model->columns = columns;
    for (int j = 0; j < count; j++) {
        if (!wanted[j]) continue;
        all[model->parameter_count] = all[j];
        columns[model->parameter_count++] = columns[j];
    }
    for (int j = 0; j < model->parameter_count && problem->start == FIT_PRIORS; j++) {
        FitParameter *parameter = &model->parameters[j];
        const SetFigure *figure = figure_at(problem->set, parameter->of_stack, parameter->at);
        int of = figure->of_at.entry < 0 ? -1 : parameter_of(model, parameter->of_stack, figure->of_at);
        if (of < 0) continue;
        parameter->least.of[0] = of;
        parameter->least.prior = figure->prior;
    }
    return true;
}

static const char *generation_of(const ProfileSet *set, const SetEntry *chip) {
    const ProfileFigure *figure = profile_figure("matrix_efficiency");
    int count;
    SetAt at = chip->at[figure - profile_figures(&count)];
    return at.entry < 0 ? chip->name : set->profiles[at.entry].name;
}

bool fit_prepare(const FitProblem *problem, Arena *arena, FitModel *out, Error *error) {
    size_t runs = (size_t)problem->run_count;
    *out = (FitModel){.problem = problem};
    out->usable = ARENA_NEW(arena, bool, runs);
    out->generation = ARENA_NEW(arena, const char *, runs);
    out->sets = ARENA_NEW(arena, ProfileSet, (size_t)problem->threads);
    double *base = ARENA_NEW(arena, double, runs);
    if (!out->usable || !out->generation || !out->sets || !base) return error_memory(error);
    for (int t = 0; t < problem->threads; t++)
        if (!fit_set_copy(problem->set, arena, &out->sets[t])) return error_memory(error);
    for (int t = 0; t < problem->threads && problem->start == FIT_PRIORS; t++) put_priors(problem, NULL, &out->sets[t]);
#pragma omp parallel for schedule(dynamic, 16) num_threads(problem->threads)
    for (int32_t i = 0; i < problem->run_count; i++) {
        base[i] = predicted_seconds(out, i, &out->sets[omp_get_thread_num()]);
        out->usable[i] = base[i] > 0 && problem->runs[i].measured_seconds > 0;
        out->generation[i] = generation_of(problem->set, problem->runs[i].chip);
    }
    return choose_parameters(out, base, arena, error);
}

/* ---- weights, predictions, solution ---- */

static bool same_group(const FitModel *model, int32_t a, int32_t b) {
    const FitRun *x = &model->problem->runs[a], *y = &model->problem->runs[b];
    return strcmp(x->source, y->source) == 0 && strcmp(x->model, y->model) == 0 &&
           strcmp(model->generation[a], model->generation[b]) == 0 && strcmp(x->precision, y->precision) == 0;
}

void fit_weights(const FitModel *model, bool exclude_flagged, double *weights) {
    int32_t count = model->problem->run_count;
    for (int32_t i = 0; i < count; i++)
        weights[i] = model->usable[i] && !(exclude_flagged && model->problem->runs[i].flagged);
    for (int32_t i = 0; i < count; i++) {
        int members = 0;
        if (weights[i] == 0) continue;
        for (int32_t k = 0; k < count; k++) members += weights[k] > 0 && same_group(model, i, k);
        weights[i] = 1 / sqrt(members);
    }
}

static void residuals(void *context, int worker, const double *x, const int32_t *rows, int32_t count, double *out) {
    const FitModel *model = context;
    ProfileSet *set = &model->sets[worker];
    put_values(model, x, set);
    for (int32_t k = 0; k < count; k++) {
        double seconds = predicted_seconds(model, rows[k], set);
        out[rows[k]] = seconds > 0 ? log(seconds / model->problem->runs[rows[k]].measured_seconds) : NAN;
    }
}

bool fit_solve(const FitModel *model, const double *weights, FitSearch search, Arena *arena, LeastSolution *out,
               Error *error) {
    const FitProblem *problem = model->problem;
    LeastParameter *parameters = ARENA_NEW(arena, LeastParameter, (size_t)model->parameter_count);
    if (!parameters) return error_memory(error);
    for (int j = 0; j < model->parameter_count; j++) {
        parameters[j] = model->parameters[j].least;
        if (search.start) parameters[j].start = search.start[j];
        if (model->parameters[j].held) parameters[j].sigma = HELD_SIGMA;
    }
    LeastSquares least = {.parameter_count = model->parameter_count,
                          .row_count = problem->run_count,
                          .parameters = parameters,
                          .columns = model->columns,
                          .weights = weights,
                          .scale = SCALE,
                          .residuals = residuals,
                          .context = (void *)model,
                          .threads = problem->threads,
                          .iterations = search.iterations > 0     ? search.iterations
                                        : problem->iterations > 0 ? problem->iterations
                                                                  : ITERATIONS,
                          .tolerance = TOLERANCE,
                          .no_posterior = !search.posterior};
    return least_squares_solve(&least, arena, out, error);
}

void fit_predictions(const FitModel *model, const double *x, double *seconds) {
    const FitProblem *problem = model->problem;
    for (int t = 0; t < problem->threads; t++) put_values(model, x, &model->sets[t]);
#pragma omp parallel for schedule(dynamic, 16) num_threads(problem->threads)
    for (int32_t i = 0; i < problem->run_count; i++)
        seconds[i] = model->usable[i] ? predicted_seconds(model, i, &model->sets[omp_get_thread_num()]) : 0;
}

/* ---- back into the set ---- */

FitWeight fit_weight(const FitParameter *parameter, double deviation) {
    double left = deviation / parameter->least.sigma;
    return parameter->held || left >= HOPELESS ? FIT_KEPT_PRIOR : left < FIT_DETERMINED ? FIT_OF_RUNS : FIT_LEANS;
}

/* Figures that pull the same way share the information of the runs, so that no single one may look determined: hopeless
 * figures go at once, the others one at a time, and the last of them gets all the information. */
int fit_hold(FitModel *model, const LeastSolution *solution, bool all) {
    int held = 0, weakest = -1;
    double most = 0;
    for (int j = 0; j < model->parameter_count; j++) {
        FitParameter *parameter = &model->parameters[j];
        FitWeight weight = fit_weight(parameter, solution->deviation[j]);
        double left = solution->deviation[j] / parameter->least.sigma;
        if (parameter->held || weight == FIT_OF_RUNS) continue;
        if (left > most) {
            most = left;
            weakest = j;
        }
        if (weight == FIT_LEANS) continue;
        parameter->held = true;
        held++;
    }
    if (all && held == 0 && weakest >= 0) {
        model->parameters[weakest].held = true;
        held = 1;
    }
    return held;
}

/* The runs that a figure moves by 1% or more of a step, when it goes up by a deviation of its prior (down where its
 * bound is in the way). */
static int64_t runs_moved(const FitModel *model, int j, const double *x, const double *weights, const double *seconds,
                          ProfileSet *set) {
    const FitParameter *parameter = &model->parameters[j];
    SetFigure *figure = figure_at(set, parameter->of_stack, parameter->at);
    double reach = exp(parameter->least.sigma),
           to = x[j] * reach <= parameter->least.high ? x[j] * reach : x[j] / reach;
    int64_t moved = 0;
    put_values(model, x, set);
    figure->value = max_real(to, parameter->least.low);
    for (int32_t k = 0; k < model->columns[j].count; k++) {
        int32_t run = model->columns[j].rows[k];
        if (weights[run] == 0) continue;
        moved += fabs(predicted_seconds(model, run, set) / seconds[run] - 1) >= 0.01;
    }
    figure->value = x[j];
    return moved;
}

double fit_rounded(double value) {
    char text[32];
    snprintf(text, sizeof text, "%.5g", value);
    return strtod(text, NULL);
}

/* A held figure is exactly its prior; a value that rounding moved out of its bounds is put back into them. */
static double value_of(const FitModel *model, const double *x, int j) {
    const LeastParameter *least = &model->parameters[j].least;
    double value = fit_rounded(model->parameters[j].held ? least_prior(least, x) : x[j]);
    return min_real(max_real(value, least->low), least->high);
}

bool fit_write(const FitModel *model, const LeastSolution *solution, const double *weights, ProfileSet *set,
               Error *error) {
    const FitProblem *problem = model->problem;
    Arena scratch = {0};
    assert(solution->deviation && set->profile_count == problem->set->profile_count);
    double *seconds = ARENA_NEW(&scratch, double, (size_t)problem->run_count);
    int64_t *moved = ARENA_NEW(&scratch, int64_t, (size_t)model->parameter_count);
    bool ok = (seconds && moved) || error_memory(error);
    if (!ok) goto done;
    fit_predictions(model, solution->x, seconds);
#pragma omp parallel for schedule(dynamic, 1) num_threads(problem->threads)
    for (int j = 0; j < model->parameter_count; j++)
        moved[j] = runs_moved(model, j, solution->x, weights, seconds, &model->sets[omp_get_thread_num()]);
    for (int j = 0; j < model->parameter_count; j++) {
        const FitParameter *parameter = &model->parameters[j];
        SetFigure *figure = figure_at(set, parameter->of_stack, parameter->at);
        bool determined = fit_weight(parameter, solution->deviation[j]) == FIT_OF_RUNS;
        if (parameter->held && problem->start == FIT_VALUES) continue;
        figure->value = value_of(model, solution->x, j);
        figure->deviation = parameter->held ? parameter->least.sigma : fit_rounded(solution->deviation[j]);
        figure->runs = moved[j];
        figure->determined = determined;
    }
    if (problem->start == FIT_PRIORS) put_priors(problem, model, set);
done:
    arena_free(&scratch);
    return ok;
}
