/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pairs, choices and limits of a few rows, counted by hand. */
#include "tests/search/serving/measured/measured_fixture.h"

#include "base/util.h"

#include <math.h>

enum { MOST = 4 };
static ServingRun runs[MOST];
static ServingOutcome outcomes[MOST];

/* A row: what was measured and what is predicted, in milliseconds a token and in tokens a second. */
static void set(int i, int64_t chips, double tpot, double rate, double said_tpot, double said_rate) {
    runs[i] = measured_run();
    runs[i].chips = chips;
    outcomes[i] = (ServingOutcome){
        .run = &runs[i], .measured = {tpot / 1e3, 0.1, rate}, .predicted = {said_tpot / 1e3, 0.1, said_rate}};
}

static ServingOrder order_of(int count) {
    ServingOrder order;
    serving_order(outcomes, count, &order);
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
    runs[1].concurrency = 9;
    ServingOrder order = order_of(2);
    cr_expect_eq(order.best, 0);
    cr_expect(order.limits == 5 && order.loads == 1 && order.pairs == 1);
}

/* Whatever else differs is another load: nothing to choose. */
Test(serving_order, other_loads) {
    for (int part = 0; part < 9; part++) {
        two_layouts();
        const char **texts[] = {&runs[1].source,  &runs[1].model, &runs[1].chip,   &runs[1].engine,
                                &runs[1].weights, &runs[1].mode,  &runs[1].version};
        if (part < (int)COUNT_OF(texts)) *texts[part] = "another";
        if (part == 7) runs[1].prompt++;
        if (part == 8) runs[1].output++;
        ServingOrder order = order_of(2);
        cr_expect(order.pairs == 0 && order.best == 0 && order.limits == 0 && isnan(order.tau_tpot), "%d", part);
    }
}

/* Rows that were not replayed, or perhaps had drafts, or lack a figure, are in nothing. */
Test(serving_order, rows_that_do_not_count) {
    for (int part = 0; part < 4; part++) {
        two_layouts();
        if (part == 0) snprintf(outcomes[1].skipped, sizeof outcomes[1].skipped, "no");
        if (part == 1) outcomes[1].drafts_unknown = true;
        if (part == 2) outcomes[1].measured = (ServingFigures){0};
        if (part == 3) outcomes[1].predicted = (ServingFigures){0};
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
    outcomes[1].predicted.tpot_seconds = 0.08; /* 8 x 101 / 8.1 s: 10 ms of a chip, as much as the other's 4.95 */
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
            *(measured ? &outcomes[i].measured.tpot_seconds : &outcomes[i].predicted.tpot_seconds) = 0.06;
        ServingOrder order = order_of(2);
        cr_expect(order.limits == 0 && order.loads == 0 && order.best == 1, "%d: %d", measured, (int)order.limits);
    }
}
