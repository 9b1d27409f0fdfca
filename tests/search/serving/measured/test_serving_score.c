/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Errors of five rows in three groups, weighed by hand, and which group of each kind they are in. */
#include "base/util.h"
#include "tests/search/serving/measured/measured_fixture.h"

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
    outcomes[3].mixture = true, runs[3].mode = "offline-max";
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

/* Pairs, choices and limits of a few rows, counted by hand. */

enum { MOST = 4 };
static ServingRun ways[MOST];
static ServingOutcome ways_out[MOST];

/* A row: what was measured and what is predicted, in milliseconds a token and in tokens a second. */
static void set(int i, int64_t chips, double tpot, double rate, double said_tpot, double said_rate) {
    ways[i] = measured_run();
    ways[i].chips = chips;
    ways_out[i] = (ServingOutcome){
        .run = &ways[i], .measured = {tpot / 1e3, 0.1, rate}, .predicted = {said_tpot / 1e3, 0.1, said_rate}};
}

static ServingOrder order_of(int count) {
    ServingOrder order;
    serving_order(ways_out, count, &order);
    return order;
}

/* Two layouts: 4 chips at 100 tokens a second take 40 ms of a chip for a token, 2 chips at 60 33.3 ms. Predicted is 40
 * and 25 ms. Under 10 ms the second is chosen, which took 12. */
static void two_layouts(void) {
    set(0, 4, 9, 100, 9, 100);
    set(1, 2, 12, 60, 9.5, 80);
}

Test(serving_order, two_layouts) {
    two_layouts();
    ServingOrder order = order_of(2);
    cr_expect_eq(order.pairs, 1);
    cr_expect_eq(order.tau_tpot, 1);
    cr_expect_eq(order.tau_chip, 1);
    cr_expect(order.best == 1 && order.best_within == 1);
    cr_expect_eq(order.loads, 1);
    cr_expect_eq(order.limits, 5);
    cr_expect_eq(order.limits_kept, 4);
}

/* Another number of requests in flight is another choice, but no other load: a limit chooses among them. */
Test(serving_order, other_clients) {
    two_layouts();
    ways[1].concurrency = 9;
    ServingOrder order = order_of(2);
    cr_expect_eq(order.best, 0);
    cr_expect(order.limits == 5 && order.loads == 1 && order.pairs == 1);
}

/* Whatever else differs is another load: nothing to choose. */
Test(serving_order, other_loads) {
    for (int part = 0; part < 10; part++) {
        two_layouts();
        const char **texts[] = {&ways[1].family,  &ways[1].model, &ways[1].chip,   &ways[1].framework,
                                &ways[1].variant, &ways[1].mode,  &ways[1].version};
        if (part < (int)COUNT_OF(texts)) *texts[part] = "another";
        if (part == 7) ways[1].prompt++;
        if (part == 8) ways[1].output++;
        if (part == 9) ways[1].weights++;
        ServingOrder order = order_of(2);
        cr_expect(order.pairs == 0 && order.best == 0 && order.limits == 0 && isnan(order.tau_tpot), "%d", part);
    }
}

/* Rows that were not replayed, or perhaps had drafts, or lack a figure, are in nothing. */
Test(serving_order, rows_that_do_not_count) {
    for (int part = 0; part < 4; part++) {
        two_layouts();
        if (part == 0) snprintf(ways_out[1].skipped, sizeof ways_out[1].skipped, "no");
        if (part == 1) ways_out[1].drafts_unknown = true;
        if (part == 2) ways_out[1].measured = (ServingFigures){0};
        if (part == 3) ways_out[1].predicted = (ServingFigures){0};
        ServingOrder order = order_of(2);
        cr_expect(order.pairs == 0 && order.best == 0 && order.limits == 0, "%d", part);
    }
}

/* Times that lie less than 5% apart say nothing of an order; 5% do. Of equal predictions none is before the other. */
Test(serving_order, pairs_that_are_apart) {
    static const struct {
        double second, said;
        int64_t pairs;
        double tau;
    } CASES[] = {{20.9, 9, 0, 0}, {21, 21, 1, 1}, {21, 19, 1, -1}, {21, 20, 1, 0}, {19.1, 19, 0, 0}, {19, 19, 1, 1}};
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        set(0, 1, 20, 1, 20, 1);
        set(1, 1, CASES[i].second, 1, CASES[i].said, 1);
        ServingOrder order = order_of(2);
        cr_expect_eq(order.pairs, CASES[i].pairs, "%zu", i);
        if (order.pairs > 0) cr_expect_eq(order.tau_tpot, CASES[i].tau, "%zu: %g", i, order.tau_tpot);
    }
}

/* The one predicted best counts where it was measured within 5% of the best: 4 chips at 100 are 40 ms, 1 at 23.81
 * 42.0, and 1 at 23.8 42.02. */
Test(serving_order, within_five_percent) {
    static const double RATES[] = {4 / 0.168, 23.8};
    for (int i = 0; i < 2; i++) {
        set(0, 4, 9, 100, 9, 10);
        set(1, 1, 12, RATES[i], 12, 100);
        ServingOrder order = order_of(2);
        cr_expect_eq(order.best, 1);
        cr_expect_eq(order.best_within, i == 0, "%d", i);
    }
}

/* Without a rate the clients and both times give it: 8 requests of 101 tokens in 0.1 s + 100 x 9 ms are 808 a second,
 * and in 0.1 s + 100 x 19 ms 404; four chips for the one are worse than one for the other. */
Test(serving_order, rates_by_little) {
    set(0, 4, 9, 0, 9, 0);
    set(1, 1, 19, 0, 19, 0);
    ServingOrder order = order_of(2);
    cr_expect_eq(order.tau_tpot, 1);
    cr_expect_eq(order.tau_chip, 1);
    cr_expect(order.best == 1 && order.best_within == 1);
    cr_expect(order.loads == 1 && order.limits == 5 && order.limits_kept == 5);
    ways_out[1].predicted.tpot_seconds = 0.08; /* 8 x 101 / 8.1 s: 10 ms of a chip, as much as the other's 4.95 */
    order = order_of(2);
    cr_expect_eq(order.tau_chip, -1);
}

/* A limit of 10, 15, 20, 30 and 50 ms, each kept to the last hair. */
Test(serving_order, limits_are_inclusive) {
    static const double LIMITS[] = {10, 15, 20, 30, 50};
    for (size_t i = 0; i < COUNT_OF(LIMITS); i++)
        for (int over = 0; over < 2; over++) {
            double tpot = LIMITS[i] * (1 + 1e-9 * over);
            set(0, 1, tpot, 1, tpot, 1);
            set(1, 1, tpot, 1, tpot, 1);
            ServingOrder order = order_of(2);
            cr_expect_eq(order.limits, (int64_t)(COUNT_OF(LIMITS) - i) - over, "%g", tpot);
            cr_expect_eq(order.limits_kept, order.limits, "%g", tpot);
        }
}

/* A limit that no row kept as measured is no choice, whatever was predicted; and the other way about. */
Test(serving_order, limits_need_both) {
    for (int measured = 0; measured < 2; measured++) {
        two_layouts();
        for (int i = 0; i < 2; i++)
            *(measured ? &ways_out[i].measured.tpot_seconds : &ways_out[i].predicted.tpot_seconds) = 0.06;
        ServingOrder order = order_of(2);
        cr_expect(order.limits == 0 && order.loads == 0 && order.best == 1, "%d: %d", measured, (int)order.limits);
    }
}
