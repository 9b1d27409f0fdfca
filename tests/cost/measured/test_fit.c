/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fits of runs whose step has a closed form (tests/cost/measured/fake_runs.h), so that their result is known. */
#include "cost/measured/fit.h"
#include "tests/cost/measured/fake_runs.h"

typedef struct {
    Arena arena;
    FitProblem problem;
    FitModel model;
    double weights[FAKE_RUNS];
    LeastSolution solution;
} Fitted;

static void fit(Fake *fake, Fitted *out, FitStart start, int threads) {
    Error error = {0};
    *out = (Fitted){.problem = fake_problem(fake, threads)};
    out->problem.start = start;
    cr_assert(fit_prepare(&out->problem, &out->arena, &out->model, &error), "%s", error.text);
    fit_weights(&out->model, false, out->weights);
    do
        cr_assert(
            fit_solve(&out->model, out->weights, (FitSearch){.posterior = true}, &out->arena, &out->solution, &error),
            "%s", error.text);
    while (start == FIT_VALUES && fit_hold(&out->model, &out->solution, true) > 0);
}

static void write_back(Fake *fake, Fitted *fitted) {
    Error error = {0};
    cr_assert(fit_write(&fitted->model, &fitted->solution, fitted->weights, &fake->set, &error), "%s", error.text);
}

/* Two chips in two precisions under two stacks, steps from 0.05 s to 20 s, with and without communication. */
static void many_runs(Fake *fake) {
    static const char *const SOURCES[] = {"a", "b", "c"}, *const MODELS[] = {"7b", "70b", "405b"};
    for (int i = 0; i < 96; i++) {
        bool fp8 = i % 2 == 1;
        int chip = 1 + i / 2 % 2, stack = i / 4 % 2;
        double flops = 0.03 * pow(10, (i * 7 % 24) / 10.0);
        fake_run(fake, SOURCES[i % 3], MODELS[i / 8 % 3], chip, stack, flops, i % 5 == 0 ? flops * 2 : flops * 0.5,
                 fp8);
    }
}

static const struct {
    const char *entry, *key;
    double truth;
} TRUTH[] = {
    {"old", "matrix_efficiency", 0.62}, {"old", "fp8_efficiency", 0.66}, {"new", "matrix_efficiency", 0.83},
    {"new", "fp8_efficiency", 0.55},    {"plain", "data_exposed", 0.45}, {"tuned", "data_exposed", 0.06},
    {"plain", "step_seconds", 0.05},
};

static void set_truth(Fake *fake) {
    for (size_t i = 0; i < COUNT_OF(TRUTH); i++) fake_at(fake, TRUTH[i].entry, TRUTH[i].key)->value = TRUTH[i].truth;
}

Test(fit, recovers_known_figures) {
    static Fake fake;
    static Fitted fitted;
    const double noises[] = {0, 0.02};
    for (size_t n = 0; n < COUNT_OF(noises); n++) {
        fake_set(&fake);
        many_runs(&fake);
        set_truth(&fake);
        fake_measure(&fake, noises[n]);
        fake_reset(&fake);
        fit(&fake, &fitted, FIT_PRIORS, 2);
        write_back(&fake, &fitted);
        for (size_t i = 0; i < COUNT_OF(TRUTH); i++) {
            const SetFigure *figure = fake_at(&fake, TRUTH[i].entry, TRUTH[i].key);
            double off = fabs(log(figure->value / TRUTH[i].truth));
            cr_expect(figure->determined && off < figure->deviation, "%s.%s: %g +- %g, truth %g", TRUTH[i].entry,
                      TRUTH[i].key, figure->value, figure->deviation, TRUTH[i].truth);
        }
        /* no run uses HBM, and none is on the lone chip, which follows old's figure */
        const SetFigure *hbm = fake_at(&fake, "base", "hbm_efficiency"),
                        *lone = fake_at(&fake, "lone", "matrix_efficiency");
        cr_expect_eq(hbm->value, 0.85);
        cr_expect(!hbm->determined && hbm->runs == 0 && hbm->deviation == 0.1);
        cr_expect_float_eq(lone->value, 1.1 * fake_at(&fake, "old", "matrix_efficiency")->value, 1e-5);
        cr_expect(!lone->determined && lone->deviation == 0.05);
        cr_expect_eq(fake_at(&fake, "plain", "compute_factor")->value, 1.0); /* fixed */
        arena_free(&fitted.arena);
    }
}

/* All 24 runs of a chip and precision spend 63% or more of the step in its matmuls. */
Test(fit, counts_the_runs_that_a_figure_moves) {
    static Fake fake;
    static Fitted fitted;
    fake_set(&fake);
    many_runs(&fake);
    fake_run(&fake, "d", "7b", 1, 0, 1e-6, 1, false); /* this run is all communication: matmuls move it by 1e-6 */
    fake_measure(&fake, 0);
    fit(&fake, &fitted, FIT_PRIORS, 1);
    const FitParameter *p = fitted.model.parameters;
    for (int i = 0; i < fitted.model.parameter_count; i++)
        for (int k = 0; k < i; k++)
            cr_expect(p[k].of_stack != p[i].of_stack || p[k].at.entry != p[i].at.entry ||
                          p[k].at.figure != p[i].at.figure,
                      "%d and %d are one figure", k, i);
    write_back(&fake, &fitted);
    cr_expect_eq(fake_at(&fake, "old", "matrix_efficiency")->runs, 24);
    cr_expect_eq(fake_at(&fake, "new", "fp8_efficiency")->runs, 24);
    arena_free(&fitted.arena);
}

/* Four runs of one source, model, generation and precision weigh 1/2 each; two in fp8 weigh 1/sqrt 2; one of another
 * source weighs 1; a flagged one, left out, weighs 0 and does not belong to its group. */
Test(fit, families_weigh_and_not_runs) {
    static Fake fake;
    static Fitted fitted;
    fake_set(&fake);
    for (int i = 0; i < 4; i++) fake_run(&fake, "a", "7b", 1, i % 2, 1 + i, 1, false);
    for (int i = 0; i < 2; i++) fake_run(&fake, "a", "7b", 1, 0, 1 + i, 1, true);
    fake_run(&fake, "b", "7b", 1, 0, 1, 1, false);
    fake_run(&fake, "a", "7b", 1, 0, 1, 1, true)->flagged = true;
    fake_measure(&fake, 0);
    fit(&fake, &fitted, FIT_PRIORS, 1);
    const double included[] = {0.5, 0.5, 0.5, 0.5, 1 / sqrt(3), 1 / sqrt(3), 1, 1 / sqrt(3)};
    const double excluded[] = {0.5, 0.5, 0.5, 0.5, 1 / sqrt(2), 1 / sqrt(2), 1, 0};
    for (int i = 0; i < 8; i++) cr_expect_float_eq(fitted.weights[i], included[i], 1e-15, "%d", i);
    fit_weights(&fitted.model, true, fitted.weights);
    for (int i = 0; i < 8; i++) cr_expect_float_eq(fitted.weights[i], excluded[i], 1e-15, "%d", i);
    /* Of the first three alone, what stands behind them is neither read nor written. */
    fitted.problem.run_count = 3;
    fit_weights(&fitted.model, false, fitted.weights);
    for (int i = 0; i < 3; i++) cr_expect_float_eq(fitted.weights[i], 1 / sqrt(3), 1e-15, "%d", i);
    cr_expect_eq(fitted.weights[3], 0.5);
    arena_free(&fitted.arena);
}

/* A step of matmuls alone, a hundred times with one measurement: ln of the efficiency is the mean of prior and
 * measurement weighed by their precisions, 1/0.1^2 and sqrt(n)/0.04^2 with n = 100 in one group; small against 0.04. */
Test(fit, one_figure_in_closed_form) {
    static Fake fake;
    static Fitted fitted;
    fake_set(&fake);
    fake_at(&fake, "plain", "step_seconds")->value = 1e-3;
    fake_at(&fake, "plain", "step_seconds")->prior = 1e-3;
    fake_at(&fake, "plain", "step_seconds")->sigma = 0;
    for (int i = 0; i < 100; i++) fake_run(&fake, "a", "7b", 1, 0, 1000, 0, false);
    fake_measure(&fake, 0);
    for (int i = 0; i < 100; i++) fake.runs[i].measured_seconds *= exp(0.004);
    fit(&fake, &fitted, FIT_PRIORS, 1);
    write_back(&fake, &fitted);
    double data = 10 / (0.04 * 0.04), prior = 1 / (0.1 * 0.1);
    const SetFigure *figure = fake_at(&fake, "old", "matrix_efficiency");
    cr_expect_float_eq(log(figure->value / 0.7), -0.004 * data / (data + prior), 2e-5);
    cr_expect_float_eq(figure->deviation, 1 / sqrt(data + prior), 1e-5);
    arena_free(&fitted.arena);
}

/* A user's ten runs, 25% slower than the set says: the efficiency that determines them moves most of the way, and no
 * figure moves that they do not determine. */
Test(fit, a_few_runs_move_only_what_they_determine) {
    static Fake fake, before;
    static Fitted fitted;
    fake_set(&fake);
    for (int e = 0; e < 4; e++)
        for (int f = 0; f < fake.profiles[e].figure_count; f++) {
            fake.profiles[e].figures[f].value *= 0.97; /* as an earlier fit has left it, off its prior */
            fake.profiles[e].figures[f].deviation = 0.02;
        }
    for (int i = 0; i < 10; i++) fake_run(&fake, "mine", i % 2 ? "7b" : "8b", 1, 0, 10 + i, 0.1, false);
    fake_measure(&fake, 0.005);
    for (int i = 0; i < 10; i++) fake.runs[i].measured_seconds *= 1.25;
    before = fake;
    fit(&fake, &fitted, FIT_VALUES, 2);
    write_back(&fake, &fitted);
    double moved =
        fake_at(&fake, "old", "matrix_efficiency")->value / fake_at(&before, "old", "matrix_efficiency")->value;
    cr_expect(moved < 0.85 && moved > 0.79, "%g", moved);
    cr_expect(fake_at(&fake, "old", "matrix_efficiency")->determined);
    for (int e = 0; e < 6; e++) {
        const SetEntry *a = e < 4 ? &fake.profiles[e] : &fake.stacks[e - 4];
        const SetEntry *b = e < 4 ? &before.profiles[e] : &before.stacks[e - 4];
        for (int f = 0; f < a->figure_count; f++)
            if (e != 1 || f != 0)
                cr_expect_eq(a->figures[f].value, b->figures[f].value, "%s.%s", a->name, a->figures[f].figure->key);
    }
    arena_free(&fitted.arena);
}

/* This covers one run; the same run with two times; a time a million times off; a run without a prediction. */
static bool no_fp8(const void *context, int32_t run, const ProfileSet *set, double *seconds) {
    const Fake *fake = context;
    return !fake->works[run].fp8 && fake_predict(context, run, set, seconds);
}

Test(fit, hostile_runs) {
    static Fake fake;
    static Fitted fitted;
    Error error = {0};
    for (int what = 0; what < 5; what++) {
        fake_set(&fake);
        if (what < 4) fake_run(&fake, "a", "7b", 1, 0, 1, 1, what == 3);
        if (what >= 1 && what < 4) fake_run(&fake, "a", "7b", 1, 0, 1, 1, false);
        fake_measure(&fake, 0);
        if (what == 1) fake.runs[1].measured_seconds *= 2;
        if (what == 2) fake.runs[1].measured_seconds *= 1e6;
        fitted = (Fitted){.problem = fake_problem(&fake, 1)};
        fitted.problem.predict = no_fp8;
        cr_assert(fit_prepare(&fitted.problem, &fitted.arena, &fitted.model, &error), "%d: %s", what, error.text);
        fit_weights(&fitted.model, false, fitted.weights);
        cr_assert(fit_solve(&fitted.model, fitted.weights, (FitSearch){.posterior = true}, &fitted.arena,
                            &fitted.solution, &error));
        write_back(&fake, &fitted);
        double value = fake_at(&fake, "old", "matrix_efficiency")->value;
        cr_expect(value > 0.3 && value < 0.98, "%d: %g", what, value);
        if (what == 3) cr_expect(!fitted.model.usable[0] && fitted.weights[0] == 0 && fitted.weights[1] == 1);
        Cross cross;
        cr_assert(cross_validate(&(FittedModel){&fitted.model, fitted.weights, &fitted.solution},
                                 &(CrossFolds){.kind = CROSS_GROUPS, .folds = 10}, &fitted.arena, &cross, &error));
        static const int FOLDS[] = {1, 2, 2, 1, 0}; /* two runs of one group are left out one by one */
        cr_expect_eq(cross.folds, FOLDS[what], "%d: %d", what, cross.folds);
        if (what < 4) cr_expect_eq(cross.fold[0], what == 3 ? -1 : 0);
        arena_free(&fitted.arena);
    }
}

/* A figure that a left-out source alone has determined is back at its prior when it is predicted: the lone chip's
 * efficiency is 1.1 of old's, which others measured. */
Test(cross, a_source_left_out_leaves_priors) {
    static Fake fake;
    static Fitted fitted;
    Cross cross;
    Error error = {0};
    fake_set(&fake);
    for (int i = 0; i < 30; i++) fake_run(&fake, i % 2 ? "a" : "b", "7b", 1, 0, 10 + i, 0, false);
    for (int i = 0; i < 6; i++) fake_run(&fake, "c", "70b", 3, 0, 10 + i, 0, false);
    fake_at(&fake, "old", "matrix_efficiency")->value = 0.6;
    fake_at(&fake, "lone", "matrix_efficiency")->value = 0.5;
    fake_measure(&fake, 0);
    fake_reset(&fake);
    fit(&fake, &fitted, FIT_PRIORS, 2);
    cr_assert(cross_validate(&(FittedModel){&fitted.model, fitted.weights, &fitted.solution},
                             &(CrossFolds){.kind = CROSS_SOURCES}, &fitted.arena, &cross, &error));
    cr_expect_eq(cross.folds, 3);
    for (int i = 0; i < 30; i++) { /* the lone chip, which is far from 1.1 of it, pulls old's down a little */
        double ratio = cross.seconds[i] / fake.runs[i].measured_seconds;
        cr_expect_float_eq(ratio, 1, 0.03, "%d: %g", i, ratio);
    }
    for (int i = 30; i < 36; i++) { /* predicted at 1.1 x 0.6 of the peak, measured at 0.5 */
        double ratio = cross.seconds[i] / fake.runs[i].measured_seconds;
        cr_expect_float_eq(ratio, 0.5 / 0.66, 0.01, "%d: %g", i, ratio);
    }
    bool covered[FAKE_RUNS], alone[FAKE_RUNS];
    cross_coverage(&fitted.model, covered, alone);
    cr_expect(covered[0] && !alone[0] && !covered[30] && alone[30]);
    arena_free(&fitted.arena);
}

/* Ten runs of one group are all 20% slower than is believed: the fit learns it, and so do the fits without one of them,
 * where a fit without the whole group would know nothing of it. */
Test(cross, one_group_is_left_out_by_runs) {
    static Fake fake;
    static Fitted fitted;
    Cross cross;
    Error error = {0};
    fake_set(&fake);
    for (int i = 0; i < 10; i++) fake_run(&fake, "a", "7b", 1, 0, 10 + i, 0, false);
    fake_measure(&fake, 0);
    for (int i = 0; i < 10; i++) fake.runs[i].measured_seconds *= 1.2;
    fit(&fake, &fitted, FIT_PRIORS, 1);
    cr_assert(cross_validate(&(FittedModel){&fitted.model, fitted.weights, &fitted.solution},
                             &(CrossFolds){.kind = CROSS_GROUPS, .folds = 5}, &fitted.arena, &cross, &error));
    cr_expect(cross.by_run && cross.folds == 5);
    for (int i = 0; i < 10; i++) {
        double ratio = cross.seconds[i] / fake.runs[i].measured_seconds;
        cr_expect_eq(cross.fold[i], i % 5);
        cr_expect(ratio > 0.94 && ratio < 1.01, "%d: %g, 0.83 before the fit", i, ratio);
    }
    arena_free(&fitted.arena);
}

/* Seven groups of 8, 4, 4, 2, 2, 1 and 1 runs in three folds are dealt in this order, 8 + 2 + 1, 4 + 2, 4 + 1; no group
 * is in two of them. */
Test(cross, groups_are_dealt_whole) {
    static Fake fake;
    static Fitted fitted;
    Cross cross;
    Error error = {0};
    static const int SIZES[] = {1, 4, 2, 8, 2, 4, 1};
    fake_set(&fake);
    for (size_t g = 0; g < COUNT_OF(SIZES); g++)
        for (int i = 0; i < SIZES[g]; i++) fake_run(&fake, &"a\0b\0c\0d\0e\0f\0g"[2 * g], "7b", 1, 0, 1 + i, 1, i % 2);
    fake_measure(&fake, 0.01);
    fit(&fake, &fitted, FIT_PRIORS, 1);
    cr_assert(cross_validate(&(FittedModel){&fitted.model, fitted.weights, &fitted.solution},
                             &(CrossFolds){.kind = CROSS_GROUPS, .folds = 3}, &fitted.arena, &cross, &error));
    int sizes[3] = {0};
    for (int32_t i = 0; i < fake.count; i++) {
        sizes[cross.fold[i]]++;
        for (int32_t k = 0; k < i; k++)
            cr_expect(fake.runs[i].source[0] != fake.runs[k].source[0] || cross.fold[i] == cross.fold[k]);
    }
    cr_expect(sizes[0] == 11 && sizes[1] == 6 && sizes[2] == 5, "%d %d %d", sizes[0], sizes[1], sizes[2]);
    arena_free(&fitted.arena);
}

Test(fit, same_bytes_for_any_number_of_threads) {
    static Fake fake, first;
    static Fitted fitted;
    const int threads[] = {1, 2, 7};
    double seconds[FAKE_RUNS];
    for (size_t t = 0; t < COUNT_OF(threads); t++) {
        Cross cross;
        Error error = {0};
        fake_set(&fake);
        many_runs(&fake);
        set_truth(&fake);
        fake_measure(&fake, 0.1);
        fake_reset(&fake);
        fit(&fake, &fitted, FIT_PRIORS, threads[t]);
        cr_assert(cross_validate(&(FittedModel){&fitted.model, fitted.weights, &fitted.solution},
                                 &(CrossFolds){.kind = CROSS_GROUPS, .folds = 4}, &fitted.arena, &cross, &error));
        write_back(&fake, &fitted);
        if (t == 0) {
            first = fake;
            memcpy(seconds, cross.seconds, sizeof(double) * (size_t)fake.count);
        }
        cr_expect_eq(memcmp(seconds, cross.seconds, sizeof(double) * (size_t)fake.count), 0, "%d", threads[t]);
        cr_expect_eq(memcmp(fake.profiles, first.profiles, sizeof fake.profiles), 0, "%d", threads[t]);
        cr_expect_eq(memcmp(fake.stacks, first.stacks, sizeof fake.stacks), 0, "%d", threads[t]);
        arena_free(&fitted.arena);
    }
}

/* A user's ten runs on a chip that takes its network from its parent: they move the chip's figure, not everybody's;
 * figures that they do not determine stay the parent's. */
Test(fit, a_few_runs_speak_of_their_own_chip) {
    static Fake fake;
    static Fitted fitted;
    Error error = {0};
    fake_set(&fake);
    for (int i = 0; i < 10; i++) fake_run(&fake, "mine", i % 2 ? "7b" : "8b", 1, 1, 0.01, 100 + i, false);
    fake_measure(&fake, 0.005);
    for (int i = 0; i < 10; i++) fake.runs[i].measured_seconds *= 1.1;
    fake_at(&fake, "tuned", "data_exposed")->sigma = 0; /* so that only the network explains the runs */
    const int before = fake.profiles[1].figure_count;
    cr_assert(fit_own_figures(&fake.set, fake.runs, fake.count, &error), "%s", error.text);
    cr_expect_eq(fake.profiles[1].figure_count, before + 2); /* HBM and network */
    fit(&fake, &fitted, FIT_VALUES, 2);
    write_back(&fake, &fitted);
    cr_assert(fit_drop_own(&fake.set, &error), "%s", error.text);
    cr_expect_eq(fake.profiles[1].figure_count, before + 1);
    const SetFigure *own = fake_at(&fake, "old", "network_efficiency");
    cr_expect(own->determined && own->value < 0.76 && own->value > 0.72, "%g", own->value);
    cr_expect_eq(fake_at(&fake, "base", "network_efficiency")->value, 0.8);
    cr_expect_str_eq(own->of, "base");
    Profile of_new, of_old;
    profile_compose(&fake.set, &fake.profiles[2], NULL, &of_new);
    profile_compose(&fake.set, &fake.profiles[1], NULL, &of_old);
    cr_expect(of_new.network_efficiency == 0.8 && of_old.network_efficiency == own->value);
    cr_expect_eq(of_old.hbm_efficiency, 0.85);
    arena_free(&fitted.arena);
}
