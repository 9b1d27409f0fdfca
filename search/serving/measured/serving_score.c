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

static const char *kind_of(const ServingOutcome *outcome) {
    bool mixture = strcmp(outcome->run->arch, "moe") == 0, pools = strcmp(outcome->run->mode, "disagg") == 0;
    if (outcome->drafts_unknown) return pools ? "two pools, drafts?" : "mixture, drafts?";
    if (pools) return "two pools";
    if (served_at_once(outcome->run)) return mixture ? "mixture, all at once" : "dense, all at once";
    return mixture ? "mixture" : "dense";
}

static const char *name_of(const ServingOutcome *outcome, ServedBy by) {
    const ServingRun *run = outcome->run;
    const char *names[SERVED_BY_COUNT] = {kind_of(outcome), run->mode,  run->source,    run->chip,
                                          run->engine,      run->model, outcome->layout};
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
