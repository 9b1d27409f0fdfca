/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The long text: the answer as the screen has it, every row, why, what would help, what is assumed and was searched. */
#include "search/report/text/parts.h"

#include "base/util.h"
#include "search/answer/search_end.h"
#include "search/launch/launcher.h"

#include <math.h>
#include <string.h>

/* The other launchers of the request, each with its own software. */
static void add_others(const Report *report, const RankedPlan *first, Prose *to) {
    char step[NUMBER_TEXT_SIZE];
    Prose others = {0};
    for (int i = 0; i < report->result.subproblem_count; i++) {
        const SubproblemAnswer *other = &report->result.subproblems[i];
        const Launcher *launcher = launcher_of(other->request);
        if (!launcher || other->request == report->request) continue;
        if (!other->searched)
            prose_item(&others, ", ", "%s was not searched in time", launcher->name);
        else if (!other->best)
            prose_item(&others, ", ", "no plan of %s %s", launcher->name, search_end_words(other->end.kind));
        else
            prose_item(&others, ", ", "%s %s (%+.1f%%)", launcher->name,
                       step_text(other->best->estimate.time.seconds, step),
                       100 * (other->best->ranked_seconds / first->ranked_seconds - 1));
    }
    if (others.used > 0) prose_item(to, " ", "Other launchers, each with its own software: %s.", others.text);
}

static void add_headroom(const Report *report, Prose *to) {
    char change[NUMBER_TEXT_SIZE];
    Prose steps = {0};
    double most = 0;
    for (int i = 0; i < report->headroom_count; i++)
        most = max_real(most, report->headroom[i].found ? report->headroom[i].relative : INFINITY);
    for (int i = 0; i < report->headroom_count && most >= 0.0005; i++) {
        const Headroom *headroom = &report->headroom[i];
        if (headroom->found)
            prose_item(&steps, ", ", "%.0f%% %s", 100 * headroom->free_share,
                       strcmp(change_text(headroom->relative, change), "none") == 0 ? "+0.0%" : change);
        else
            prose_item(&steps, ", ", "%.0f%% more than 10%%", 100 * headroom->free_share);
    }
    if (steps.used > 0) prose_item(to, " ", "More HBM left free costs: %s.", steps.text);
}

static void write_others(const Report *report, TextOut out) {
    Prose line = {0};
    add_others(report, &report->result.plans[0], &line);
    if (line.used > 0) prose_write(out, "", "  ", line.text);
}

/* A free layout, and what headroom costs. */
static void write_around(const Report *report, TextOut out) {
    const RankedPlan *first = &report->result.plans[0];
    char step[NUMBER_TEXT_SIZE];
    Prose line = {0};
    if (report->has_free)
        prose_item(&line, " ", "Layouts that no launcher can express (--for any) could reach %s (%+.1f%%).",
                   step_text(report->free.estimate.time.seconds, step),
                   100 * (report->free.ranked_seconds / first->ranked_seconds - 1));
    add_headroom(report, &line);
    if (line.used > 0) prose_write(out, "", "  ", line.text);
}

static void write_why(const SearchResult *result, TextOut out) {
    Why why;
    Prose text = {0};
    report_why(&result->plans[0], &why);
    fputs("\nWhy plan 1:\n", out.file);
    for (int i = 0; i < why.count; i++) prose_write(out, "  - ", "    ", why.text[i]);
    if (result->fastest && result->plan_count == 1) {
        char label[WORDS_SIZE], change[NUMBER_TEXT_SIZE];
        prose_add(&text, "Why not %s (%s): ", plan_label(result->fastest, label),
                  change_text(result->fastest->ranked_seconds / result->plans[0].ranked_seconds - 1, change));
        report_why_not(&result->plans[0], result->fastest, &text);
        prose_write(out, "", "  ", text.text);
    }
    for (int i = 1; i < result->plan_count && i < 3; i++) {
        char label[WORDS_SIZE];
        double behind = result->plans[i].ranked_seconds / result->plans[0].ranked_seconds - 1;
        text = (Prose){0};
        prose_add(&text, "Why not plan %d, %s", i + 1, plan_label(&result->plans[i], label));
        if (behind >= 0.0005 || behind < 0) prose_add(&text, " (%+.1f%%)", 100 * behind);
        prose_add(&text, ": ");
        report_why_not(&result->plans[0], &result->plans[i], &text);
        prose_write(out, "", "  ", text.text);
    }
}

void sensitivities_write(const Report *report, TextOut out) {
    char change[NUMBER_TEXT_SIZE];
    Prose some = {0}, none = {0}, line = {0};
    for (int i = 0; i < report->sensitivity_count; i++) {
        const Sensitivity *help = &report->sensitivities[i];
        if (!help->found)
            prose_item(&some, " · ", "%s does not fit", help->text);
        else if (strcmp(change_text(help->relative, change), "none") == 0)
            prose_item(&none, ", ", "%s", help->text);
        else
            prose_item(&some, " · ", "%s %s", help->text, change);
    }
    if (none.used > 0) prose_item(&some, " · ", "no change from %s", none.text);
    if (some.used == 0) return;
    prose_add(
        &line,
        "What would help most (the change in time per token, each from a new search on machines like plan 1's): %s",
        some.text);
    fputc('\n', out.file);
    prose_write(out, "", "  ", line.text);
}

static void write_left_out(const Report *report, TextOut out) {
    Prose line = {0};
    if (report->left_out == 0 || report->request->control.sensitivity == SENSITIVITY_ROWS) return;
    prose_add(
        &line,
        "%d search%s around this plan %s left out, since %s more work than the plan itself (--sensitivity all makes "
        "%s).",
        report->left_out, report->left_out > 1 ? "es" : "", report->left_out > 1 ? "were" : "was",
        report->left_out > 1 ? "each takes" : "it takes", report->left_out > 1 ? "them" : "it");
    fputc('\n', out.file);
    prose_write(out, "", "  ", line.text);
}

static bool write_answer(const Report *report, TextOut out) {
    answer_write(report, true, out);
    if (report->result.plan_count == 0) return true;
    write_others(report, out);
    confidence_write(report, true, out);
    return true;
}

static bool write_rows(const Report *report, TextOut out) {
    const SearchResult *result = &report->result;
    if (result->plan_count == 0) return true;
    fputc('\n', out.file);
    bool ok = plans_write(report, out);
    launch_write("Placing plan 1: ", &result->plans[0], out);
    write_around(report, out);
    fputc('\n', out.file);
    bars_write("Where a step of plan 1 goes", report->request, &result->plans[0], out);
    write_why(result, out);
    return ok;
}

static bool write_rest(const Report *report, TextOut out) {
    const RankedPlan *first = report->result.plan_count > 0 ? &report->result.plans[0] : NULL;
    if (first) {
        sensitivities_write(report, out);
        write_left_out(report, out);
    }
    fputc('\n', out.file);
    assumed_write(report->request, first, out);
    searched_write(report, out);
    if (first) next_write(report, out);
    return true;
}

bool report_write_text_stage(const Report *report, ReportStage stage, TextOut out, Error *error) {
    static bool (*const WRITE[STAGE_COUNT])(const Report *report, TextOut out) = {[STAGE_PLAN] = write_answer,
                                                                                  [STAGE_ROWS] = write_rows,
                                                                                  [STAGE_WAYS] = alternatives_write,
                                                                                  [STAGE_WHOLE] = write_rest};
    if (!WRITE[stage](report, out)) return error_memory(error);
    return !ferror(out.file) || error_stream(error, "report", "the text");
}

bool report_write_text(const Report *report, TextOut out, Error *error) {
    for (ReportStage stage = STAGE_PLAN; stage < STAGE_COUNT; stage++)
        if (!report_write_text_stage(report, stage, out, error)) return false;
    return true;
}
