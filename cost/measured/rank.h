/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/measured/rank.h: whether the model puts plans in the order in which they were measured. Pure.
 *
 * Within each group of alternatives (cost/measured/groups.h) it compares every two, and looks at the one that is
 * predicted best, among those that are called fitting, as a search would; where none is, among all. Pairs in which the
 * slower takes less than RANK_APART of the faster are within the noise of such measurements and do not count. */
#pragma once

#include "cost/measured/groups.h"

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

/* Ranks all groups, or those without the source `without` (cost/measured/labels.h; NULL means all). Equal predictions
 * are neither concordant nor discordant; among several predicted best the one measured slowest counts. */
bool rank_runs(const Ranked *rows, int64_t count, const char *without, Arena *arena, Ranking *out, Error *error);
