/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/search.h"

#include "search/engine/portfolio.h"
#include "search/engine/settle.h"

bool search_run(const Request *request, Arena *arena, SearchResult *result, Error *error) {
    return search_asked(request, arena, result, error) && search_settle(request, arena, result, error);
}
