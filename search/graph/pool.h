/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/graph/pool.h: a few good choices that differ. One after another is annealed for a short while and then
 * takes of all others the connected pieces that make it better, which costs nothing and loses nothing: where limits on
 * memory freeze a single choice, what several agree on and where each is good goes together. */
#ifndef SHARDOPT_SEARCH_GRAPH_POOL_H
#define SHARDOPT_SEARCH_GRAPH_POOL_H

#include "search/graph/anneal.h"

enum { POOL_MAX = 8 };

typedef struct {
    Anneal *anneal;              /* a member for each of its workers at once */
    bool (*stop)(void *context); /* asked from any thread */
    void *context;
    int count;
    int *choice[POOL_MAX]; /* of core states; all fit */
    double cost[POOL_MAX];
    int next; /* whose turn it is */
} ChoicePool;

ChoicePool *pool_new(Anneal *anneal, bool (*stop)(void *), void *context, Workspace *space);
/* Takes in the best of a descent, in place of the worst where the pool is full, unless that one is better. */
void pool_add(ChoicePool *pool, const Descent *descent);
/* The next members, one a worker: annealed from `hot` times the mean cost of a node down (0: not), for `work` entries,
 * then bettered by pieces of the others; what is better than it was stays. */
void pool_turn(ChoicePool *pool, double hot, int64_t work);
/* The cheapest member; -1: there is none. */
int pool_best(const ChoicePool *pool);

#endif
