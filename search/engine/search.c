/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The policies above one search (walk/): a search for each launcher that may launch the plan, each priced with its own
 * software, and what they come to; a second try with everything on the host; and of tied plans one that leaves room. */
#include "search/engine/search.h"

#include "base/util.h"
#include "search/answer/plan_words.h"
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
    bool fallback; /* a fallback is searched where no other has a plan */
    double started;
    RankedPlan *plans; /* of all, sorted */
    int count, capacity;
    const RankedPlan *fastest; /* of all, shown or not; NULL: none has a plan */
    const RankedPlan *odd;     /* SearchResult.odd of all; NULL: there is none */
} Portfolio;

/* The ranked time above which a plan of another subproblem is of no use. */
static double limit_of(const Portfolio *portfolio) {
    const SearchControl *control = &portfolio->request->control;
    if (control->each || portfolio->count < control->top) return control->limit_seconds;
    double last = portfolio->plans[control->top - 1].ranked_seconds;
    last = max_real(last, tie_end(control, portfolio->fastest->ranked_seconds));
    return control->limit_seconds > 0 ? min_real(control->limit_seconds, last) : last;
}

/* Whether a subproblem is searched at all. The time limit is for all together: each has an equal share of what is
 * left. */
static bool is_asked(const Portfolio *portfolio, int number, Request *ask) {
    const Subproblem *subproblem = &portfolio->request->subproblems[number];
    const SearchControl *control = &portfolio->request->control;
    if (subproblem->fallback && (portfolio->count > 0 || !portfolio->fallback)) return false;
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
    const RankedPlan *odd = result->odd;
    if (odd && (!portfolio->odd || odd->seconds < portfolio->odd->seconds)) portfolio->odd = odd;
    for (int i = 0; i < result->plan_count && portfolio->count < portfolio->capacity; i++) {
        int at = portfolio->count++;
        while (at > 0 && portfolio->plans[at - 1].ranked_seconds > result->plans[i].ranked_seconds) {
            portfolio->plans[at] = portfolio->plans[at - 1];
            at--;
        }
        portfolio->plans[at] = result->plans[i];
    }
}

static bool search_all(Portfolio *portfolio, Error *error) {
    const Request *request = portfolio->request;
    for (int i = 0; i < request->subproblem_count; i++) {
        Request *ask = ARENA_NEW(portfolio->arena, Request, 1);
        if (!ask) return error_memory(error);
        request_for(request, &request->subproblems[i], ask);
        ask->control.caches = portfolio->caches;
        portfolio->results[i].request = ask;
        if (request->control.each) ask->control.top = 1;
        if (!is_asked(portfolio, i, ask)) continue;
        ask->control.counts = &portfolio->counts;
        bool ok = search_one(ask, portfolio->arena, &portfolio->results[i], error);
        ask->control.counts = NULL; /* it ends with the contest */
        if (!ok) return false;
        portfolio->searched[i] = true;
        add_plans(portfolio, &portfolio->results[i]);
    }
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
        bool missed = !portfolio->searched[i] && !portfolio->request->subproblems[i].fallback;
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

static bool list_subproblems(const Portfolio *portfolio, SearchResult *out, Error *error) {
    out->subproblem_count = portfolio->request->subproblem_count;
    out->subproblems = ARENA_NEW(portfolio->arena, SubproblemAnswer, (size_t)out->subproblem_count);
    if (!out->subproblems) return error_memory(error);
    for (int i = 0; i < out->subproblem_count; i++) {
        const SearchResult *result = &portfolio->results[i];
        out->subproblems[i] = (SubproblemAnswer){.request = result->request,
                                                 .searched = portfolio->searched[i],
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

/* The first of all is the one of lowest risk of those that come first for one subproblem, so that it is the same
 * however many plans are wanted of each. */
static bool order_plans(Portfolio *portfolio, Error *error) {
    const SearchControl *control = &portfolio->request->control;
    RankedPlan *firsts = ARENA_NEW(portfolio->arena, RankedPlan, (size_t)portfolio->request->subproblem_count);
    int count = 0, at = 0;
    if (!firsts) return error_memory(error);
    tie_order(control, portfolio->fastest->ranked_seconds, portfolio->plans, portfolio->count);
    if (control->tie <= 0) return true;
    for (int i = 0; i < portfolio->request->subproblem_count; i++) {
        const SearchResult *result = &portfolio->results[i];
        if (result->plan_count == 0) continue;
        for (at = count++; at > 0 && firsts[at - 1].ranked_seconds > result->plans[0].ranked_seconds; at--)
            firsts[at] = firsts[at - 1];
        firsts[at] = result->plans[0];
    }
    tie_order(control, portfolio->fastest->ranked_seconds, firsts, count);
    for (at = 0; !is_same(&portfolio->plans[at], &firsts[0]);) at++;
    memmove(&portfolio->plans[1], &portfolio->plans[0], (size_t)at * sizeof *portfolio->plans);
    portfolio->plans[0] = firsts[0];
    return true;
}

static bool search_subproblems(const Request *request, bool fallback, Arena *arena, SearchResult *result,
                               Error *error) {
    const Environment *environment = &request->control.environment;
    size_t count = (size_t)request->subproblem_count;
    memset(result, 0, sizeof *result);
    Portfolio portfolio = {.request = request,
                           .arena = arena,
                           .counts = {arena},
                           .fallback = fallback,
                           .started = environment_clock(environment)};
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
    const RankedPlan *odd = portfolio.odd; /* NULL where there is no plan */
    bool faster = odd && odd->seconds < min_real(portfolio.plans[0].seconds, portfolio.fastest->seconds);
    result->odd = faster ? odd : NULL;
    merge_proof(&portfolio, result);
    gap_rows(&portfolio, result->certificate.open_bound_seconds);
    note_first(&portfolio, result);
    result->work = 0;
    for (size_t i = 0; i < count; i++) result->work += portfolio.results[i].work;
    result->seconds = environment_clock(environment) - portfolio.started;
    return list_subproblems(&portfolio, result, error);
}

/* ---- offloading ---- */

/* `fallback`: whether a subproblem that is the fallback is searched where no other has a plan. */
static bool search_asked(const Request *request, bool fallback, Arena *arena, SearchResult *result, Error *error) {
    return request->subproblem_count > 0 ? search_subproblems(request, fallback, arena, result, error)
                                         : search_one(request, arena, result, error);
}

/* Whether the answer has to be looked for with everything on the host: nothing fits without, or something is faster
 * there by as much as the request wants. */
static bool needs_offload(const Request *with_offload, const SearchResult *result, bool *out, int64_t *work,
                          Error *error) {
    Arena arena = {0};
    SearchResult faster = {0};
    double gain = with_offload->space.offload_gain;
    bool proven = result->certificate.proof == PROOF_OPTIMAL && !result->interrupted;
    *out = proven && result->plan_count == 0;
    if (!proven || result->plan_count == 0 || gain <= 0) return true;
    Request limited = *with_offload;
    limited.control.top = 1;
    limited.control.tie = 0;
    limited.control.each = false;
    limited.control.variants = false;
    limited.control.keep_search_log = false;
    limited.control.limit_seconds = result->plans[0].ranked_seconds / (1 + gain);
    limited.control.within_limit_is_little = true;
    limited.control.uncounted = true;
    bool ok = search_asked(&limited, false, &arena, &faster, error);
    *out = ok && faster.plan_count > 0;
    *work += faster.work;
    arena_free(&arena);
    return ok;
}

/* Where adapters are trained, frozen parameters are what there is to go to the host, and nothing hides their copies:
 * not before nothing fits without. */
static void open_host(Request *request) {
    Tuning *what = &request->question.tuning.what;
    request->space.offload_open = false;
    request->space.offload_allowed = true;
    if (what->rank > 0 && request_has_host_room(request))
        what->on_host = request->question.state.tuning.on_host = true;
    else
        request->question.offload = OFFLOAD_ALL;
}

static bool search_with_host(const Request *request, Arena *arena, SearchResult *result, Error *error) {
    bool opens = request->space.offload_open && request->control.limit_seconds == 0;
    if (!search_asked(request, !opens, arena, result, error)) return false;
    if (!opens) return true;
    double seconds = result->seconds;
    Request *with_offload = ARENA_NEW(arena, Request, 1);
    if (!with_offload) return error_memory(error);
    *with_offload = *request;
    open_host(with_offload);
    bool needed;
    if (!needs_offload(with_offload, result, &needed, &result->work, error)) return false;
    if (!needed) return true;
    int64_t work = result->work;
    if (!search_asked(with_offload, true, arena, result, error)) return false;
    result->seconds += seconds;
    result->work += work;
    return true;
}

/* ---- room in HBM ---- */

/* The share of HBM that a plan keeps free which fits with this chance (doubts.h). */
static double reserve_for(const RankedPlan *plan, double chance) {
    CostContext setting = ranked_cost_context(plan->request, plan);
    double total = memory_total(&plan->estimate.memory), hbm = setting.chip->hbm_bytes.value;
    double apart = memory_on_device(&setting, &plan->estimate.shard, total) - total;
    return 1 - (hbm * pow(chance / (1 - chance), -setting.profile->hbm_error) - apart) / hbm;
}

/* The plan becomes the first, in place of one that is the same, or, of so many as are wanted, of the first: the last of
 * the best stays. */
static bool put_first(const RankedPlan *plan, Arena *arena, SearchResult *result, Error *error) {
    const RankedPlan *was = search_fastest(result), *first = &result->plans[0];
    int count = 1, drop = result->plan_count < result->request->control.top ? -1 : 0;
    RankedPlan *plans = ARENA_NEW(arena, RankedPlan, (size_t)result->plan_count + 1);
    if (!plans) return error_memory(error);
    plans[0] = *plan;
    plans[0].request = first->request;
    plans[0].estimate.memory_limit_bytes = first->estimate.memory_limit_bytes;
    plans[0].estimate.reserve_bytes = first->estimate.reserve_bytes;
    plans[0].tied = true;
    for (int i = 0; i < result->plan_count; i++)
        if (is_same(&result->plans[i], &plans[0])) drop = i;
    for (int i = 0; i < result->plan_count; i++)
        if (i != drop) plans[count++] = result->plans[i];
    result->fastest = was;
    result->plans = plans;
    result->plan_count = count;
    return true;
}

/* The fastest plan uses what HBM there is, and one that is tied with it may keep less. Where the first is not likely to
 * fit, the fastest that surely does, or else likely, or at nine in ten, takes its place if the model cannot tell their
 * times apart. */
static bool leave_room(const Request *request, Arena *arena, SearchResult *result, Error *error) {
    enum { SURELY, LIKELY, RATHER, CHANCE_COUNT };
    static const double CHANCES[CHANCE_COUNT] = {[SURELY] = 0.99, [LIKELY] = 0.95, [RATHER] = 0.9};
    const SearchControl *control = &request->control;
    bool settled = result->certificate.proof == PROOF_OPTIMAL && !result->interrupted && result->plan_count > 0;
    bool free = control->tie > 0 && control->limit_seconds == 0 && !control->quick && request->space.pin_count == 0;
    double fits = settled && free ? plan_fits_chance(request, &result->plans[0]) : 0;
    if (!(fits > 0) || fits >= CHANCES[LIKELY]) return true;
    for (int i = SURELY; i < CHANCE_COUNT && CHANCES[i] > fits; i++) {
        Request *roomy = ARENA_NEW(arena, Request, 1);
        SearchResult other = {0};
        if (!roomy) return error_memory(error);
        *roomy = *result->plans[0].request;
        roomy->question.hbm_reserve = reserve_for(&result->plans[0], CHANCES[i]);
        if (!(roomy->question.hbm_reserve < RESERVE_MOST)) continue;
        roomy->control.top = 1;
        roomy->control.tie = 0;
        roomy->control.variants = roomy->control.brute_force = roomy->control.keep_search_log = false;
        roomy->control.limit_seconds = tie_end(control, search_fastest(result)->ranked_seconds);
        roomy->control.within_limit_is_little = roomy->control.uncounted = true;
        if (!search_one(roomy, arena, &other, error)) return false;
        result->work += other.work;
        if (other.plan_count > 0) return put_first(&other.plans[0], arena, result, error);
    }
    return true;
}

bool search_run(const Request *request, Arena *arena, SearchResult *result, Error *error) {
    return search_with_host(request, arena, result, error) && leave_room(request, arena, result, error);
}
