/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/serving/load.h: what requests ask of workers in a steady state: how many tokens a step brings, how long a first
 * token waits, how many workers of one pool keep those of the other busy. Sources: "How to Scale Your Model", part 7
 * (continuous batching, disaggregation); Leviathan et al. (arXiv 2211.17192) for speculation; the mean wait of an M/D/1
 * queue. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* One request; means where lengths vary. */
typedef struct {
    double prompt, output; /* tokens, above 0 */
    double cached;         /* share of the prompt that a prefix cache has, 0 to below 1 */
} ServedRequest;

/* Speculation: `drafts` tokens are proposed and checked in one pass, each accepted with this chance. */
typedef struct {
    int64_t drafts; /* 0: none */
    double acceptance;
} Speculation;

/* Expected tokens of a step: (1 - a^(k+1)) / (1 - a); 1 without drafts. */
double speculation_tokens(Speculation speculation);

/* Sequences that end in a step, when each lasts `output` steps. */
double finished_per_step(double batch, double output);
/* Tokens of cache that are freed with them. */
double evicted_per_step(double batch, double prompt, double output);

/* Prompt tokens that a steady step brings beside `batch` sequences that decode. */
double prefill_per_step(double batch, const ServedRequest *request, double tokens_per_step);

/* Mean wait before service at utilisation 0 <= load < 1, in units of the service time: load / (2 (1 - load)). Infinite
 * from 1 on. */
double queue_wait(double load);

/* Requests per second that `batch` decoding sequences finish. */
double decode_requests_per_second(double batch, double step_seconds, double output);

/* Prefill workers for each decode worker so that neither waits: n_p / t_p = n_d B / (G t). */
double pool_ratio(double prefill_seconds, double batch, double step_seconds, double output);

/* USD for a million tokens. */
double usd_per_million(double usd_per_chip_hour, double chips, double tokens_per_second);
