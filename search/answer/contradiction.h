/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/answer/contradiction.h: a plan that is faster than what a search proved to be the best of its space. There is
 * none, unless a bound is wrong: then the program says that it is defective, instead of an answer. */
#pragma once

#include "search/answer/search_result.h"

/* How much faster, as a share, another plan has to be to contradict: ten times what layouts are solved to. */
static const double CONTRADICTION = 1e-8;

/* Whether a proven result of a request and the price of a plan can both be right. `best` is the result of `open`, or of
 * `open` with a limit a little beyond the plan's time; `of_plan` is the request under which the plan was priced, alone.
 * A plan that is outside of the space of `open` says nothing, nor does one for which that is not known. False: *error
 * is ERROR_INTERNAL, and says both times. */
bool proof_stands(const Request *open, const SearchResult *best, const Request *of_plan, const RankedPlan *plan,
                  Error *error);
