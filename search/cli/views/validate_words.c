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

static void write_headline(const ValidateView *view, Prose *to) {
    const Validation *v = view->validation;
    const ScoreGroup *all = &v->score.all;
    char name[PROSE_NAME_SIZE], a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE];
    prose_add(to, "%s of ", number_grouped(v->replayed, a));
    prose_add(to, "%s measured runs replayed with profile %s.", number_grouped(v->count, a),
              clean_name(view->profile, name));
    if (v->failed > 0) prose_add(to, " %s more had failed.", number_grouped(v->failed, a));
    if (v->set_aside > 0)
        prose_add(to, " %s more were replayed and set aside: what they measure is not the plan.",
                  number_grouped(v->set_aside, a));
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

static void write_failed(const Validation *v, Prose *to) {
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE];
    int64_t known = v->failed - v->failed_by_share[0];
    prose_add(to, "Of %s runs that crashed or ran out of memory ", number_grouped(v->failed, a));
    prose_add(to, "%s are called too large", number_grouped(v->failed_too_large, a));
    if (known > 0)
        prose_add(to, ", %.0f%% of the %s that are predicted to need at least half of their HBM",
                  100 * (double)v->failed_too_large / (double)known, number_grouped(known, b));
    prose_add(to, ". By the share of HBM that they need: below 0.5 %s", number_grouped(v->failed_by_share[0], a));
    for (int bin = 1; bin < FAILED_BINS; bin++) {
        if (bin + 1 < FAILED_BINS)
            prose_add(to, ", %g to %g ", FAILED_SHARES[bin - 1], FAILED_SHARES[bin]);
        else
            prose_add(to, ", above %g ", FAILED_SHARES[bin - 1]);
        prose_add(to, "%s", number_grouped(v->failed_by_share[bin], a));
    }
    prose_add(to, ". ");
}

static void write_memory(const ValidateView *view, Prose *to) {
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
    if (v->failed > 0) write_failed(v, to);
    if (v->replayed == 0) return;
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

static void write_ranking(const ValidateView *view, Prose *to) {
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
    if (v->ranking.large == 0) return;
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE];
    prose_add(to, " Of %s groups of at least %d plans: ", number_grouped(v->ranking.large, a), RANK_CELL_PLANS);
    prose_add(to,
              "median tau %.2f; the plan predicted best is %s behind the best in the median, %s at the 90th "
              "percentile.",
              v->ranking.cell_tau, error_text(v->ranking.cell_median, a), error_text(v->ranking.cell_p90, b));
}

/* Of the plans that were said to be best with some chance, how many were. */
static void write_chances(const ValidateView *view, Prose *to) {
    const Reliability *chances = &view->validation->reliability;
    char number[NUMBER_TEXT_SIZE];
    if (chances->groups == 0) return;
    prose_add(to, "In the %s groups, of the plans said to be the best of their group with a chance of ",
              number_grouped(chances->groups, number));
    for (int i = 0, listed = 0; i < RELIABILITY_BINS; i++) {
        double plans = (double)chances->plans[i];
        if (plans == 0) continue;
        prose_add(to, "%s%.0f%% on average (%s plans), %.0f%% were measured best", listed++ ? "; of " : "",
                  100 * chances->expected[i] / plans, number_grouped(chances->plans[i], number),
                  100 * (double)chances->best[i] / plans);
    }
    prose_add(to, ".");
}

/* ---- tables ---- */

enum { CELL_COLUMNS = 32 }; /* of every column but the first, whose names stay whole */

static Table begin_table(Arena *arena, const char *title, const char *headings) {
    Table table = table_new(arena, title, headings);
    for (int c = 1; c < table.columns; c++) table_wrap(&table, c, CELL_COLUMNS);
    return table;
}

static void add_group(Table *table, const ScoreGroup *group) {
    char runs[NUMBER_TEXT_SIZE], texts[6][NUMBER_TEXT_SIZE];
    snprintf(runs, sizeof runs, "%lld", (long long)group->rows.count);
    const char *cells[] = {group->name[0] ? group->name : "not said",    runs,
                           error_text(group->rows.median, texts[0]),     error_text(group->rows.p90, texts[1]),
                           error_text(group->rows.worst, texts[2]),      signed_error_text(group->rows.bias, texts[3]),
                           error_text(group->baseline.median, texts[4]), error_text(group->baseline.p90, texts[5])};
    table_row(table, cells);
}

static Table groups_table(const ValidateView *view, ScoreBy by, Arena *arena) {
    static const char *const TITLES[BY_COUNT] = {"By source", "By chip", "By framework", "By software",
                                                 "By kind of plan"};
    const Score *score = &view->validation->score;
    const char *headings =
        arena_format(arena, "%s|>runs|>median|>p90|>worst|>bias|>rate-only median|>rate-only p90", score_by_name(by));
    Table table = begin_table(arena, TITLES[by], headings);
    table.failed = table.failed || !headings;
    for (int64_t i = 0; i < score->by_count[by]; i++) add_group(&table, &score->by[by][i]);
    return table;
}

static Table runs_table(Arena *arena, const char *title) {
    return begin_table(arena, title, "run|>measured|>predicted|>error|likely|bound by|plan|software|odd, or assumed");
}

static void add_run(Table *table, const Outcome *o) {
    char texts[5][NUMBER_TEXT_SIZE];
    bool measured = o->measured_seconds > 0;
    const char *flagged = o->run->flagged, *assumed = o->run->assumed;
    table_cell(table, "%s", o->run->id);
    table_cell(table, "%s", measured ? step_text(o->measured_seconds, texts[0]) : "-");
    table_cell(table, "%s", step_text(o->prediction.seconds, texts[1]));
    table_cell(table, "%s", measured ? signed_error_text(o->error, texts[2]) : "-");
    table_cell(table, "%s to %s", step_text(o->prediction.likely_low_seconds, texts[3]),
               step_text(o->prediction.likely_high_seconds, texts[4]));
    table_cell(table, "%s", bound_name(o->prediction.bound_by));
    table_cell(table, "%s", o->plan);
    table_cell(table, "%s", o->stack);
    table_cell(table, "%s%s%s", flagged, flagged[0] && assumed[0] ? "; " : "", assumed);
}

static int by_error(const void *a, const void *b) {
    const Outcome *x = *(const Outcome *const *)a, *y = *(const Outcome *const *)b;
    double p = fabs(x->error), q = fabs(y->error);
    if (p != q) return p < q ? 1 : -1;
    return (x->run->line > y->run->line) - (x->run->line < y->run->line);
}

static Table worst_table(const ValidateView *view, Arena *arena) {
    const Validation *v = view->validation;
    const Outcome **worst = ARENA_NEW(arena, const Outcome *, (size_t)v->replayed);
    Table table = runs_table(arena, "Worst runs");
    int64_t n = 0;
    table.failed = table.failed || !worst;
    if (!worst) return table;
    for (int64_t i = 0; i < v->replayed; i++)
        if (v->of_scored[i]->measured_seconds > 0) worst[n++] = v->of_scored[i];
    qsort(worst, (size_t)n, sizeof *worst, by_error);
    for (int64_t i = 0; i < min_whole(n, view->worst); i++) add_run(&table, worst[i]);
    return table;
}

static Table every_table(const ValidateView *view, Arena *arena) {
    Table table = runs_table(arena, "Every run");
    for (int64_t i = 0; i < view->validation->replayed; i++) add_run(&table, view->validation->of_scored[i]);
    return table;
}

static Table memory_stacks_table(const ValidateView *view, Arena *arena) {
    const Score *score = &view->validation->score;
    Table table = begin_table(arena, "HBM by software", "software|>runs|>median|>p90|>worst|>bias");
    for (int64_t i = 0; i < score->memory_stacks; i++) {
        const ErrorStats *bytes = &score->memory_by_stack[i].bytes;
        char runs[NUMBER_TEXT_SIZE], texts[4][NUMBER_TEXT_SIZE];
        snprintf(runs, sizeof runs, "%lld", (long long)bytes->count);
        const char *cells[] = {score->memory_by_stack[i].name,      runs,
                               error_text(bytes->median, texts[0]), error_text(bytes->p90, texts[1]),
                               error_text(bytes->worst, texts[2]),  signed_error_text(bytes->bias, texts[3])};
        table_row(&table, cells);
    }
    return table;
}

static Table memory_runs_table(const ValidateView *view, Arena *arena) {
    const Validation *v = view->validation;
    Table table = begin_table(arena, "HBM of every run", "run|>measured HBM|>predicted HBM|>error|plan|software");
    for (int64_t i = 0; i < v->replayed; i++) {
        const Outcome *o = v->of_scored[i];
        char texts[3][NUMBER_TEXT_SIZE];
        if (!(o->measured_bytes > 0)) continue;
        const char *cells[] = {o->run->id,
                               number_bytes(o->measured_bytes, texts[0]),
                               number_bytes(o->prediction.memory_bytes, texts[1]),
                               signed_error_text(o->prediction.memory_bytes / o->measured_bytes - 1, texts[2]),
                               o->plan,
                               o->stack};
        table_row(&table, cells);
    }
    return table;
}

static Table cells_table(const ValidateView *view, Arena *arena) {
    const Ranking *ranking = &view->validation->ranking;
    Table table = begin_table(arena, "Order of plans by group", "model|chips|>plans|>pairs|>tau|>best is behind by");
    for (int64_t i = 0; i < ranking->groups; i++) {
        const RankCell *cell = &ranking->cells[i];
        char text[NUMBER_TEXT_SIZE];
        if (cell->plans < RANK_CELL_PLANS && !view->verbose) continue;
        table_cell(&table, "%s", cell->run->model);
        table_cell(&table, "%lld %s", (long long)cell->run->request.chips, cell->run->request.chip);
        table_cell(&table, "%lld", (long long)cell->plans);
        table_cell(&table, "%lld", (long long)cell->pairs);
        table_cell(&table, "%.2f", cell->tau);
        table_cell(&table, "%s", error_text(cell->distance, text));
    }
    return table;
}

/* One row for each reason, in the order of the table: how many runs it keeps out, and the first of them. */
static Table skipped_table(const ValidateView *view, Arena *arena) {
    typedef struct {
        const Outcome *first;
        int64_t runs;
    } Reason;
    const Validation *v = view->validation;
    Table table = begin_table(arena, "Not replayed", ">runs|why|first of them");
    Reason *reasons = ARENA_NEW(arena, Reason, (size_t)v->skipped + 1);
    int64_t count = 0;
    table.failed = table.failed || !reasons;
    for (int64_t i = 0; reasons && i < v->count; i++) {
        int64_t at = 0;
        if (!v->outcomes[i].skipped[0]) continue;
        while (at < count && strcmp(reasons[at].first->skipped, v->outcomes[i].skipped) != 0) at++;
        if (at == count) reasons[count++] = (Reason){&v->outcomes[i], 0};
        reasons[at].runs++;
    }
    for (int64_t at = 0; at < count; at++) {
        char runs[NUMBER_TEXT_SIZE];
        const Outcome *first = reasons[at].first;
        snprintf(runs, sizeof runs, "%lld", (long long)reasons[at].runs);
        table_row(&table, (const char *const[]){runs, first->skipped, first->run->id});
    }
    return table;
}

ValidateParts *validate_parts(const ValidateView *view, Arena *arena, Error *error) {
    ValidateParts *parts = ARENA_NEW(arena, ValidateParts, 1);
    bool ok = parts != NULL;
    if (!ok) goto done;
    write_headline(view, &parts->headline);
    write_memory(view, &parts->memory);
    write_ranking(view, &parts->ranking);
    write_chances(view, &parts->chances);
    parts->cells = cells_table(view, arena);
    parts->worst = worst_table(view, arena);
    parts->every = every_table(view, arena);
    parts->skipped_runs = view->validation->skipped;
    parts->skipped = skipped_table(view, arena);
    parts->memory_by_stack = memory_stacks_table(view, arena);
    parts->memory_runs = memory_runs_table(view, arena);
    ok = !parts->worst.failed && !parts->every.failed && !parts->skipped.failed && !parts->memory_by_stack.failed &&
         !parts->memory_runs.failed && !parts->cells.failed;
    for (ScoreBy by = 0; by < BY_COUNT; by++) {
        parts->groups[by] = groups_table(view, by, arena);
        ok = ok && !parts->groups[by].failed;
    }
done:
    if (!ok) error_memory(error);
    return ok ? parts : NULL;
}
