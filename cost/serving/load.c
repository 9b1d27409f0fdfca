/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/serving/load.h"

#include <math.h>

double speculation_tokens(Speculation speculation) {
    if (speculation.drafts <= 0) return 1;
    if (!(speculation.acceptance < 1)) return (double)(speculation.drafts + 1);
    double power = 1;
    for (int64_t i = 0; i <= speculation.drafts; i++) power *= speculation.acceptance;
    return (1 - power) / (1 - speculation.acceptance);
}

double finished_per_step(double batch, double output) { return batch / output; }

double evicted_per_step(double batch, double prompt, double output) {
    return finished_per_step(batch, output) * (prompt + output);
}

double prefill_per_step(double batch, const ServedRequest *request, double tokens_per_step) {
    return finished_per_step(batch, request->output) * tokens_per_step * request->prompt * (1 - request->cached);
}

double queue_wait(double load) { return load < 1 ? load / (2 * (1 - load)) : INFINITY; }

double decode_requests_per_second(double batch, double step_seconds, double output) {
    return batch / (step_seconds * output);
}

double pool_ratio(double prefill_seconds, double batch, double step_seconds, double output) {
    return prefill_seconds * decode_requests_per_second(batch, step_seconds, output);
}

double usd_per_million(double usd_per_chip_hour, double chips, double tokens_per_second) {
    return usd_per_chip_hour * chips / (3600 * tokens_per_second) * 1e6;
}
