/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Searches under a limit of memory: where what is left of opened tuples is not kept the answer is the same, and where
 * the limit ends a search what it says still holds. */
#include "tests/search/random_problem.h"
#include "tests/search/results.h"

#include "search/engine/explore/explorer.h"

enum { SEQUENCES_MOST = 24 };

/* With so much beyond the caches: nothing; hardly a table; a few tuples; all. */
static const int64_t BEYOND[] = {1 << 10, 40 << 10, 300 << 10, 4 << 20};

static void check_limited(const Request *request, const SearchResult *all, const SearchResult *some, const char *text) {
    const Certificate *certificate = &some->certificate;
    Count sum = certificate->plans_evaluated;
    double best = all->plans[0].ranked_seconds, found = some->plan_count > 0 ? some->plans[0].ranked_seconds : INFINITY;
    for (int i = 0; i < PRUNED_COUNT; i++) sum += certificate->plans_pruned[i];
    cr_expect(sum == certificate->plans_covered, "%s: the plans do not add up", text);
    cr_expect(some->memory_bytes <= request->control.memory_limit_bytes + (8 << 20), "%s: took %lld of %lld", text,
              (long long)some->memory_bytes, (long long)request->control.memory_limit_bytes);
    cr_expect_eq(some->memory_full, certificate->proof == PROOF_GAP, "%s: it does not say why", text);
    if (certificate->proof == PROOF_OPTIMAL) {
        cr_expect(equal_plans(some, all), "%s: a proof, but of other plans", text);
        return;
    }
    cr_expect(min_real(found, certificate->best_bound_seconds) <= best && found >= best,
              "%s: found %.17g, nothing below %.17g, best is %.17g", text, found, certificate->best_bound_seconds,
              best);
}

Test(memory, limit) {
    Arena arena = {0};
    Catalog catalog;
    load_catalog(&arena, &catalog);
    int gaps = 0, proofs = 0;
    for (uint64_t seed = 0; seed < 12; seed++) {
        Arena own = {0};
        char text[400];
        Draw draw = draw_seeded(9100 + seed);
        Request request = random_request(&draw, &catalog, 32, SEQUENCES_MOST, &own);
        problem_text(&request, text);
        SearchResult all = run(&request, &own, text);
        for (size_t i = 0; i < COUNT_OF(BEYOND) && all.plan_count > 0; i++) {
            request.control.memory_limit_bytes = explore_cache_bytes() + BEYOND[i];
            SearchResult some = run(&request, &own, text);
            check_limited(&request, &all, &some, text);
            gaps += some.certificate.proof == PROOF_GAP;
            proofs += some.certificate.proof == PROOF_OPTIMAL;
            cr_expect(i > 0 || some.certificate.proof == PROOF_GAP, "%s: it took nothing", text);
        }
        arena_free(&own);
    }
    arena_free(&arena);
    cr_expect(gaps >= 10 && proofs >= 10, "%d gaps, %d proofs", gaps, proofs);
}
