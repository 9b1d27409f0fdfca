/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The k best plans of a search. */
#include "search/engine/walk/walk.h"

#include "base/util.h"
#include "search/answer/tie.h"

#include <math.h>
#include <string.h>

/* Whether two plans compete for one place among the best. */
static bool same_row(const Request *request, const BestPlan *a, const BestPlan *b) {
    if (request->control.variants && knobs_compare(&a->knobs, &b->knobs) != 0) return false;
    return knobs_compete(&a->knobs, &b->knobs) && degrees_compare(&a->degrees, &b->degrees) == 0;
}

int search_room(const Search *search) {
    const SearchControl *control = &search->request->control;
    return control->tie > 0 ? (int)max_whole(control->top, TIE_MOST) : control->top;
}

double search_threshold(const Search *search) {
    const SearchControl *control = &search->request->control;
    double wanted = control->limit_seconds > 0 ? control->limit_seconds : INFINITY;
    if (search->best_count < control->top) return wanted;
    double until = tie_end(control, search->best[0].ranked_seconds);
    if (search->best_count >= TIE_MOST) until = min_real(until, search->best[TIE_MOST - 1].ranked_seconds);
    return min_real(wanted, max_real(until, search->best[control->top - 1].ranked_seconds));
}

bool search_beats(const Search *search, double bound) {
    return bound > search_threshold(search) * CUT && !search->request->control.brute_force;
}

static void note_first(Search *search, const BestPlan *row) {
    search->first =
        (FirstPlan){.bounds = search->tuples.judged + search->work,
                    .ranked_seconds = row->ranked_seconds,
                    .after_seconds = environment_clock(&search->request->control.environment) - search->started};
}

void search_keep(Search *search, const BestPlan *row) {
    int at = 0;
    /* A layout may take longer than its relaxation, which was within the limit; the best plan up there is another's. */
    if (search->request->control.limit_seconds > 0 && row->ranked_seconds > search->request->control.limit_seconds)
        return;
    if (search->first.bounds == 0) note_first(search, row);
    for (int i = 0; i < search->best_count; i++) {
        if (!same_row(search->request, &search->best[i], row)) continue;
        if (best_plan_compare(&search->best[i], row) <= 0) return;
        memmove(&search->best[i], &search->best[i + 1], (size_t)(search->best_count - 1 - i) * sizeof(BestPlan));
        search->best_count--;
        break;
    }
    while (at < search->best_count && best_plan_compare(&search->best[at], row) < 0) at++;
    if (at >= search_room(search)) return;
    if (search->best_count == search_room(search)) search->best_count--;
    memmove(&search->best[at + 1], &search->best[at], (size_t)(search->best_count - at) * sizeof(BestPlan));
    search->best[at] = *row;
    search->best_count++;
}

void search_merge_stats(ExploreStats *to, const ExploreStats *from) {
    to->evaluated += from->evaluated;
    to->layouts_solved += from->layouts_solved;
    for (int i = 0; i < PRUNED_COUNT; i++) to->pruned[i] += from->pruned[i];
    to->least_cut_bound = min_real(to->least_cut_bound, from->least_cut_bound);
    to->least_open_bound = min_real(to->least_open_bound, from->least_open_bound);
    if (from->least_missing < to->least_missing) {
        to->least_missing = from->least_missing;
        to->missing_degrees = from->missing_degrees;
        to->missing_knobs = from->missing_knobs;
    }
}

/* ---- limits ---- */

bool search_is_over(Search *search) {
    const SearchControl *control = &search->request->control;
    double limit = control->time_limit_seconds;
    search->interrupted = search->interrupted || search->tuples.interrupted || environment_stops(&control->environment);
    search->full = search->full || budget_is_met(search->budget);
    search->timed_out = search->timed_out || search->interrupted || search->full ||
                        (control->work_limit > 0 && search->work > control->work_limit) ||
                        (limit > 0 && environment_clock(&control->environment) > search_until(search));
    return search->timed_out;
}

double search_until(const Search *search) {
    double limit = search->request->control.time_limit_seconds;
    return limit > 0 ? search->started + limit : 0;
}
