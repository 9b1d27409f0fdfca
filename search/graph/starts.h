/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/graph/starts.h: first choices that fit. A rounding of the bound's messages takes too much memory; prices
 * are raised where it does, and descent follows, until it fits. How good descent can get from there is decided by the
 * rounding, and differs by tens of percent from one to the next: so many are tried, shortly, and the best few kept. */
#ifndef SHARDOPT_SEARCH_GRAPH_STARTS_H
#define SHARDOPT_SEARCH_GRAPH_STARTS_H

#include "search/graph/pool.h"

typedef struct {
    ChoicePool *pool; /* a start for each worker of its annealing at once; what is good goes there */
    int *rounding[ANNEAL_WORKERS_MAX];
    double *price[ANNEAL_WORKERS_MAX], *sums[ANNEAL_WORKERS_MAX], *priced[ANNEAL_WORKERS_MAX];
} Starts;

Starts *starts_new(ChoicePool *pool, Workspace *space);
/* Worker `w` from its rounding to a choice that fits, prices beginning at `dual`'s; its descent's best_cost is infinite
 * where none was found in `work`. */
void starts_repair(Starts *starts, int w, const Dual *dual, int64_t work);
/* All workers from their roundings, each bettered for `descent` of work; what is good goes into the pool. */
void starts_round(Starts *starts, const Dual *dual, int64_t repair, int64_t descent);

#endif
