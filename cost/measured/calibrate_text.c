/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the report of a calibration for people: as text, and as Markdown. */
#include "base/text/table.h"
#include "cost/measured/calibrate.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *calibrate_line_name(CalibrateLine line) {
    static const char *const NAMES[LINE_COUNT] = {
        [LINE_PRIOR] = "before the fit",
        [LINE_FITTED] = "fitted",
        [LINE_REFIT] = "fitted without the flagged runs",
        [LINE_GROUPS] = "left out by groups of source, model and chip",
        [LINE_SOURCES] = "left out by sources",
        [LINE_COVERED] = "  of these: chip known from other sources",
        [LINE_LONE] = "  of these: chip known from this source alone",
    };
    return NAMES[line];
}

enum { WORST = 8, WORST_VERBOSE = 40 };

typedef struct {
    FILE *out;
    bool markdown;
    Arena arena;
    const Calibration *c;
    const CalibrateFacts *facts;
} Writer;

/* Names and reasons go into Markdown as they are. */
static Table begin_table(Writer *w, const char *headings) {
    Table table = table_new(&w->arena, NULL, headings);
    for (int c = 0; c < table.columns; c++) table_is_markdown(&table, c);
    return table;
}

static bool write_table(const Writer *w, const char *title, const Table *table) {
    fprintf(w->out, w->markdown ? "\n### %s\n\n" : "\n%s\n", title);
    return w->markdown ? table_write_markdown(table, w->out) : table_write_text(table, "", (TextOut){.file = w->out});
}

static void error_cells(Table *table, const ErrorStats *stats) {
    if (stats->count == 0) {
        table_cell(table, "-");
        table_cell(table, "-");
        return;
    }
    table_cell(table, "%.1f%%", 100 * stats->median);
    table_cell(table, "%.1f%%", 100 * stats->p90);
}

static bool summary(Writer *w) {
    Table table = begin_table(w, "error of predicted steps|>runs|>median|>p90|>worst|>bias|>families: median|>p90");
    for (int line = 0; line < LINE_COUNT; line++) {
        const ErrorStats *stats = &w->c->lines[line];
        if (stats->count == 0) continue;
        bool by_run = line == LINE_GROUPS && w->c->groups.by_run;
        const char *name = by_run ? "left out by runs: all are of one group" : calibrate_line_name(line);
        table_cell(&table, "%s", w->markdown ? name + strspn(name, " ") : name);
        table_cell(&table, "%" PRId64, stats->count);
        error_cells(&table, stats);
        table_cell(&table, "%.0f%%", 100 * stats->worst);
        table_cell(&table, "%+.1f%%", 100 * stats->bias);
        error_cells(&table, &w->c->families[line]);
    }
    return write_table(w, "Error", &table);
}

/* The order of plans, fitted and left out by groups. */
static void write_order(Writer *w, const char *of, const Ranking *ranking) {
    if (!ranking || ranking->pairs == 0) return;
    fprintf(w->out, "Order of plans, %s: tau %.2f over %" PRId64 " pairs in %" PRId64 " groups", of, ranking->tau,
            ranking->pairs, ranking->groups);
    if (ranking->large > 0)
        fprintf(w->out,
                "; in %" PRId64
                " groups of at least %d plans median tau %.2f, the plan predicted best is %.1f%% behind "
                "the best in the median and %.1f%% at the 90th percentile",
                ranking->large, (int)RANK_CELL_PLANS, ranking->cell_tau, 100 * ranking->cell_median,
                100 * ranking->cell_p90);
    fprintf(w->out, ".\n");
}

/* Shares of the left-out runs that were measured inside the likely range that their chip is given. */
static void write_coverage(Writer *w) {
    const Calibration *c = w->c;
    if (!c->crossed) return;
    fprintf(w->out,
            "Measured inside the likely range that is written: %.0f%% of the runs left out by groups, %.0f%% of those "
            "left out by sources.\n",
            100 * c->inside_groups, 100 * c->inside_sources);
}

static bool sentences(Writer *w) {
    fprintf(w->out, "\n");
    write_coverage(w);
    write_order(w, "fitted", w->facts->fitted_order);
    write_order(w, "left out by groups", w->facts->unseen_order);
    return !ferror(w->out);
}

static bool groups(Writer *w, const char *title, const CalibrateGroup *group, int count, bool chips) {
    static const char OF_SOURCES[] =
        "source|>runs|>fitted: median|>p90|>bias|>by groups: median|>p90|>by sources: median|>p90";
    static const char OF_CHIPS[] =
        "chip|>runs|>fitted: median|>p90|>bias|>by groups: median|>p90|>by sources: median|>p90|>likely|>inside";
    Table table = begin_table(w, chips ? OF_CHIPS : OF_SOURCES);
    for (int g = 0; g < count; g++) {
        table_cell(&table, "%s", group[g].name);
        table_cell(&table, "%" PRId64, group[g].fitted.count);
        error_cells(&table, &group[g].fitted);
        table_cell(&table, "%+.1f%%", 100 * group[g].fitted.bias);
        error_cells(&table, &group[g].groups);
        error_cells(&table, &group[g].sources);
        if (!chips) continue;
        const LikelyRange *range = group[g].range;
        if (range)
            table_cell(&table, "%+.0f%% to %+.0f%%", 100 * (range->low - 1), 100 * (range->high - 1));
        else
            table_cell(&table, "-");
        table_cell(&table, range ? "%.0f%%" : "-", 100 * group[g].inside);
    }
    return write_table(w, title, &table);
}

/* Writes the deviation in percent of the value, where that is meaningful. */
static void deviation_cell(Table *table, double deviation) {
    if (deviation < 0.5)
        table_cell(table, "%.0f%%", 100 * deviation);
    else
        table_cell(table, "x%.1f", exp(deviation));
}

static bool figures(Writer *w) {
    static const char *const WORDS[] = {
        [FIT_OF_RUNS] = "", [FIT_LEANS] = "leans on its prior", [FIT_KEPT_PRIOR] = "kept its prior"};
    const Calibration *c = w->c;
    Table table = begin_table(w, "figure|>value|>+-|>prior|>+-|>runs|>");
    int determined = 0;
    for (int j = 0; j < c->model.parameter_count; j++) {
        const FitParameter *parameter = &c->model.parameters[j];
        const SetEntry *list = parameter->of_stack ? c->set.stacks : c->set.profiles;
        const SetEntry *entry = &list[parameter->at.entry];
        const SetFigure *figure = &entry->figures[parameter->at.figure];
        const LeastParameter *least = &parameter->least;
        FitWeight weight = fit_weight(parameter, c->solution.deviation[j]);
        determined += weight == FIT_OF_RUNS;
        table_cell(&table, "%s.%s", entry->name, figure->figure->key);
        table_cell(&table, "%.4g", figure->value);
        deviation_cell(&table, parameter->held ? least->sigma : c->solution.deviation[j]);
        table_cell(&table, "%.4g", least_prior(least, c->solution.x));
        deviation_cell(&table, least->sigma);
        table_cell(&table, "%" PRId64, figure->runs);
        table_cell(&table, "%s%s%s", WORDS[weight], c->solution.at_bound[j] && WORDS[weight][0] ? ", " : "",
                   c->solution.at_bound[j] ? "at its bound" : "");
    }
    char title[160];
    snprintf(title, sizeof title, "Figures: %d, of which the runs determine %d%s", c->model.parameter_count, determined,
             c->solution.converged ? "" : " (the fit was stopped before it converged)");
    return write_table(w, title, &table);
}

static double error_of(const Calibration *c, CalibrateLine line, int32_t run) {
    return c->seconds[line][run] / c->model.problem->runs[run].measured_seconds - 1;
}

typedef struct {
    double magnitude;
    int32_t run;
} FarOff;

static int by_magnitude(const void *a, const void *b) {
    const FarOff *x = a, *y = b;
    if (x->magnitude != y->magnitude) return x->magnitude > y->magnitude ? -1 : 1;
    return (x->run > y->run) - (x->run < y->run);
}

static void error_cell(Table *table, const Calibration *c, CalibrateLine line, int32_t run) {
    if (c->seconds[line] && c->seconds[line][run] > 0)
        table_cell(table, "%+.1f%%", 100 * error_of(c, line, run));
    else
        table_cell(table, "-");
}

/* Lists the runs that are furthest off when a fit has not seen them (otherwise: when it has seen them). */
static bool worst(Writer *w) {
    const Calibration *c = w->c;
    CalibrateLine line = c->crossed ? LINE_GROUPS : LINE_FITTED;
    int32_t count = 0, shown = w->facts->verbose ? WORST_VERBOSE : WORST;
    FarOff *ranked = ARENA_NEW(&w->arena, FarOff, (size_t)c->model.problem->run_count);
    if (!ranked) return false;
    for (int32_t i = 0; i < c->model.problem->run_count; i++)
        if (c->seconds[line][i] > 0) ranked[count++] = (FarOff){fabs(error_of(c, line, i)), i};
    qsort(ranked, (size_t)count, sizeof *ranked, by_magnitude);
    Table table = begin_table(w, "run|>measured s|>fitted|>by groups|>by sources|>");
    for (int32_t k = 0; k < count && k < shown; k++) {
        const FitRun *run = &c->model.problem->runs[ranked[k].run];
        table_cell(&table, "%s", run->id);
        table_cell(&table, "%.4g", run->measured_seconds);
        error_cell(&table, c, LINE_FITTED, ranked[k].run);
        error_cell(&table, c, LINE_GROUPS, ranked[k].run);
        error_cell(&table, c, LINE_SOURCES, ranked[k].run);
        table_cell(&table, "%s", run->flagged ? "flagged" : "");
    }
    return write_table(w, "Furthest off", &table);
}

static bool facts(Writer *w) {
    const Calibration *c = w->c;
    const CalibrateFacts *f = w->facts;
    int64_t left = 0;
    for (int32_t i = 0; i < c->model.problem->run_count; i++) left += c->model.usable[i] && c->weights[i] == 0;
    fprintf(w->out, "%s%" PRId64 " runs of %s (SHA-256 %.12s): %d replayed", w->markdown ? "## Calibration\n\n" : "",
            f->runs, f->file, f->sha256, (int)c->usable);
    if (f->skipped_count > 0)
        fprintf(w->out, ", %" PRId64 " not%s", f->skipped_count, f->verbose ? "" : " (-v lists them)");
    if (left > 0) fprintf(w->out, ", %" PRId64 " left out as flagged", left);
    fprintf(w->out, "\nfitted from %s, %s\n", f->start,
            c->model.problem->start == FIT_PRIORS ? "from its priors"
                                                  : "going on from its values: only what these runs determine moves");
    if (f->written) fprintf(w->out, "written to %s\n", f->written);
    return !ferror(w->out);
}

static bool skipped(Writer *w) {
    Table table = begin_table(w, "not replayed|because");
    for (int64_t i = 0; i < w->facts->skipped_count; i++) {
        if (!w->facts->verbose) continue;
        table_cell(&table, "%s", w->facts->skipped[i].id);
        table_cell(&table, "%s", w->facts->skipped[i].reason);
    }
    return table.rows == 0 || write_table(w, "Not replayed", &table);
}

static bool write_all(FILE *out, bool markdown, const Calibration *c, const CalibrateFacts *f) {
    Writer w = {out, markdown, {0}, c, f};
    bool ok =
        facts(&w) && summary(&w) && sentences(&w) && groups(&w, "By source", c->by_source, c->source_count, false) &&
        groups(&w, "By chip generation", c->by_chip, c->chip_count, true) && worst(&w) && figures(&w) && skipped(&w);
    arena_free(&w.arena);
    return ok && !ferror(out);
}

bool calibrate_text(FILE *out, const Calibration *c, const CalibrateFacts *f) { return write_all(out, false, c, f); }
bool calibrate_markdown(FILE *out, const Calibration *c, const CalibrateFacts *f) { return write_all(out, true, c, f); }
