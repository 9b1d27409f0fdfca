/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/graph/dual.h: bounds from below. The memory limit is priced per moment (a Lagrangian), which leaves a
 * pairwise problem; sequential tree-reweighted messages (Kolmogorov 2006) bound that one, and the volume algorithm
 * (Barahona and Anbil 2000) moves the prices. All in doubles: guides and guesses, which certify.h turns into proof. */
#ifndef SHARDOPT_SEARCH_GRAPH_DUAL_H
#define SHARDOPT_SEARCH_GRAPH_DUAL_H

#include "search/graph/core.h"

typedef struct {
    const Core *core;
    double *message;       /* along each arc, by arc.message: what the owner tells the other */
    double *price;         /* times: cost of a byte at that moment, >= 0 */
    double *sums;          /* times + 1: prices summed from the first on */
    double *priced;        /* by core->at: price of the memory that a state takes */
    double *unary;         /* theta + priced + blocked */
    const double *blocked; /* by core->at: what makes a state as good as forbidden; NULL: nothing */
    double offset;         /* sum over times of price * slack: what the limit gives back */
    double *hat, *rest;    /* scratch of one node */
    /* The volume algorithm's. */
    double *best_price, *average, best_bound, step;
    int64_t *profile;
    int failures;
} Dual;

/* What the memory that each state takes costs, by core->at. sums: times + 1, gets the prices summed from the first
 * on. */
void price_states(const Core *core, const double *price, double *sums, double *priced);

/* No messages, no prices. */
Dual *dual_new(const Core *core, Workspace *space);
/* Prices into `priced`, `unary` and `offset`. */
void dual_price(Dual *dual, const double *price);
/* The best prices of another core of the same reduction in force, each at the moment it had or the next one left. */
void dual_price_as(Dual *dual, const Dual *before);
/* The best prices of volume_step in force, those that are where it was not called. */
void dual_price_best(Dual *dual);
/* Messages forward and back. The bound on cost less core->constant, for the prices in force. rounding: NULL, or gets a
 * choice made on the way forward. */
double dual_sweep(Dual *dual, int *rounding);

/* A first step length for volume_step, from a guess of the gap. */
void volume_start(Dual *dual, double gap);
/* One change of prices and its sweeps; choice: the rounding, whose usage moves the prices next. The bound of this step;
 * the best one so far is in best_bound, its prices in best_price. */
double volume_step(Dual *dual, int sweeps, int *choice);

#endif
