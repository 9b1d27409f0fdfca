/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/graph/dual.h: bounds from below. The memory limit is priced per moment (a Lagrangian), which leaves a pairwise
 * problem; sequential tree-reweighted messages (Kolmogorov 2006) bound that problem, and the volume algorithm (Barahona
 * and Anbil 2000) moves the prices. All numbers are doubles: guides and guesses, which certify.h turns into a proof. */
#pragma once

#include "search/graph/core.h"

typedef struct {
    const Core *core;
    double *message;       /* along each arc, by arc.message: the owner's message to the other */
    double *price;         /* times: cost of a byte at that moment, >= 0 */
    double *sums;          /* times + 1: prices summed from the first moment on */
    double *priced;        /* by core->at: price of the memory that a state takes */
    double *unary;         /* theta + priced + blocked */
    const double *blocked; /* by core->at: a cost that makes a state as good as forbidden; NULL means that no state
                            * is blocked */
    double offset;         /* sum over times of price * slack: the value that the limit gives back */
    double *hat, *rest;    /* scratch of one node */
    /* State of the volume algorithm. */
    double *best_price, *average, best_bound, step;
    int64_t *profile;
    int failures;
} Dual;

/* Writes the price of the memory that each state takes, by core->at. `sums` has times + 1 entries and gets the prices
 * summed from the first moment on. */
void price_states(const Core *core, const double *price, double *sums, double *priced);

/* Starts without messages and without prices. */
Dual *dual_new(const Core *core, Workspace *space);
/* Puts prices into `priced`, `unary` and `offset`. */
void dual_price(Dual *dual, const double *price);
/* Puts the best prices of another core of the same reduction in force, each at its own moment or at the next one
 * that there is. */
void dual_price_as(Dual *dual, const Dual *before);
/* Puts the best prices of volume_step in force; without such a call, the prices stay as they are. */
void dual_price_best(Dual *dual);
/* Sends messages forward and back. Returns the bound on cost less core->constant, for the prices in force. `rounding`
 * is NULL, or gets a choice made on the way forward. */
double dual_sweep(Dual *dual, int *rounding);

/* Sets a first step length for volume_step, from a guess of the gap. */
void volume_start(Dual *dual, double gap);
/* Changes prices once and makes the sweeps; `choice` gets the rounding, whose usage moves the prices next. Returns the
 * bound of this step; the best one so far is in best_bound, its prices in best_price. */
double volume_step(Dual *dual, int sweeps, int *choice);
