/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tests/cost/measured/fake_runs.h: a small set of profiles and runs whose step has a closed form, so that a fit's
 * answer is known:
 *    seconds = flops / (matrix_efficiency x compute_factor) + exposed x bytes / network_efficiency + step_seconds
 * with fp8_efficiency in the place of matrix_efficiency for runs in fp8, and data_exposed as the exposed share. */
#pragma once

#include "base/util.h"
#include "cost/measured/cross_validation.h"
#include "cost/measured/fit.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FAKE_RUNS = 120, FAKE_THREADS = 7 };

typedef struct {
    double flops, bytes; /* over the peak, over the line rate: seconds */
    bool fp8;
} FakeWork;

typedef struct {
    SetEntry profiles[4], stacks[2];
    ProfileSet set;
    FitRun runs[FAKE_RUNS];
    FakeWork works[FAKE_RUNS];
    int32_t count;
} Fake;

static inline void fake_figure(SetEntry *entry, const char *key, double prior, double sigma, const char *of) {
    SetFigure *figure = &entry->figures[entry->figure_count++];
    *figure = (SetFigure){.figure = profile_figure(key), .value = prior, .prior = prior, .sigma = sigma, .source = ""};
    cr_assert_not_null(figure->figure, "%s", key);
    snprintf(figure->of, sizeof figure->of, "%s", of);
}

/* Each arrow leads from parent to child: base <- old <- new (its fp8 is believed to be 0.9 of old's), base <- lone;
 * tuned <- plain. */
static inline void fake_set(Fake *fake) {
    *fake = (Fake){0};
    static const char *const NAMES[] = {"base", "old", "new", "lone"}, *const KIN[] = {"", "base", "base", "base"};
    for (int i = 0; i < 4; i++) {
        snprintf(fake->profiles[i].name, PROFILE_NAME_SIZE, "%s", NAMES[i]);
        snprintf(fake->profiles[i].parent, PROFILE_NAME_SIZE, "%s", KIN[i]);
    }
    SetEntry *base = &fake->profiles[0], *old = &fake->profiles[1], *new = &fake->profiles[2];
    fake_figure(base, "matrix_efficiency", 0.7, 0.1, "");
    fake_figure(base, "hbm_efficiency", 0.85, 0.1, ""); /* no run moves it */
    fake_figure(base, "network_efficiency", 0.8, 0.1, "");
    fake_figure(old, "matrix_efficiency", 0.7, 0.1, "");
    fake_figure(old, "fp8_efficiency", 0.6, 0.1, "");
    fake_figure(new, "matrix_efficiency", 0.75, 0.1, "");
    fake_figure(new, "fp8_efficiency", 0.9, 0.05, "old");
    fake_figure(&fake->profiles[3], "matrix_efficiency", 1.1, 0.05, "old");
    SetEntry *plain = &fake->stacks[0], *tuned = &fake->stacks[1];
    snprintf(plain->name, sizeof plain->name, "plain");
    snprintf(tuned->name, sizeof tuned->name, "tuned");
    snprintf(tuned->parent, sizeof tuned->parent, "plain");
    fake_figure(plain, "data_exposed", 0.3, 0.6, "");
    fake_figure(plain, "compute_factor", 1, 0, ""); /* fixed */
    fake_figure(plain, "step_seconds", 0.03, 0.7, "");
    fake_figure(tuned, "data_exposed", 0.1, 0.6, "");
    fake->set = (ProfileSet){.profiles = fake->profiles, .profile_count = 4, .stacks = fake->stacks, .stack_count = 2};
    Error error = {0};
    cr_assert(profile_set_resolve(&fake->set, "fake", &error), "%s: %s", error.where, error.text);
}

static inline SetFigure *fake_at(Fake *fake, const char *entry, const char *key) {
    for (int e = 0; e < 6; e++) {
        SetEntry *it = e < 4 ? &fake->profiles[e] : &fake->stacks[e - 4];
        for (int f = 0; f < it->figure_count; f++)
            if (strcmp(it->name, entry) == 0 && strcmp(it->figures[f].figure->key, key) == 0) return &it->figures[f];
    }
    cr_assert_fail("%s.%s", entry, key);
    return NULL;
}

static inline bool fake_predict(const void *context, int32_t run, const ProfileSet *set, double *seconds) {
    const Fake *fake = context;
    Profile profile;
    profile_compose(set, fake->runs[run].chip, fake->runs[run].stack, &profile);
    double efficiency = fake->works[run].fp8 ? profile.fp8_efficiency : profile.matrix_efficiency;
    *seconds = fake->works[run].flops / (efficiency * profile.compute_factor) +
               profile.data_exposed * fake->works[run].bytes / profile.network_efficiency +
               profile.step_overhead_seconds;
    return true;
}

static inline FitRun *fake_run(Fake *fake, const char *source, const char *model, int chip, int stack, double flops,
                               double bytes, bool fp8) {
    cr_assert(fake->count < FAKE_RUNS);
    int32_t i = fake->count++;
    fake->works[i] = (FakeWork){flops, bytes, fp8};
    fake->runs[i] = (FitRun){.id = model,
                             .source = source,
                             .model = model,
                             .precision = fp8 ? "fp8" : "bf16",
                             .chip = &fake->profiles[chip],
                             .stack = &fake->stacks[stack]};
    return &fake->runs[i];
}

/* Sets measured to the model's result under the set's values, times 1 + noise (-1 to 1 by a fixed sequence). */
static inline void fake_measure(Fake *fake, double noise) {
    for (int32_t i = 0; i < fake->count; i++) {
        fake_predict(fake, i, &fake->set, &fake->runs[i].measured_seconds);
        double turn = fmod(i * 0.6180339887498949, 1); /* golden section: evenly spread */
        fake->runs[i].measured_seconds *= 1 + noise * (2 * turn - 1);
    }
}

static inline void fake_reset(Fake *fake) {
    for (int e = 0; e < 6; e++) {
        SetEntry *it = e < 4 ? &fake->profiles[e] : &fake->stacks[e - 4], *list = e < 4 ? fake->profiles : fake->stacks;
        for (int f = 0; f < it->figure_count; f++) it->figures[f].value = set_figure_prior(list, &it->figures[f]);
    }
}

static inline FitProblem fake_problem(const Fake *fake, int threads) {
    return (FitProblem){.set = &fake->set,
                        .runs = fake->runs,
                        .run_count = fake->count,
                        .predict = fake_predict,
                        .context = fake,
                        .threads = threads};
}
