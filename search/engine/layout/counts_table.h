/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/layout/counts_table.h: the best layer counts of a branch by a table of all bytes that may be freed: which
 * layers free at least so many units for the least seconds. Internal to engine/layout. */
#pragma once

#include "search/engine/layout/branch_solve.h"
#include "search/engine/layout/counts_search.h"

/* Improves best->seconds and best->counts to what the table finds, where that is better, and sets best->found. True
 * means that nothing that fits is faster, to 1e-10. False: the table does not serve (several moments limit memory,
 * bytes have no common unit), or a maximum in the step, such as the host link, decides; then it says nothing. */
bool counts_table(const StepRule *rule, const Rates *rates, const RelaxedBranch *relaxed, BranchSolution *best);
