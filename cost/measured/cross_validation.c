/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/measured/cross_validation.h"

#include <stdlib.h>
#include <string.h>

/* A fold starts where the whole fit ended, so a few Jacobians find its own minimum. */
enum { FOLD_ITERATIONS = 5 };

/* ---- who is left out with whom ---- */

typedef struct {
    const char *source, *model, *generation;
    int64_t chips;
    int32_t run, members; /* run: the first of the group */
} Group;

static int by_name(const Group *a, const Group *b) {
    int order = strcmp(a->source, b->source);
    if (order == 0) order = strcmp(a->model, b->model);
    if (order == 0) order = strcmp(a->generation, b->generation);
    return order != 0 ? order : (a->chips > b->chips) - (a->chips < b->chips);
}

static int by_size(const void *left, const void *right) {
    const Group *a = left, *b = right;
    return a->members != b->members ? (a->members > b->members ? -1 : 1) : by_name(a, b);
}

static Group group_of(const FitModel *model, CrossKind kind, int32_t run) {
    const FitRun *it = &model->problem->runs[run];
    if (kind == CROSS_SOURCES) return (Group){it->source, "", "", 0, run, 0};
    return (Group){it->source, it->model, model->generation[run], model->problem->only ? it->chips : 0, run, 0};
}

static int find_group(const Group *groups, int count, const Group *wanted) {
    for (int g = 0; g < count; g++)
        if (by_name(&groups[g], wanted) == 0) return g;
    return -1;
}

static void deal_runs(const FitModel *model, int folds, int32_t usable, Cross *out) {
    int32_t dealt = 0;
    out->by_run = true;
    out->folds = usable < folds ? usable : folds;
    for (int32_t i = 0; i < model->problem->run_count; i++) out->fold[i] = model->usable[i] ? dealt++ % out->folds : -1;
}

/* Deals the groups, the largest first, so that folds are of about one size. */
static bool deal(const FitModel *model, CrossKind kind, int folds, Arena *scratch, Cross *out) {
    int32_t runs = model->problem->run_count;
    int count = 0;
    Group *groups = ARENA_NEW(scratch, Group, (size_t)runs);
    if (!groups) return false;
    for (int32_t i = 0; i < runs; i++) {
        if (!model->usable[i]) continue;
        Group group = group_of(model, kind, i);
        int at = find_group(groups, count, &group);
        if (at < 0) groups[at = count++] = group;
        groups[at].members++;
    }
    if (kind == CROSS_GROUPS && count == 1 && groups[0].members > 1) {
        deal_runs(model, folds, groups[0].members, out);
        return true;
    }
    qsort(groups, (size_t)count, sizeof *groups, by_size);
    out->folds = kind == CROSS_SOURCES || count < folds ? count : folds;
    for (int32_t i = 0; i < runs; i++) {
        Group group = group_of(model, kind, i);
        out->fold[i] = model->usable[i] ? find_group(groups, count, &group) % out->folds : -1;
    }
    return true;
}

/* ---- folds ---- */

/* A fold begins at the whole fit, except for figures that none of its runs moves. */
static void fold_start(const FitModel *model, const double *weights, const double *full, double *start) {
    for (int j = 0; j < model->parameter_count; j++) {
        const LeastParameter *least = &model->parameters[j].least;
        int32_t left = 0;
        for (int32_t k = 0; k < model->columns[j].count; k++) left += weights[model->columns[j].rows[k]] > 0;
        start[j] = left > 0 ? full[j] : least->prior * (least->of >= 0 ? full[least->of] : 1);
    }
}

bool cross_validate(const FittedModel *fitted, const CrossFolds *folds, Arena *arena, Cross *out, Error *error) {
    const FitModel *model = fitted->model;
    size_t runs = (size_t)model->problem->run_count, parameters = (size_t)model->parameter_count;
    Arena scratch = {0};
    *out = (Cross){.fold = ARENA_NEW(arena, int32_t, runs), .seconds = ARENA_NEW(arena, double, runs)};
    double *kept = ARENA_NEW(&scratch, double, runs), *seconds = ARENA_NEW(&scratch, double, runs);
    double *start = ARENA_NEW(&scratch, double, parameters);
    bool ok = (out->fold && out->seconds && kept && seconds && start &&
               deal(model, folds->kind, folds->folds, &scratch, out)) ||
              error_memory(error);
    for (int fold = 0; ok && fold < out->folds; fold++) {
        Arena own = {0};
        LeastSolution solution;
        for (size_t i = 0; i < runs; i++) kept[i] = out->fold[i] == fold ? 0 : fitted->weights[i];
        fold_start(model, kept, fitted->solution->x, start);
        ok = fit_solve(model, kept, (FitSearch){.start = start, .iterations = FOLD_ITERATIONS}, &own, &solution, error);
        if (ok) fit_predictions(model, solution.x, seconds);
        for (size_t i = 0; ok && i < runs; i++)
            if (out->fold[i] == fold) out->seconds[i] = seconds[i];
        arena_free(&own);
        if (folds->progress) folds->progress(folds->progress_context, fold + 1, out->folds);
    }
    arena_free(&scratch);
    return ok;
}

void cross_coverage(const FitModel *model, bool *covered, bool *alone) {
    int32_t runs = model->problem->run_count;
    for (int32_t i = 0; i < runs; i++) {
        int32_t other_runs = 0;
        for (int32_t k = 0; k < runs && model->usable[i]; k++)
            other_runs += model->usable[k] && strcmp(model->generation[i], model->generation[k]) == 0 &&
                          strcmp(model->problem->runs[i].source, model->problem->runs[k].source) != 0;
        covered[i] = other_runs >= CROSS_COVERED_RUNS;
        alone[i] = model->usable[i] && other_runs == 0;
    }
}
