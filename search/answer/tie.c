/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/answer/tie.h"

#include "base/util.h"
#include "cost/time/slack.h"
#include "search/answer/doubts.h"
#include "search/answer/plan_words.h"
#include "search/request/request.h"

#include <math.h>

/* Plans are alike whose bytes differ by less of HBM, and whose chances of fitting do by less. */
static const double STEP_OF_HBM = 0.05, STEP_OF_CHANCE = 0.05;

/* What is requested of a plan, each the less the better, in the order of TieReason. */
typedef struct {
    double of[TIE_BY_TIME];
} TieKey;

static double steps_of_hbm(const Request *request, double bytes) {
    return floor(bytes / (STEP_OF_HBM * request_cost_context(request).chip->hbm_bytes.value));
}

/* How likely the plan is not to fit; where that is not known, how much it uses. */
static double fullness(const RankedPlan *ranked) {
    double fits = plan_fits_chance(ranked->request, ranked);
    return fits > 0 ? floor((1 - fits) / STEP_OF_CHANCE)
                    : steps_of_hbm(ranked->request, memory_total(&ranked->estimate.memory));
}

/* `simple`: whether what is simpler counts. */
static TieKey key_of(const RankedPlan *ranked, bool simple) {
    TieKey key = {{[TIE_BY_ODD] = odd_count(ranked->odd),
                   [TIE_BY_UNMEASURED] = ranked->doubt.unmeasured_figures,
                   [TIE_BY_OPTIMIZER] = ranked->plan.knobs.offload_optimizer,
                   [TIE_BY_HOST] = steps_of_hbm(ranked->request, plan_host_bytes(ranked->request, ranked)),
                   [TIE_BY_HBM] = fullness(ranked),
                   [TIE_BY_ROLES] = simple ? 0 : INFINITY,
                   [TIE_BY_STAGES] = simple ? (double)ranked->plan.degrees.of[ROLE_PIPELINE] : INFINITY}};
    for (Role role = 0; role < ROLE_COUNT; role++) key.of[TIE_BY_ROLES] += ranked->plan.degrees.of[role] > 1;
    return key;
}

const RankedPlan *search_fastest(const SearchResult *result) {
    return result->fastest ? result->fastest : result->plan_count > 0 ? &result->plans[0] : NULL;
}

/* What is simpler, but no surer, counts among plans that are this near the fastest. */
static const double SIMPLER_WITHIN = 0.005;

static TieReason reason_within(const RankedPlan *a, const RankedPlan *b, double limit, bool *less) {
    TieKey of_a = key_of(a, a->ranked_seconds <= limit), of_b = key_of(b, b->ranked_seconds <= limit);
    int reason = 0;
    while (reason < TIE_BY_TIME && of_a.of[reason] == of_b.of[reason]) reason++;
    *less = reason == TIE_BY_TIME ? a->ranked_seconds < b->ranked_seconds : of_a.of[reason] < of_b.of[reason];
    return (TieReason)reason;
}

TieReason tie_reason(const RankedPlan *a, const RankedPlan *b, bool *less) {
    return reason_within(a, b, INFINITY, less);
}

const char *tie_reason_words(TieReason reason) {
    static const char *const WORDS[] = {
        [TIE_BY_ODD] = "run by more people",     [TIE_BY_UNMEASURED] = "fewer figures that no run has measured",
        [TIE_BY_OPTIMIZER] = "optimizer in HBM", [TIE_BY_HOST] = "less on the host",
        [TIE_BY_HBM] = "more HBM free",          [TIE_BY_ROLES] = "fewer roles",
        [TIE_BY_STAGES] = "fewer stages",        [TIE_BY_TIME] = "the same risk"};
    return WORDS[reason];
}

bool tie_holds(const SearchControl *control, const RankedPlan *fastest, const RankedPlan *plan) {
    return plan->ranked_seconds <= tie_end(control, fastest->ranked_seconds) &&
           plan->seconds <= tie_end(control, fastest->seconds);
}

void tie_order(const SearchControl *control, const RankedPlan *fastest, RankedPlan *plans, int count) {
    const RankedPlan first = *fastest; /* it may be one of those that are moved */
    double simple = first.ranked_seconds * (1 + SIMPLER_WITHIN);
    int tied = 0;
    for (int i = 0; i < count; i++) plans[i].tied = plans[i].ranked_seconds <= first.ranked_seconds * (1 + TIE);
    if (control->tie <= 0 || count < 2) return;
    for (int i = 0; i < count && tied < TIE_MOST; i++) {
        RankedPlan moved = plans[i];
        bool less;
        int at = i;
        if (!tie_holds(control, &first, &moved)) continue;
        plan_doubt(moved.request, &moved);
        for (; at > tied; at--) plans[at] = plans[at - 1]; /* those that are tied stand together, */
        tied++;
        /* stable: a plan that is the faster stays before another that is like it */
        for (; at > 0 && reason_within(&moved, &plans[at - 1], simple, &less) != TIE_BY_TIME && less; at--)
            plans[at] = plans[at - 1];
        plans[at] = moved;
    }
}

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
    double gap = search_gap(result);
    return limited && (gap > control->gap || (result->plan_count == 0 && gap > 0)); /* no gap allows to find nothing */
}
