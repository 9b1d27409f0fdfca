/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/graph/anneal.h: descents side by side, each with its own draws. A cycle cools from a temperature to zero; at
 * its end each descent takes from the best one the pieces that are better (a crossover that cannot lose). Workers meet
 * after amounts of work, not of time, so that their answer does not depend on the number of threads. */
#pragma once

#include "search/graph/descent.h"
#include "search/graph/dual.h"

enum { ANNEAL_WORKERS_MAX = 16 };

typedef struct {
    void *context;
    /* The share of this cycle that is over, given the work done in it: 1 ends it. */
    double (*progress)(void *context, int64_t work);
    /* Receives a choice of core states that fits. */
    void (*offer)(void *context, const int *choice);
} AnnealAsks;

typedef struct {
    const Core *core;
    int workers, threads;
    Descent *descent[ANNEAL_WORKERS_MAX];
} Anneal;

Anneal *anneal_new(const Core *core, int workers, int threads, Workspace *space);
/* Runs one cycle from the best of all, from `hot` times the mean cost of a node down; 0 is descent alone. */
void anneal_cycle(Anneal *anneal, double hot, int64_t chunk, const AnnealAsks *asks);
/* The worker with the least cost; NULL means that nothing fits yet. */
const Descent *anneal_best(const Anneal *anneal);
