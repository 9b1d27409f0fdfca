/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether the model puts ways to serve one load in the order in which they were measured. */
#include "search/serving/measured/serving_score.h"

#include "base/util.h"

#include <math.h>
#include <string.h>

static const double APART = 1.05, NEAR = 1.05;

/* Whether two rows serve the same load, so that a planner could have chosen between them. */
static bool same_load(const ServingOutcome *a, const ServingOutcome *b) {
    const ServingRun *x = a->run, *y = b->run;
    return x->prompt == y->prompt && x->output == y->output && strcmp(x->source, y->source) == 0 &&
           strcmp(x->model, y->model) == 0 && strcmp(x->chip, y->chip) == 0 && strcmp(x->engine, y->engine) == 0 &&
           strcmp(x->weights, y->weights) == 0 && strcmp(x->mode, y->mode) == 0 && strcmp(x->version, y->version) == 0;
}

/* Chip-seconds of an output token. InferenceX rows have no rate: the clients and both times give it (Little). */
static double chip_seconds(const ServingOutcome *outcome, const ServingFigures *of) {
    const ServingRun *run = outcome->run;
    double rate = of->tokens_per_second;
    if (outcome->measured.tokens_per_second <= 0 && of->tpot_seconds > 0 && run->concurrency > 0)
        rate = run->concurrency * run->output / (of->ttft_seconds + of->tpot_seconds * (run->output - 1));
    return rate > 0 ? (double)run->chips / rate : 0;
}

static double cost(const ServingOutcome *outcome, bool chip, bool predicted) {
    const ServingFigures *of = predicted ? &outcome->predicted : &outcome->measured;
    return chip ? chip_seconds(outcome, of) : of->tpot_seconds;
}

static bool usable(const ServingOutcome *outcome, bool chip) {
    return !outcome->skipped[0] && !outcome->drafts_unknown && cost(outcome, chip, false) > 0 &&
           cost(outcome, chip, true) > 0;
}

/* Each load's own tau, weighed by its pairs. */
static double tau_of(const ServingOutcome *outcomes, int64_t count, bool chip, int64_t *pairs) {
    double agree = 0;
    *pairs = 0;
    for (int64_t i = 0; i < count; i++) {
        if (!usable(&outcomes[i], chip)) continue;
        for (int64_t j = i + 1; j < count; j++) {
            if (!usable(&outcomes[j], chip) || !same_load(&outcomes[i], &outcomes[j])) continue;
            double a = cost(&outcomes[i], chip, false), b = cost(&outcomes[j], chip, false);
            if (max_real(a, b) < APART * min_real(a, b)) continue;
            double x = cost(&outcomes[i], chip, true), y = cost(&outcomes[j], chip, true);
            agree += x == y ? 0 : (a < b) == (x < y) ? 1 : -1;
            ++*pairs;
        }
    }
    return *pairs > 0 ? agree / (double)*pairs : NAN;
}

/* Of the rows of i's load (and, where `same_clients`, its number of requests in flight) under a limit of TPOT, the one
 * predicted best and the one measured best, by chip-seconds. False: there is no choice, or i is not its first row. */
static bool choose(const ServingOutcome *outcomes, int64_t count, int64_t i, double limit,
                   const ServingOutcome *found[2]) {
    int layouts = 0;
    found[0] = found[1] = NULL;
    for (int64_t j = 0; j < count; j++) {
        const ServingOutcome *one = &outcomes[j];
        bool same_clients = limit > 0 || one->run->concurrency == outcomes[i].run->concurrency;
        if (!usable(one, true) || !same_load(&outcomes[i], one) || !same_clients) continue;
        if (j < i) return false;
        layouts++;
        for (int predicted = 0; predicted < 2; predicted++) {
            double tpot = cost(one, false, predicted);
            if (limit > 0 && !(tpot > 0 && tpot <= limit)) continue;
            if (!found[predicted] || cost(one, true, predicted) < cost(found[predicted], true, predicted))
                found[predicted] = one;
        }
    }
    return layouts > 1 && found[0] && found[1];
}

void serving_order(const ServingOutcome *outcomes, int64_t count, ServingOrder *out) {
    static const double LIMITS[] = {0.01, 0.015, 0.02, 0.03, 0.05};
    int64_t pairs;
    *out = (ServingOrder){0};
    out->tau_tpot = tau_of(outcomes, count, false, &out->pairs);
    out->tau_chip = tau_of(outcomes, count, true, &pairs);
    for (int64_t i = 0; i < count; i++) {
        const ServingOutcome *found[2]; /* measured best, predicted best */
        if (!usable(&outcomes[i], true)) continue;
        if (choose(outcomes, count, i, 0, found)) {
            out->best++;
            out->best_within += cost(found[1], true, false) <= NEAR * cost(found[0], true, false);
        }
        for (size_t l = 0; l < COUNT_OF(LIMITS); l++) {
            if (!choose(outcomes, count, i, LIMITS[l], found)) continue;
            out->loads += l == 0;
            out->limits++;
            out->limits_kept += cost(found[1], false, false) <= LIMITS[l];
        }
    }
}
