/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/answer/search_end.h: what a search has proven. Whoever puts searches together reads it here, and draws no
 * conclusion from a search that has no plan. */
#pragma once

#include "search/answer/search_result.h"

/* What the search has proven of its space, from its certificate, its plans and its shortfall. */
SearchEnd search_end(const SearchResult *result);

/* Whether it is proven that the space has no plan, whatever the reason; with a limit (SearchControl.limit_seconds),
 * none up to that. */
bool search_is_empty(const SearchResult *result);

/* "optimal" "gap" "nothing_fits": as JSON has it */
const char *search_end_name(SearchEndKind kind);

/* "no plan of %s ...": the rest of the sentence for an end without a plan: "fits", "divides its sizes". */
const char *search_end_words(SearchEndKind kind);

/* Why launchers have no plan, where a layout for none of them answers: the end of the one that came furthest. */
SearchEndKind subproblems_end(const SearchResult *result);

/* Adds a search to the answer of a subproblem, which may have one already: the better plan of the two, the lower bound,
 * and proven only where both are. `*to` is all zero before the first. */
void subproblem_add(const SearchResult *result, bool searched, SubproblemAnswer *to);
