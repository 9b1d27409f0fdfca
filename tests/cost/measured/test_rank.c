/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chances of being the best, on invented groups whose plans are off by a known deviation. */
#include "cost/measured/rank.h"

#include "base/util.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

enum { GROUPS = 600, PLANS = 4 };
static const double DEVIATION = 0.05;

static double uniform(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return ((double)(*state >> 8) + 0.5) / 16777216.0;
}

static double normal(uint32_t *state) {
    double sum = -6;
    for (int i = 0; i < 12; i++) sum += uniform(state);
    return sum;
}

/* Predicted steps lie within 20% of each other; measured ones are off by DEVIATION. */
typedef struct {
    double said; /* how far off the model says they are */
    Run *runs;
    Ranked *rows;
} Invented;

static const char *const PLAN_WORDS[PLANS] = {"data=1", "data=2", "data=3", "data=4"};

static void make(Invented *out) {
    uint32_t state = 7;
    for (int i = 0; i < GROUPS * PLANS; i++) {
        out->runs[i] = (Run){.family = "s",
                             .model = "m",
                             .dimensions = "",
                             .trained = "",
                             .release = "",
                             .variant = "",
                             .remat = "",
                             .plan = PLAN_WORDS[i % PLANS],
                             .request = {.model = "", .chip = "h", .chips = i / PLANS + 1, .seq = 1, .sequences = 1},
                             .line = i};
        double predicted = exp(0.2 * uniform(&state));
        out->rows[i] = (Ranked){&out->runs[i], predicted * exp(DEVIATION * normal(&state)), predicted, false};
    }
}

static bool price(const void *context, const Profile *composed, double *seconds) {
    (void)composed;
    *seconds = ((const Ranked *)context)->predicted_seconds;
    return true;
}

static bool prepare(void *context, int place, const Run *run, DoubtedPrice *out) {
    static const ProfileDoubts NONE;
    const Invented *invented = context;
    (void)place;
    *out = (DoubtedPrice){.doubts = &NONE,
                          .price = price,
                          .context = &invented->rows[run - invented->runs],
                          .own_error = invented->said,
                          .group = ""};
    return invented->said > 0;
}

static Reliability reliability(double said) {
    Invented invented = {said, calloc(GROUPS * PLANS, sizeof(Run)), calloc(GROUPS * PLANS, sizeof(Ranked))};
    Reliability out;
    Error error = {0};
    cr_assert(invented.runs && invented.rows);
    make(&invented);
    cr_assert(reliability_of(invented.rows, GROUPS * PLANS, &(ReliabilityPrices){&invented, prepare, 1}, &out, &error),
              "%s", error.text);
    free(invented.runs);
    free(invented.rows);
    return out;
}

Test(reliability, true_chances_come_true) {
    Reliability r = reliability(DEVIATION);
    cr_assert_eq(r.groups, GROUPS);
    int64_t plans = 0, best = 0;
    for (int i = 0; i < RELIABILITY_BINS; i++) {
        plans += r.plans[i];
        best += r.best[i];
        if (r.plans[i] < 100) continue;
        double n = (double)r.plans[i], p = r.expected[i] / n, sampled = sqrt(p * (1 - p) / n);
        cr_expect_float_eq((double)r.best[i] / n, p, 4 * sampled + 0.02, "bin %d: %g of %g", i, (double)r.best[i] / n,
                           p);
    }
    cr_expect_eq(plans, GROUPS * PLANS);
    cr_expect_eq(best, GROUPS);
    cr_expect_float_eq(r.score_without, -log(PLANS), 1e-9);
    cr_expect_gt(r.score, r.score_without);
}

/* What is too sure of itself, or too little, shows: its surest plans win less, or more, often than it says; and the
 * score is best for the truth. */
Test(reliability, wrong_chances_do_not) {
    Reliability sure = reliability(DEVIATION / 4), unsure = reliability(DEVIATION * 4), right = reliability(DEVIATION);
    int last = RELIABILITY_BINS - 1;
    cr_assert_gt(sure.plans[last], 100);
    cr_expect_lt((double)sure.best[last], 0.9 * sure.expected[last]);
    cr_expect_gt((double)unsure.best[3], 1.2 * unsure.expected[3]);
    cr_expect_gt(right.score, sure.score + 0.02);
    cr_expect_gt(right.score, unsure.score + 0.02);
}

Test(reliability, a_profile_that_does_not_know_its_errors_says_nothing) { cr_expect_eq(reliability(0).groups, 0); }

/* Places: of two groups of two plans, one with a repeat; a run without tokens has none. */
Test(ranking, places) {
    Run runs[6];
    Ranked rows[6];
    RankPlace places[6];
    Error error = {0};
    static const int PLAN_OF[] = {1, 0, 1, 0, 1, 0}, CHIPS_OF[] = {8, 8, 8, 16, 16, 16};
    for (int i = 0; i < 6; i++) {
        runs[i] = (Run){.family = "s",
                        .model = "m",
                        .dimensions = "",
                        .trained = "",
                        .release = "",
                        .variant = "",
                        .remat = "",
                        .plan = PLAN_WORDS[PLAN_OF[i]],
                        .request = {.model = "", .chip = "h", .chips = CHIPS_OF[i], .seq = i < 5, .sequences = 1},
                        .line = i};
        rows[i] = (Ranked){&runs[i], 1, 1, false};
    }
    cr_assert(rank_places(rows, 6, places, &error));
    cr_expect(places[0].group == places[1].group && places[0].group == places[2].group);
    cr_expect(places[3].group == places[4].group && places[3].group != places[0].group);
    cr_expect(places[0].plan == places[2].plan && places[0].plan != places[1].plan);
    cr_expect(places[3].plan != places[4].plan && places[3].plan != places[1].plan);
    cr_expect(places[5].group == -1 && places[5].plan == -1);
}
