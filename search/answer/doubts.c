/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/answer/doubts.h"

#include "base/util.h"
#include "search/answer/plan_words.h"

#include <math.h>

static const double NINE_IN_TEN = 1.645; /* deviations of a normal distribution, on either side */
static const double MOVES_LEAST = 1e-3;  /* of the step: what moves it by less is in no plan's way */

/* A plan that is priced again and again, under one profile after another. */
typedef struct {
    const Request *request;
    const RankedPlan *ranked;
    CostContext setting; /* of it, but for the profile */
} Priced;

static Priced priced_of(const Request *request, const RankedPlan *ranked) {
    return (Priced){request, ranked, ranked_cost_context(request, ranked)};
}

static bool price(const void *context, const Profile *composed, double *seconds) {
    const Priced *priced = context;
    const Question *question = &priced->request->question;
    const RankedPlan *ranked = priced->ranked;
    Profile profile = profile_of_work(composed, &question->chip, question->precision, &question->model,
                                      (double)question->machine.mesh.chips, (double)question->machine.slices);
    CostContext setting = priced->setting;
    setting.profile = &profile;
    *seconds = estimate_seconds(&setting, &(NestedMesh){&ranked->machine.mesh, ranked->nesting}, &ranked->plan);
    return isfinite(*seconds);
}

static double square(double x) { return x * x; }

/* The range of the profile, which unseen runs made, and in addition what figures may be off by that no run moved. */
static double widened(double end, double unmeasured) {
    double distance = hypot(log(end), NINE_IN_TEN * unmeasured);
    return exp(end < 1 ? -distance : distance);
}

static void fill_range(const Profile *profile, const DoubtEffect *effects, int count, PlanDoubt *out) {
    double squares[2] = {0}, most = 0; /* of figures that no run moved, and of others */
    for (int i = 0; i < count; i++) {
        double moves = fabs(effects[i].effect);
        squares[effects[i].of->measured] += square(moves);
        if (effects[i].of->measured) continue;
        out->unmeasured_figures += moves >= MOVES_LEAST;
        if (moves <= most) continue;
        most = moves;
        out->unmeasured_figure = effects[i].of->figure;
    }
    out->deviation = sqrt(squares[0] + squares[1] + square(profile->plan_error) + square(profile->stack_error));
    out->unmeasured = sqrt(squares[0]);
    if (!(profile->likely_low > 0) || !(profile->likely_high > 0)) return;
    out->likely_low = widened(profile->likely_low, out->unmeasured);
    out->likely_high = widened(profile->likely_high, out->unmeasured);
}

/* One plan alone. False: nothing is known of its doubts. */
static bool doubt_alone(const Priced *priced, PlanDoubt *out) {
    const ProfileDoubts *doubts = priced->request->question.doubts;
    const Profile *profile = &priced->request->question.profile;
    DoubtEffect effects[SET_FIGURES_MAX];
    *out = (PlanDoubt){.likely_low = profile->likely_low, .likely_high = profile->likely_high};
    if (!doubts || !(profile->plan_error > 0)) return false;
    int count = doubt_effects(doubts, price, priced, effects);
    if (count >= 0) fill_range(profile, effects, count, out);
    return count >= 0;
}

int plan_effects(const Request *request, const RankedPlan *ranked, DoubtEffect out[SET_FIGURES_MAX]) {
    const ProfileDoubts *doubts = request->question.doubts;
    Priced own = priced_of(request, ranked);
    return doubts ? doubt_effects(doubts, price, &own, out) : -1;
}

bool plan_doubt(const Request *request, RankedPlan *ranked) {
    Priced own = priced_of(request, ranked);
    return doubt_alone(&own, &ranked->doubt);
}

static DoubtedPrice price_of(const Priced *priced) {
    const Profile *profile = &priced->request->question.profile;
    return (DoubtedPrice){.doubts = priced->request->question.doubts,
                          .price = price,
                          .context = priced,
                          .factor = priced->ranked->ranked_seconds / priced->ranked->estimate.time.seconds,
                          .own_error = profile->plan_error,
                          .group_error = profile->stack_error,
                          .group = profile->stack};
}

bool plans_doubt(const Request *request, RankedPlan *plans, int count, Error *error) {
    Priced priced[DOUBT_PRICES_MAX];
    DoubtedPrice prices[DOUBT_PRICES_MAX];
    double chances[DOUBT_PRICES_MAX];
    int n = (int)min_whole(count, DOUBT_PRICES_MAX);
    bool known = n > 1;
    for (int i = 0; i < count; i++) {
        Priced own = priced_of(plans[i].request ? plans[i].request : request, &plans[i]);
        bool has = doubt_alone(&own, &plans[i].doubt);
        if (i >= n) continue;
        known = known && has;
        priced[i] = own;
        prices[i] = price_of(&priced[i]);
    }
    if (!known) return true;
    if (!doubt_chances(prices, n, request->control.threads, chances)) return error_memory(error);
    for (int i = 0; i < n; i++) plans[i].doubt.best_chance = chances[i];
    return true;
}

bool plan_likely(const Request *request, const RankedPlan *ranked, double *low, double *high) {
    const Profile *profile = &request->question.profile;
    bool own = ranked->doubt.likely_low > 0 && ranked->doubt.likely_high > 0;
    double seconds = ranked->estimate.time.seconds;
    *low = seconds * (own ? ranked->doubt.likely_low : profile->likely_low);
    *high = seconds * (own ? ranked->doubt.likely_high : profile->likely_high);
    return *low > 0 && *high > 0;
}
