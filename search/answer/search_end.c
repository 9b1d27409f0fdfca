/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/answer/search_end.h"

#include "base/util.h"
#include "search/answer/tie.h"

#include <math.h>

const char *search_end_name(SearchEndKind kind) {
    static const char *const NAMES[] = {"not_searched",    "optimal",         "gap", "none_within", "nothing_fits",
                                        "nothing_divides", "nothing_admitted"};
    return NAMES[kind];
}

const char *search_end_words(SearchEndKind kind) {
    static const char *const WORDS[] = {"was searched in time", "was found", "was found in time",
                                        "is as fast",           "fits",      "has sizes that divide",
                                        "meets the conditions"};
    return WORDS[kind];
}

SearchEnd search_end(const SearchResult *result) {
    const Certificate *certificate = &result->certificate;
    double limit = result->request->control.limit_seconds;
    if (certificate->proof == PROOF_GAP || result->interrupted)
        return (SearchEnd){END_GAP, certificate->proof == PROOF_GAP ? certificate->best_bound_seconds : 0};
    if (result->plan_count > 0) return (SearchEnd){END_OPTIMAL, search_fastest(result)->ranked_seconds};
    if (limit > 0) return (SearchEnd){END_NONE_WITHIN, limit};
    bool came_to_memory = result->shortfall.known || certificate->plans_pruned[PRUNED_MEMORY] > 0;
    bool divides = came_to_memory || certificate->plans_pruned[PRUNED_INDIVISIBLE] == 0;
    return (SearchEnd){came_to_memory ? END_NOTHING_FITS
                       : divides      ? END_NOTHING_ADMITTED
                                      : END_NOTHING_DIVIDES,
                       INFINITY};
}

bool search_is_empty(const SearchResult *result) { return search_end(result).kind >= END_NONE_WITHIN; }

SearchEndKind subproblems_end(const SearchResult *result) {
    SearchEndKind end = END_NOTHING_ADMITTED;
    for (int i = 0; i < result->subproblem_count; i++) {
        const SubproblemAnswer *answer = &result->subproblems[i];
        if (answer->request->space.launchers && answer->end.kind < end) end = answer->end.kind;
    }
    return end;
}

void subproblem_add(const SearchResult *result, bool searched, SubproblemAnswer *to) {
    SearchEnd end = searched ? search_end(result) : (SearchEnd){END_NOT_SEARCHED, 0}, before = to->end;
    bool first = !to->request, has = searched && result->plan_count > 0;
    if (first || (has && (!to->best || result->plans[0].ranked_seconds < to->best->ranked_seconds))) {
        to->request = result->request;
        to->best = has ? result->plans : NULL;
        to->end = end;
    }
    to->searched = to->searched || searched;
    to->gap = max_real(to->gap, result->certificate.gap);
    to->plans_covered += result->certificate.plans_covered;
    if (first) return;
    bool missed = (end.kind == END_NOT_SEARCHED) != (before.kind == END_NOT_SEARCHED);
    if (missed || end.kind == END_GAP || before.kind == END_GAP) /* open where either is */
        to->end = (SearchEnd){END_GAP, min_real(end.bound_seconds, before.bound_seconds)};
    else if (!to->best && end.kind < before.kind) /* of two reasons for no plan, the one that came further */
        to->end.kind = end.kind;
}
