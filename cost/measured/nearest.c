/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/measured/validate.h"

#include "base/util.h"

#include <math.h>
#include <stdlib.h>
#include <strings.h>

/* What a factor of e in each is worth: the model says most about the rate, then its precision. */
static const double OF_MODEL = 4, OF_CHIPS = 0.7, OF_SEQ = 0.7, OF_PRECISION = 1.5, OF_NAME = 0.3;

static double log_ratio(double a, double b) { return a > 0 && b > 0 ? fabs(log(a / b)) : INFINITY; }

static double distance(const Run *run, Precision precision, const NearestAsk *ask) {
    double model = log_ratio(run->active_parameters, ask->active_parameters);
    if (run->mixture != ask->mixture || !(model <= log(2))) return INFINITY;
    return OF_MODEL * model + OF_CHIPS * log_ratio((double)run->request.chips, ask->chips) +
           OF_SEQ * log_ratio((double)run->request.seq, ask->seq) + (precision == ask->precision ? 0 : OF_PRECISION) +
           (strcasecmp(run->model, ask->model) == 0 ? 0 : OF_NAME);
}

double outcome_tokens_per_second_per_chip(const Outcome *outcome) {
    const RunRequest *request = &outcome->run->request;
    if (!(outcome->measured_seconds > 0) || request->sequences <= 0 || request->chips <= 0) return 0;
    return (double)request->seq * (double)request->sequences / outcome->measured_seconds / (double)request->chips;
}

const Outcome *nearest_run(const Outcome *outcomes, int64_t count, const NearestAsk *ask) {
    const Outcome *nearest = NULL;
    double least = INFINITY;
    for (int64_t i = 0; i < count; i++) {
        const Outcome *outcome = &outcomes[i];
        if (outcome->skipped && outcome->skipped[0]) continue;
        if (!(outcome->measured_seconds > 0) || !(outcome_tokens_per_second_per_chip(outcome) > 0)) continue;
        double far = distance(outcome->run, outcome->precision, ask);
        if (far > least || far == INFINITY) continue;
        least = far;
        nearest = outcome;
    }
    return nearest;
}

/* A run, and the least that its distance can be: only a replay says its precision. */
typedef struct {
    double least;
    Run *run;
} Candidate;

/* The nearest first; of those that are equally near the last of the table. */
static int by_distance(const void *a, const void *b) {
    const Candidate *x = a, *y = b;
    if (x->least != y->least) return x->least < y->least ? -1 : 1;
    return x->run > y->run ? -1 : x->run < y->run;
}

static bool replay_alone(const NearestFrom *from, Run *run, Arena *arena, const Outcome **out, Error *error) {
    Validation validation;
    if (!replay_model_read(&from->data->zoo, run, error)) return false;
    return replay_runs(&(RunTable){.runs = run, .count = 1}, &(RunFilter){0}, &(ReplayWith){from->data, from->set, 1},
                       arena, &validation, error) &&
           (*out = validation.outcomes, true);
}

bool nearest_run_find(const NearestFrom *from, const NearestAsk *ask, Arena *arena, const Outcome **out, Error *error) {
    const RunTable *table = from->table;
    Candidate *list = ARENA_NEW(arena, Candidate, (size_t)table->count);
    int64_t count = 0;
    double least = INFINITY;
    *out = NULL;
    if (!list) return error_memory(error);
    for (Run *run = table->runs; run < table->runs + table->count; run++) {
        double far = distance(run, ask->precision, ask);
        if (far < INFINITY && run_is_of_chip(run, ask->chip, &from->data->chips)) list[count++] = (Candidate){far, run};
    }
    qsort(list, (size_t)count, sizeof *list, by_distance);
    for (const Candidate *at = list; at < list + count && at->least <= least; at++) {
        const Outcome *outcome;
        if (!replay_alone(from, at->run, arena, &outcome, error)) return false;
        if (!nearest_run(outcome, 1, ask)) continue;
        double far = distance(at->run, outcome->precision, ask);
        if (far > least || (far == least && *out && at->run < (*out)->run)) continue;
        least = far;
        *out = outcome;
    }
    return true;
}
