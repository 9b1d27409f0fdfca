/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/settle.h"

#include "base/util.h"
#include "cost/time/slack.h"
#include "search/answer/doubts.h"
#include "search/answer/plan_words.h"
#include "search/answer/tie.h"
#include "search/engine/portfolio.h"
#include "search/engine/walk/walk.h"

#include <math.h>
#include <string.h>

/* ---- one more search ---- */

/* A search for plans up to a ranked time, in what is left of the limit of time. */
static void ask_within(const SearchResult *result, double limit_seconds, Request *changed) {
    SearchControl *control = &changed->control;
    double rest = control->time_limit_seconds - result->seconds;
    if (control->time_limit_seconds > 0) control->time_limit_seconds = max_real(rest, 1e-9);
    control->top = 1;
    control->tie = 0;
    control->each = control->different = control->variants = control->brute_force = control->keep_search_log = false;
    control->limit_seconds = limit_seconds;
    control->within_limit_is_little = control->uncounted = true;
}

/* Notes a search that followed. One that did not end leaves open whether it would have changed the answer: the first
 * plan is the fastest, and not known to be the one that comes first. */
static void note(const SearchResult *other, SearchResult *result) {
    Certificate *certificate = &result->certificate;
    result->work += other->work;
    result->seconds += other->seconds;
    result->interrupted = result->interrupted || other->interrupted;
    if (other->certificate.proof != PROOF_GAP) return;
    result->unsettled = true;
    if (certificate->proof == PROOF_GAP) return;
    certificate->proof = PROOF_GAP;
    certificate->gap = 0;
    certificate->open_bound_seconds = search_fastest(result)->ranked_seconds;
    if (!(certificate->best_bound_seconds > 0 && certificate->best_bound_seconds < certificate->open_bound_seconds))
        certificate->best_bound_seconds = certificate->open_bound_seconds;
}

/* ---- the lowest risk ---- */

#define LIKELY_TO_FIT 0.95

/* The share of HBM that a plan keeps free which fits with this chance (doubts.h). */
static double reserve_for(const RankedPlan *plan, double chance) {
    CostContext setting = ranked_cost_context(plan->request, plan);
    double total = memory_total(&plan->estimate.memory), hbm = setting.chip->hbm_bytes.value;
    double apart = memory_on_device(&setting, &plan->estimate.shard, total) - total;
    return 1 - (hbm * pow(chance / (1 - chance), -setting.profile->hbm_error) - apart) / hbm;
}

/* The plan becomes the first, in place of one that is the same, or, of so many as are wanted, of the first: the last of
 * the best stays. `request` is what it answers. */
static bool put_first(const RankedPlan *plan, const Request *request, Arena *arena, SearchResult *result,
                      Error *error) {
    const RankedPlan *was = search_fastest(result), *first = &result->plans[0];
    int count = 1, drop = result->plan_count < result->request->control.top ? -1 : 0;
    RankedPlan *plans = ARENA_NEW(arena, RankedPlan, (size_t)result->plan_count + 1);
    if (!plans) return error_memory(error);
    plans[0] = *plan;
    plans[0].request = request;
    plans[0].estimate.memory_limit_bytes = first->estimate.memory_limit_bytes;
    plans[0].estimate.reserve_bytes = first->estimate.reserve_bytes;
    plans[0].tied = true;
    for (int i = 0; i < result->plan_count; i++)
        if (ranked_plan_is_same(&result->plans[i], &plans[0])) drop = i;
    for (int i = 0; i < result->plan_count; i++)
        if (i != drop) plans[count++] = result->plans[i];
    result->fastest = was;
    result->plans = plans;
    result->plan_count = count;
    return true;
}

/* Searches for a plan of less risk that is tied with the fastest, and has fewer bytes on the host than `host_bytes` or
 * no optimizer's state there, and puts it first. `narrower` is the request of the first plan with fewer plans in it. */
static bool look_for(Request *narrower, double host_bytes, Arena *arena, SearchResult *result, bool *found,
                     Error *error) {
    const SearchControl control = narrower->control;
    SearchResult other = {0};
    ask_within(result, tie_end(&control, search_fastest(result)->ranked_seconds), narrower);
    if (!search_one(narrower, arena, &other, error)) return false;
    note(&other, result);
    *found = other.plan_count > 0 && tie_holds(&control, search_fastest(result), &other.plans[0]) &&
             (plan_host_bytes(narrower, &other.plans[0]) < host_bytes ||
              other.plans[0].plan.knobs.offload_optimizer < result->plans[0].plan.knobs.offload_optimizer);
    return !*found || put_first(&other.plans[0], result->plans[0].request, arena, result, error);
}

/* Few measured runs have anything on the host: where a plan without is tied that is as likely to fit, it is first. */
static bool keep_in_hbm(const Request *request, Arena *arena, SearchResult *result, Error *error) {
    Request *home = ARENA_NEW(arena, Request, 1);
    bool found = false;
    if (!home) return error_memory(error);
    double host_bytes = plan_host_bytes(result->plans[0].request, &result->plans[0]);
    if (!(host_bytes > 0) || request->requested.offload) return true;
    if (result->plans[0].request->question.tuning.what.on_host) return true;
    /* With nothing there; then with what --require and --remat have there, or is usual. */
    for (int way = 0; way < 2 && !found; way++) {
        *home = *result->plans[0].request;
        home->question.offload = OFFLOAD_NONE;
        if (way == 1) request_settle_offload(home);
        if (way == 1 && home->question.offload == OFFLOAD_NONE) break;
        if (plan_fits_chance(home, &result->plans[0]) >= LIKELY_TO_FIT)
            home->question.hbm_reserve =
                max_real(home->question.hbm_reserve, reserve_for(&result->plans[0], LIKELY_TO_FIT));
        if (!look_for(home, host_bytes, arena, result, &found, error)) return false;
    }
    return true;
}

/* The fastest plan uses what HBM there is, and one that is tied with it may keep less. Where the first is not likely to
 * fit, the fastest that surely does, or else likely, or at nine in ten, takes its place. */
static bool leave_room(const Request *request, Arena *arena, SearchResult *result, Error *error) {
    enum { SURELY, LIKELY, RATHER, CHANCE_COUNT };
    static const double CHANCES[CHANCE_COUNT] = {[SURELY] = 0.99, [LIKELY] = LIKELY_TO_FIT, [RATHER] = 0.9};
    double fits = plan_fits_chance(request, &result->plans[0]);
    bool found = !(fits > 0) || fits >= CHANCES[LIKELY];
    for (int i = SURELY; i < CHANCE_COUNT && CHANCES[i] > fits && !found; i++) {
        Request *roomy = ARENA_NEW(arena, Request, 1);
        if (!roomy) return error_memory(error);
        *roomy = *result->plans[0].request;
        bool at_home = !(plan_host_bytes(roomy, &result->plans[0]) > 0);
        if (at_home && !request->requested.offload) request_settle_offload(roomy);
        roomy->question.hbm_reserve = reserve_for(&result->plans[0], CHANCES[i]);
        if (roomy->question.hbm_reserve < RESERVE_MOST && !look_for(roomy, INFINITY, arena, result, &found, error))
            return false;
    }
    return true;
}

/* ---- faster, but seldom run ---- */

/* The request as --rank time has it, without a layout for no launcher where some launcher has a plan. */
static bool by_time(const Request *request, const SearchResult *result, Arena *arena, Request *out) {
    Subproblem *list = ARENA_NEW(arena, Subproblem, CONTENDERS_MAX);
    *out = *request;
    out->question.profile.ranks_by_time = true;
    out->subproblems = list;
    out->subproblem_count = 0;
    for (int i = 0; list && i < request->subproblem_count; i++) {
        if (request->subproblems[i].fallback && result->plans[0].request->space.launchers) continue;
        list[out->subproblem_count] = request->subproblems[i];
        list[out->subproblem_count].fallback = false;
        list[out->subproblem_count++].profile.ranks_by_time = true;
    }
    return list != NULL;
}

/* The request that a plan found by time answers, with what is odd in its rank. */
static const Request *usual_request(const Request *request, const Request *found, Arena *arena) {
    Request *own = ARENA_NEW(arena, Request, 1);
    if (own) *own = *request;
    for (int i = 0; own && i < request->subproblem_count; i++) {
        const Subproblem *subproblem = &request->subproblems[i];
        if (subproblem->launchers == found->space.launchers &&
            subproblem->parameters_on_host == found->question.tuning.what.on_host)
            request_for(request, subproblem, own);
    }
    return own;
}

/* What ranks behind the first for what is odd about it, and takes less time. */
static bool find_faster(const Request *request, Arena *arena, SearchResult *result, Error *error) {
    SearchResult other = {0};
    Request *plain = ARENA_NEW(arena, Request, 1);
    double seconds = result->plans[0].seconds;
    if (!chip_has_domains(&request->question.chip)) return true; /* odd.h: nothing is odd there */
    if (!plain || !by_time(request, result, arena, plain)) return error_memory(error);
    ask_within(result, seconds * (1 - LAYOUT_TOLERANCE), plain);
    plain->control.top = FASTER_MOST;
    plain->control.odd_only = true; /* of the others the first is the fastest, but for what is tied with it */
    if (!search_asked(plain, arena, &other, error)) return false;
    note(&other, result);
    for (int i = 0; i < other.plan_count; i++) {
        RankedPlan *plan = &other.plans[i];
        if (!plan->odd || plan->seconds >= seconds * (1 - LAYOUT_TOLERANCE)) continue;
        plan->request = usual_request(request, plan->request, arena);
        if (!plan->request) return error_memory(error);
        plan->ranked_seconds = plan->seconds * odd_factor(&plan->request->question.profile, plan->odd);
        if (result->faster_count++ == 0) result->odd = plan;
    }
    return true;
}

bool search_settle(const Request *request, Arena *arena, SearchResult *result, Error *error) {
    const SearchControl *control = &request->control;
    bool proven = result->certificate.proof == PROOF_OPTIMAL && !result->interrupted && result->plan_count > 0;
    bool ranked = control->tie > 0 && control->limit_seconds == 0 && !control->quick;
    if (!proven || !ranked) return true;
    return (request->space.pin_count > 0 ||
            (keep_in_hbm(request, arena, result, error) && leave_room(request, arena, result, error))) &&
           find_faster(request, arena, result, error);
}
