/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/graph/descent.h: improves a choice. A random tree is grown inside the core (no edge joins its nodes but the
 * tree's), its best assignment with everything else fixed is found by dynamic programming under prices for memory, and
 * the changes fall apart into connected pieces, each of which is taken or refused on its own: pieces that free memory
 * come first, so that others fit. */
#pragma once

#include "search/graph/core.h"

/* The usage of every moment, kept while choices change: a tree with addition to a range and the largest value of all,
 * each in about 2 log2(times) steps. */
typedef struct {
    int leaves;            /* a power of two */
    int64_t *most, *added; /* of the subtree: its largest value, and the amount added to all of it */
} Fill;

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
    bool fits;       /* it fits at every moment, and nothing is forbidden */
    Fill fill;       /* usage less slack: the choice fits where the largest is at most 0 */
    int64_t *over;   /* the same, moment by moment, while the choice does not fit */
    __int128 excess; /* the sum of the positive entries of `over` */
    /* The best choice that fits. */
    int *best;
    double best_cost; /* INFINITY means none yet */
    int64_t work;     /* the number of entries looked at */
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
/* Recomputes everything that is kept in step, so that rounding errors of doubles disappear. */
void descent_renew(Descent *descent);
/* Makes moves of random sizes until `work` is used up. */
void descent_run(Descent *descent, int64_t work);
/* Takes from another choice the pieces that improve this one. */
void descent_cross(Descent *descent, const int *other);
