/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The two policies above one search (walk/): a search for each launcher that may launch the plan, each priced with its
 * own software, and what they come to; and a second try with everything on the host. */
#include "search/engine/search.h"

#include "base/util.h"
#include "search/answer/gap.h"
#include "search/answer/tie.h"
#include "search/engine/explore/cache_pool.h"
#include "search/engine/walk/walk.h"

#include <math.h>
#include <string.h>

typedef struct {
    const Request *request;
    Arena *arena;
    SearchResult *results; /* one for each contender */
    bool *searched;
    CachePool *caches;
    struct PlanCounts counts;
    bool resort; /* a last resort is asked where no other has a plan */
    double started;
    RankedPlan *plans; /* of all, sorted */
    int count, capacity;
    const RankedPlan *fastest; /* of all, shown or not; NULL: none has a plan */
} Contest;

/* The ranked time above which a plan of another contender is of no use. */
static double limit_of(const Contest *contest) {
    const SearchControl *control = &contest->request->control;
    if (control->each || contest->count < control->top) return control->limit_seconds;
    double last = contest->plans[control->top - 1].ranked_seconds;
    last = max_real(last, tie_end(control, contest->fastest->ranked_seconds));
    return control->limit_seconds > 0 ? min_real(control->limit_seconds, last) : last;
}

/* Whether a contender is asked at all. The time limit is for all together: each has an equal share of what is left. */
static bool is_asked(const Contest *contest, int number, Request *ask) {
    const Contender *contender = &contest->request->contenders[number];
    const SearchControl *control = &contest->request->control;
    if (contender->last_resort && (contest->count > 0 || !contest->resort)) return false;
    if (world_stops(&control->world)) return contest->count == 0 && !contender->last_resort;
    if (control->time_limit_seconds > 0) {
        int left = 0;
        double rest = control->time_limit_seconds - (world_clock(&control->world) - contest->started);
        for (int i = number; i < contest->request->contender_count; i++)
            left += !contest->request->contenders[i].last_resort;
        if (rest <= 0 && !contender->last_resort) return false;
        ask->control.time_limit_seconds = max_real(rest, 0.01 * control->time_limit_seconds) / max_whole(1, left);
    }
    ask->control.limit_seconds = limit_of(contest);
    return true;
}

/* Adds plans, sorted by ranked time; of plans that take the same, those of the contender that was asked first. */
static void add_plans(Contest *contest, const SearchResult *result) {
    const RankedPlan *fastest = search_fastest(result);
    if (fastest && (!contest->fastest || fastest->ranked_seconds < contest->fastest->ranked_seconds))
        contest->fastest = fastest;
    for (int i = 0; i < result->plan_count && contest->count < contest->capacity; i++) {
        int at = contest->count++;
        while (at > 0 && contest->plans[at - 1].ranked_seconds > result->plans[i].ranked_seconds) {
            contest->plans[at] = contest->plans[at - 1];
            at--;
        }
        contest->plans[at] = result->plans[i];
    }
}

static bool search_all(Contest *contest, Error *error) {
    const Request *request = contest->request;
    for (int i = 0; i < request->contender_count; i++) {
        Request *ask = ARENA_NEW(contest->arena, Request, 1);
        if (!ask) return error_memory(error);
        request_for(request, &request->contenders[i], ask);
        ask->control.caches = contest->caches;
        contest->results[i].request = ask;
        if (request->control.each) ask->control.top = 1;
        if (!is_asked(contest, i, ask)) continue;
        ask->control.counts = &contest->counts;
        bool ok = search_one(ask, contest->arena, &contest->results[i], error);
        ask->control.counts = NULL; /* it ends with the contest */
        if (!ok) return false;
        contest->searched[i] = true;
        add_plans(contest, &contest->results[i]);
    }
    return true;
}

/* The contender that has the best plan; where nobody has one, that whose plans come nearest to fitting. */
static int winner(const Contest *contest) {
    int best = 0;
    double least = INFINITY;
    for (int i = 0; i < contest->request->contender_count; i++) {
        const SearchResult *result = &contest->results[i];
        if (contest->count > 0 && result->request == contest->plans[0].request) return i;
        if (!contest->searched[i] || !result->shortfall.known) continue;
        double over = result->shortfall.needed_bytes / result->shortfall.limit_bytes;
        if (over < least) least = over, best = i;
    }
    return best;
}

/* What is open in one search is open in all, where it could be better than the last plan of the answer. */
static void merge_proof(const Contest *contest, SearchResult *out) {
    Certificate *certificate = &out->certificate;
    double last = contest->count > 0 ? 0 : INFINITY, bound = INFINITY, open = INFINITY;
    for (int i = 0; i < contest->count; i++) last = max_real(last, contest->plans[i].ranked_seconds);
    for (int i = 0; i < contest->request->contender_count; i++) {
        const Certificate *other = &contest->results[i].certificate;
        bool missed = !contest->searched[i] && !contest->request->contenders[i].last_resort;
        out->interrupted = out->interrupted || contest->results[i].interrupted;
        out->memory_full = out->memory_full || contest->results[i].memory_full;
        out->memory_bytes = max_whole(out->memory_bytes, contest->results[i].memory_bytes);
        if (missed) bound = open = 0;
        if (!contest->searched[i] || other->proof != PROOF_GAP) continue;
        bound = min_real(bound, other->best_bound_seconds);
        open = min_real(open, other->open_bound_seconds);
    }
    if (bound == INFINITY) return;
    certificate->open_bound_seconds = open;
    certificate->proof = PROOF_GAP;
    certificate->best_bound_seconds = min_real(bound, certificate->best_bound_seconds);
    certificate->gap = last < INFINITY ? max_real(0, (last - bound) / last) : 1;
}

/* The first plan of all: of the first contender that has one, after all that those before it took. */
static void note_first(const Contest *contest, SearchResult *out) {
    int64_t work = 0;
    double seconds = 0;
    out->first_plan = (FirstPlan){0};
    for (int i = 0; i < contest->request->contender_count; i++) {
        const SearchResult *result = &contest->results[i];
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
static void gap_rows(const Contest *contest, double open) {
    int common = contest->request->control.each ? (int)min_whole(1, contest->count) : contest->count;
    for (int i = 0; i < common; i++) contest->plans[i].gap = row_gap(contest->plans[i].ranked_seconds, open);
}

static bool list_contenders(const Contest *contest, SearchResult *out, Error *error) {
    out->contender_count = contest->request->contender_count;
    out->contenders = ARENA_NEW(contest->arena, ContenderAnswer, (size_t)out->contender_count);
    if (!out->contenders) return error_memory(error);
    for (int i = 0; i < out->contender_count; i++) {
        const SearchResult *result = &contest->results[i];
        out->contenders[i] = (ContenderAnswer){.request = result->request,
                                               .searched = contest->searched[i],
                                               .best = result->plan_count > 0 ? result->plans : NULL,
                                               .proof = result->certificate.proof,
                                               .gap = result->certificate.gap,
                                               .best_bound_seconds = result->certificate.best_bound_seconds,
                                               .plans_covered = result->certificate.plans_covered};
    }
    return true;
}

static bool is_same(const RankedPlan *a, const RankedPlan *b) {
    return a->request == b->request && a->ranked_seconds == b->ranked_seconds &&
           degrees_compare(&a->plan.degrees, &b->plan.degrees) == 0 &&
           knobs_compare(&a->plan.knobs, &b->plan.knobs) == 0;
}

/* The first of all is the surest of those that stand first for one contender, so that it is the same however many plans
 * are wanted of each. */
static bool order_plans(Contest *contest, Error *error) {
    const SearchControl *control = &contest->request->control;
    RankedPlan *firsts = ARENA_NEW(contest->arena, RankedPlan, (size_t)contest->request->contender_count);
    int count = 0, at = 0;
    if (!firsts) return error_memory(error);
    tie_order(control, contest->fastest->ranked_seconds, contest->plans, contest->count);
    if (control->tie <= 0) return true;
    for (int i = 0; i < contest->request->contender_count; i++) {
        const SearchResult *result = &contest->results[i];
        if (result->plan_count == 0) continue;
        for (at = count++; at > 0 && firsts[at - 1].ranked_seconds > result->plans[0].ranked_seconds; at--)
            firsts[at] = firsts[at - 1];
        firsts[at] = result->plans[0];
    }
    tie_order(control, contest->fastest->ranked_seconds, firsts, count);
    for (at = 0; !is_same(&contest->plans[at], &firsts[0]);) at++;
    memmove(&contest->plans[1], &contest->plans[0], (size_t)at * sizeof *contest->plans);
    contest->plans[0] = firsts[0];
    return true;
}

static bool search_contenders(const Request *request, bool resort, Arena *arena, SearchResult *result, Error *error) {
    const World *world = &request->control.world;
    size_t count = (size_t)request->contender_count;
    memset(result, 0, sizeof *result);
    Contest contest = {
        .request = request, .arena = arena, .counts = {arena}, .resort = resort, .started = world_clock(world)};
    contest.capacity = request->contender_count * (request->control.each ? 1 : request->control.top);
    contest.results = ARENA_NEW(arena, SearchResult, count);
    contest.searched = ARENA_NEW(arena, bool, count);
    contest.plans = ARENA_NEW(arena, RankedPlan, (size_t)contest.capacity);
    contest.caches = request->control.caches ? request->control.caches : cache_pool_new(arena);
    if (!contest.results || !contest.searched || !contest.plans || !contest.caches) return error_memory(error);
    bool ok = search_all(&contest, error);
    if (!request->control.caches) cache_pool_close(contest.caches);
    if (!ok) return false;
    if (contest.count > 0 && !order_plans(&contest, error)) return false;
    if (!request->control.each) contest.count = (int)min_whole(contest.count, request->control.top);
    *result = contest.results[winner(&contest)];
    result->plans = contest.plans;
    result->plan_count = contest.count;
    bool first = contest.count > 0 && contest.plans[0].ranked_seconds == contest.fastest->ranked_seconds;
    result->fastest = first ? NULL : contest.fastest;
    merge_proof(&contest, result);
    gap_rows(&contest, result->certificate.open_bound_seconds);
    note_first(&contest, result);
    result->work = 0;
    for (size_t i = 0; i < count; i++) result->work += contest.results[i].work;
    result->seconds = world_clock(world) - contest.started;
    return list_contenders(&contest, result, error);
}

/* ---- offloading ---- */

/* `resort`: whether a contender that is the last resort is asked where no other has a plan. */
static bool search_asked(const Request *request, bool resort, Arena *arena, SearchResult *result, Error *error) {
    return request->contender_count > 0 ? search_contenders(request, resort, arena, result, error)
                                        : search_one(request, arena, result, error);
}

/* Whether the answer has to be looked for with everything on the host: nothing fits without, or something is faster
 * there by as much as the request wants. */
static bool opens_offload(const Request *opened, const SearchResult *result, bool *out, int64_t *work, Error *error) {
    Arena arena = {0};
    SearchResult faster = {0};
    double gain = opened->space.offload_gain;
    bool proven = result->certificate.proof == PROOF_OPTIMAL && !result->interrupted;
    *out = proven && result->plan_count == 0;
    if (!proven || result->plan_count == 0 || gain <= 0) return true;
    Request limited = *opened;
    limited.control.top = 1;
    limited.control.tie = 0;
    limited.control.each = false;
    limited.control.variants = false;
    limited.control.keep_ledger = false;
    limited.control.limit_seconds = result->plans[0].ranked_seconds / (1 + gain);
    limited.control.within_limit_is_little = true;
    limited.control.uncounted = true;
    bool ok = search_asked(&limited, false, &arena, &faster, error);
    *out = ok && faster.plan_count > 0;
    *work += faster.work;
    arena_free(&arena);
    return ok;
}

bool search_run(const Request *request, Arena *arena, SearchResult *result, Error *error) {
    bool opens = request->space.offload_open && request->control.limit_seconds == 0;
    if (!search_asked(request, !opens, arena, result, error)) return false;
    if (!opens) return true;
    double seconds = result->seconds;
    Request *opened = ARENA_NEW(arena, Request, 1);
    if (!opened) return error_memory(error);
    *opened = *request;
    opened->question.offload = OFFLOAD_ALL;
    opened->space.offload_open = false;
    opened->space.offload_opened = true;
    bool needed;
    if (!opens_offload(opened, result, &needed, &result->work, error)) return false;
    if (!needed) return true;
    int64_t work = result->work;
    if (!search_asked(opened, true, arena, result, error)) return false;
    result->seconds += seconds;
    result->work += work;
    return true;
}
