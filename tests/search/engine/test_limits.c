/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Searches that end early, by a time limit or an interrupt: what they say still holds. */
#include "tests/search/random_problem.h"
#include "tests/search/results.h"

enum { SEQUENCES_MOST = 24 };

/* Ended early, the search says so, and what it says still holds: nothing is faster than what it has found and what it
 * left open. */
Test(search, time_limit) {
    /* in seconds; below 0: shares of what the whole search takes, for a machine of any speed */
    static const double LIMITS[] = {1e-9, 1e-4, 1e-3, 5e-3, 2e-2, -0.2, -0.4, -0.6, -0.8, 3600};
    Arena arena = {0};
    Catalog catalog;
    load_catalog(&arena, &catalog);
    int gaps = 0, proofs = 0, open = 0, closed = 0; /* rows */
    for (uint64_t seed = 0; seed < 12; seed++) {
        Arena own = {0};
        char text[400];
        Draw draw = draw_seeded(9000 + seed);
        Request request = random_request(&draw, &catalog, 32, SEQUENCES_MOST, &own);
        problem_text(&request, text);
        SearchResult all = run(&request, &own, text);
        if (all.plan_count > 0)
            set_hbm(&request, 0.95 * memory_total(&all.plans[0].estimate.memory) / (1 - request.question.hbm_reserve));
        all = run(&request, &own, text);
        for (size_t i = 0; i < COUNT_OF(LIMITS) && all.plan_count > 0; i++) {
            double limit = LIMITS[i] < 0 ? -LIMITS[i] * all.seconds : LIMITS[i];
            request.control.time_limit_seconds = limit;
            SearchResult some = run(&request, &own, text);
            const Certificate *certificate = &some.certificate;
            double best = all.plans[0].ranked_seconds,
                   found = some.plan_count > 0 ? some.plans[0].ranked_seconds : INFINITY;
            if (some.machines_not_counted == 0)
                cr_expect(certificate->plans_covered == all.certificate.plans_covered,
                          "%s: %g s: the space itself changed", text, limit);
            if (certificate->proof == PROOF_OPTIMAL) {
                proofs++;
                cr_expect(equal_plans(&some, &all) && certificate->gap == 0, "%s: %g s: a proof, but of other plans",
                          text, limit);
                continue;
            }
            gaps++;
            for (int k = 0; k < some.plan_count && k < all.plan_count; k++) {
                const RankedPlan *row = &some.plans[k];
                double true_time = all.plans[k].ranked_seconds;
                closed += row->gap == 0;
                open += row->gap > 0;
                cr_expect(row->gap >= 0 && row->gap <= 1 &&
                              row->ranked_seconds * (1 - row->gap) <= true_time * (1 + 1e-12),
                          "%s: %g s: row %d takes %.17g with a gap of %g, and should take %.17g", text, limit, k + 1,
                          row->ranked_seconds, row->gap, true_time);
            }
            cr_expect(i + 1 < COUNT_OF(LIMITS), "%s: no limit was reached", text);
            cr_expect(certificate->gap >= 0 && certificate->gap <= 1 && certificate->best_bound_seconds > 0,
                      "%s: %g s: gap %g, bound %g", text, limit, certificate->gap, certificate->best_bound_seconds);
            cr_expect(min_real(found, certificate->best_bound_seconds) <= best && found >= best,
                      "%s: %g s: found %.17g, nothing below %.17g, best is %.17g", text, limit, found,
                      certificate->best_bound_seconds, best);
            if (some.plan_count == request.control.top) {
                double last = some.plans[request.control.top - 1].ranked_seconds,
                       gap = max_real(0, (last - certificate->best_bound_seconds) / last);
                cr_expect(fabs(certificate->gap - gap) < 1e-12, "%s: %g s: gap %.17g, should be %.17g", text, limit,
                          certificate->gap, gap);
            }
            cr_expect(!some.shortfall.known, "%s: %g s: time was short, not memory", text, limit);
            if (i > 0) continue;
            cr_expect(certificate->gap == 1 && some.plan_count == 0 && certificate->best_bound_seconds <= best,
                      "%s: at once: gap %g, bound %.17g, best %.17g", text, certificate->gap,
                      certificate->best_bound_seconds, best);
            cr_expect(certificate->plans_pruned[PRUNED_TIME_LIMIT] == certificate->plans_covered,
                      "%s: at once: plans were looked at", text);
        }
        cr_expect(all.plan_count == 0 || request.control.time_limit_seconds == LIMITS[COUNT_OF(LIMITS) - 1]);
        arena_free(&own);
    }
    arena_free(&arena);
    cr_expect(gaps >= 6 && proofs >= 6, "%d gaps, %d proofs", gaps, proofs);
    cr_expect(open >= 1 && closed >= 0, "%d rows open, %d proven", open, closed);
}

/* An interrupt that comes when it has been asked for this number of times. */
static bool comes_after(void *context) { return __atomic_sub_fetch((int64_t *)context, 1, __ATOMIC_RELAXED) < 0; }

static void check_interrupted(const Request *request, const SearchResult *all, const SearchResult *some,
                              const char *text) {
    const Certificate *certificate = &some->certificate;
    double best = all->plans[0].ranked_seconds, found = some->plan_count > 0 ? some->plans[0].ranked_seconds : INFINITY;
    Count sum = certificate->plans_evaluated;
    for (int i = 0; i < PRUNED_COUNT; i++) sum += certificate->plans_pruned[i];
    cr_expect(sum == certificate->plans_covered, "%s: the plans do not add up", text);
    cr_expect(some->interrupted, "%s: it does not say so", text);
    if (some->search_log || certificate->proof == PROOF_OPTIMAL) { /* the interrupt came while the answer was written */
        cr_expect(found == best, "%s: a proof, but of another plan", text);
        return;
    }
    cr_expect(min_real(found, certificate->best_bound_seconds) <= best && found >= best,
              "%s: found %.17g, nothing below %.17g, best is %.17g", text, found, certificate->best_bound_seconds,
              best);
    cr_expect(certificate->gap >= 0 && certificate->gap <= 1, "%s: gap %g", text, certificate->gap);
    if (some->machines_not_counted == 0)
        cr_expect(certificate->plans_covered == all->certificate.plans_covered, "%s: the space itself changed", text);
    cr_expect(some->plan_count <= request->control.top);
}

/* Interrupted at any moment, the search says so, its plans add up, and what it says holds. */
Test(search, interrupted) {
    Arena arena = {0};
    Catalog catalog;
    load_catalog(&arena, &catalog);
    int cut = 0, with_plans = 0;
    for (uint64_t seed = 0; seed < 8; seed++) {
        Arena own = {0};
        char text[400];
        Draw draw = draw_seeded(9000 + seed);
        Request request = random_request(&draw, &catalog, 32, SEQUENCES_MOST, &own);
        problem_text(&request, text);
        SearchResult all = run(&request, &own, text);
        request.control.keep_search_log = seed % 2 == 0;
        for (int64_t after = 1; after < INT64_C(1) << 24 && all.plan_count > 0; after *= 7) {
            int64_t asked = after;
            request.control.environment = (Environment){.context = &asked, .interrupted = comes_after};
            SearchResult some = run(&request, &own, text);
            if (asked >= 0) break; /* the search ended before */
            check_interrupted(&request, &all, &some, text);
            cut++;
            with_plans += some.plan_count > 0;
        }
        arena_free(&own);
    }
    arena_free(&arena);
    cr_expect(cut >= 10 && with_plans >= 3, "%d interrupted, %d of them with plans", cut, with_plans);
}
