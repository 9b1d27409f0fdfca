/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/engine/portfolio.h: a search for each launcher that may launch the plan, each priced with its own software,
 * and what these come to. Internal to this folder. */
#pragma once

#include "search/answer/search_result.h"

/* The search of a request, of each of its subproblems where it has some, and nothing after it. */
bool search_asked(const Request *request, Arena *arena, SearchResult *result, Error *error);

/* Whether two rows are one plan of one request. */
bool ranked_plan_is_same(const RankedPlan *a, const RankedPlan *b);
