/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Command lines drawn by chance, with so little room in HBM that it matters: whatever a search is told about its way
 * (how many plans, which rows, how many threads, up to which time, with or without bounds), it finds the same plans.
 * Small spaces are compared with a brute force that knows no bound, too (brute_force.h).
 *
 * SHARDOPT_PROBLEMS=5000 tries so many, SHARDOPT_FIRST=100 begins with the hundredth. */
#include "search/cli/request_text.h"
#include "tests/problems.h"
#include "tests/search/brute_force.h"
#include "tests/search/random_command.h"
#include "tests/search/results.h"

enum { FIRST = 304, PROBLEMS = 16 / PROBLEMS_SHARE }; /* 307 fails with the rule of docs/search.md that was wrong */
/* Plans of a space that brute force, and that the search without bounds, are asked about. */
enum { BRUTE_MOST = 6000, EXHAUSTIVE_MOST = 400000, COMPARED_MOST = 40000000 };

static struct {
    int problems, feasible, offloaded, recomputed, exhaustive, brute, mixtures, idle, batches, launched, gaps,
        all_orders, named, none;
} seen;

/* ---- comparison ---- */

static bool same_plan(const RankedPlan *a, const RankedPlan *b) {
    return a->ranked_seconds == b->ranked_seconds && degrees_compare(&a->plan.degrees, &b->plan.degrees) == 0 &&
           knobs_compare(&a->plan.knobs, &b->plan.knobs) == 0 &&
           placement_compare(&a->plan.placement, &b->plan.placement) == 0 &&
           nesting_compare(&a->nesting, &b->nesting) == 0 &&
           memcmp(a->plan.layout.layers, b->plan.layout.layers, sizeof a->plan.layout.layers) == 0 &&
           a->work.sequences == b->work.sequences && strcmp(a->machine.text, b->machine.text) == 0;
}

/* The first `most` plans of both are the same. */
static void check_same(const SearchResult *result, const SearchResult *other, int most, const char *how,
                       const char *text) {
    if (other->certificate.proof != PROOF_OPTIMAL) return; /* its layout solver came to a limit */
    int count = result->plan_count < most ? result->plan_count : most;
    int others = other->plan_count < most ? other->plan_count : most;
    cr_expect(count == others, "%s: %d plans, %s: %d", text, count, how, others);
    for (int i = 0; i < count && i < others; i++) {
        if (same_plan(&result->plans[i], &other->plans[i])) continue;
        cr_expect(false, "%s --top %d: rank %d takes %.17g s, %s: %.17g s", text, most, i + 1,
                  result->plans[i].ranked_seconds, how, other->plans[i].ranked_seconds);
        return;
    }
}

/* ---- problems ---- */

/* Draws how much of HBM is kept free: mostly so much that the best plan without a limit does not fit, or hardly.
 * False: nothing fits even so, or the space is too large. */
static bool choose_reserve(CommandDraw *command) {
    Arena arena = {0};
    char text[COMMAND_SIZE + 64];
    Request request;
    snprintf(text, sizeof text, "%s --hbm-reserve 0 --top 1 --threads 1", command->text);
    cr_assert(request_from_text(text, &arena, &request), "%s", text);
    SearchResult result = run(&request, &arena, text);
    bool usable = result.plan_count > 0 && result.certificate.plans_covered <= COMPARED_MOST;
    if (usable) {
        double hbm = request_cost_context(&request).chip->hbm_bytes.value;
        double room = memory_total(&result.plans[0].estimate.memory) * draw_real(&command->draw, 0.2, 1.02);
        usable = room >= 0.1 * hbm; /* no more may be kept free */
        command_add(command, " --hbm-reserve %.6g", max_real(0, 1 - room / hbm));
    }
    arena_free(&arena);
    return usable;
}

static void note_result(const Request *request, const SearchResult *result) {
    const Certificate *certificate = &result->certificate;
    seen.problems++;
    seen.mixtures += is_mixture(&request->question.model);
    seen.idle += certificate->machines > 1;
    seen.batches += certificate->batches > 1;
    seen.launched += request->space.launchers != 0;
    seen.all_orders += request->space.nesting_all;
    seen.gaps += certificate->proof != PROOF_OPTIMAL;
    seen.feasible += result->plan_count > 0;
    if (result->plan_count == 0) return;
    char remat[REMAT_TEXT_SIZE];
    seen.offloaded += result->plans[0].plan.knobs.offload_optimizer;
    seen.recomputed += strcmp(remat_name(&request->question.model, &result->plans[0].plan.layout, remat), "none") != 0;
}

/* ---- what must make no difference ---- */

static void check_exhaustive(Request request, const SearchResult *result, const char *text) {
    Arena arena = {0};
    if (result->certificate.plans_covered > EXHAUSTIVE_MOST) return;
    seen.exhaustive++;
    request.control.brute_force = true;
    SearchResult all = run(&request, &arena, text);
    check_same(result, &all, request.control.top, "--brute-force", text);
    arena_free(&arena);
}

/* With --variants no setting is compared with another one, and its best is the best of all. */
static void check_variants(Request request, const SearchResult *result, const char *text) {
    Arena arena = {0};
    request.control.variants = true;
    SearchResult other = run(&request, &arena, text);
    check_same(result, &other, 1, "--variants", text);
    arena_free(&arena);
}

/* Another number of plans that are wanted: the first of them are the same. */
static void check_top(Request request, const SearchResult *result, const char *text) {
    Arena arena = {0};
    int top = request.control.top;
    request.control.top = top == 1 ? 4 : 1;
    SearchResult other = run(&request, &arena, text);
    check_same(result, &other, 1, "another --top", text);
    arena_free(&arena);
}

static void check_threads(Request request, const SearchResult *result, const char *text) {
    Arena arena = {0};
    request.control.threads = 3;
    SearchResult other = run(&request, &arena, text);
    check_same(result, &other, request.control.top, "three threads", text);
    cr_expect(other.certificate.plans_evaluated == result->certificate.plans_evaluated &&
                  memcmp(other.certificate.plans_pruned, result->certificate.plans_pruned,
                         sizeof other.certificate.plans_pruned) == 0,
              "%s: three threads count otherwise", text);
    arena_free(&arena);
}

/* A search that is told up to which time it is to look: that of the best plan, one above and one below. */
static void check_limits(Request request, const SearchResult *result, const char *text) {
    double best = result->plans[0].ranked_seconds;
    request.control.top = 1;
    for (int i = 0; i < 3; i++) {
        Arena arena = {0};
        request.control.limit_seconds = best * (const double[]){1, 1.03, 1 - 1e-6}[i];
        SearchResult other = run(&request, &arena, text);
        if (i < 2)
            check_same(result, &other, 1, "a limit", text);
        else
            cr_expect(other.plan_count == 0, "%s: a plan of %.17g s below the best of %.17g s", text,
                      other.plan_count > 0 ? other.plans[0].ranked_seconds : 0, best);
        arena_free(&arena);
    }
}

/* Seeds, good or bad, and a search that goes to its limit at once. */
static void check_seeds(Request request, const SearchResult *result, const char *text) {
    static const double FACTORS[] = {0.7, 1, 1.2};
    const RankedPlan *last = &result->plans[result->plan_count - 1];
    for (size_t i = 0; i < COUNT_OF(FACTORS); i++) {
        Arena arena = {0};
        request.control.seed_count = 2;
        request.control.seeds[0] = (SearchSeed){last->plan.degrees, FACTORS[i] * last->ranked_seconds};
        request.control.seeds[1] = (SearchSeed){{{1, 1, 1, 1, 1, 1}}, 1};
        request.control.within_limit_is_little = i == 0;
        SearchResult other = run(&request, &arena, text);
        check_same(result, &other, request.control.top, "seeds", text);
        arena_free(&arena);
    }
}

/* The same as brute force without any bound, time and identity. */
static void check_brute(Request request, const SearchResult *result, const char *text) {
    static Brute brute;
    Arena arena = {0};
    if (result->certificate.plans_covered > BRUTE_MOST || request.space.nesting_all) return;
    /* it knows one space and one profile */
    if (request.subproblem_count > 0) return;
    seen.brute++;
    brute_run(&request, &arena, &brute);
    int count = brute.count < request.control.top ? brute.count : request.control.top;
    cr_expect(result->plan_count == count, "%s: %d plans, brute force has %d", text, result->plan_count, count);
    for (int i = 0; i < count && i < result->plan_count; i++) {
        const RankedPlan *plan = &result->plans[i];
        const BestRow *row = &brute.rows[i];
        cr_expect(plan->ranked_seconds == row->seconds && degrees_compare(&plan->plan.degrees, &row->degrees) == 0 &&
                      knobs_compare(&plan->plan.knobs, &row->knobs) == 0 && plan->work.sequences == row->sequences,
                  "%s: rank %d takes %.17g s, by brute force %.17g s", text, i + 1, plan->ranked_seconds, row->seconds);
    }
    arena_free(&arena);
}

static void require_knob(Request *request, Knob knob, int64_t setting) {
    request->space.requirements[request->space.requirement_count++] = (Requirement){.knob = knob, .degree = setting};
}

/* A search that counts nothing looks at no other settings than those that are named (knob_space_narrow()): of the best
 * plan all knobs or some, and one that is changed, which may have a plan or none. */
static void check_named(Request request, const SearchResult *result, const char *text) {
    const RankedPlan *best = &result->plans[0];
    int common = request.space.requirement_count;
    request.control.top = 1;
    for (Role role = 0; role < ROLE_COUNT; role++, common++)
        request.space.requirements[common] = (Requirement){.role = role, .degree = best->plan.degrees.of[role]};
    for (unsigned way = 0; way < 3 + KNOB_COUNT; way++) {
        Arena arena = {0};
        request.space.requirement_count = common;
        for (Knob knob = KNOB_NONE + 1; knob < KNOB_COUNT; knob++) {
            int64_t setting = knob_setting(knob, &best->plan.knobs);
            if (way == 0 || (way < 3 ? knob % 2 == way - 1 : knob == way - 2)) require_knob(&request, knob, setting);
            if (way > 3 && knob == way - 3) require_knob(&request, knob, setting > 0 ? setting - 1 : setting + 1);
        }
        request.control.uncounted = false;
        SearchResult counted = run(&request, &arena, text);
        request.control.uncounted = true;
        SearchResult other;
        Error error = {0};
        cr_assert(search_run(&request, &arena, &other, &error), "%s: %s", text, error.text);
        seen.named += counted.plan_count > 0, seen.none += counted.plan_count == 0;
        check_same(&counted, &other, 1, "settings that are named alone", text);
        if (way <= 3) check_same(result, &other, 1, "the settings of the best", text);
        arena_free(&arena);
    }
}

/* What holds of plans that stand by their time alone. */
static void check_by_time(Request request, const char *text) {
    Arena arena = {0};
    request.control.tie = 0;
    SearchResult result = run(&request, &arena, text);
    if (result.certificate.proof == PROOF_OPTIMAL) {
        check_variants(request, &result, text);
        check_brute(request, &result, text);
        if (result.plan_count > 0 && request.space.requirement_count == 0 && request.subproblem_count == 0)
            check_named(request, &result, text);
        if (result.plan_count > 0) check_limits(request, &result, text);
    }
    arena_free(&arena);
}

static void check_command(const char *text) {
    Arena arena = {0};
    Request request;
    cr_assert(request_from_text(text, &arena, &request), "%s", text);
    SearchResult result = run(&request, &arena, text);
    note_result(&request, &result);
    if (result.certificate.proof == PROOF_OPTIMAL) {
        check_exhaustive(request, &result, text);
        check_by_time(request, text);
        check_top(request, &result, text);
        check_threads(request, &result, text);
        if (result.plan_count > 0) check_seeds(request, &result, text);
    }
    arena_free(&arena);
}

Test(random_commands, way_of_searching_makes_no_difference) {
    uint64_t seed = problems_first() > 0 ? problems_first() : FIRST;
    int problems = problems_asked(PROBLEMS);
    for (; seen.problems < problems; seed++) {
        CommandDraw command;
        random_command(seed, &command);
        if (!choose_reserve(&command)) continue;
        if (seed % 2 && !strstr(command.text, "--offload")) command_add(&command, " --offload all");
        command_add(&command, " --top %lld --threads 1", (long long)DRAW_FROM(&command.draw, 1, 3));
        check_command(command.text);
        if (problems != PROBLEMS) fprintf(stderr, "%llu shardopt %s\n", (unsigned long long)seed, command.text);
    }
    cr_log_info(
        "%d problems: %d with a plan, %d offload the optimizer, %d recompute, %d exhaustive, %d by brute force, "
        "%d mixtures, %d idle, %d batches, %d for launchers, %d in all orders, %d gaps",
        seen.problems, seen.feasible, seen.offloaded, seen.recomputed, seen.exhaustive, seen.brute, seen.mixtures,
        seen.idle, seen.batches, seen.launched, seen.all_orders, seen.gaps);
    if (PROBLEMS_SHARE > 1 || problems < PROBLEMS) return; /* fewer problems have less of everything */
    cr_expect(seen.feasible >= 6 && seen.offloaded >= 2 && seen.recomputed >= 5 && seen.exhaustive >= 3 &&
                  seen.mixtures >= 1 && seen.launched >= 3 && seen.named >= 20 && seen.none >= 5 &&
                  seen.gaps * 10 <= seen.problems,
              "%d problems: %d with a plan, %d offload, %d recompute, %d exhaustive, %d by brute force, %d mixtures, "
              "%d idle, %d batches, %d for launchers, %d named plans, %d that are none, %d gaps",
              seen.problems, seen.feasible, seen.offloaded, seen.recomputed, seen.exhaustive, seen.brute, seen.mixtures,
              seen.idle, seen.batches, seen.launched, seen.named, seen.none, seen.gaps);
}
