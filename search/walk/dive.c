/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plan before the space is listed. Of a large space hundreds of machines have to be counted and bounded before the
 * first tuple of all is opened; a limit may come before that. So a few machines with sizes that divide well are listed
 * first, and a sample of their tuples is searched until there are plans. These are plans of the space like all others:
 * the search that follows finds them again, counts them then, and cuts against them from its first share on.
 * docs/search.md, "A plan before the space". */
#include "search/walk/walk.h"

/* Spaces of fewer degree tuples have a first plan soon enough. Where no limit can come before it, only a space that
 * takes many seconds is worth the tenth of one that this takes. */
static const int64_t TUPLES_LIMITED = 100000, TUPLES_UNLIMITED = 10000000;

static bool is_wanted(const Search *search) {
    const SearchControl *control = &search->request->control;
    int64_t least = control->time_limit_seconds > 0 ? TUPLES_LIMITED : TUPLES_UNLIMITED;
    bool large = search->certificate->degree_tuples >= least || control->samples;
    return large && !control->brute_force && search->best_count == 0 && control->limit_seconds <= 0 &&
           control->seed_count == 0;
}

bool search_dive(Search *search, Error *error) {
    int64_t opened = search->certificate->degree_tuples_opened;
    if (!is_wanted(search) || search_is_over(search)) return true;
    if (!tuple_list_sample(&search->tuples, search->caches, search_until(search), error)) return false;
    bool ok = search_walk_sample(search, error);
    search->certificate->degree_tuples_opened = opened;
    return ok;
}
