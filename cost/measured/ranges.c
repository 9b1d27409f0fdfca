/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/measured/ranges.h"

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
