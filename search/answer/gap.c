/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/answer/gap.h"

#include "base/util.h"
#include "cost/time/slack.h"
#include "search/answer/tie.h"
#include "search/request/request.h"

double search_gap(const SearchResult *result) {
    const Certificate *certificate = &result->certificate;
    if (certificate->proof != PROOF_GAP) return 0;
    if (result->plan_count == 0) return 1;
    double best = search_fastest(result)->ranked_seconds;
    return best > 0 ? max_real(0, (best - certificate->best_bound_seconds) / best) : 0;
}

double row_gap(double seconds, double open) {
    double gap = seconds > 0 && open < seconds ? (seconds - open) / seconds : 0;
    return gap > LAYOUT_TOLERANCE ? gap : 0;
}

bool search_left_open(const SearchResult *result) {
    const SearchControl *control = &result->request->control;
    bool passed_over = result->certificate.plans_pruned[PRUNED_TIME_LIMIT] > 0; /* by these, or on machines too large */
    bool limited = control->time_limit_seconds > 0 || result->memory_full || result->interrupted || passed_over;
    return limited && search_gap(result) > control->gap;
}
