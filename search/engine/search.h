/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/engine/search.h: the k best plans, and the proof that nothing left out is better.
 *
 * Space: every offered machine (the requested one and, within max_idle, its idle shapes) x every batch within the
 * tolerance x every factorization x knobs, in one order of the roles or, --nesting all, in every one: each degree tuple
 * in all orders of its roles above 1, counted as so many plans, also where two place the same since roles share no
 * axis. The loops go over degrees by rising bound, then knobs, then placements, then layouts (docs/search.md, "Levels,
 * blocks and threads"). */
#pragma once

#include "search/answer/search_result.h"

/* Everything in `result` lives in `arena`. That no plan fits is an answer (plan_count 0), not an error; so is a search
 * that was interrupted, with the best plans so far. */
/* A request with subproblems is searched for each of them. With control.each every subproblem's best plan is among the
 * plans; otherwise the plans are the k best of all. Plans are in the order of their ranked time. The proof is of the
 * first plan: PROOF_GAP where the search of any subproblem has left one open that could be better.
 * The fallback is searched where every other has proven that it has no plan.
 *
 * Where the first plan is proven, and plans are not wanted by their time alone (SearchControl.tie), the plan of lowest
 * risk of those tied with it comes first, and the plans that are faster but seldom run are found (settle.h). */
bool search_run(const Request *request, Arena *arena, SearchResult *result, Error *error);
