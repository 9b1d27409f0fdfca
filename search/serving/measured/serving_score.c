/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/serving/measured/serving_score.h"

#include "base/util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *serving_metric_name(ServingMetric metric) {
    static const char *const NAMES[SCORE_METRICS] = {"tpot", "ttft", "output_tokens_per_second"};
    return NAMES[metric];
}

const char *served_by_name(ServedBy by) {
    static const char *const NAMES[SERVED_BY_COUNT] = {"kind", "mode", "source", "chip", "engine", "model", "layout"};
    return NAMES[by];
}

static double figure(const ServingFigures *of, ServingMetric metric) {
    const double figures[SCORE_METRICS] = {of->tpot_seconds, of->ttft_seconds, of->tokens_per_second};
    return figures[metric];
}

double serving_metric_error(const ServingOutcome *outcome, ServingMetric metric) {
    double was = figure(&outcome->measured, metric), now = figure(&outcome->predicted, metric);
    return !outcome->skipped[0] && was > 0 && now > 0 ? now / was - 1 : NAN;
}

/* ---- statistics ---- */

bool serving_stats(double *errors, double *weights, int64_t count, ServingStats *out) {
    WeighedValue *list = calloc((size_t)count + 1, sizeof *list);
    *out = (ServingStats){.rows = count};
    if (!list) return false;
    for (int64_t i = 0; i < count; i++) {
        list[i] = (WeighedValue){fabs(errors[i]), weights[i]};
        out->worst = max_real(out->worst, fabs(errors[i]));
    }
    if (count > 0) out->median = weighed_quantile(list, count, 0.5), out->p90 = weighed_quantile(list, count, 0.9);
    for (int64_t i = 0; i < count; i++) list[i] = (WeighedValue){errors[i], weights[i]};
    if (count > 0) out->bias = weighed_quantile(list, count, 0.5);
    free(list);
    return true;
}

/* ---- groups of rows ---- */

typedef struct {
    const ServingOutcome *outcomes;
    int64_t count;
    double *weights; /* of the metric at hand */
    double *errors, *own;
    Arena *arena;
} Scoring;

const char *served_kind(const ServingOutcome *outcome) {
    bool mixture = outcome->mixture, pools = strcmp(outcome->run->mode, "disagg") == 0;
    if (outcome->drafts_unknown) return pools ? "two pools, drafts?" : "mixture, drafts?";
    if (pools) return "two pools";
    if (served_at_once(outcome->run)) return mixture ? "mixture, all at once" : "dense, all at once";
    return mixture ? "mixture" : "dense";
}

static const char *name_of(const ServingOutcome *outcome, ServedBy by) {
    const ServingRun *run = outcome->run;
    const char *names[SERVED_BY_COUNT] = {served_kind(outcome), run->mode,  run->family,    run->chip,
                                          run->framework,       run->model, outcome->layout};
    return names[by];
}

/* One over the rows of its group that have this figure. */
static void weigh(Scoring *to, ServingMetric metric) {
    for (int64_t i = 0; i < to->count; i++) {
        double rows = 0;
        to->weights[i] = 0;
        if (isnan(serving_metric_error(&to->outcomes[i], metric))) continue;
        for (int64_t j = 0; j < to->count; j++)
            rows += strcmp(to->outcomes[j].run->group, to->outcomes[i].run->group) == 0 &&
                    !isnan(serving_metric_error(&to->outcomes[j], metric));
        to->weights[i] = 1 / rows;
    }
}

static bool stats_of(Scoring *to, ServingMetric metric, ServedBy by, const char *name, ServingStats *out) {
    int64_t count = 0;
    double groups = 0;
    for (int64_t i = 0; i < to->count; i++) {
        if (!(to->weights[i] > 0) || (name && strcmp(name_of(&to->outcomes[i], by), name) != 0)) continue;
        if (to->outcomes[i].drafts_unknown && !(name && by == SERVED_BY_KIND)) continue; /* a kind of its own alone */
        to->errors[count] = serving_metric_error(&to->outcomes[i], metric);
        groups += to->weights[i];
        to->own[count++] = to->weights[i];
    }
    bool ok = serving_stats(to->errors, to->own, count, out);
    out->groups = (int64_t)(groups + 0.5);
    return ok;
}

static bool list_names(Scoring *to, ServedBy by, ServingScore *out) {
    ServingGroup *list = ARENA_NEW(to->arena, ServingGroup, (size_t)to->count + 1);
    int count = 0;
    if (!list) return false;
    for (int64_t i = 0; i < to->count; i++) {
        if (to->outcomes[i].skipped[0] || (to->outcomes[i].drafts_unknown && by != SERVED_BY_KIND)) continue;
        const char *name = name_of(&to->outcomes[i], by);
        int at = 0;
        while (at < count && strcmp(list[at].name, name) != 0) at++;
        if (at == count) list[count++].name = name;
    }
    qsort(list, (size_t)count, sizeof *list, order_text);
    out->by[by] = list;
    out->by_count[by] = count;
    return true;
}

static bool score_all(Scoring *to, ServingScore *out) {
    for (int by = 0; by < SERVED_BY_COUNT; by++)
        if (!list_names(to, (ServedBy)by, out)) return false;
    for (int metric = 0; metric < SCORE_METRICS; metric++) {
        weigh(to, (ServingMetric)metric);
        if (!stats_of(to, (ServingMetric)metric, 0, NULL, &out->all[metric])) return false;
        for (int by = 0; by < SERVED_BY_COUNT; by++)
            for (int i = 0; i < out->by_count[by]; i++)
                if (!stats_of(to, (ServingMetric)metric, (ServedBy)by, out->by[by][i].name, &out->by[by][i].of[metric]))
                    return false;
    }
    return true;
}

bool serving_score(const ServingOutcome *outcomes, int64_t count, Arena *arena, ServingScore *out, Error *error) {
    size_t room = (size_t)count + 1;
    Scoring to = {.outcomes = outcomes, .count = count, .arena = arena};
    to.weights = ARENA_NEW(arena, double, room);
    to.errors = ARENA_NEW(arena, double, room);
    to.own = ARENA_NEW(arena, double, room);
    *out = (ServingScore){.count = count};
    for (int64_t i = 0; i < count; i++) out->replayed += outcomes[i].skipped[0] == '\0';
    if (!to.weights || !to.errors || !to.own || !score_all(&to, out)) return error_memory(error);
    serving_order(outcomes, count, &out->order);
    return true;
}

/* Whether the model puts ways to serve one load in the order in which they were measured. */

static const double APART = 1.05, NEAR = 1.05;

/* Whether two rows serve the same load, so that a planner could have chosen between them. */
static bool same_load(const ServingOutcome *a, const ServingOutcome *b) {
    const ServingRun *x = a->run, *y = b->run;
    return x->prompt == y->prompt && x->output == y->output && strcmp(x->family, y->family) == 0 &&
           strcmp(x->model, y->model) == 0 && strcmp(x->chip, y->chip) == 0 &&
           strcmp(x->framework, y->framework) == 0 && x->weights == y->weights && strcmp(x->variant, y->variant) == 0 &&
           strcmp(x->mode, y->mode) == 0 && strcmp(x->version, y->version) == 0;
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
