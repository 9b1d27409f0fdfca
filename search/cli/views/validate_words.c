/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sentences and tables of an error table, before any form is given to them. */
#include "base/util.h"
#include "search/cli/views/validate_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *error_text(double error, char *text) {
    snprintf(text, NUMBER_TEXT_SIZE, fabs(error) < 9.995 ? "%.1f%%" : "%.3g%%", 100 * fabs(error));
    return text;
}

const char *signed_error_text(double error, char *text) {
    snprintf(text, NUMBER_TEXT_SIZE, fabs(error) < 9.995 ? "%+.1f%%" : "%+.3g%%", 100 * error);
    return text;
}

/* ---- sentences ---- */

static void add_errors(Prose *to, const ErrorStats *stats) {
    char median[NUMBER_TEXT_SIZE], p90[NUMBER_TEXT_SIZE], bias[NUMBER_TEXT_SIZE];
    prose_add(to, "median %s, 90th percentile %s, bias %s", error_text(stats->median, median),
              error_text(stats->p90, p90), signed_error_text(stats->bias, bias));
}

void validate_headline(const ValidateView *view, Prose *to) {
    const Validation *v = view->validation;
    const ScoreGroup *all = &v->score.all;
    char name[PROSE_NAME_SIZE], a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE];
    prose_add(to, "%s of ", number_grouped(v->replayed, a));
    prose_add(to, "%s measured runs replayed with profile %s.", number_grouped(v->count, a),
              clean_name(view->profile, name));
    if (view->fitted) prose_add(to, " It was fitted to these runs: `calibrate` says how far off unseen ones are.");
    if (all->rows.count == 0) return;
    if (all->rows.count < v->replayed)
        prose_add(to, " Of %s of them the step was measured.", number_grouped(all->rows.count, a));
    prose_add(to, " Half of the predicted steps are within %s of the measured ones, nine of ten within %s; ",
              error_text(all->rows.median, a), error_text(all->rows.p90, b));
    const Outcome *worst = v->of_scored[all->rows.worst_at];
    prose_add(to, "the worst is %s (%s).", signed_error_text(worst->error, a), clean_name(worst->run->id, name));
    prose_add(to, " Bias, the median of predicted / measured - 1: %s.", signed_error_text(all->rows.bias, a));
    prose_add(to, " With each source, model and chip counted once (%s): ", number_grouped(all->families.count, a));
    add_errors(to, &all->families);
    prose_add(to,
              ". A planner that knows no more than the usual model FLOP/s of each chip and precision is off by %s and "
              "%s.",
              error_text(all->baseline.median, a), error_text(all->baseline.p90, b));
    prose_add(to, " %.0f%% of the runs were measured inside the range that the plan calls likely.", 100 * all->likely);
}

void validate_memory(const ValidateView *view, Prose *to) {
    const Validation *v = view->validation;
    const ErrorStats *memory = &v->score.memory;
    char name[PROSE_NAME_SIZE], a[NUMBER_TEXT_SIZE];
    if (memory->count > 0) {
        const Scored *worst = &v->scored[memory->worst_at];
        prose_add(to, "HBM of %s runs: ", number_grouped(memory->count, a));
        add_errors(to, memory);
        prose_add(to, "; the worst is %s (%s). ",
                  signed_error_text(worst->predicted_bytes / worst->measured_bytes - 1, a),
                  clean_name(worst->id, name));
    }
    prose_add(to, "Plans called fitting that were measured not to fit: %s. ", number_grouped(v->called_fitting, a));
    prose_add(to, "Plans that ran although they are called too large for their HBM: %s of ",
              number_grouped(v->called_too_large, a));
    prose_add(to, "%s.", number_grouped(v->replayed, a));
}

static void add_ranking(Prose *to, const char *of, const Ranking *ranking) {
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE];
    prose_add(to, "%s: Kendall's tau %.2f over ", of, ranking->tau);
    prose_add(to, "%s pair%s", number_grouped(ranking->pairs, a), ranking->pairs == 1 ? "" : "s");
    prose_add(to, " in %s group%s; ", number_grouped(ranking->groups, a), ranking->groups == 1 ? "" : "s");
    prose_add(to, "in %s of them the plan predicted best was measured within 3%% of the best (at worst %s behind).",
              number_grouped(ranking->best_groups, a), error_text(ranking->best_distance, b));
}

void validate_ranking(const ValidateView *view, Prose *to) {
    const Validation *v = view->validation;
    if (v->ranking.pairs == 0) return;
    prose_add(to,
              "Plans of one source, model, machine, sequence, precision and release, by the time of a token, repeats "
              "averaged, pairs measured at least 5%% apart. ");
    if (v->ranking_elsewhere.groups > 0 && v->ranking_elsewhere.groups < v->ranking.groups) {
        add_ranking(to, "Without bloom's trials", &v->ranking_elsewhere);
        prose_add(to, " ");
    }
    add_ranking(to, "All", &v->ranking);
}

/* ---- tables ---- */

static void group_row(const ValidateView *view, const void *of, int64_t i, ValidateRow *out) {
    const ScoreGroup *group = (const ScoreGroup *)of + i;
    (void)view;
    snprintf(out->cell[0], VALIDATE_CELL_SIZE, "%s", group->name[0] ? group->name : "not said");
    snprintf(out->cell[1], VALIDATE_CELL_SIZE, "%lld", (long long)group->rows.count);
    error_text(group->rows.median, out->cell[2]);
    error_text(group->rows.p90, out->cell[3]);
    error_text(group->rows.worst, out->cell[4]);
    signed_error_text(group->rows.bias, out->cell[5]);
    error_text(group->baseline.median, out->cell[6]);
    error_text(group->baseline.p90, out->cell[7]);
}

ValidateTable validate_groups(const ValidateView *view, ScoreBy by) {
    static const char *const TITLES[BY_COUNT] = {"By source", "By chip", "By framework", "By software",
                                                 "By kind of plan"};
    const Score *score = &view->validation->score;
    ValidateTable table = {
        .title = TITLES[by],
        .heading = {score_by_name(by), "runs", "median", "p90", "worst", "bias", "rate-only median", "rate-only p90"},
        .columns = 8,
        .rows = score->by_count[by],
        .row = group_row,
        .of = score->by[by]};
    for (int c = 1; c < table.columns; c++) table.right[c] = true;
    return table;
}

static void run_row(const ValidateView *view, const void *of, int64_t i, ValidateRow *out) {
    const Outcome *o = ((const Outcome *const *)of)[i];
    char a[NUMBER_TEXT_SIZE];
    const FlaggedRun *flagged = flagged_find(view->flagged, o->run->id);
    snprintf(out->cell[0], VALIDATE_CELL_SIZE, "%s", o->run->id);
    step_text(o->measured_seconds, out->cell[1]);
    if (!(o->measured_seconds > 0)) snprintf(out->cell[1], VALIDATE_CELL_SIZE, "-");
    step_text(o->prediction.seconds, out->cell[2]);
    signed_error_text(o->error, out->cell[3]);
    if (!(o->measured_seconds > 0)) snprintf(out->cell[3], VALIDATE_CELL_SIZE, "-");
    snprintf(out->cell[4], VALIDATE_CELL_SIZE, "%s to ", step_text(o->prediction.likely_low_seconds, a));
    strcat(out->cell[4], step_text(o->prediction.likely_high_seconds, a));
    snprintf(out->cell[5], VALIDATE_CELL_SIZE, "%s", bound_name(o->prediction.bound_by));
    snprintf(out->cell[6], VALIDATE_CELL_SIZE, "%s", o->plan);
    snprintf(out->cell[7], VALIDATE_CELL_SIZE, "%s", o->stack);
    snprintf(out->cell[8], VALIDATE_CELL_SIZE, "%s%s%s", flagged ? flagged->reason : "",
             flagged && o->notes[0] ? "; " : "", o->notes);
}

static ValidateTable runs_table(const char *title, const Outcome **of, int64_t rows) {
    return (ValidateTable){.title = title,
                           .heading = {"run", "measured", "predicted", "error", "likely", "bound by", "plan",
                                       "software", "odd, or assumed"},
                           .right = {false, true, true, true},
                           .columns = 9,
                           .rows = rows,
                           .row = run_row,
                           .of = of};
}

static int by_error(const void *a, const void *b) {
    const Outcome *x = *(const Outcome *const *)a, *y = *(const Outcome *const *)b;
    double p = fabs(x->error), q = fabs(y->error);
    if (p != q) return p < q ? 1 : -1;
    return (x->run->line > y->run->line) - (x->run->line < y->run->line);
}

bool validate_worst(const ValidateView *view, Arena *arena, ValidateTable *out) {
    const Validation *v = view->validation;
    const Outcome **worst = ARENA_NEW(arena, const Outcome *, (size_t)v->replayed);
    int64_t n = 0;
    if (!worst) return false;
    for (int64_t i = 0; i < v->replayed; i++)
        if (v->of_scored[i]->measured_seconds > 0) worst[n++] = v->of_scored[i];
    qsort(worst, (size_t)n, sizeof *worst, by_error);
    *out = runs_table("Worst runs", worst, min_whole(n, view->worst));
    return true;
}

bool validate_every(const ValidateView *view, Arena *arena, ValidateTable *out) {
    (void)arena;
    *out = runs_table("Every run", view->validation->of_scored, view->validation->replayed);
    return true;
}

static void skipped_row(const ValidateView *view, const void *of, int64_t i, ValidateRow *out) {
    const Outcome *o = ((const Outcome *const *)of)[i];
    (void)view;
    snprintf(out->cell[0], VALIDATE_CELL_SIZE, "%s", o->run->id);
    snprintf(out->cell[1], VALIDATE_CELL_SIZE, "%s", o->skipped);
}

bool validate_skipped(const ValidateView *view, Arena *arena, ValidateTable *out) {
    const Validation *v = view->validation;
    const Outcome **skipped = ARENA_NEW(arena, const Outcome *, (size_t)v->skipped);
    int64_t n = 0;
    if (!skipped) return false;
    for (int64_t i = 0; i < v->count; i++)
        if (v->outcomes[i].skipped[0]) skipped[n++] = &v->outcomes[i];
    *out = (ValidateTable){
        .title = "Not replayed", .heading = {"run", "why"}, .columns = 2, .rows = n, .row = skipped_row, .of = skipped};
    return true;
}
