/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/report/compare_to_best.h"
#include "base/text/table.h"
#include "search/launch/launcher.h"

enum { TERMS_SHOWN = 6, CHANGES_SHOWN = 5, CHANGE_COLUMNS = 58 };

/* Terms that differ by a thousandth of the step or more. */
static bool write_terms(const BestComparison *comparison, const RankedPlan *here, TextOut out) {
    double least = 1e-3 * here->estimate.time.seconds;
    Arena arena = {0};
    Table table = table_new(&arena, NULL, "part of the step|>this plan|>plan 1|>loses");
    for (int i = 0, shown = 0; i < comparison->term_count && shown < TERMS_SHOWN; i++) {
        const TermPair *term = &comparison->terms[i];
        double lost = term->second - term->first;
        char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE], gained[NUMBER_TEXT_SIZE + 1];
        if (lost < least && -lost < least) continue;
        snprintf(gained, sizeof gained, "%s%s", lost < 0 ? "-" : "", step_text(lost < 0 ? -lost : lost, c));
        const char *cells[] = {term_phrase(term->name), step_text(term->second, a), step_text(term->first, b), gained};
        table_row(&table, cells);
        shown++;
    }
    bool ok = table_write_text(&table, "  ", out);
    arena_free(&arena);
    return ok;
}

static bool write_changes(const BestComparison *comparison, const RankedPlan *here, TextOut out) {
    Arena arena = {0};
    Table table = table_new(&arena, NULL, "one change|>step|>gains|>behind plan 1");
    table_wrap(&table, 0, CHANGE_COLUMNS);
    for (int i = 0; i < comparison->change_count && i < CHANGES_SHOWN; i++) {
        const Change *change = &comparison->changes[i];
        char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE];
        double behind = change->after.ranked_seconds / comparison->best.ranked_seconds - 1;
        const char *cells[] = {change->text, step_text(change->after.estimate.time.seconds, a),
                               change_text(change->after.ranked_seconds / here->ranked_seconds - 1, b),
                               change->suffices ? "no" : share_text(behind, c)};
        table_row(&table, cells);
    }
    bool ok = table_write_text(&table, "  ", out);
    arena_free(&arena);
    return ok;
}

static void write_verdict(const BestComparison *comparison, const RankedPlan *here, TextOut out) {
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE], label[WORDS_SIZE];
    Prose text = {0};
    prose_add(&text, "The best plan for the same request is %s, which takes %s (%s",
              plan_label(&comparison->best, label), step_text(comparison->best.estimate.time.seconds, a),
              change_text(comparison->best.ranked_seconds / here->ranked_seconds - 1, b));
    prose_add(&text, "; launchable by %s). This plan is slower by %s: ",
              launchers_text(comparison->best.launchable_by, ", ", label, sizeof label),
              share_text(comparison->behind, c));
    if (comparison->faster == COMPARE_ROWS_MAX)
        prose_add(&text, "%d or more other choices of degrees and schedule are faster", COMPARE_ROWS_MAX);
    else
        prose_add(&text, "%d other choice%s of degrees and schedule %s faster", comparison->faster,
                  comparison->faster == 1 ? "" : "s", comparison->faster == 1 ? "is" : "are");
    prose_add(&text, comparison->cut_short ? ". The search ended early, so there may be better plans." : ".");
    if (comparison->behind <= TIE) prose_add(&text, " The model cannot tell the two plans apart.");
    prose_write(out, "  ", "  ", text.text);
}

/* What is left when all changes of the path are made. */
static void write_path(const BestComparison *comparison, TextOut out) {
    char step[NUMBER_TEXT_SIZE], share[NUMBER_TEXT_SIZE];
    const Change *last = &comparison->path[comparison->path_count - 1];
    double behind = last->after.ranked_seconds / comparison->best.ranked_seconds - 1;
    fputs("  Step by step, making the change that gains most each time:\n", out.file);
    for (int i = 0; i < comparison->path_count; i++) {
        const Change *change = &comparison->path[i];
        Prose text = {0};
        char number[16];
        snprintf(number, sizeof number, "  %d. ", i + 1);
        prose_add(&text, "%s: %s", change->text, step_text(change->after.estimate.time.seconds, step));
        prose_write(out, number, "     ", text.text);
    }
    if (last->suffices)
        fputs("  The result is as fast as plan 1.\n", out.file);
    else
        fprintf(out.file, "  The result is still slower than plan 1 by %s.\n", share_text(behind, share));
}

static void write_smallest(const BestComparison *comparison, TextOut out) {
    Prose text = {0};
    char share[NUMBER_TEXT_SIZE];
    if (comparison->smallest < 0) {
        prose_add(&text, "None of the %d single changes tried is faster: plan 1 differs by more than one change.",
                  comparison->tried);
    } else {
        const Change *change = &comparison->changes[comparison->smallest];
        double behind = change->after.ranked_seconds / comparison->best.ranked_seconds - 1;
        if (change->suffices)
            prose_add(&text, "One change suffices: %s.", change->text);
        else
            prose_add(&text,
                      "No single change suffices: the first above is the best of %d tried, and is still slower than "
                      "plan 1 by %s.",
                      comparison->tried, share_text(behind, share));
    }
    prose_write(out, "  ", "  ", text.text);
    if (comparison->path_count > 1) write_path(comparison, out);
}

bool compare_to_best_write(const BestComparison *comparison, const RankedPlan *here, TextOut out) {
    fputs("\nWhy not this plan:\n", out.file);
    if (comparison->lacking_bytes > 0) {
        char bytes[NUMBER_TEXT_SIZE];
        Prose text = {0};
        prose_add(
            &text,
            "According to the model, this plan lacks %s of HBM per chip. It is priced as if that memory were there.",
            number_bytes(comparison->lacking_bytes, bytes));
        prose_write(out, "  ", "  ", text.text);
    }
    if (comparison->is_best) {
        prose_write(out, "  ", "  ",
                    comparison->cut_short ? "The search for a better plan ended early; none was found."
                                          : "No plan for the same request is faster: this plan is the best.");
        return true;
    }
    write_verdict(comparison, here, out);
    if (!write_terms(comparison, here, out)) return false;
    if (comparison->change_count > 0) fputc('\n', out.file);
    if (comparison->change_count > 0 && !write_changes(comparison, here, out)) return false;
    write_smallest(comparison, out);
    return true;
}
