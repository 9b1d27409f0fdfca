/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/measured/reliability.h: whether chances of being the best are true. In each group of alternatives that were
 * measured (cost/measured/groups.h) every plan has its chance of being the fastest, from the doubts about the figures
 * that it rests on and the profile's errors; of the plans with a chance of about p, about p were measured fastest.
 * Pure. */
#pragma once

#include "cost/measured/groups.h"
#include "cost/profile/doubt.h"

/* What prices a run lean on. */
typedef struct {
    void *context;
    /* Prepares place `place` (below DOUBT_PRICES_MAX) for a run: its price is that of a step, and stays until that
     * place is prepared again. False: its doubts are not known, and its group is left out. */
    bool (*prepare)(void *context, int place, const Run *run, DoubtedPrice *out);
    int threads; /* that price; 0: OpenMP's own choice */
} ReliabilityPrices;

enum { RELIABILITY_BINS = 6 };
/* Ends of the bins: a chance lies in the first bin whose end is not below it. */
static const double RELIABILITY_ENDS[RELIABILITY_BINS] = {0.05, 0.2, 0.4, 0.6, 0.8, 1};

typedef struct {
    int64_t groups; /* of at least two plans */
    int64_t plans[RELIABILITY_BINS];
    double expected[RELIABILITY_BINS]; /* the sum of their chances */
    int64_t best[RELIABILITY_BINS];    /* that were measured fastest */
    /* The mean logarithm of the chance that the plan had which was measured fastest: what a better guess raises; and
     * that of a guess that holds all plans of a group for equally good. */
    double score, score_without;
} Reliability;

/* Of a group of more than DOUBT_PRICES_MAX plans those count that are predicted best; where another was measured
 * fastest, none of them was best. */
bool reliability_of(const Ranked *rows, int64_t count, const ReliabilityPrices *prices, Reliability *out, Error *error);
