/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/measured/calibrate.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

/* ---- fits ---- */

/* Runs a fit to the end: figures that it leaves at their prior are held there, and the rest is fitted again. */
static bool fit_whole(FitModel *model, const double *weights, Arena *arena, LeastSolution *out, Error *error) {
    bool all = model->problem->start == FIT_VALUES;
    if (!fit_solve(model, weights, (FitSearch){.posterior = true}, arena, out, error)) return false;
    while (fit_hold(model, out, all) > 0) {
        if (!fit_solve(model, weights, (FitSearch){.start = out->x, .posterior = true}, arena, out, error))
            return false;
        if (!all) break;
    }
    return true;
}

/* The refit must not leave marks: it gets a model with its own parameters. */
static bool refit(const FitModel *model, Arena *arena, double *seconds, Error *error) {
    size_t runs = (size_t)model->problem->run_count, count = (size_t)model->parameter_count;
    FitModel own = *model;
    LeastSolution solution;
    double *weights = ARENA_NEW(arena, double, runs);
    own.parameters = ARENA_NEW(arena, FitParameter, count);
    if (!weights || !own.parameters) return error_memory(error);
    memcpy(own.parameters, model->parameters, count * sizeof *own.parameters);
    for (size_t j = 0; j < count; j++) own.parameters[j].held = false;
    fit_weights(&own, true, weights);
    if (!fit_whole(&own, weights, arena, &solution, error)) return false;
    fit_predictions(&own, solution.x, seconds);
    return true;
}

/* ---- errors ---- */

typedef struct {
    const FitModel *model;
    double *errors;
    int32_t *rows;
} Gather;

static double error_of(const FitModel *model, const double *seconds, int32_t run) {
    return seconds[run] / model->problem->runs[run].measured_seconds - 1;
}

typedef struct {
    const char *source, *generation; /* NULL means any */
} Wanted;

static bool stats_of(Gather *gather, const double *seconds, Wanted wanted, ErrorStats *out) {
    const FitModel *model = gather->model;
    int32_t n = 0;
    *out = (ErrorStats){.worst_at = -1};
    for (int32_t i = 0; seconds && i < model->problem->run_count; i++) {
        if (!(seconds[i] > 0) || (wanted.source && strcmp(wanted.source, model->problem->runs[i].source) != 0) ||
            (wanted.generation && strcmp(wanted.generation, model->generation[i]) != 0))
            continue;
        gather->rows[n] = i;
        gather->errors[n++] = error_of(model, seconds, i);
    }
    if (!error_stats(gather->errors, n, out)) return false;
    if (out->worst_at >= 0) out->worst_at = gather->rows[out->worst_at];
    return true;
}

static int compare_family(const FitModel *model, int32_t a, int32_t b) {
    const FitRun *x = &model->problem->runs[a], *y = &model->problem->runs[b];
    int order = strcmp(x->source, y->source);
    if (order == 0) order = strcmp(x->model, y->model);
    return order != 0 ? order : strcmp(model->generation[a], model->generation[b]);
}

/* Counts each family once, with the median magnitude of its errors. */
static bool family_stats(Gather *gather, const double *seconds, Arena *scratch, ErrorStats *out) {
    const FitModel *model = gather->model;
    int32_t count = model->problem->run_count, families = 0;
    double *medians = ARENA_NEW(scratch, double, (size_t)count);
    bool *done = ARENA_NEW(scratch, bool, (size_t)count);
    *out = (ErrorStats){.worst_at = -1};
    if (!medians || !done) return false;
    for (int32_t i = 0; seconds && i < count; i++) {
        int32_t n = 0;
        ErrorStats own;
        if (!(seconds[i] > 0) || done[i]) continue;
        for (int32_t k = i; k < count; k++) {
            if (!(seconds[k] > 0) || compare_family(model, i, k) != 0) continue;
            done[k] = true;
            gather->errors[n++] = error_of(model, seconds, k);
        }
        if (!error_stats(gather->errors, n, &own)) return false;
        medians[families++] = own.median;
    }
    if (!error_stats(medians, families, out)) return false;
    out->worst_at = -1;
    return true;
}

static const LikelyRange *range_of_generation(const Calibration *c, const char *generation) {
    for (int i = 0; c->crossed && i < c->set.profile_count; i++)
        if (strcmp(c->set.profiles[i].name, generation) == 0) return &c->ranges.of_profile[i];
    return NULL;
}

/* The share of the runs of one generation (NULL means any) that were measured inside the range of their own. */
static double inside_of(const Calibration *c, const Cross *cross, const char *generation) {
    int32_t inside = 0, count = 0;
    for (int32_t i = 0; i < c->model.problem->run_count; i++) {
        double seconds = c->crossed ? cross->seconds[i] : 0;
        const LikelyRange *range = seconds > 0 ? range_of_generation(c, c->model.generation[i]) : NULL;
        if (!range || (generation && strcmp(c->model.generation[i], generation) != 0)) continue;
        double ratio = c->model.problem->runs[i].measured_seconds / seconds;
        inside += ratio >= range->low && ratio <= range->high;
        count++;
    }
    return count > 0 ? (double)inside / count : 0;
}

/* Makes one group for each source, or for each chip generation, of the runs that have a prediction. */
static bool groups_of(Gather *gather, Calibration *c, bool chips, Arena *arena, CalibrateGroup **out, int *count) {
    const FitModel *model = gather->model;
    CalibrateGroup *groups = ARENA_NEW(arena, CalibrateGroup, (size_t)model->problem->run_count);
    *out = groups;
    if (!groups) return false;
    for (int32_t i = 0; i < model->problem->run_count; i++) {
        const char *name = chips ? model->generation[i] : model->problem->runs[i].source;
        int at = 0;
        while (at < *count && strcmp(groups[at].name, name) != 0) at++;
        if (c->weights[i] > 0 && at == *count) groups[(*count)++].name = name;
    }
    qsort(groups, (size_t)*count, sizeof *groups, order_text);
    for (int g = 0; g < *count; g++) {
        Wanted wanted = {chips ? NULL : groups[g].name, chips ? groups[g].name : NULL};
        if (!stats_of(gather, c->seconds[LINE_FITTED], wanted, &groups[g].fitted) ||
            !stats_of(gather, c->seconds[LINE_GROUPS], wanted, &groups[g].groups) ||
            !stats_of(gather, c->seconds[LINE_SOURCES], wanted, &groups[g].sources))
            return false;
        groups[g].range = chips ? range_of_generation(c, groups[g].name) : NULL;
        if (groups[g].range) groups[g].inside = inside_of(c, &c->groups, groups[g].name);
    }
    return true;
}

/* ---- all of it ---- */

static bool start_seconds(const FitModel *model, Arena *arena, double *seconds) {
    double *x = ARENA_NEW(arena, double, (size_t)model->parameter_count);
    if (!x) return false;
    for (int j = 0; j < model->parameter_count; j++) x[j] = model->parameters[j].least.start;
    fit_predictions(model, x, seconds);
    return true;
}

/* Lines count only runs that have a weight, and the refit's lines only those of them that are not flagged. */
static void cut_lines(Calibration *c) {
    for (int line = 0; line < LINE_COUNT; line++)
        for (int32_t i = 0; c->seconds[line] && i < c->model.problem->run_count; i++)
            if (c->weights[i] == 0 || (line == LINE_REFIT && c->model.problem->runs[i].flagged))
                c->seconds[line][i] = 0;
}

static bool cross_both(Calibration *c, const CalibrateOptions *options, Arena *arena, Error *error) {
    size_t runs = (size_t)c->model.problem->run_count;
    bool *covered = ARENA_NEW(arena, bool, runs), *alone = ARENA_NEW(arena, bool, runs);
    c->seconds[LINE_COVERED] = ARENA_NEW(arena, double, runs);
    c->seconds[LINE_LONE] = ARENA_NEW(arena, double, runs);
    if (!covered || !alone || !c->seconds[LINE_COVERED] || !c->seconds[LINE_LONE]) return error_memory(error);
    if (!cross_validate(&(FittedModel){&c->model, c->weights, &c->solution},
                        &(CrossFolds){CROSS_GROUPS, options->folds, options->progress, options->progress_context},
                        arena, &c->groups, error) ||
        !cross_validate(&(FittedModel){&c->model, c->weights, &c->solution},
                        &(CrossFolds){CROSS_SOURCES, 0, options->progress, options->progress_context}, arena,
                        &c->sources, error))
        return false;
    cross_coverage(&c->model, covered, alone);
    c->seconds[LINE_GROUPS] = c->groups.seconds;
    c->seconds[LINE_SOURCES] = c->sources.seconds;
    for (size_t i = 0; i < runs; i++) c->seconds[covered[i] ? LINE_COVERED : LINE_LONE][i] = c->sources.seconds[i];
    c->crossed = true;
    ProfileSet kept; /* what is known of one software says nothing of its chip */
    if (c->model.problem->only && !fit_set_copy(&c->set, arena, &kept)) return error_memory(error);
    return ranges_write(&(FittedModel){&c->model, c->weights, &c->solution}, &(CrossBoth){&c->groups, &c->sources},
                        c->model.problem->only ? &kept : &c->set, arena, &c->ranges, error);
}

bool calibrate(const FitProblem *problem, const CalibrateOptions *options, Arena *arena, Calibration *out,
               Error *error) {
    size_t runs = (size_t)problem->run_count;
    Calibration *c = out;
    *c = (Calibration){.weights = ARENA_NEW(arena, double, runs)};
    c->seconds[LINE_PRIOR] = ARENA_NEW(arena, double, runs);
    c->seconds[LINE_FITTED] = ARENA_NEW(arena, double, runs);
    Gather gather = {&c->model, ARENA_NEW(arena, double, runs), ARENA_NEW(arena, int32_t, runs)};
    if (!c->weights || !c->seconds[LINE_PRIOR] || !c->seconds[LINE_FITTED] || !gather.errors || !gather.rows ||
        !fit_set_copy(problem->set, arena, &c->set))
        return error_memory(error);
    if (!fit_prepare(problem, arena, &c->model, error)) return false;
    for (size_t i = 0; i < runs; i++) {
        c->usable += c->model.usable[i];
        c->flagged += c->model.usable[i] && problem->runs[i].flagged;
    }
    fit_weights(&c->model, options->exclude_flagged, c->weights);
    if (!start_seconds(&c->model, arena, c->seconds[LINE_PRIOR])) return error_memory(error);
    if (!fit_whole(&c->model, c->weights, arena, &c->solution, error) ||
        !fit_write(&c->model, &c->solution, c->weights, &c->set, error))
        return false;
    fit_predictions(&c->model, c->solution.x, c->seconds[LINE_FITTED]);
    if (c->flagged > 0 && !options->exclude_flagged) {
        c->seconds[LINE_REFIT] = ARENA_NEW(arena, double, runs);
        if (!c->seconds[LINE_REFIT]) return error_memory(error);
        if (!refit(&c->model, arena, c->seconds[LINE_REFIT], error)) return false;
    }
    if (options->folds > 0 && !cross_both(c, options, arena, error)) return false;
    cut_lines(c);
    c->inside_groups = inside_of(c, &c->groups, NULL);
    c->inside_sources = inside_of(c, &c->sources, NULL);
    Wanted all = {NULL, NULL};
    for (int line = 0; line < LINE_COUNT; line++)
        if (!stats_of(&gather, c->seconds[line], all, &c->lines[line]) ||
            !family_stats(&gather, c->seconds[line], arena, &c->families[line]))
            return error_memory(error);
    return (groups_of(&gather, c, false, arena, &c->by_source, &c->source_count) &&
            groups_of(&gather, c, true, arena, &c->by_chip, &c->chip_count)) ||
           error_memory(error);
}
