/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/measured/cross_validation.h"

#include "base/util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The range where even all runs together are too few: a fit that left out each source was this far off for a chip known
 * from one source (docs/model.md, "Validation and likely ranges"). */
static const double UNKNOWN_LOG = 0.4;

bool range_of(const double *log_ratios, const double *weights, int64_t count, LikelyRange *out) {
    WeighedValue *list = malloc((size_t)(count + 1) * sizeof *list);
    double total = 0, squares = 0;
    int64_t n = 0;
    if (!list) return false;
    for (int64_t i = 0; i < count; i++) {
        if (!(weights[i] > 0)) continue;
        list[n++] = (WeighedValue){log_ratios[i], weights[i]};
        total += weights[i];
        squares += weights[i] * weights[i];
    }
    *out = (LikelyRange){1, 1, 0};
    if (n > 0) {
        out->low = exp(weighed_quantile(list, n, 0.05));
        for (int64_t i = 0; i < n; i++) list[i].value = -list[i].value; /* from the other end */
        out->high = exp(-weighed_quantile(list, n, 0.05));
        out->runs = total * total / squares;
    }
    free(list);
    return true;
}

LikelyRange range_towards(LikelyRange own, LikelyRange parent) {
    double share = own.runs / (own.runs + RANGE_PARENT_RUNS);
    return (LikelyRange){exp(share * log(own.low) + (1 - share) * log(parent.low)),
                         exp(share * log(own.high) + (1 - share) * log(parent.high)), own.runs};
}

/* ---- which runs ---- */

typedef struct {
    const FitModel *model;
    const double *weights;
    double *ratios, *picked; /* by run */
} Picker;

/* Picks the runs of one entry (NULL means all) that the cross-validation predicted; `only` limits them to these. */
static bool pick(Picker *picker, const Cross *cross, const SetEntry *entry, const bool *only, LikelyRange *out) {
    const FitProblem *problem = picker->model->problem;
    for (int32_t i = 0; i < problem->run_count; i++) {
        bool is = cross->seconds[i] > 0 && (!only || only[i]) && (!entry || problem->runs[i].chip == entry);
        picker->picked[i] = is ? picker->weights[i] : 0;
        picker->ratios[i] = is ? log(problem->runs[i].measured_seconds / cross->seconds[i]) : 0;
    }
    return range_of(picker->ratios, picker->picked, problem->run_count, out);
}

/* ---- into the set ---- */

static SetFigure *own_figure(SetEntry *entry, const ProfileFigure *kind) {
    int at = 0;
    while (at < entry->figure_count && entry->figures[at].figure < kind) at++;
    if (at < entry->figure_count && entry->figures[at].figure == kind) return &entry->figures[at];
    if (entry->figure_count == SET_FIGURES_MAX) return NULL;
    memmove(&entry->figures[at + 1], &entry->figures[at],
            (size_t)(entry->figure_count - at) * sizeof entry->figures[0]);
    entry->figure_count++;
    entry->figures[at] = (SetFigure){.figure = kind, .of_at = {-1, -1}};
    return &entry->figures[at];
}

static void put(SetEntry *entry, const char *key, double value, const char *source) {
    const ProfileFigure *kind = profile_figure(key);
    SetFigure *figure = own_figure(entry, kind);
    if (!figure) return;
    figure->value = figure->prior = min_real(max_real(value, kind->low), kind->high);
    figure->source = source;
}

/* The range that the set has given for a chip so far; it is empty where no run stood for it. */
static LikelyRange range_before(const ProfileSet *set, const SetEntry *entry) {
    const SetFigure *low = set_entry_figure(set->profiles, entry, profile_figure("likely_low"));
    const SetFigure *high = set_entry_figure(set->profiles, entry, profile_figure("likely_high"));
    bool known = low && high && low->value > 0 && high->value > low->value;
    return known ? (LikelyRange){low->value, high->value, 1} : (LikelyRange){1, 1, 0};
}

/* Writes the range of profile `number`, whose own runs ranges->of_profile[number] holds so far. */
static bool write_entry(const FitProblem *problem, const Ranges *ranges, SetEntry *entry, int number, Arena *arena,
                        Error *error) {
    LikelyRange own = ranges->of_profile[number], before = range_before(problem->set, &problem->set->profiles[number]),
                wide = ranges->alone;
    bool goes_on = problem->start == FIT_VALUES;
    if (goes_on && own.runs == 0 && before.runs > 0) {
        ranges->of_profile[number] = before;
        return true;
    }
    wide.low = min_real(wide.low, ranges->all.low);
    wide.high = max_real(wide.high, ranges->all.high);
    const char *source;
    if (own.runs > 0) {
        ranges->of_profile[number] = range_towards(own, goes_on && before.runs > 0 ? before : ranges->all);
        source = arena_format(arena, "calibrate: nine in ten unseen runs of this entry (%.0f in effect), towards %s",
                              own.runs, goes_on && before.runs > 0 ? "what stood here" : "those of all chips");
    } else {
        ranges->of_profile[number] = wide;
        source =
            arena_format(arena,
                         "calibrate: no run of its own; as wide as for chips whose only source was left out (%.0f runs "
                         "in effect)",
                         ranges->alone.runs);
    }
    if (!source) return error_memory(error);
    LikelyRange *range = &ranges->of_profile[number];
    range->low = min_real(fit_rounded(range->low), 1); /* the prediction itself is always inside */
    range->high = max_real(fit_rounded(range->high), 1);
    put(entry, "likely_low", range->low, source);
    put(entry, "likely_high", range->high, source);
    return true;
}

bool ranges_write(const FittedModel *fitted, const CrossBoth *unseen, ProfileSet *set, Arena *arena, Ranges *out,
                  Error *error) {
    const FitModel *model = fitted->model;
    size_t runs = (size_t)model->problem->run_count;
    Arena scratch = {0};
    Picker picker = {model, fitted->weights, ARENA_NEW(&scratch, double, runs), ARENA_NEW(&scratch, double, runs)};
    bool *covered = ARENA_NEW(&scratch, bool, runs), *alone = ARENA_NEW(&scratch, bool, runs);
    const LikelyRange unknown = {exp(-UNKNOWN_LOG), exp(UNKNOWN_LOG), 0};
    *out = (Ranges){.of_profile = ARENA_NEW(arena, LikelyRange, (size_t)set->profile_count)};
    bool ok = picker.ratios && picker.picked && covered && alone && out->of_profile &&
              pick(&picker, unseen->groups, NULL, NULL, &out->all);
    if (!ok) {
        error_memory(error);
        goto done;
    }
    cross_coverage(model, covered, alone);
    ok = pick(&picker, unseen->sources, NULL, alone, &out->alone) || error_memory(error);
    out->all = range_towards(out->all, unknown);
    out->alone = range_towards(out->alone, unknown);
    for (int i = 0; ok && i < set->profile_count; i++)
        ok = (pick(&picker, unseen->groups, &model->problem->set->profiles[i], NULL, &out->of_profile[i]) ||
              error_memory(error)) &&
             write_entry(model->problem, out, &set->profiles[i], i, arena, error);
    ok = ok && profile_set_resolve(set, "calibrate", error);
done:
    arena_free(&scratch);
    return ok;
}

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
        start[j] = left > 0 ? full[j] : least_prior(least, full);
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
