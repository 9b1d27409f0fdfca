/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/layout/counts_search.h: the best layer counts of a branch, exactly, by branch and bound around the linear
 * relaxation's solution. Internal to search/layout.
 *
 * Why not GLPK's: offloading any activation frees the same bytes per second, so the linear programs of its tree hardly
 * differ and it walks through all ways of making up the same bytes (10^5 nodes and seconds where this takes 10^3 and
 * less than a millisecond). */
#ifndef SHARDOPT_SEARCH_LAYOUT_COUNTS_SEARCH_H
#define SHARDOPT_SEARCH_LAYOUT_COUNTS_SEARCH_H

#include "search/layout/decisions.h"

/* Improves *seconds and `counts` (the best so far; INFINITY: none) to the best; *found says whether. True: nothing that
 * fits is faster, to 1e-10; false: the limit on nodes was reached. Multipliers are only hints: any values give right
 * answers. */
bool counts_search(const StepRule *rule, const Branch *branch, const Rates *rates, const Program *program,
                   const Multipliers *multipliers, double *seconds, int64_t counts[ITEMS_MAX], bool *found);

#endif
