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

static TieKey key_of(const RankedPlan *ranked) {
    TieKey key = {{[TIE_BY_UNMEASURED] = ranked->doubt.unmeasured_figures,
                   [TIE_BY_OPTIMIZER] = ranked->plan.knobs.offload_optimizer,
                   [TIE_BY_HOST] = steps_of_hbm(ranked->request, plan_host_bytes(ranked->request, ranked)),
                   [TIE_BY_HBM] = fullness(ranked),
                   [TIE_BY_STAGES] = (double)ranked->plan.degrees.of[ROLE_PIPELINE]}};
    for (Role role = 0; role < ROLE_COUNT; role++) key.of[TIE_BY_ROLES] += ranked->plan.degrees.of[role] > 1;
    return key;
}

const RankedPlan *search_fastest(const SearchResult *result) {
    return result->fastest ? result->fastest : result->plan_count > 0 ? &result->plans[0] : NULL;
}

TieReason tie_reason(const RankedPlan *a, const RankedPlan *b, bool *less) {
    TieKey of_a = key_of(a), of_b = key_of(b);
    int reason = 0;
    while (reason < TIE_BY_TIME && of_a.of[reason] == of_b.of[reason]) reason++;
    *less = reason == TIE_BY_TIME ? a->ranked_seconds < b->ranked_seconds : of_a.of[reason] < of_b.of[reason];
    return (TieReason)reason;
}

void tie_order(const SearchControl *control, double fastest, RankedPlan *plans, int count) {
    int tied = 0;
    for (int i = 0; i < count; i++) plans[i].tied = plans[i].ranked_seconds <= fastest * (1 + TIE);
    while (tied < min_whole(count, TIE_MOST) && plans[tied].ranked_seconds <= tie_end(control, fastest)) tied++;
    if (control->tie <= 0 || tied < 2) return;
    for (int i = 0; i < tied; i++) plan_doubt(plans[i].request, &plans[i]);
    for (int i = 1; i < tied; i++) { /* stable: a plan that is the faster stays before another that is like it */
        RankedPlan moved = plans[i];
        bool less;
        int at = i;
        while (at > 0 && tie_reason(&moved, &plans[at - 1], &less) != TIE_BY_TIME && less) {
            plans[at] = plans[at - 1];
            at--;
        }
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
    return limited && search_gap(result) > control->gap;
}
