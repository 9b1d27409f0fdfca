/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/walk/walk.h"

#include "base/threads.h"
#include "base/util.h"
#include "search/engine/explore/cache_pool.h"

#include <math.h>
#include <string.h>
#include <time.h>

/* ---- caches ---- */

/* As many threads as may be, and no more than half of the memory has caches for. */
static int threads_within(const Request *request, int64_t limit) {
    int64_t most = limit / 2 / explore_cache_bytes();
    return (int)min_whole(threads_usable(request->control.threads), max_whole(1, most));
}

/* The limit of memory that was requested, or the usual one: where there are so many threads that it would not do for
 * twice their caches, that much. */
static int64_t memory_limit(const Request *request) {
    int64_t requested = request->control.memory_limit_bytes;
    int64_t usual = 2 * explore_cache_bytes() * threads_usable(request->control.threads);
    return requested > 0 ? requested : max_whole(MEMORY_USUAL, usual);
}

static void open_budget(Search *search) {
    search->own.limit = memory_limit(search->request);
    search->budget = &search->own;
    search->threads = threads_within(search->request, search->own.limit);
}

static bool caches_new(Search *search, Error *error) {
    budget_add(search->budget, search->threads * explore_cache_bytes());
    search->caches = ARENA_NEW(search->arena, ExploreCache, (size_t)search->threads);
    if (!search->caches) return error_memory(error);
    CostContext context = request_cost_context(search->request);
    for (int i = 0; i < search->threads; i++)
        if (!cache_pool_take(search->request->control.caches, &context, &search->caches[i], error)) return false;
    return true;
}

static void caches_free(Search *search) {
    for (int i = 0; search->caches && i < search->threads; i++)
        cache_pool_give(search->request->control.caches, &search->caches[i]);
    if (search->caches) budget_add(search->budget, -search->threads * explore_cache_bytes());
}

/* ---- the space ---- */

/* Adds the plans that no listed entry accounts for to the certificate. */
static bool take_coverage(Search *search, Error *error) {
    const Coverage *coverage = &search->tuples.coverage;
    Certificate *certificate = search->certificate;
    ExploreStats stats = explore_stats_new(INFINITY);
    if (!count_add(certificate->plans_covered, coverage->plans, &certificate->plans_covered))
        return error_set(error, ERROR_INPUT, "search", "the space has more than 2^128 plans");
    certificate->batches = (int)max_whole(certificate->batches, min_whole(coverage->batches, INT32_MAX));
    stats.least_cut_bound = coverage->least_floor;
    stats.least_missing = coverage->least_missing;
    stats.missing_degrees = coverage->missing_degrees;
    memcpy(stats.pruned, coverage->pruned, sizeof(stats.pruned));
    search_merge_stats(&search->stats, &stats);
    search->floor = min_real(search->floor, coverage->least_floor);
    search->interrupted = search->interrupted || search->tuples.interrupted;
    bool passed_over = coverage->least_floor < INFINITY && !coverage->skips;
    search->timed_out = search->timed_out || search->interrupted || search->tuples.late || passed_over ||
                        coverage->pruned[PRUNED_TIME_LIMIT] > coverage->skipped;
    search->skipped = search->skipped || coverage->skips;
    search->full = search->full || (search->tuples.late && budget_is_met(search->budget));
    return true;
}

/* Begins with the machines of the space and an empty certificate. */
static bool open_space(Search *search, Error *error) {
    const Request *request = search->request;
    Certificate *certificate = search->certificate;
    TupleList *tuples = &search->tuples;
    if (!factorization_count(&request->question.machine.mesh, request->space.roles, &certificate->factorizations))
        return error_set(error, ERROR_INPUT, "search", "the machine has more than 2^128 factorizations");
    if (!tuple_list_make(request, search->threads, search->arena, tuples, error)) return false;
    tuples->budget = search->budget;
    tuples->started = search->started;
    certificate->machines = tuples->shape_count;
    for (int i = 0; i < tuples->group_count; i++)
        certificate->degree_tuples += tuples->groups[i].tuples * tuples->groups[i].shape_count;
    search->stats = explore_stats_new(INFINITY);
    search->floor = search->open = INFINITY;
    certificate_open(certificate, INFINITY);
    return true;
}

/* Lists the space and searches it, in shares where it is large; of the time that is left, each share takes half to be
 * listed. Where a search log is kept all tuples are bounded whatever the time, since its lines speak of every tuple. */
static bool search_space(Search *search, Error *error) {
    const SearchControl *control = &search->request->control;
    TupleList *tuples = &search->tuples;
    bool limited = control->time_limit_seconds > 0 && !search->search_log;
    if (!open_space(search, error)) return false;
    if (control->quick) return search_quick(search, error);
    if (!search_primal(search, error)) return false;
    while (tuples->listed_groups < tuples->group_count) {
        double over = limited ? search->started + control->time_limit_seconds : 0;
        double until = limited ? (environment_clock(&control->environment) + over) / 2 : 0;
        bool is_over = search_is_over(search);
        if (is_over && (limited || search->interrupted))
            return tuple_list_leave(tuples, over, error) && take_coverage(search, error);
        if (!tuple_list_next(tuples, search->caches, until, over, error) || !take_coverage(search, error) ||
            !search_walk(search, error))
            return false;
    }
    return true;
}

/* The best in the canonical order, for what all orders are compared with; most of them are not among the best. */
static bool search_one_order(Search *search, Error *error) {
    Arena arena = {0};
    Request request = *search->request;
    Certificate certificate = {0};
    Search first = {.request = &request,
                    .arena = &arena,
                    .caches = search->caches,
                    .threads = search->threads,
                    .best = search->best,
                    .certificate = &certificate,
                    .budget = search->budget,
                    .started = search->started};
    request.space.nesting_all = false;
    request.control.counts = NULL; /* those of all orders */
    bool ok = search_space(&first, error);
    search->best_count = first.best_count;
    search->work = first.work;
    search->first = first.first;
    tuple_list_free(&first.tuples);
    arena_free(&arena);
    return ok;
}

/* ---- the whole ---- */

/* Notes what was searched, and what it comes to, in the certificate and in the search log where one is wanted. */
static bool close_certificate(Search *search, SearchResult *result, Error *error) {
    search->certificate->threshold = search_threshold(search);
    certificate_note_floor(search->certificate, search->floor);
    if (search->search_log) {
        search->search_log->timed_out = search->timed_out;
        search->search_log->beaten = search->request->control.brute_force ? INFINITY : search_threshold(search) * CUT;
    }
    result->search_log = search->interrupted ? NULL : search->search_log;
    for (int i = 0; i < search->tuples.group_count; i++)
        if (!search->tuples.groups[i].counted) result->machines_not_counted += search->tuples.groups[i].shape_count;
    return certificate_machines(&search->tuples, search->arena, &result->machines, error);
}

static bool run(Search *search, SearchResult *result, Error *error) {
    const SearchControl *control = &search->request->control;
    search->best = ARENA_NEW(search->arena, BestPlan, (size_t)search_room(search) + 1);
    if (!search->best) return error_memory(error);
    if (!caches_new(search, error)) return false;
    if (search->request->space.nesting_all && !control->brute_force && !search_one_order(search, error)) return false;
    if (control->keep_search_log) search->search_log = certificate_log_new(search->arena);
    if (control->keep_search_log && !search->search_log) return error_memory(error);
    return search_space(search, error) && close_certificate(search, result, error) &&
           search_answer(search, result, error);
}

bool search_one(const Request *request, Arena *arena, SearchResult *result, Error *error) {
    const Environment *environment = &request->control.environment;
    memset(result, 0, sizeof(*result));
    Search search = {.request = request,
                     .arena = arena,
                     .certificate = &result->certificate,
                     .started = environment_clock(environment)};
    open_budget(&search);
    bool ok = run(&search, result, error);
    caches_free(&search);
    tuple_list_free(&search.tuples);
    result->interrupted = search.interrupted || environment_stops(environment);
    result->work = search.work;
    result->memory_full = search.full;
    result->memory_bytes = search.budget->most;
    result->first_plan = search.first;
    result->seconds = environment_clock(environment) - search.started;
    result->request = request;
    return ok;
}
