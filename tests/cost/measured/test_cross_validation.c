/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Likely ranges worked out by hand. */
#include "cost/measured/cross_validation.h"
#include "tests/cost/measured/fake_runs.h"

/* Twenty values of one weight, 0.01 apart around 0: the first and the last have 5% each. A value that has nearly all
 * the weight is both quantiles. */
Test(ranges, quantiles) {
    double ratios[20], weights[20];
    LikelyRange range;
    for (int i = 0; i < 20; i++) ratios[(i * 7) % 20] = 0.01 * (i - 9.5), weights[i] = 0.3;
    cr_assert(range_of(ratios, weights, 20, &range));
    cr_expect_float_eq(log(range.low), -0.095, 1e-12);
    cr_expect_float_eq(log(range.high), 0.095, 1e-12);
    cr_expect_float_eq(range.runs, 20, 1e-9);
    weights[0] = 1e9;
    cr_assert(range_of(ratios, weights, 20, &range));
    cr_expect_float_eq(log(range.low), ratios[0], 1e-6);
    cr_expect_float_eq(log(range.high), ratios[0], 1e-6);
    cr_expect_float_eq(range.runs, 1, 1e-6);
    for (int i = 0; i < 20; i++) weights[i] = 0;
    cr_assert(range_of(ratios, weights, 20, &range));
    cr_expect(range.low == 1 && range.high == 1 && range.runs == 0);
}

/* RANGE_PARENT_RUNS is 20: twenty own runs make half of the answer, and zero runs make nothing of it. */
Test(ranges, few_runs_lean_on_kin) {
    const LikelyRange parent = {0.64, 1.44, 300}, own = {0.81, 1.21, 20}, none = {1, 1, 0};
    LikelyRange range = range_towards(own, parent);
    cr_expect_float_eq(range.low, 0.72, 1e-12);
    cr_expect_float_eq(range.high, 1.32, 1e-12);
    range = range_towards(none, parent);
    cr_expect_float_eq(range.low, 0.64, 1e-12);
    cr_expect_float_eq(range.high, 1.44, 1e-12);
}

typedef struct {
    Arena arena;
    FitProblem problem;
    FitModel model;
    double weights[FAKE_RUNS];
    LeastSolution solution;
    Cross groups, sources;
    Ranges ranges;
} Ranged;

static void make_ranges(Fake *fake, FitStart start, Ranged *out) {
    Error error = {0};
    *out = (Ranged){.problem = fake_problem(fake, 1)};
    out->problem.start = start;
    ProfileSet set = fake->set;
    cr_assert(fit_set_copy(&fake->set, &out->arena, &set));
    cr_assert(fit_prepare(&out->problem, &out->arena, &out->model, &error));
    fit_weights(&out->model, false, out->weights);
    cr_assert(
        fit_solve(&out->model, out->weights, (FitSearch){.posterior = true}, &out->arena, &out->solution, &error));
    cr_assert(cross_validate(&(FittedModel){&out->model, out->weights, &out->solution},
                             &(CrossFolds){.kind = CROSS_GROUPS, .folds = 5}, &out->arena, &out->groups, &error));
    cr_assert(cross_validate(&(FittedModel){&out->model, out->weights, &out->solution},
                             &(CrossFolds){.kind = CROSS_SOURCES}, &out->arena, &out->sources, &error));
    cr_assert(ranges_write(&(FittedModel){&out->model, out->weights, &out->solution},
                           &(CrossBoth){&out->groups, &out->sources}, &set, &out->arena, &out->ranges, &error),
              "%s", error.text);
    memcpy(fake->profiles, set.profiles, sizeof fake->profiles);
    cr_assert(profile_set_resolve(&fake->set, "fake", &error));
}

/* Sixty runs scatter by 10%: most of them are inside, and the range is about that wide; a chip known from one source
 * alone, 30% off its prior, makes the range of chips without runs at least that wide. */
Test(ranges, written_into_the_set) {
    static Fake fake;
    static Ranged ranged;
    static const char *const MODELS[] = {"7b", "13b", "30b", "70b", "100b", "175b"};
    fake_set(&fake);
    for (int i = 0; i < 60; i++) fake_run(&fake, i % 2 ? "a" : "b", MODELS[i % 6], 1, 0, 10 + i, 1, false);
    for (int i = 0; i < 24; i++) fake_run(&fake, "c", MODELS[i % 6], 3, 0, 10 + i, 0, false);
    fake_at(&fake, "lone", "matrix_efficiency")->value = 0.77 / 1.3;
    fake_measure(&fake, 0.1);
    fake_reset(&fake);
    make_ranges(&fake, FIT_PRIORS, &ranged);
    const SetFigure *low = fake_at(&fake, "old", "likely_low"), *high = fake_at(&fake, "old", "likely_high");
    cr_expect(low->value < 0.94 && low->value > 0.8, "%g", low->value);
    cr_expect(high->value > 1.06 && high->value < 1.25, "%g", high->value);
    const SetFigure *unknown = fake_at(&fake, "new", "likely_high");
    cr_expect(unknown->value >= 1.3 && unknown->value > high->value, "%g", unknown->value);
    cr_expect_not_null(strstr(unknown->source, "no run"));
    cr_expect(fake_at(&fake, "new", "likely_low")->value <= low->value);
    arena_free(&ranged.arena);
    /* a calibration that goes on from a set with ranges: only chips with runs change theirs, towards the range they
     * had */
    fake_at(&fake, "new", "likely_high")->value = 1.77;
    make_ranges(&fake, FIT_VALUES, &ranged);
    cr_expect_eq(fake_at(&fake, "new", "likely_high")->value, 1.77);
    cr_expect_not_null(strstr(fake_at(&fake, "old", "likely_high")->source, "what stood here"));
    arena_free(&ranged.arena);
}
