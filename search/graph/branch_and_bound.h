/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/graph/branch_and_bound.h: branch and bound over a small core, to the proof: it dives along the state that a
 * node most clearly prefers, puts the rest of its states aside with the bound they have, and when the dive is cut,
 * goes on with the part with the least bound. Every cut is by a bound in whole numbers (certify.h; docs/search.md, "The
 * graph solver"). */
#pragma once

#include "search/graph/certify.h"
#include "search/graph/descent.h"

/* What the search needs of its caller. */
typedef struct {
    void *context;
    bool (*stop)(void *context);
    /* Receives a choice of core states that may be better; returns the least cost known since, with core->constant. */
    int64_t (*take_choice)(void *context, const int *choice);
} BranchHooks;

typedef struct {
    bool finished;    /* no part is open: no choice is cheaper than the best known */
    int64_t bound;    /* on the cost of any choice cheaper than the best known; INT64_MAX means that there is none */
    int64_t branches; /* the number of branches looked at */
} BranchResult;

/* What the search works with: `dual` has prices and messages to start from; `descent` betters what is found. */
typedef struct {
    Dual *dual;
    ExactBound *exact;
    Descent *descent;
    Workspace *space;
} BranchTools;

/* Looks for choices that cost less than `cutoff` (with core->constant), in at most `branches_max` steps. */
BranchResult branch_and_bound(const BranchTools *tools, int64_t cutoff, int64_t branches_max, const BranchHooks *hooks);
