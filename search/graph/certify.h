/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/graph/certify.h: the worth of the messages and prices of dual.h, made in doubles, in exact arithmetic. They
 * are rounded to fractions of 2^-shift; one pass backward then moves whole numbers between nodes and edges, so that the
 * value that remains at each is >= 0, and the sum of the values taken is a bound whatever the messages were. */
#pragma once

#include "search/graph/dual.h"

typedef struct {
    const Core *core;
    int shift;
    __int128 bound;   /* on the cost of every choice without a blocked state, in 2^-shift; with core->constant */
    bool infeasible;  /* there is no choice at all */
    __int128 *belief; /* by core->at: what remains at a state, >= 0; UNREACHABLE means blocked, or without partners */
    __int128 *early;  /* by edge, state of v: the message of u to v, less the value that v handed back */
    __int128 *late;   /* by edge, state of u: the message of v to u */
    size_t *early_start, *late_start;
    __int128 *price;   /* times + 1: summed */
    __int128 *reduced; /* by core->at: how far above `bound` every choice with that state is */
} ExactBound;

ExactBound *certify_new(const Core *core, Workspace *space);
/* `blocked` is indexed by core->at, and true excludes the state; NULL means that no state is blocked. */
void certify(ExactBound *certificate, const Dual *dual, const bool *blocked);
/* The bound as a cost, rounded up because costs are whole. INT64_MAX means that there is no choice. */
int64_t certified_cost(const ExactBound *certificate);
/* Fills `reduced`. */
void certify_reduced(ExactBound *certificate);
/* Whether every choice with that state costs at least `cost`; call it after certify_reduced. */
bool certified_above(const ExactBound *certificate, int node, int state, int64_t cost);
/* Forbids in the reduction the pairs that every choice cheaper than `cost` avoids, and leaves out such states; returns
 * the number of both. Call it after certify_reduced. */
int64_t certify_fix(ExactBound *certificate, int64_t cost, Reduction *reduction);
