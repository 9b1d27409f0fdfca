/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/layout/counts_search.h: the best layer counts of a branch, exactly, by branch and bound around the linear
 * relaxation's solution. Internal to engine/layout.
 *
 * Why not GLPK's: offloading any activation frees the same bytes per second, so the linear programs of its tree hardly
 * differ and it walks through all ways of making up the same bytes (10^5 nodes and seconds where this takes 10^3 and
 * less than a millisecond). */
#pragma once

#include "search/engine/layout/branch.h"
#include "search/engine/layout/branch_solve.h"
#include "search/engine/layout/decisions.h"

/* A branch with its linear program, and what the relaxation gave of it. Multipliers are only hints: any values give
 * right answers. */
typedef struct {
    const Branch *branch;
    const Program *program;
    const Multipliers *multipliers;
} RelaxedBranch;

/* Improves best->seconds and best->counts (the best so far; INFINITY means none) to the best, and sets best->found
 * where it did. True means that nothing that fits is faster, to 1e-10; false that the limit on nodes was reached. */
bool counts_search(const StepRule *rule, const Rates *rates, const RelaxedBranch *relaxed, BranchSolution *best);

/* Whole layer counts near given ones: made to fit, then improved, in exact doubles. What the
 * solver returns passes through here, so that its tolerances decide nothing. Internal to engine/layout. */

/* Rounds `values` (one per item) down, takes layers as they cost least per missing byte until memory fits, then gives
 * back and exchanges single layers while the step gets shorter. False: it does not come to fit. */
bool counts_near(const StepRule *rule, const Branch *branch, const Rates *rates, const double *values,
                 int64_t counts[ITEMS_MAX], double *seconds);
