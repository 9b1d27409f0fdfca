/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/measured/rank.h: whether the model puts plans in the order in which they were measured. Pure.
 *
 * Within each group of alternatives (below) it compares every two, and looks at the one that is
 * predicted best, among those that are called fitting, as a search would; where none is, among all. Pairs in which the
 * slower takes less than RANK_APART of the faster are within the noise of such measurements and do not count. */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "cost/measured/run.h"
#include "cost/profile/doubt.h"

/* Which measured runs stand next to each other as alternatives of one choice. Pure.
 *
 * Runs of one group have the same source, model and dimensions, machine, sequence, precision and release. What is
 * compared is the time of a token, so that plans with different batches can stand in one group: a planner too ranks by
 * the time of a token. Runs of the same plan (degrees, knobs, batch, recomputation) are repeats: their mean is
 * one plan. */

/* A run that was priced. */
typedef struct {
    const Run *run;
    double measured_seconds, predicted_seconds; /* of a step, > 0 */
    bool too_large;                             /* predicted not to fit its HBM */
} Ranked;

static const double RANK_APART = 1.05, RANK_BEST = 1.03;

/* One group of at least two plans. */
typedef struct {
    const Run *run; /* one of its runs: source, model, machine */
    int64_t plans, pairs;
    double tau;      /* 0 where there is no pair */
    double distance; /* of the plan predicted best from the best measured: 0.05 is 5% behind */
} RankCell;

/* Cells of fewer plans say little by themselves. */
enum { RANK_CELL_PLANS = 10 };

typedef struct {
    int64_t groups; /* of at least two plans */
    int64_t plans;  /* in them, repeats joined */
    int64_t pairs, concordant, discordant;
    double tau;           /* Kendall's: (concordant - discordant) / pairs; 0 where there is no pair */
    int64_t best_groups;  /* groups in which the plan predicted best was measured within RANK_BEST of the best
                           * measured */
    double best_distance; /* the worst distance of that plan from the best measured */
    RankCell *cells;      /* all groups, in the order of source, model and machine */
    /* Of the groups of at least RANK_CELL_PLANS plans: how many, the median of their taus, median and 90th percentile
     * of their distances. */
    int64_t large;
    double cell_tau, cell_median, cell_p90;
} Ranking;

/* Ranks all groups, or those without the source `without` (cost/measured/run.h; NULL means all). Equal predictions
 * are neither concordant nor discordant; among several predicted best the one measured slowest counts. */
bool rank_runs(const Ranked *rows, int64_t count, const char *without, Arena *arena, Ranking *out, Error *error);

/* Where a run stands: runs with one number of a group are alternatives, and those of them with one number of a plan are
 * repeats. A run without tokens has -1 twice. */
typedef struct {
    int64_t group, plan;
} RankPlace;
bool rank_places(const Ranked *rows, int64_t count, RankPlace *out, Error *error);

/* Whether chances of being the best are true. In each group of alternatives that were measured every plan has its
 * chance of being the fastest, from the doubts about the figures that it rests on and the profile's errors; of the
 * plans with a chance of about p, about p were measured fastest. Pure. */

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
