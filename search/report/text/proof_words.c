/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/answer/tie.h"
#include "search/report/text/parts.h"

static double faster_by(const RankedPlan *other, const RankedPlan *first) {
    return 100 * (1 - other->estimate.time.seconds / first->estimate.time.seconds);
}

/* The plan that is faster than plan 1 by less than the model can tell. */
static void add_tie(const RankedPlan *first, const RankedPlan *fastest, const char *count, Prose *to) {
    bool less;
    TieReason reason = tie_reason(first, fastest, &less);
    prose_add(to, "ties with the proven fastest of %s plans (%.2g%% faster), at lower risk: %s", count,
              faster_by(fastest, first), tie_reason_words(reason));
}

void proof_words(const Report *report, Prose *to) {
    const SearchResult *result = &report->result;
    const RankedPlan *first = result->plans, *odd = result->odd;
    char count[COUNT_TEXT_SIZE];
    prose_add(to, "Run plan 1: ");
    if (result->certificate.proof == PROOF_GAP) {
        gap_words(report, to);
        return;
    }
    count_text(result->certificate.plans_covered, true, count);
    if (result->fastest && faster_by(result->fastest, first) >= 0.005)
        add_tie(first, result->fastest, count, to);
    else
        prose_add(to, "proven the fastest%s of %s plans in this cost model", odd ? " that people run" : "", count);
    if (odd) {
        bool more = result->faster_count > 1;
        prose_add(to, "; %d%s faster (%s%.2g%%), seldom run: ", result->faster_count,
                  result->faster_count == FASTER_MOST ? " or more are"
                  : more                              ? " are"
                                                      : " is",
                  more ? "up to " : "", faster_by(odd, first));
        odd_words(odd->odd, to);
        prose_add(to, " (--rank time)");
    }
    prose_add(to, ".");
}

void host_words(const Report *report, Prose *to) {
    char step[NUMBER_TEXT_SIZE];
    double change = 100 * (report->host_other / report->result.plans[0].estimate.time.seconds - 1);
    if (report->host == HOST_IS_NEEDED) prose_item(to, " ", "No plan without the host's memory.");
    if (report->host == HOST_IS_FASTER || report->host == HOST_IS_NEAR)
        prose_item(to, " ", "%s: %s (%+.1f%%).",
                   report->host == HOST_IS_NEAR ? "With the optimizer on the host" : "In HBM alone (--offload none)",
                   step_text(report->host_other, step), change);
}
