/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/engine/settle.h: what follows a search whose first plan is proven: of the plans that tie with it the one of
 * lowest risk comes first, and those that are faster but seldom run are found. Internal to this folder. */
#pragma once

#include "search/answer/search_result.h"

/* Changes the answer of search_asked(). Nothing happens where plans are wanted by their time alone
 * (SearchControl.tie 0). Where a limit ends it before it is done, the proof of the result becomes PROOF_GAP. */
bool search_settle(const Request *request, Arena *arena, SearchResult *result, Error *error);
