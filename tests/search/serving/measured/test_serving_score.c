/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Errors of five rows in three groups, weighed by hand, and which group of each kind they are in. */
#include "tests/search/serving/measured/measured_fixture.h"

#include "base/util.h"

#include <math.h>
#include <string.h>

enum { ROWS = 6 };
static ServingRun runs[ROWS];
static ServingOutcome outcomes[ROWS];

/* Two of group a, 10% and 20% too long; one of b, 40% too short; a mixture queued at once, whose rate is 50% too
 * high; one of two pools, of which nobody says whether it had drafts; one that was not replayed. */
static void make(void) {
    static const double TPOT[ROWS] = {1.1, 1.2, 0.6, 0, 3, 9};
    for (int i = 0; i < ROWS; i++) {
        runs[i] = measured_run();
        runs[i].group = i < 2 ? "a" : i == 2 ? "b" : "c";
        outcomes[i] = (ServingOutcome){.run = &runs[i], .layout = "tensor=1"};
        if (TPOT[i] > 0) outcomes[i].measured.tpot_seconds = 0.01, outcomes[i].predicted.tpot_seconds = 0.01 * TPOT[i];
    }
    outcomes[0].measured.ttft_seconds = 1, outcomes[0].predicted.ttft_seconds = 0.5;
    outcomes[3].measured.tokens_per_second = 100, outcomes[3].predicted.tokens_per_second = 150;
    runs[3].arch = "moe", runs[3].mode = "offline-max";
    runs[4].mode = "disagg";
    outcomes[4].drafts_unknown = true;
    snprintf(outcomes[5].skipped, sizeof outcomes[5].skipped, "why");
}

static const ServingStats *stats_of(const ServingScore *score, ServedBy by, const char *name, ServingMetric metric) {
    for (int i = 0; i < score->by_count[by]; i++)
        if (strcmp(score->by[by][i].name, name) == 0) return &score->by[by][i].of[metric];
    cr_assert_fail("no %s", name);
    return NULL;
}

static void expect(const ServingStats *stats, int64_t rows, int64_t groups, double median, double worst, double bias,
                   const char *what) {
    cr_expect_eq(stats->rows, rows, "%s: %d rows", what, (int)stats->rows);
    cr_expect_eq(stats->groups, groups, "%s: %d groups", what, (int)stats->groups);
    cr_expect_float_eq(stats->median, median, 1e-9, "%s: %g", what, stats->median);
    cr_expect_float_eq(stats->worst, worst, 1e-9, "%s: %g", what, stats->worst);
    cr_expect_float_eq(stats->bias, bias, 1e-9, "%s: %g", what, stats->bias);
}

Test(serving_score, rows_in_their_groups) {
    Arena arena = {0};
    ServingScore score;
    Error error = {0};
    make();
    cr_assert(serving_score(outcomes, ROWS, &arena, &score, &error));
    cr_expect_eq(score.count, 6);
    cr_expect_eq(score.replayed, 5);
    /* a has half a weight for each of 0.1 and 0.2, b one of 0.4: half of it all lies at 0.2; with signs at 0.1 */
    expect(&score.all[SCORE_TPOT], 3, 2, 0.2, 0.4, -0.4, "tpot");
    expect(&score.all[SCORE_TTFT], 1, 1, 0.5, 0.5, -0.5, "ttft");
    expect(&score.all[SCORE_RATE], 1, 1, 0.5, 0.5, 0.5, "rate");
    expect(stats_of(&score, SERVED_BY_KIND, "dense", SCORE_TPOT), 3, 2, 0.2, 0.4, -0.4, "dense");
    expect(stats_of(&score, SERVED_BY_KIND, "mixture, all at once", SCORE_RATE), 1, 1, 0.5, 0.5, 0.5, "at once");
    expect(stats_of(&score, SERVED_BY_KIND, "two pools, drafts?", SCORE_TPOT), 1, 1, 2, 2, 2, "drafts");
    expect(stats_of(&score, SERVED_BY_MODE, "closed-loop", SCORE_TPOT), 3, 2, 0.2, 0.4, -0.4, "mode");
    expect(stats_of(&score, SERVED_BY_LAYOUT, "tensor=1", SCORE_TPOT), 3, 2, 0.2, 0.4, -0.4, "layout");
    cr_expect_eq(score.by_count[SERVED_BY_KIND], 3);
    cr_expect_eq(score.by_count[SERVED_BY_MODE], 2, "of what may have had drafts no group but its kind");
    cr_expect_eq(score.by_count[SERVED_BY_SOURCE], 1);
    for (int i = 0; i + 1 < score.by_count[SERVED_BY_KIND]; i++)
        cr_expect_lt(strcmp(score.by[SERVED_BY_KIND][i].name, score.by[SERVED_BY_KIND][i + 1].name), 0);
    arena_free(&arena);
}

/* An error is predicted / measured - 1 of what was measured, replayed and predicted. */
Test(serving_score, errors) {
    make();
    cr_expect_float_eq(serving_metric_error(&outcomes[1], SCORE_TPOT), 0.2, 1e-12);
    cr_expect(isnan(serving_metric_error(&outcomes[1], SCORE_TTFT)));
    cr_expect(isnan(serving_metric_error(&outcomes[5], SCORE_TPOT)));
    outcomes[1].predicted.tpot_seconds = 0;
    cr_expect(isnan(serving_metric_error(&outcomes[1], SCORE_TPOT)));
}

/* Ten rows of one weight: the median is the fifth, nine in ten lie below the ninth. */
Test(serving_score, quantiles) {
    double errors[10], weights[10];
    ServingStats stats;
    for (int i = 0; i < 10; i++) errors[i] = (i % 2 ? -0.01 : 0.01) * (i + 1), weights[i] = 1;
    cr_assert(serving_stats(errors, weights, 10, &stats));
    cr_expect_float_eq(stats.median, 0.05, 0.0051, "%g", stats.median);
    cr_expect_float_eq(stats.p90, 0.09, 0.0051, "%g", stats.p90);
    cr_expect_float_eq(stats.worst, 0.1, 1e-12);
    cr_assert(serving_stats(errors, weights, 0, &stats));
    cr_expect(stats.rows == 0 && stats.median == 0 && stats.worst == 0);
}
