/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tests/search/results.h: searches of the tests, and whether two of them gave the same. */
#pragma once

#include "search/engine/search.h"

#include <criterion/criterion.h>
#include <string.h>

/* A search whose plans have to add up. */
static inline SearchResult run(const Request *request, Arena *arena, const char *text) {
    SearchResult result;
    Error error = {0};
    cr_assert(search_run(request, arena, &result, &error), "%s: %s: %s", text, error.where, error.text);
    const Certificate *certificate = &result.certificate;
    Count pruned = 0;
    for (int i = 0; i < PRUNED_COUNT; i++) pruned += certificate->plans_pruned[i];
    cr_expect(certificate->plans_covered == certificate->plans_evaluated + pruned,
              "%s: covered is not evaluated + pruned", text);
    return result;
}

/* Everything that reports show, but what the search did on its way. */
static inline bool equal_plans(const SearchResult *a, const SearchResult *b) {
    if (a->plan_count != b->plan_count) return false;
    for (int i = 0; i < a->plan_count; i++) {
        const RankedPlan *x = &a->plans[i], *y = &b->plans[i];
        if (x->ranked_seconds != y->ranked_seconds || degrees_compare(&x->plan.degrees, &y->plan.degrees) != 0 ||
            knobs_compare(&x->plan.knobs, &y->plan.knobs) != 0 ||
            placement_compare(&x->plan.placement, &y->plan.placement) != 0 ||
            memcmp(&x->plan.layout.sharding, &y->plan.layout.sharding, sizeof(Sharding)) != 0 ||
            memcmp(x->plan.layout.layers, y->plan.layout.layers, sizeof x->plan.layout.layers) != 0 ||
            x->work.sequences != y->work.sequences || strcmp(x->machine.text, y->machine.text) != 0 ||
            x->padding != y->padding || x->launchable_by != y->launchable_by ||
            memcmp(&x->estimate.time, &y->estimate.time, sizeof(StepTime)) != 0 ||
            memcmp(&x->estimate.memory, &y->estimate.memory, sizeof(MemoryRows)) != 0 ||
            x->equal_placements != y->equal_placements || x->within_one_percent != y->within_one_percent ||
            x->tied != y->tied)
            return false;
    }
    return true;
}

static inline bool equal_certificates(const Certificate *a, const Certificate *b) {
    return a->factorizations == b->factorizations && a->plans_covered == b->plans_covered &&
           a->plans_evaluated == b->plans_evaluated &&
           memcmp(a->plans_pruned, b->plans_pruned, sizeof a->plans_pruned) == 0 &&
           a->layouts_solved == b->layouts_solved && a->machines == b->machines && a->batches == b->batches &&
           a->degree_tuples == b->degree_tuples && a->degree_tuples_expanded == b->degree_tuples_expanded &&
           a->proof == b->proof && a->gap == b->gap && a->best_bound_seconds == b->best_bound_seconds;
}
