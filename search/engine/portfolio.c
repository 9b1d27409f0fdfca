/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/portfolio.h"

#include "base/util.h"
#include "search/answer/search_end.h"
#include "search/answer/tie.h"
#include "search/engine/explore/cache_pool.h"
#include "search/engine/walk/walk.h"

#include <math.h>
#include <string.h>

typedef struct {
    const Request *request;
    Arena *arena;
    SearchResult *results; /* one for each subproblem */
    bool *searched;
    CachePool *caches;
    struct PlanCounts counts;
    double started;
    RankedPlan *plans; /* of all, sorted */
    int count, capacity;
    const RankedPlan *fastest; /* of all, shown or not; NULL: none has a plan */
} Portfolio;

/* The ranked time above which a plan of another subproblem is of no use. */
static double limit_of(const Portfolio *portfolio) {
    const SearchControl *control = &portfolio->request->control;
    if (control->each || portfolio->count < control->top) return control->limit_seconds;
    double last = portfolio->plans[control->top - 1].ranked_seconds;
    last = max_real(last, tie_end(control, portfolio->fastest->ranked_seconds));
    return control->limit_seconds > 0 ? min_real(control->limit_seconds, last) : last;
}

/* Whether all subproblems that are no fallback have proven that they have no plan. */
static bool others_are_empty(const Portfolio *portfolio) {
    for (int i = 0; i < portfolio->request->subproblem_count; i++)
        if (!portfolio->request->subproblems[i].fallback &&
            (!portfolio->searched[i] || !search_is_empty(&portfolio->results[i])))
            return false;
    return true;
}

/* Whether a subproblem is searched at all. The time limit is for all together: each has an equal share of what is
 * left. */
static bool is_asked(const Portfolio *portfolio, int number, Request *ask) {
    const Subproblem *subproblem = &portfolio->request->subproblems[number];
    const SearchControl *control = &portfolio->request->control;
    if (subproblem->fallback && !others_are_empty(portfolio)) return false;
    if (environment_stops(&control->environment)) return portfolio->count == 0 && !subproblem->fallback;
    if (control->time_limit_seconds > 0) {
        int left = 0;
        double rest = control->time_limit_seconds - (environment_clock(&control->environment) - portfolio->started);
        for (int i = number; i < portfolio->request->subproblem_count; i++)
            left += !portfolio->request->subproblems[i].fallback;
        if (rest <= 0 && !subproblem->fallback) return false;
        ask->control.time_limit_seconds = max_real(rest, 0.01 * control->time_limit_seconds) / max_whole(1, left);
    }
    ask->control.limit_seconds = limit_of(portfolio);
    return true;
}

/* Adds plans, sorted by ranked time; of plans that take the same, those of the subproblem that was searched first. */
static void add_plans(Portfolio *portfolio, const SearchResult *result) {
    const RankedPlan *fastest = search_fastest(result);
    if (fastest && (!portfolio->fastest || fastest->ranked_seconds < portfolio->fastest->ranked_seconds))
        portfolio->fastest = fastest;
    for (int i = 0; i < result->plan_count && portfolio->count < portfolio->capacity; i++) {
        int at = portfolio->count++;
        while (at > 0 && portfolio->plans[at - 1].ranked_seconds > result->plans[i].ranked_seconds) {
            portfolio->plans[at] = portfolio->plans[at - 1];
            at--;
        }
        portfolio->plans[at] = result->plans[i];
    }
}

static bool search_subproblem(Portfolio *portfolio, int number, Error *error) {
    const Request *request = portfolio->request;
    Request *ask = ARENA_NEW(portfolio->arena, Request, 1);
    if (!ask) return error_memory(error);
    request_for(request, &request->subproblems[number], ask);
    ask->control.caches = portfolio->caches;
    portfolio->results[number].request = ask;
    if (request->control.each) ask->control.top = 1;
    if (!is_asked(portfolio, number, ask)) return true;
    ask->control.counts = &portfolio->counts;
    bool ok = search_one(ask, portfolio->arena, &portfolio->results[number], error);
    ask->control.counts = NULL; /* it ends with the contest */
    if (!ok) return false;
    portfolio->searched[number] = true;
    add_plans(portfolio, &portfolio->results[number]);
    return true;
}

/* Fallbacks come last: they have to know what became of the others. */
static bool search_all(Portfolio *portfolio, Error *error) {
    const Request *request = portfolio->request;
    for (int fallback = 0; fallback < 2; fallback++)
        for (int i = 0; i < request->subproblem_count; i++)
            if (request->subproblems[i].fallback == (fallback == 1) && !search_subproblem(portfolio, i, error))
                return false;
    return true;
}

/* The subproblem that has the best plan; where nobody has one, that whose plans come nearest to fitting. */
static int winner(const Portfolio *portfolio) {
    int best = 0;
    double least = INFINITY;
    for (int i = 0; i < portfolio->request->subproblem_count; i++) {
        const SearchResult *result = &portfolio->results[i];
        if (portfolio->count > 0 && result->request == portfolio->plans[0].request) return i;
        if (!portfolio->searched[i] || !result->shortfall.known) continue;
        double over = result->shortfall.needed_bytes / result->shortfall.limit_bytes;
        if (over < least) least = over, best = i;
    }
    return best;
}

/* What is open in one search is open in all, where it could be better than the last plan of the answer. */
static void merge_proof(const Portfolio *portfolio, SearchResult *out) {
    Certificate *certificate = &out->certificate;
    double last = portfolio->count > 0 ? 0 : INFINITY, bound = INFINITY, open = INFINITY;
    for (int i = 0; i < portfolio->count; i++) last = max_real(last, portfolio->plans[i].ranked_seconds);
    for (int i = 0; i < portfolio->request->subproblem_count; i++) {
        const Certificate *other = &portfolio->results[i].certificate;
        bool due = !portfolio->request->subproblems[i].fallback || others_are_empty(portfolio);
        bool missed = due && !portfolio->searched[i];
        out->interrupted = out->interrupted || portfolio->results[i].interrupted;
        out->memory_full = out->memory_full || portfolio->results[i].memory_full;
        out->memory_bytes = max_whole(out->memory_bytes, portfolio->results[i].memory_bytes);
        if (missed) bound = open = 0;
        if (!portfolio->searched[i] || other->proof != PROOF_GAP) continue;
        bound = min_real(bound, other->best_bound_seconds);
        open = min_real(open, other->open_bound_seconds);
    }
    if (bound == INFINITY) return;
    certificate->open_bound_seconds = open;
    certificate->proof = PROOF_GAP;
    certificate->best_bound_seconds = min_real(bound, certificate->best_bound_seconds);
    certificate->gap = last < INFINITY ? max_real(0, (last - bound) / last) : 1;
}

/* The first plan of all: of the first subproblem that has one, after all that those before it took. */
static void note_first(const Portfolio *portfolio, SearchResult *out) {
    int64_t work = 0;
    double seconds = 0;
    out->first_plan = (FirstPlan){0};
    for (int i = 0; i < portfolio->request->subproblem_count; i++) {
        const SearchResult *result = &portfolio->results[i];
        if (result->first_plan.bounds > 0) {
            out->first_plan = result->first_plan;
            out->first_plan.bounds += work;
            out->first_plan.after_seconds += seconds;
            return;
        }
        work += result->work;
        seconds += result->seconds;
    }
}

/* The first plan is open by what any search has left, and so are all of the k best. Of the others, where
 * each is the best of its launcher, what that search has left says it. */
static void gap_rows(const Portfolio *portfolio, double open) {
    int common = portfolio->request->control.each ? (int)min_whole(1, portfolio->count) : portfolio->count;
    for (int i = 0; i < common; i++) portfolio->plans[i].gap = row_gap(portfolio->plans[i].ranked_seconds, open);
}

/* One row for each launcher: its search with the parameters in HBM, merged with that which has them on the host. The
 * request has all of the first kind before all of the second, in the same order. */
static bool list_subproblems(const Portfolio *portfolio, SearchResult *out, Error *error) {
    const Request *request = portfolio->request;
    out->subproblem_count = 0;
    for (int i = 0; i < request->subproblem_count; i++)
        out->subproblem_count += !request->subproblems[i].parameters_on_host;
    out->subproblems = ARENA_NEW(portfolio->arena, SubproblemAnswer, (size_t)out->subproblem_count);
    if (!out->subproblems) return error_memory(error);
    for (int i = 0; i < request->subproblem_count; i++)
        subproblem_add(&portfolio->results[i], portfolio->searched[i], &out->subproblems[i % out->subproblem_count]);
    return true;
}

bool ranked_plan_is_same(const RankedPlan *a, const RankedPlan *b) {
    return a->request == b->request && a->ranked_seconds == b->ranked_seconds &&
           degrees_compare(&a->plan.degrees, &b->plan.degrees) == 0 &&
           knobs_compare(&a->plan.knobs, &b->plan.knobs) == 0;
}

/* The first of all is the one of lowest risk of those that come first for one subproblem, so that it is the same
 * however many plans are wanted of each. */
static bool order_plans(Portfolio *portfolio, Error *error) {
    const SearchControl *control = &portfolio->request->control;
    RankedPlan *firsts = ARENA_NEW(portfolio->arena, RankedPlan, (size_t)portfolio->request->subproblem_count);
    int count = 0, at = 0;
    if (!firsts) return error_memory(error);
    tie_order(control, portfolio->fastest, portfolio->plans, portfolio->count);
    if (control->tie <= 0) return true;
    for (int i = 0; i < portfolio->request->subproblem_count; i++) {
        const SearchResult *result = &portfolio->results[i];
        if (result->plan_count == 0) continue;
        for (at = count++; at > 0 && firsts[at - 1].ranked_seconds > result->plans[0].ranked_seconds; at--)
            firsts[at] = firsts[at - 1];
        firsts[at] = result->plans[0];
    }
    tie_order(control, portfolio->fastest, firsts, count);
    for (at = 0; !ranked_plan_is_same(&portfolio->plans[at], &firsts[0]);) at++;
    memmove(&portfolio->plans[1], &portfolio->plans[0], (size_t)at * sizeof *portfolio->plans);
    portfolio->plans[0] = firsts[0];
    return true;
}

static bool search_subproblems(const Request *request, Arena *arena, SearchResult *result, Error *error) {
    const Environment *environment = &request->control.environment;
    size_t count = (size_t)request->subproblem_count;
    memset(result, 0, sizeof *result);
    Portfolio portfolio = {
        .request = request, .arena = arena, .counts = {arena}, .started = environment_clock(environment)};
    portfolio.capacity = request->subproblem_count * (request->control.each ? 1 : request->control.top);
    portfolio.results = ARENA_NEW(arena, SearchResult, count);
    portfolio.searched = ARENA_NEW(arena, bool, count);
    portfolio.plans = ARENA_NEW(arena, RankedPlan, (size_t)portfolio.capacity);
    portfolio.caches = request->control.caches ? request->control.caches : cache_pool_new(arena);
    if (!portfolio.results || !portfolio.searched || !portfolio.plans || !portfolio.caches) return error_memory(error);
    bool ok = search_all(&portfolio, error);
    if (!request->control.caches) cache_pool_close(portfolio.caches);
    if (!ok) return false;
    if (portfolio.count > 0 && !order_plans(&portfolio, error)) return false;
    if (!request->control.each) portfolio.count = (int)min_whole(portfolio.count, request->control.top);
    *result = portfolio.results[winner(&portfolio)];
    result->plans = portfolio.plans;
    result->plan_count = portfolio.count;
    bool first = portfolio.count > 0 && portfolio.plans[0].ranked_seconds == portfolio.fastest->ranked_seconds;
    result->fastest = first ? NULL : portfolio.fastest;
    merge_proof(&portfolio, result);
    gap_rows(&portfolio, result->certificate.open_bound_seconds);
    note_first(&portfolio, result);
    result->work = 0;
    for (size_t i = 0; i < count; i++) result->work += portfolio.results[i].work;
    result->seconds = environment_clock(environment) - portfolio.started;
    return list_subproblems(&portfolio, result, error);
}

bool search_asked(const Request *request, Arena *arena, SearchResult *result, Error *error) {
    return request->subproblem_count > 0 ? search_subproblems(request, arena, result, error)
                                         : search_one(request, arena, result, error);
}
