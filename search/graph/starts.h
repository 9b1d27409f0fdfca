/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/graph/starts.h: first choices that fit. A rounding of the bound's messages takes too much memory; prices are
 * raised where it does, and descent follows, until the choice fits. The rounding decides how good a choice descent can
 * reach from there, and roundings differ by tens of percent: so many are tried for a short time, and the best few are
 * kept. */
#pragma once

#include "search/graph/pool.h"

typedef struct {
    ChoicePool *pool; /* each worker of its annealing makes one start; good starts go there */
    int *rounding[ANNEAL_WORKERS_MAX];
    double *price[ANNEAL_WORKERS_MAX], *sums[ANNEAL_WORKERS_MAX], *priced[ANNEAL_WORKERS_MAX];
} Starts;

Starts *starts_new(ChoicePool *pool, Workspace *space);
/* Takes worker `w` from its rounding to a choice that fits, with prices beginning at `dual`'s; its descent's best_cost
 * is infinite if none was found within `work`. */
void starts_repair(Starts *starts, int w, const Dual *dual, int64_t work);
/* Takes all workers from their roundings to choices, each improved for `descent` of work; good ones go into the
 * pool. */
void starts_round(Starts *starts, const Dual *dual, int64_t repair, int64_t descent);
