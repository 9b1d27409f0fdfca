/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/measured/validate.h"

#include <math.h>
#include <strings.h>

/* What a factor of e in each is worth: the model says most about the rate, then its precision. */
static const double OF_MODEL = 4, OF_CHIPS = 0.7, OF_SEQ = 0.7, OF_PRECISION = 1.5, OF_NAME = 0.3;

static double log_ratio(double a, double b) { return a > 0 && b > 0 ? fabs(log(a / b)) : INFINITY; }

static double distance(const Run *run, Precision precision, const NearestAsk *ask) {
    double active = 1e9 * (run->active_params_b > 0 ? run->active_params_b : run->params_b);
    double model = log_ratio(active, ask->active_parameters);
    bool mixture = run->experts > 1;
    if (mixture != ask->mixture || !(model <= log(2))) return INFINITY;
    return OF_MODEL * model + OF_CHIPS * log_ratio((double)run->chips, ask->chips) +
           OF_SEQ * log_ratio((double)run->seq, ask->seq) + (precision == ask->precision ? 0 : OF_PRECISION) +
           (strcasecmp(run->model, ask->model) == 0 ? 0 : OF_NAME);
}

bool run_is_like(const Run *run, const NearestAsk *ask) { return distance(run, ask->precision, ask) < INFINITY; }

double outcome_tokens_per_second_per_chip(const Outcome *outcome) {
    const Run *run = outcome->run;
    if (!(outcome->measured_seconds > 0) || run->global_batch <= 0 || run->chips <= 0) return 0;
    return (double)run->seq * (double)run->global_batch / outcome->measured_seconds / (double)run->chips;
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
