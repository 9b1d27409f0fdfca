/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was searched, and what is proven by it. */
#include "search/report/text/parts.h"

#include "base/util.h"

#include <inttypes.h>
#include <math.h>

static const char *const CUT_WORDS[PRUNED_COUNT] = {
    [PRUNED_REQUIRE] = "not what --require or --for asks",
    [PRUNED_INDIVISIBLE] = "of sizes that do not divide, or padded as no launcher takes it",
    [PRUNED_EQUAL] = "another plan under knobs that make no difference",
    [PRUNED_MEMORY] = "do not fit in HBM",
    [PRUNED_DEGREE_BOUND] = "by the bound of their degrees",
    [PRUNED_KNOB_BOUND] = "by the bound of their knobs",
    [PRUNED_TIME_LIMIT] = "not reached in time",
};

static void write_space(const Report *report, TextOut out) {
    const Certificate *certificate = &report->result.certificate;
    char nesting[NESTING_TEXT_SIZE], a[COUNT_TEXT_SIZE], b[COUNT_TEXT_SIZE], c[NUMBER_TEXT_SIZE], d[NUMBER_TEXT_SIZE];
    Prose text = {0}, cut = {0};
    prose_add(&text, "Searched: %s factorizations of %s (roles nest %s%s)",
              count_text(certificate->factorizations, true, a), report->request->question.machine.text,
              report->request->space.nesting_all ? "in every order"
                                                 : nesting_text(&report->request->space.nesting, nesting),
              report->request->space.nesting_all ? "" : " from the inside");
    prose_add(&text, "; with knobs, %s", certificate->machines > 1 ? "" : "this machine");
    if (certificate->machines > 1) prose_add(&text, "%d shapes of machine", certificate->machines);
    if (certificate->batches > 1) prose_add(&text, " and up to %d batches", certificate->batches);
    if (report->result.machines_not_counted > 0)
        prose_add(&text, " (%d of them not counted)", report->result.machines_not_counted);
    prose_add(&text, ", %s plans, all covered: %s evaluated", count_text(certificate->plans_covered, true, a),
              count_text(certificate->plans_evaluated, true, b));
    for (int i = 0; i < PRUNED_COUNT; i++)
        if (certificate->plans_pruned[i] > 0)
            prose_item(&cut, ", ", "%s %s", count_text(certificate->plans_pruned[i], true, a), CUT_WORDS[i]);
    if (cut.used > 0) prose_add(&text, "; cut: %s", cut.text);
    prose_add(&text, "; %s of %s tuples of degrees opened, %s layouts solved.",
              number_grouped(certificate->degree_tuples_opened, c), number_grouped(certificate->degree_tuples, d),
              count_text(certificate->layouts_solved, true, a));
    prose_write(out, "", "", text.text);
}

/* Of what was left out the plan that comes nearest, as its bound has it. */
static void add_nearest(const Report *report, double last, Prose *to) {
    const CutTuple *least = &report->result.certificate.least_above_threshold;
    char notation[NOTATION_SIZE], batch[NUMBER_TEXT_SIZE];
    if (!isfinite(least->bound) || !report->result.machines) return;
    prose_add(to, "; what was cut for being slower has bounds from %.9g s up (%.2g%% above), the least of %s on %s",
              least->bound, 100 * (least->bound / last - 1), degrees_notation(&least->degrees, true, notation),
              report->result.machines[least->machine].machine.text);
    if (least->batch_most != report->request->question.work.sequences)
        prose_add(to, " with %s sequences", number_grouped(least->batch_most, batch));
}

static void add_gap(const Report *report, Prose *to) {
    const Certificate *certificate = &report->result.certificate;
    char seconds[NUMBER_TEXT_SIZE], share[NUMBER_TEXT_SIZE];
    bool limited = certificate->plans_pruned[PRUNED_TIME_LIMIT] > 0 || report->request->control.time_limit_seconds > 0;
    prose_add(to, "Not proven: %s",
              report->result.interrupted ? "the search was interrupted"
              : limited                  ? "a limit ended the search"
                                         : "the work limit of the layout's solver left one open");
    if (certificate->best_bound_seconds > 0 && isfinite(certificate->best_bound_seconds))
        prose_add(to, "; what is left might take %s", step_text(certificate->best_bound_seconds, seconds));
    prose_add(to, " (gap %s).", share_text(certificate->gap, share));
}

static void write_proof(const Report *report, TextOut out) {
    int count = report->result.plan_count;
    Prose text = {0};
    if (report->result.certificate.proof == PROOF_GAP) {
        add_gap(report, &text);
    } else if (count == 0) {
        prose_add(&text, "Proven: no plan fits.");
    } else if (count < report->request->control.top) {
        prose_add(&text, "Proven: these are all that fit, one per degrees and schedule.");
    } else {
        double last = report->result.plans[count - 1].ranked_seconds;
        prose_add(&text, "Proven, given the cost model: nothing that was left out is faster than plan %d, %.9g s",
                  count, last);
        add_nearest(report, last, &text);
        prose_add(&text, ". --certificate FILE writes every tuple of degrees with its bound, to be checked.");
    }
    prose_write(out, "", "", text.text);
}

void searched_write(const Report *report, TextOut out) {
    write_space(report, out);
    write_proof(report, out);
}
