/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/graph/branch_and_bound.h: branch and bound over a small core, to the proof: dive along the state that a node
 * most clearly prefers, put the rest of its states aside with the bound they have, and when the dive is cut jump to
 * what has the least bound. Every cut is by a bound in whole numbers (certify.h). */
#ifndef SHARDOPT_SEARCH_GRAPH_BRANCH_AND_BOUND_H
#define SHARDOPT_SEARCH_GRAPH_BRANCH_AND_BOUND_H

#include "search/graph/certify.h"
#include "search/graph/descent.h"

/* What the search asks of its caller. */
typedef struct {
    void *context;
    bool (*stop)(void *context);
    /* A choice of core states, in the hope that it is better; the least cost known since, with core->constant. */
    int64_t (*offer)(void *context, const int *choice);
} JumpAsks;

typedef struct {
    bool finished;    /* nothing is open: nothing is cheaper than the best known */
    int64_t bound;    /* on the cost of any choice cheaper than the best known; INT64_MAX: there is none */
    int64_t branches; /* looked at */
} JumpResult;

/* Looks for choices that cost less than `cutoff` (with core->constant), in at most `branches_max` steps. `dual` has
 * prices and messages to start from; `descent` helps to better what is found. */
JumpResult jump_search(Dual *dual, ExactBound *exact, Descent *descent, int64_t cutoff, int64_t branches_max,
                       const JumpAsks *asks, Workspace *space);

#endif
