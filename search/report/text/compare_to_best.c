/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/util.h"
#include "base/text/table.h"
#include "search/report/compare_to_best.h"

#include <string.h>

enum { TERMS_SHOWN = 6, CHANGES_SHOWN = 5, CHANGE_COLUMNS = 58 };

/* Terms that differ by a thousandth of the step or more. */
static bool write_terms(const WhyNot *why_not, const RankedPlan *here, FILE *out) {
    static const TableColumn COLUMNS[] = {
        {"of the step", false}, {"this plan", true}, {"plan 1", true}, {"loses", true}};
    double least = 1e-3 * here->estimate.time.seconds;
    Table *table = table_new(COLUMNS, COUNT_OF(COLUMNS));
    bool ok = table != NULL;
    for (int i = 0, shown = 0; i < why_not->term_count && shown < TERMS_SHOWN && ok; i++) {
        const TermPair *term = &why_not->terms[i];
        double lost = term->second - term->first;
        char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE], gained[NUMBER_TEXT_SIZE + 1];
        if (lost < least && -lost < least) continue;
        snprintf(gained, sizeof gained, "%s%s", lost < 0 ? "-" : "", step_text(lost < 0 ? -lost : lost, c));
        const char *cells[] = {term_phrase(term->name), step_text(term->second, a), step_text(term->first, b), gained};
        ok = table_row(table, cells);
        shown++;
    }
    ok = ok && table_write(table, "  ", out);
    table_free(table);
    return ok;
}

static bool write_changes(const WhyNot *why_not, const RankedPlan *here, FILE *out) {
    static const TableColumn COLUMNS[] = {
        {"one change", false}, {"step", true}, {"gains", true}, {"behind plan 1", true}};
    Table *table = table_new(COLUMNS, COUNT_OF(COLUMNS));
    bool ok = table != NULL;
    for (int i = 0; i < why_not->change_count && i < CHANGES_SHOWN && ok; i++) {
        const Change *change = &why_not->changes[i];
        char text[CHANGE_TEXT_SIZE], a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE];
        snprintf(text, sizeof text, "%s", change->text);
        table_wrap(text, CHANGE_COLUMNS);
        double behind = change->after.ranked_seconds / why_not->best.ranked_seconds - 1;
        const char *cells[] = {text, step_text(change->after.estimate.time.seconds, a),
                               change_text(change->after.ranked_seconds / here->ranked_seconds - 1, b),
                               change->suffices ? "no" : share_text(behind, c)};
        ok = table_row(table, cells);
    }
    ok = ok && table_write(table, "  ", out);
    table_free(table);
    return ok;
}

static void write_verdict(const WhyNot *why_not, const RankedPlan *here, FILE *out) {
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE], label[WORDS_SIZE];
    Prose text = {0};
    prose_add(&text, "Plan 1 of the same request is %s, which takes %s (%s", plan_label(&why_not->best, label),
              step_text(why_not->best.estimate.time.seconds, a),
              change_text(why_not->best.ranked_seconds / here->ranked_seconds - 1, b));
    prose_add(&text,
              "; taken by %s). This plan is %s behind it: ", launchers_text(why_not->best.launchable_by, ", ", label),
              share_text(why_not->behind, c));
    if (why_not->faster == WHY_NOT_ROWS_MAX)
        prose_add(&text, "%d or more other choices of degrees and schedule are faster", WHY_NOT_ROWS_MAX);
    else
        prose_add(&text, "it comes behind %d choice%s of degrees and schedule", why_not->faster,
                  why_not->faster == 1 ? "" : "s");
    prose_add(&text, why_not->cut_short ? ", and a limit ended the search: there may be better ones." : ".");
    if (why_not->behind <= WHY_NOT_TIE) prose_add(&text, " That is as good as the model can tell.");
    prose_write(out, "  ", "  ", text.text);
}

/* What is left when all changes of the path are made. */
static void write_path(const WhyNot *why_not, FILE *out) {
    char step[NUMBER_TEXT_SIZE], share[NUMBER_TEXT_SIZE];
    const Change *last = &why_not->path[why_not->path_count - 1];
    double behind = last->after.ranked_seconds / why_not->best.ranked_seconds - 1;
    fputs("  One after the other, each time the change that gains most:\n", out);
    for (int i = 0; i < why_not->path_count; i++) {
        const Change *change = &why_not->path[i];
        Prose text = {0};
        char number[16];
        snprintf(number, sizeof number, "  %d. ", i + 1);
        prose_add(&text, "%s: %s", change->text, step_text(change->after.estimate.time.seconds, step));
        prose_write(out, number, "     ", text.text);
    }
    if (last->suffices)
        fputs("  which is as good as plan 1.\n", out);
    else
        fprintf(out, "  which leaves %s to plan 1.\n", share_text(behind, share));
}

static void write_smallest(const WhyNot *why_not, FILE *out) {
    Prose text = {0};
    char share[NUMBER_TEXT_SIZE];
    if (why_not->smallest < 0) {
        prose_add(&text, "No single change gains anything (%d tried): plan 1 is more than one step away.",
                  why_not->tried);
    } else {
        const Change *change = &why_not->changes[why_not->smallest];
        double behind = change->after.ranked_seconds / why_not->best.ranked_seconds - 1;
        if (change->suffices)
            prose_add(&text, "One change suffices: %s.", change->text);
        else
            prose_add(&text,
                      "No single change suffices: the first above gains most of %d tried, and leaves %s to plan 1.",
                      why_not->tried, share_text(behind, share));
    }
    prose_write(out, "  ", "  ", text.text);
    if (why_not->path_count > 1) write_path(why_not, out);
}

bool why_not_write(const WhyNot *why_not, const RankedPlan *here, FILE *out) {
    fputs("\nWhy not this plan:\n", out);
    if (why_not->lacking_bytes > 0) {
        char bytes[NUMBER_TEXT_SIZE];
        Prose text = {0};
        prose_add(&text, "By this model it lacks %s of HBM per chip: it is priced as if that were there.",
                  number_bytes(why_not->lacking_bytes, bytes));
        prose_write(out, "  ", "  ", text.text);
    }
    if (why_not->is_best) {
        prose_write(out, "  ", "  ",
                    why_not->cut_short ? "A limit ended the search for a better one; none was found."
                                       : "No plan of the same request is faster: it is the best.");
        return true;
    }
    write_verdict(why_not, here, out);
    if (!write_terms(why_not, here, out)) return false;
    if (why_not->change_count > 0) fputc('\n', out);
    if (why_not->change_count > 0 && !write_changes(why_not, here, out)) return false;
    write_smallest(why_not, out);
    return true;
}
