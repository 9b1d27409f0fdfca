/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chances of being the fastest against a simulation that draws every figure of the profiles and prices every plan anew:
 * no linear effects, no covariance. */
#include "search/answer/doubts.h"

#include "base/util.h"
#include "search/answer/plan_words.h"
#include "search/report/report.h"
#include "tests/search/asked.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { DRAWS = 3000, DRAWN_MOST = 512 };
/* The error of 2^9 draws there and of DRAWS here, two deviations. */
static const double DRAWN = 0.055;

static uint64_t state = 1;

static double normal(void) {
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        sum += (double)(state >> 11) * 0x1p-53;
    }
    return sum;
}

/* What was drawn so far for figures, by where they stand. */
typedef struct {
    const void *of[DRAWN_MOST];
    double normal[DRAWN_MOST];
    int count;
} Drawn;

static double drawn_for(Drawn *drawn, const void *of) {
    for (int i = 0; i < drawn->count; i++)
        if (drawn->of[i] == of) return drawn->normal[i];
    cr_assert_lt(drawn->count, (int)DRAWN_MOST);
    drawn->of[drawn->count] = of;
    return drawn->normal[drawn->count++] = normal();
}

static double priced(const RankedPlan *ranked, const Profile *composed) {
    const Question *question = &ranked->request->question;
    Profile profile = profile_of_work(composed, &question->chip, question->precision, &question->model,
                                      (double)question->machine.mesh.chips, (double)question->machine.slices);
    CostContext setting = ranked_cost_context(ranked->request, ranked);
    Estimate estimate;
    Error error = {0};
    setting.profile = &profile;
    cr_assert(estimate_plan(&setting, &(NestedMesh){&ranked->machine.mesh, ranked->nesting}, &ranked->plan, PADDING_ANY,
                            &estimate, &error));
    return estimate.time.seconds;
}

static double drawn_seconds(const RankedPlan *ranked, Drawn *drawn) {
    const ProfileDoubts *doubts = ranked->request->question.doubts;
    const Profile *profile = &ranked->request->question.profile;
    Profile composed = doubts->composed;
    for (int i = 0; i < doubts->count; i++) {
        const FigureDoubt *doubt = &doubts->of[i];
        double *value = figure_of(&composed, doubt->figure),
               moved = *value * exp(doubt->deviation * drawn_for(drawn, doubt->from));
        *value = min_real(max_real(moved, min_real(*value, doubt->figure->fit_low)),
                          max_real(*value, doubt->figure->fit_high));
    }
    return priced(ranked, &composed) *
           exp(profile->stack_error * drawn_for(drawn, profile->stack) + profile->plan_error * normal());
}

static void simulate(const Report *report, double *chances) {
    int count = report->result.plan_count;
    for (int draw = 0; draw < DRAWS; draw++) {
        Drawn drawn = {.count = 0};
        int best = 0;
        double least = INFINITY;
        for (int i = 0; i < count; i++) {
            double seconds = drawn_seconds(&report->result.plans[i], &drawn);
            if (seconds >= least) continue;
            least = seconds;
            best = i;
        }
        chances[best] += 1.0 / DRAWS;
    }
}

Test(doubts, chances_are_those_of_a_simulation) {
    static const char *const QUESTIONS[] = {
        "plan --model 8b --chip h100 --nodes 4 --batch 1Mi --seq 8192 --for megatron --top 6",
        "plan --model 8b --chip v5e --slice 4x8 --batch 512Ki --seq 4096 --for maxtext --top 5"};
    for (size_t q = 0; q < COUNT_OF(QUESTIONS); q++) {
        Arena arena = {0};
        Error error = {0};
        Report *report = ARENA_NEW(&arena, Report, 1);
        Request *request = ARENA_NEW(&arena, Request, 1);
        cr_assert(request_from_text(QUESTIONS[q], &arena, request));
        cr_assert(report_make(request, &arena, report, &error), "%s", error.text);
        int count = report->result.plan_count;
        double chances[16] = {0}, sum = 0;
        cr_assert(count >= 2 && count <= 16);
        for (int i = 0; i < count; i++) {
            const RankedPlan *ranked = &report->result.plans[i];
            cr_expect_float_eq(priced(ranked, &ranked->request->question.doubts->composed),
                               ranked->estimate.time.seconds, 1e-12);
            sum += ranked->doubt.best_chance;
        }
        simulate(report, chances);
        cr_expect_float_eq(sum, 1, 1e-9);
        for (int i = 0; i < count; i++)
            cr_expect_float_eq(report->result.plans[i].doubt.best_chance, chances[i], DRAWN, "%s: plan %d: %g, not %g",
                               QUESTIONS[q], i + 1, report->result.plans[i].doubt.best_chance, chances[i]);
        arena_free(&arena);
    }
}

/* A range is the profile's, or wider: in logarithms the square of its half width grows by that of what no run moved. */
Test(doubts, figures_that_no_run_moved_widen_the_range) {
    Arena arena = {0};
    Error error = {0};
    Report *report = ARENA_NEW(&arena, Report, 1);
    Request *request = ARENA_NEW(&arena, Request, 1);
    cr_assert(request_from_text("plan --model 8b --chip h100 --nodes 4 --batch 1Mi --seq 8192 --for megatron --top 2",
                                &arena, request));
    cr_assert(report_make(request, &arena, report, &error), "%s", error.text);
    RankedPlan *ranked = &report->result.plans[0];
    const Profile *profile = &ranked->request->question.profile;
    double low = 0, high = 0, unmeasured = ranked->doubt.unmeasured;
    cr_assert(plan_likely(report->request, ranked, &low, &high));
    double seconds = ranked->estimate.time.seconds;
    cr_expect_float_eq(pow(log(low / seconds), 2), pow(log(profile->likely_low), 2) + pow(1.645 * unmeasured, 2), 1e-9);
    cr_expect_float_eq(pow(log(high / seconds), 2), pow(log(profile->likely_high), 2) + pow(1.645 * unmeasured, 2),
                       1e-9);
    cr_expect_geq(ranked->doubt.deviation, unmeasured);

    /* nobody knows any figure: the range grows, and the risk is said */
    ProfileDoubts *doubts = ARENA_NEW(&arena, ProfileDoubts, 1);
    *doubts = *ranked->request->question.doubts;
    for (int i = 0; i < doubts->count; i++) doubts->of[i].measured = false;
    Request *own = ARENA_NEW(&arena, Request, 1);
    *own = *ranked->request;
    own->question.doubts = doubts;
    ranked->request = own;
    cr_assert(plans_doubt(own, ranked, 1, &error));
    cr_expect_gt(ranked->doubt.unmeasured, unmeasured + 0.01);
    cr_expect_lt(ranked->doubt.likely_low, low / seconds);
    cr_assert_not_null(ranked->doubt.unmeasured_figure);
    Risk risks[RISKS_MAX];
    bool said = false;
    for (int i = 0, n = plan_risks(ranked, risks); i < n; i++) said = said || strcmp(risks[i].key, "unmeasured") == 0;
    cr_expect(said);

    /* without doubts there is the profile's range alone */
    own->question.doubts = NULL;
    cr_assert(plans_doubt(own, ranked, 1, &error));
    cr_expect_eq(ranked->doubt.deviation, 0);
    cr_expect_eq(ranked->doubt.likely_low, profile->likely_low);
    arena_free(&arena);
}
