/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --nesting all: the best of all 720 orders of the roles, each searched alone, and as many plans as tuples have
 * orders. */
#include "search/engine/search.h"
#include "tests/search/brute_space.h"
#include "tests/search/random_problem.h"

#include <stdlib.h>

enum { ORDERS = 720, PROBLEMS = 9 / PROBLEMS_SHARE };

static int64_t factorial(int n) { return n <= 1 ? 1 : n * factorial(n - 1); }

/* Order `number` of all six roles. */
static Nesting order_of_six(int64_t number) { return nesting_order(&(Degrees){{2, 2, 2, 2, 2, 2}}, number); }

Test(nesting_all, orders_of_a_tuple) {
    static const struct {
        const char *name;
        Degrees degrees;
        int64_t orders;
    } ROWS[] = {
        {"one chip", {{1, 1, 1, 1, 1, 1}}, 1},  {"one role", {{1, 1, 1, 8, 1, 1}}, 1},
        {"two roles", {{4, 1, 1, 8, 1, 1}}, 2}, {"pipeline, data and tensor", {{4, 1, 1, 1, 2, 2}}, 6},
        {"all six", {{2, 2, 2, 2, 2, 2}}, 720},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        const Degrees *degrees = &ROWS[i].degrees;
        Nesting canonical = nesting_canonical(), first = nesting_order(degrees, 0);
        cr_expect(nesting_orders(degrees) == ROWS[i].orders, "%s", ROWS[i].name);
        cr_expect(nesting_compare(&first, &canonical) == 0, "%s: the first is the canonical one", ROWS[i].name);
        for (int64_t n = 0; n < ROWS[i].orders; n++) {
            Nesting nesting = nesting_order(degrees, n),
                    next = nesting_order(degrees, n + 1 < ROWS[i].orders ? n + 1 : n);
            RoleSet roles = 0;
            for (int at = 0; at < ROLE_COUNT; at++) roles |= 1u << nesting.order[at];
            cr_expect(roles == ROLES_ALL, "%s: order %lld has every role", ROWS[i].name, (long long)n);
            int order = 0; /* of the roles above 1, compared with the next */
            for (int a = 0, b = 0; order == 0; a++, b++) {
                while (a < ROLE_COUNT && degrees->of[nesting.order[a]] == 1) a++;
                while (b < ROLE_COUNT && degrees->of[next.order[b]] == 1) b++;
                if (a >= ROLE_COUNT || b >= ROLE_COUNT) break;
                order = (int)nesting.order[a] - (int)next.order[b];
            }
            cr_expect(n + 1 == ROWS[i].orders ? order == 0 : order < 0, "%s: order %lld comes before the next",
                      ROWS[i].name, (long long)n);
        }
    }
}

static SearchResult run(const Request *request, Arena *arena, const char *text) {
    SearchResult result;
    Error error = {0};
    cr_assert(search_run(request, arena, &result, &error), "%s: %s", text, error.text);
    const Certificate *certificate = &result.certificate;
    Count sum = certificate->plans_evaluated;
    for (int i = 0; i < PRUNED_COUNT; i++) sum += certificate->plans_pruned[i];
    cr_expect(sum == certificate->plans_covered, "%s: covered is not evaluated + pruned", text);
    cr_expect(certificate->proof == PROOF_OPTIMAL, "%s", text);
    return result;
}

/* By definition: every tuple of every machine and batch in all orders of its roles above 1. */
static Count covered_by_definition(const Request *request, Arena *arena) {
    static Knobs knobs[KNOBS_MAX];
    Error error = {0};
    const Machine *machines;
    Count covered = 0;
    int machine_count = brute_machines(request, arena, &machines);
    for (int m = 0; m < machine_count; m++) {
        Degrees *tuples;
        int64_t count, batches[512];
        DegreesList listed = {0};
        cr_assert(degrees_enumerate(&machines[m].mesh, request->space.roles, 100000, arena, &listed, &error));
        tuples = listed.tuples, count = listed.count;
        PlacementTable *table = placement_table(&machines[m].mesh, request->space.roles, arena);
        for (int64_t i = 0; i < count; i++) {
            int above = 0;
            for (int role = 0; role < ROLE_COUNT; role++) above += tuples[i].of[role] > 1;
            int64_t batch_count = brute_batches(request, &tuples[i], batches, 512);
            for (int64_t b = 0; b < batch_count; b++)
                covered += placement_count(table, &tuples[i]) * (Count)factorial(above) *
                           (Count)brute_knobs(request, &machines[m].mesh, &tuples[i], batches[b], knobs);
        }
    }
    return covered;
}

/* The best over 720 searches of one order each; *wins: how often it is not the canonical one's. */
static double best_of_orders(const Request *request, const char *text, int *wins) {
    Request alone = *request;
    double best = INFINITY, canonical = INFINITY;
    alone.space.nesting_all = false;
    alone.control.top = 1;
    for (int n = 0; n < ORDERS; n++) {
        Arena arena = {0};
        alone.space.nesting = order_of_six(n);
        /* Only what is as fast is of interest: the search is the shorter for it. */
        alone.control.limit_seconds = best < INFINITY ? best : 0;
        SearchResult result = run(&alone, &arena, text);
        if (result.plan_count > 0) best = min_real(best, result.plans[0].ranked_seconds);
        if (n == 0) canonical = best;
        arena_free(&arena);
    }
    *wins += best < canonical;
    return best;
}

Test(nesting_all, is_the_best_of_720_orders) {
    Arena arena = {0};
    Catalog catalog;
    load_catalog(&arena, &catalog);
    int feasible = 0, wins = 0, problems = 0;
    for (uint64_t seed = 200; problems < PROBLEMS; seed++) { /* in 204 another order wins */
        Arena own = {0};
        Draw draw = draw_seeded(9000 + seed);
        char text[320];
        Request request = random_request(&draw, &catalog, 16, 24, &own);
        set_hbm(&request, request.question.chip.hbm_bytes.value / NO_LIMIT * draw_real(&draw, 0.01, 0.4));
        problem_text(&request, text);
        request.control.top = 1;
        if (seed % 2 != 0) { /* roles that have to share the axes of a small mesh, and room for them */
            request.space.padding = PADDING_ANY;
            request.space.requirement_count = 2;
            request.space.requirements[0] = (Requirement){.role = ROLE_PIPELINE, .op = REQUIRE_AT_LEAST, .degree = 2};
            request.space.requirements[1] = (Requirement){.role = ROLE_DATA, .op = REQUIRE_AT_LEAST, .degree = 4};
            set_hbm(&request, NO_LIMIT * request.question.chip.hbm_bytes.value);
        }
        request.space.nesting_all = true;
        request.space.nesting = nesting_canonical();
        Count covered = covered_by_definition(&request, &own);
        if (covered > 3000000) { /* time */
            arena_free(&own);
            continue;
        }
        problems++;
        SearchResult result = run(&request, &own, text);
        cr_expect(result.certificate.plans_covered == covered, "%s: covered %lld, by definition %lld", text,
                  (long long)result.certificate.plans_covered, (long long)covered);
        double best = best_of_orders(&request, text, &wins);
        double found = result.plan_count > 0 ? result.plans[0].ranked_seconds : INFINITY;
        cr_expect(found == best, "%s: all orders %.17g, the best of each alone %.17g", text, found, best);
        feasible += found < INFINITY;
        if (result.plan_count > 0) { /* and it is a plan in the order that it names */
            Request named = request;
            named.space.nesting_all = false;
            named.space.nesting = result.plans[0].nesting;
            SearchResult again = run(&named, &own, text);
            cr_expect(again.plan_count > 0 && again.plans[0].ranked_seconds == found, "%s: not in its own order", text);
        }
        arena_free(&own);
    }
    arena_free(&arena);
    cr_expect(feasible > 3 / PROBLEMS_SHARE && (wins > 0 || PROBLEMS_SHARE > 1),
              "%d feasible, %d where another order wins", feasible, wins);
}

/* Brute force in all orders finds the same plans, k of them, and the same for any number of threads. */
Test(nesting_all, brute_force_and_threads) {
    Arena arena = {0};
    Catalog catalog;
    load_catalog(&arena, &catalog);
    int several = 0;
    for (uint64_t seed = 0, problems = 0; problems < 12; seed++) {
        Arena own = {0};
        Draw draw = draw_seeded(77000 + seed);
        char text[320];
        Request request = random_request(&draw, &catalog, 16, 16, &own);
        set_hbm(&request, request.question.chip.hbm_bytes.value / NO_LIMIT * draw_real(&draw, 0.01, 0.4));
        problem_text(&request, text);
        request.space.nesting_all = true;
        request.space.nesting = nesting_canonical();
        request.control.top = (int)draw_whole(&draw, 1, 6);
        if (covered_by_definition(&request, &own) > 30000) {
            arena_free(&own);
            continue;
        }
        problems++;
        SearchResult one = run(&request, &own, text);
        request.control.threads = 3;
        SearchResult three = run(&request, &own, text);
        request.control.brute_force = true;
        SearchResult brute = run(&request, &own, text);
        cr_expect(one.certificate.plans_evaluated == three.certificate.plans_evaluated, "%s: threads", text);
        cr_expect(one.plan_count == brute.plan_count && one.plan_count == three.plan_count, "%s: %d plans, %d, %d",
                  text, one.plan_count, three.plan_count, brute.plan_count);
        for (int i = 0; i < one.plan_count && i < brute.plan_count && i < three.plan_count; i++) {
            const RankedPlan *a = &one.plans[i], *b = &brute.plans[i], *c = &three.plans[i];
            cr_expect(a->ranked_seconds == b->ranked_seconds && a->ranked_seconds == c->ranked_seconds &&
                          degrees_compare(&a->plan.degrees, &b->plan.degrees) == 0 &&
                          knobs_compare(&a->plan.knobs, &b->plan.knobs) == 0 &&
                          placement_compare(&a->plan.placement, &b->plan.placement) == 0 &&
                          nesting_compare(&a->nesting, &b->nesting) == 0 &&
                          nesting_compare(&a->nesting, &c->nesting) == 0,
                      "%s: rank %d: %.17g, brute force %.17g", text, i + 1, a->ranked_seconds, b->ranked_seconds);
            several += i > 0;
        }
        arena_free(&own);
    }
    arena_free(&arena);
    cr_expect(several > 8, "%d plans behind a first", several);
}
