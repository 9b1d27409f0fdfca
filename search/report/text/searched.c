/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was searched, and what is proven by it. */
#include "search/report/text/parts.h"

#include "search/answer/tie.h"

#include <math.h>

static const char *const CUT_WORDS[PRUNED_COUNT] = {
    [PRUNED_REQUIRE] = NULL, /* conditions_words() */
    [PRUNED_INDIVISIBLE] = "with sizes that do not divide or with padding that no launcher accepts",
    [PRUNED_EQUAL] = "equal to another plan, as their knobs make no difference",
    [PRUNED_MEMORY] = "that do not fit in HBM",
    [PRUNED_DEGREE_BOUND] = "by the bound on their degrees",
    [PRUNED_KNOB_BOUND] = "by the bound on their knobs",
    [PRUNED_TIME_LIMIT] = "not reached before the search ended",
};

/* Whose conditions exclude plans: the line's, or those of launchers that it does not name. */
const char *conditions_words(const Report *report) {
    const Request *request = report->request;
    bool given = request->space.requirement_count > 0 || request->requested.launchers_origin == FROM_OPTION;
    return given ? "--require or --for" : "what the usual launchers run (--for any)";
}

static void write_space(const Report *report, TextOut out) {
    const Certificate *certificate = &report->result.certificate;
    char nesting[NESTING_TEXT_SIZE], a[COUNT_TEXT_SIZE], b[COUNT_TEXT_SIZE], c[NUMBER_TEXT_SIZE], d[NUMBER_TEXT_SIZE];
    Prose text = {0}, cut = {0};
    prose_add(&text, "Searched: %s factorizations of %s (%s%s)", count_text(certificate->factorizations, true, a),
              report->request->question.machine.text,
              report->request->space.nesting_all ? "roles nest in every order" : "roles nest, innermost first: ",
              report->request->space.nesting_all ? "" : nesting_text(&report->request->space.nesting, nesting));
    prose_add(&text, ". With their knobs, on %s", certificate->machines > 1 ? "" : "this machine");
    if (certificate->machines > 1) prose_add(&text, "%d machine shapes", certificate->machines);
    if (certificate->batches > 1) prose_add(&text, " and with up to %d batches", certificate->batches);
    if (report->result.machines_not_counted > 0)
        prose_add(&text, " (%d of them not counted)", report->result.machines_not_counted);
    prose_add(&text,
              report->result.machines_not_counted > 0 ? ", %s plans were counted in time, and of these %s %s evaluated"
                                                      : ", they are %s plans, and all are covered: %s %s evaluated",
              count_text(certificate->plans_covered, true, a), count_text(certificate->plans_evaluated, true, b),
              certificate->plans_evaluated == 1 ? "was" : "were");
    for (int i = 0; i < PRUNED_COUNT; i++)
        if (certificate->plans_pruned[i] > 0)
            prose_item(&cut, ", ", "%s %s%s", count_text(certificate->plans_pruned[i], true, a),
                       CUT_WORDS[i] ? CUT_WORDS[i] : "excluded by ", CUT_WORDS[i] ? "" : conditions_words(report));
    if (cut.used > 0) prose_add(&text, "; these were cut: %s", cut.text);
    prose_add(&text, ". %s of %s parallelism configurations were expanded, and %s layout%s solved.",
              number_grouped(certificate->degree_tuples_expanded, c), number_grouped(certificate->degree_tuples, d),
              count_text(certificate->layouts_solved, true, a), certificate->layouts_solved == 1 ? " was" : "s were");
    prose_write(out, "", "", text.text);
}

/* Of what was left out the plan that comes nearest, as its bound has it. */
static void add_nearest(const Report *report, double last, Prose *to) {
    const CutTuple *least = &report->result.certificate.least_above_threshold;
    char notation[NOTATION_SIZE], batch[NUMBER_TEXT_SIZE];
    if (!isfinite(least->bound) || !report->result.machines) return;
    prose_add(to, "; the lowest bound of the plans cut as slower is %.9g s (%.2g%% above), that of %s on %s",
              least->bound, 100 * (least->bound / last - 1), degrees_notation(&least->degrees, true, notation),
              report->result.machines[least->machine].machine.text);
    if (least->batch_most != report->request->question.work.sequences)
        prose_add(to, " with %s sequences", number_grouped(least->batch_most, batch));
}

/* "rows below it are not", or which of them are not: "rows 4 to 5 are not". */
static const char *rows_open(const Report *report, char text[WORDS_SIZE]) {
    int count = report->result.plan_count, open = 0, first = 0, last = 0;
    for (int i = 1; i < count; i++) {
        if (report->result.plans[i].gap == 0) continue;
        first = open++ == 0 ? i + 1 : first;
        last = i + 1;
    }
    if (open == 0) return "as are the rows below it, and more than these are not";
    if (open == count - 1) return "rows below it are not";
    snprintf(text, WORDS_SIZE, open == 1 ? "row %d is not" : "rows %d to %d are not", first, last);
    return text;
}

void gap_words(const Report *report, Prose *to) {
    char rows[WORDS_SIZE];
    const Certificate *certificate = &report->result.certificate;
    const SearchControl *control = &report->request->control;
    char seconds[NUMBER_TEXT_SIZE], share[NUMBER_TEXT_SIZE];
    bool limited = certificate->plans_pruned[PRUNED_TIME_LIMIT] > 0 || control->time_limit_seconds > 0;
    double gap = search_gap(&report->result);
    const char *what = report->result.interrupted   ? "the search was interrupted"
                       : report->result.memory_full ? "the limit of memory ended the search"
                       : limited                    ? "a limit ended the search"
                                                    : "the layout solver reached its work limit and left a layout open";
    if (gap == 0) {
        if (report->result.unsettled)
            prose_add(to, "Within 2%% of the proven fastest: %s before all plans of lower risk were known.", what);
        else
            prose_add(to, "Plan 1 is proven the fastest, %s: %s.", rows_open(report, rows), what);
        return;
    }
    prose_add(to, "%s: %s", gap <= control->gap ? "Proven but for a tie" : "Not proven", what);
    if (certificate->best_bound_seconds > 0 && isfinite(certificate->best_bound_seconds))
        prose_add(to, "; an undecided plan might take %s", step_text(certificate->best_bound_seconds, seconds));
    prose_add(to, " (gap %s).", share_text(gap, share));
}

bool interrupted_later(const Report *report) {
    return report->requested && environment_stops(&report->requested->control.environment) &&
           !report->result.interrupted;
}

static void write_proof(const Report *report, TextOut out) {
    int count = report->result.plan_count;
    Prose text = {0};
    if (report->result.certificate.proof == PROOF_GAP) {
        gap_words(report, &text);
    } else if (count == 0) {
        prose_add(&text, "Proven: no plan fits.");
    } else if (report->requested && report->requested->control.different) {
        prose_add(&text, "Proven, given the cost model: no plan that was cut is faster than plan 1 (%.9g s)",
                  report->result.plans[0].ranked_seconds);
        add_nearest(report, report->result.plans[0].ranked_seconds, &text);
        prose_add(&text, ". Each other row is the fastest of its kind; --top 5 lists the next best, --certificate FILE "
                         "every tuple of degrees with its bound, so that the proof can be checked.");
    } else if (count < report->request->control.top) {
        prose_add(&text, "Proven: these are all the plans that fit, one for each set of degrees and schedule.");
    } else {
        double last = report->result.plans[count - 1].ranked_seconds;
        prose_add(&text, "Proven, given the cost model: no plan that was cut is faster than plan %d (%.9g s)", count,
                  last);
        add_nearest(report, last, &text);
        prose_add(
            &text,
            ". --certificate FILE writes every tuple of degrees with its bound, so that the proof can be checked.");
    }
    if (interrupted_later(report))
        prose_add(&text, " What is around it was interrupted: rows of other kinds, ways out and what would help may be "
                         "missing.");
    prose_write(out, "", "", text.text);
}

void searched_write(const Report *report, TextOut out) {
    write_space(report, out);
    write_proof(report, out);
}
