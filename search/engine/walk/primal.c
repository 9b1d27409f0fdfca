/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plan before the space is listed. All of its machines have to be counted, and all of its tuples bounded, before the
 * first one is expanded, and the first plan comes late among them. So a few machines with sizes that divide well are
 * listed first, and a sample of their tuples is searched until there is a plan. Then the tuples one step from the best
 * are searched, and so on from what is found there. These are plans of the space like all others: the search that
 * follows finds them again, counts them then, and cuts against them from the start.
 * docs/search.md, "A plan before the space". */
#include "search/engine/walk/walk.h"

#include "base/util.h"

/* Spaces of fewer degree tuples are proven as soon as a plan would be found. */
static const int64_t TUPLES_LEAST = 1000;
/* Bounds that the steps from plan to plan may take at least; where the first plan took more than half of that, twice
 * as many as it. */
static const int64_t STEPS_WORK = 4000;
/* Plans that are stepped from: as many at most, none slower than the best by more than this share. */
enum { STARTS_MOST = 16 };
static const double START_WITHIN = 0.01;

typedef struct {
    Search *search;
    TuplesSeen *seen;
    TupleStart starts[STARTS_MOST];
    int start_count;
    int64_t until; /* Search.work at which it ends */
} Primal;

static bool is_wanted(const Search *search) {
    const SearchControl *control = &search->request->control;
    bool large = search->certificate->degree_tuples >= TUPLES_LEAST || control->samples;
    return large && !control->brute_force && search->best_count == 0 && control->limit_seconds <= 0 &&
           control->seed_count == 0;
}

static bool is_started(const Primal *primal, const BestPlan *plan) {
    for (int i = 0; i < primal->start_count; i++)
        if (primal->starts[i].machine == plan->machine &&
            degrees_compare(&primal->starts[i].degrees, &plan->degrees) == 0)
            return true;
    return false;
}

/* The best plan that was not stepped from; NULL: there is none. */
static const TupleStart *next_start(Primal *primal) {
    const Search *search = primal->search;
    if (primal->start_count == STARTS_MOST) return NULL;
    for (int i = 0; i < search->best_count; i++) {
        const BestPlan *plan = &search->best[i];
        if (plan->ranked_seconds > search->best[0].ranked_seconds * (1 + START_WITHIN)) break;
        if (is_started(primal, plan)) continue;
        primal->starts[primal->start_count] = (TupleStart){plan->degrees, plan->machine, false};
        return &primal->starts[primal->start_count++];
    }
    return NULL;
}

static bool step_on(Primal *primal, Error *error) {
    Search *search = primal->search;
    while (search->best_count > 0 && search->work < primal->until && !search_is_over(search)) {
        const TupleStart *from = next_start(primal);
        if (!from) break;
        if (!tuple_list_near(&search->tuples, from, search->caches, primal->seen, error)) return false;
        if (!search_walk_near(search, primal->until, error)) return false;
    }
    return true;
}

static bool primal_from_sample(Primal *primal, Error *error) {
    Search *search = primal->search;
    int64_t began = search->work;
    if (!tuple_list_sample(&search->tuples, search->caches, search_until(search), error) ||
        !search_walk_sample(search, error))
        return false;
    primal->until = search->work + max_whole(STEPS_WORK, 2 * (search->work - began));
    return step_on(primal, error);
}

/* The machine that some degrees fill; below 0: none does. */
static int machine_of(const Search *search, const Degrees *degrees) {
    int64_t devices = 1;
    for (int role = 0; role < ROLE_COUNT; role++) devices *= degrees->of[role];
    for (int i = 0; i < search->tuples.shape_count; i++)
        if (search->tuples.shapes[i].mesh.devices == devices) return i;
    return -1;
}

/* From plans that others know. */
static bool primal_from_seeds(Primal *primal, Error *error) {
    Search *search = primal->search;
    const SearchControl *control = &search->request->control;
    primal->until = control->work_limit;
    for (int i = 0; i < control->seed_count; i++) {
        TupleStart start = {control->seeds[i].degrees, machine_of(search, &control->seeds[i].degrees), true};
        if (start.machine < 0) continue;
        if (!tuple_list_near(&search->tuples, &start, search->caches, primal->seen, error) ||
            !search_walk_near(search, primal->until, error))
            return false;
    }
    return step_on(primal, error);
}

/* A limit of memory that was met ends the search that follows, and is no failure of the primal heuristic. */
static bool ended_well(const Search *search, bool ok, Error *error) {
    if (ok || error->kind != ERROR_MEMORY || !budget_is_met(search->budget)) return ok;
    *error = (Error){0};
    return true;
}

bool search_quick(Search *search, Error *error) {
    Primal primal = {.search = search, .seen = tuples_seen_new()};
    if (!primal.seen) return error_memory(error);
    bool ok = primal_from_seeds(&primal, error) && primal_from_sample(&primal, error);
    tuples_seen_free(primal.seen);
    search->timed_out = true;
    search->floor = 0;
    return ended_well(search, ok, error);
}

bool search_primal(Search *search, Error *error) {
    int64_t expanded = search->certificate->degree_tuples_expanded;
    if (!is_wanted(search) || search_is_over(search)) return true;
    Primal primal = {.search = search, .seen = tuples_seen_new()};
    if (!primal.seen) return error_memory(error);
    bool ok = primal_from_sample(&primal, error);
    tuples_seen_free(primal.seen);
    search->certificate->degree_tuples_expanded = expanded;
    return ended_well(search, ok, error);
}
