/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/graph/pool.h: a few good choices that differ. One after another is annealed for a short while and then takes
 * from all others the connected pieces that improve it, which costs nothing and loses nothing: where limits on memory
 * freeze a single choice, the pool combines the parts on which several agree and the parts where each is good. */
#pragma once

#include "search/graph/anneal.h"

enum { POOL_MAX = 8 };

typedef struct {
    Anneal *anneal;              /* each of its workers anneals one member */
    bool (*stop)(void *context); /* asked from any thread */
    void *context;
    int count;
    int *choice[POOL_MAX]; /* of core states; all choices fit */
    double cost[POOL_MAX];
    int next; /* the next member in turn */
} ChoicePool;

ChoicePool *pool_new(Anneal *anneal, bool (*stop)(void *), void *context, Workspace *space);
/* Takes in the best choice of a descent, in place of the worst where the pool is full, unless that one is better. */
void pool_add(ChoicePool *pool, const Descent *descent);
/* Works on the next members, one for each worker: each is annealed from `hot` times the mean cost of a node down (0
 * means not at all), for `work` entries, then improved by pieces of the others; an improved member stays. */
void pool_turn(ChoicePool *pool, double hot, int64_t work);
/* The cheapest member; -1 means that there is none. */
int pool_best(const ChoicePool *pool);
