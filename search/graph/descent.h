/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/graph/descent.h: better choices from a choice. A random tree is grown inside the core (no edge between
 * its nodes but the tree's), its best assignment with all else fixed is found by dynamic programming under prices for
 * memory, and what changes falls apart into connected pieces, each of which is taken or left on its own: pieces that
 * free memory first, so that others fit. */
#ifndef SHARDOPT_SEARCH_GRAPH_DESCENT_H
#define SHARDOPT_SEARCH_GRAPH_DESCENT_H

#include "search/graph/core.h"
#include "search/graph/usage_tree.h"

/* One connected piece of a proposal. */
typedef struct {
    int first, past; /* in Descent.changed */
    double cost, priced;
} Piece;

typedef struct {
    const Core *core;
    const double *priced; /* by core->at, as Dual.priced */
    uint64_t random;
    double wander; /* pieces that are worth their memory are taken while the cost is below (1 + wander) * the best */
    double temperature; /* above 0: pieces are drawn with noise of that size, and taken whatever they cost */
    /* The choice in force. */
    int *choice;
    double *local; /* by core->at: theta and edges to the neighbours' choices */
    double cost;
    bool fits;       /* at every moment, and nothing forbidden */
    Fill fill;       /* usage less slack: fits where the largest is not above 0 */
    int64_t *over;   /* the same, moment by moment, while it does not fit */
    __int128 excess; /* sum of what is above 0 there */
    /* The best that fits. */
    int *best;
    double best_cost; /* INFINITY: none yet */
    int64_t work;     /* entries looked at */
    /* Scratch. */
    int *tree, *via, *parent, *frontier, *seen, *inside, *wanted, *changed, *mark, *offset;
    int stamp, mark_stamp;
    double *belief;
    double *noise; /* a table of draws */
    Piece *pieces;
    int64_t *change;
} Descent;

Descent *descent_new(const Core *core, Workspace *space, uint64_t seed);
/* Starts from a choice, whether it fits or not. */
void descent_start(Descent *descent, const int *choice);
/* Everything that is kept in step, from scratch: what doubles may have lost is put right. */
void descent_renew(Descent *descent);
/* Moves of random sizes until `work` is used up. */
void descent_run(Descent *descent, int64_t work);
/* Takes of another choice the pieces that make this one better. */
void descent_cross(Descent *descent, const int *other);

#endif
