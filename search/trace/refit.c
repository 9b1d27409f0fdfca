/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/trace/refit.h"

#include "base/util.h"

#include <math.h>
#include <string.h>

/* Terms below this share of the step do not determine a figure; those this near to the plan's are right. */
static const double SHARE_LEAST = 0.01, NEAR = 0.002;
/* Of a figure that one trace determined, in ln. */
static const double DEVIATION = 0.03;

/* What a term's figure is, and whether a longer term means more of it (traffic) or less (a rate). */
static const struct {
    TraceTerm term;
    const char *figure;
    bool traffic;
} FIGURES[] = {{TERM_MATMUL, "compute_factor", false},
               {TERM_ATTENTION, "attention_factor", false},
               {TERM_ELEMENTWISE, "elementwise_traffic", true},
               {TERM_OPTIMIZER, "optimizer_traffic", true}};

static SetFigure *own_figure(SetEntry *entry, const ProfileFigure *figure) {
    for (int i = 0; i < entry->figure_count; i++)
        if (entry->figures[i].figure == figure) return &entry->figures[i];
    return NULL;
}

/* The entry's own figure; one that it inherits becomes its own, in the order of the table. */
static SetFigure *make_own(const RefitInto *into, SetEntry *entry, const ProfileFigure *figure) {
    SetFigure *own = own_figure(entry, figure);
    const SetEntry *list = figure->owner == FIGURE_OF_CHIP ? into->set->profiles : into->set->stacks;
    if (own || entry->figure_count == SET_FIGURES_MAX) return own;
    const SetFigure *inherited = set_entry_figure(list, entry, figure);
    SetFigure made = {.figure = figure, .value = figure->ideal, .prior = figure->ideal, .source = into->source};
    if (inherited) {
        made = *inherited;
        made.prior = set_figure_prior(list, inherited);
        made.of[0] = '\0';
        made.of_at = (SetAt){-1, -1};
    }
    int at = 0;
    while (at < entry->figure_count && entry->figures[at].figure < figure) at++;
    memmove(&entry->figures[at + 1], &entry->figures[at], (size_t)(entry->figure_count - at) * sizeof made);
    entry->figures[at] = made;
    entry->figure_count++;
    return &entry->figures[at];
}

static void note_change(Refit *out, const SetEntry *entry, const ProfileFigure *figure, double was,
                        const double now_wanted[2]) {
    int i = 0;
    while (i < out->count && (out->changes[i].figure != figure || strcmp(out->changes[i].entry, entry->name) != 0)) i++;
    if (i == REFIT_CHANGES_MAX) return;
    if (i == out->count) out->changes[out->count++] = (RefitChange){.figure = figure, .entry = entry->name, .was = was};
    out->changes[i].now = now_wanted[0];
    out->changes[i].wanted = now_wanted[1];
}

static void multiply(const RefitInto *into, const char *key, double factor, Refit *out) {
    const ProfileFigure *figure = profile_figure(key);
    SetEntry *entry = figure->owner == FIGURE_OF_CHIP ? into->chip : into->stack;
    if (!entry || !(factor > 0) || !isfinite(factor) || fabs(factor - 1) < NEAR) return;
    SetFigure *own = make_own(into, entry, figure);
    if (!own || !(own->value > 0)) return;
    double was = own->value, wanted = was * factor;
    /* A rate below a hundredth of the peak, or above it, is a mistake of the comparison. */
    double now = min_real(max_real(wanted, max_real(figure->low, was / 100)), figure->high);
    own->value = now;
    own->source = into->source;
    if (own->sigma > 0) {
        own->deviation = DEVIATION;
        own->runs = max_whole(1, own->runs);
        own->determined = true;
    }
    note_change(out, entry, figure, was, (const double[]){now, wanted});
}

static void fit_compute(const Comparison *compared, const RefitInto *into, Refit *out) {
    for (size_t i = 0; i < COUNT_OF(FIGURES); i++)
        for (int r = 0; r < compared->row_count; r++) {
            const ComparisonRow *row = &compared->rows[r];
            double least = SHARE_LEAST * compared->step_measured;
            if (row->term != FIGURES[i].term || !(row->measured > least) || !(row->predicted > 0)) continue;
            double rate = row->predicted / row->measured;
            multiply(into, FIGURES[i].figure, FIGURES[i].traffic ? 1 / rate : rate, out);
        }
}

/* Links: collectives of several roles over one link are added up, since it has one rate. */
static void fit_links(const Comparison *compared, const RefitInto *into, Refit *out) {
    static const char *const LINKS[] = {"ici_efficiency", "nvlink_efficiency", "network_efficiency", "dcn_efficiency"};
    for (size_t link = 0; link < COUNT_OF(LINKS); link++) {
        double measured = 0, predicted = 0;
        for (int r = 0; r < compared->row_count; r++) {
            const ComparisonRow *row = &compared->rows[r];
            const char *own = term_is_collective(row->term) ? compared->plan->link[row->term] : NULL;
            double lasted = row->transfer >= 0 ? row->transfer : row->measured;
            if (!own || strcmp(own, LINKS[link]) != 0 || !(lasted > 0) || !(row->predicted > 0)) continue;
            measured += lasted;
            predicted += row->predicted;
        }
        if (measured > SHARE_LEAST * compared->step_measured) multiply(into, LINKS[link], predicted / measured, out);
    }
}

static double value_now(const RefitInto *into, const ProfileFigure *figure) {
    bool of_chip = figure->owner == FIGURE_OF_CHIP;
    const SetEntry *entry = of_chip ? into->chip : into->stack;
    if (!entry) return 0;
    const SetFigure *now = set_entry_figure(of_chip ? into->set->profiles : into->set->stacks, entry, figure);
    return now ? now->value : figure->ideal;
}

void refit_set(const RefitInto *into, const char *key, double value, Refit *out) {
    double was = value_now(into, profile_figure(key));
    if (was > 0) multiply(into, key, value / was, out);
}

void refit_lower(const RefitInto *into, const char *key, double most, Refit *out) {
    if (most < value_now(into, profile_figure(key))) refit_set(into, key, most, out);
}

bool refit_step(const Comparison *compared, const RefitInto *into, Refit *out, Error *error) {
    fit_compute(compared, into, out);
    fit_links(compared, into, out);
    return profile_set_resolve(into->set, "--refit", error);
}
