/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/engine/layout/counts_table.c against all ways to give layers a state, on random small branches. */
#include "base/util.h"
#include "cost/time/step.h"
#include "search/engine/layout/decisions.h"
#include "tests/sanitizer.h"
#include "tests/search/layout_random.h"

#include <criterion/criterion.h>
#include <math.h>

enum { CASES = 600 / PROBLEMS_SHARE, KINDS = 3 };

/* Three activations of up to 5 layers, each of which may be computed again or sent to the host; they free the same. */
static void random_branch(Random *random, StepRule *rule, Branch *branch) {
    int layers = 1 + random_below(random, 5);
    double freed = 0;
    *rule = (StepRule){.microbatches = 1,
                       .offload_bytes_per_second = 1e9,
                       .host_exposed = random_chance(random, 0.2) ? 0 : random_real(random, 0, 0.2)};
    *branch = (Branch){.item_count = 0};
    branch->saved.of[RES_COMPUTE_FORWARD] = random_real(random, 0, 10);
    for (int a = 0; a < KINDS; a++) {
        double bytes = 1e6 * (1 + random_below(random, 12));
        for (ActivationState state = STATE_RECOMPUTED; state < STATE_COUNT; state++) {
            if (random_chance(random, 0.2)) continue;
            BranchItem *item = &branch->items[branch->item_count++];
            *item = (BranchItem){.activation = a, .state = state, .layers = layers};
            item->adds.of[RES_MEMORY] = -bytes;
            if (state == STATE_OFFLOADED)
                item->adds.of[RES_OFFLOAD_BYTES] = 2 * bytes;
            else
                item->adds.of[RES_COMPUTE_BACKWARD] = random_real(random, 0, 1e-3);
        }
        freed += bytes * layers;
    }
    branch->saved.of[RES_MEMORY] = 1e9;
    rule->memory_limit_bytes = 1e9 - freed * random_real(random, 0, 1);
}

/* The least step over all counts, item by item. */
static double least_step(const StepRule *rule, const Branch *branch, const Rates *rates, int at, int64_t *counts) {
    if (at == branch->item_count) {
        Resources resources;
        branch_resources(branch, counts, &resources);
        return resources_fit(&resources, rule->memory_limit_bytes) ? step_seconds(rule, &resources, rates) : INFINITY;
    }
    double best = INFINITY;
    int64_t left = (int64_t)branch->items[at].layers;
    for (int i = 0; i < at; i++)
        if (branch->items[i].activation == branch->items[at].activation) left -= counts[i];
    for (counts[at] = 0; counts[at] <= left; counts[at]++)
        best = min_real(best, least_step(rule, branch, rates, at + 1, counts));
    counts[at] = 0;
    return best;
}

Test(counts_table, is_the_best_of_all) {
    Random random = {7};
    int proven = 0, none = 0;
    for (int i = 0; i < CASES; i++) {
        StepRule rule;
        Branch branch;
        Program program;
        Rates rates = {.axis_count = 0};
        static const Multipliers NOTHING;
        int64_t counts[ITEMS_MAX] = {0};
        random_branch(&random, &rule, &branch);
        program_of_branch(&rule, &branch, &rates, &program);
        BranchSolution found = {.seconds = INFINITY};
        double best = least_step(&rule, &branch, &rates, 0, counts);
        none += isinf(best);
        if (!counts_table(&rule, &rates, &(RelaxedBranch){&branch, &program, &NOTHING}, &found)) continue;
        proven++;
        cr_expect_float_eq(found.seconds, best, 1e-9 * best, "case %d: %.12g, and the best is %.12g", i, found.seconds,
                           best);
    }
    cr_expect_gt(proven, CASES / 2, "%d are decided by the table, %d cannot fit", proven, none);
}
