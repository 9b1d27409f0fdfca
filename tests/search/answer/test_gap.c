/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/answer/gap.h"

#include "base/util.h"
#include "search/request/request.h"

#include <criterion/criterion.h>
#include <math.h>

/* What a row may be behind is what nothing undecided goes below, as a share of the row's own time. */
Test(gap, is_of_each_row) {
    cr_expect_float_eq(row_gap(10, 9), 0.1, 1e-12);
    cr_expect_float_eq(row_gap(12, 9), 0.25, 1e-12);
    cr_expect_eq(row_gap(10, 0), 1);
    cr_expect_eq(row_gap(9, 9), 0);
    cr_expect_eq(row_gap(8, 9), 0);
    cr_expect_eq(row_gap(8, INFINITY), 0);
    cr_expect_eq(row_gap(10, 10 * (1 - 1e-10)), 0, "a layout that counts as solved may be off by more");
}

/* A search with one plan of `best` seconds (0: none), whose rest may take `bound`. */
Test(gap, is_of_the_first_plan) {
    static const struct {
        const char *name;
        Proof proof;
        double best, bound, limit, counts, gap; /* limit: --time-limit; counts: --gap */
        bool interrupted, open;
        int passed_over; /* plans */
    } ROWS[] = {
        {"proven", PROOF_OPTIMAL, 10, 11, 5, 0.005, 0, false, false, 0},
        {"a row below is open", PROOF_GAP, 10, 12, 5, 0.005, 0, false, false, 0},
        {"open by a tenth", PROOF_GAP, 10, 9, 5, 0.005, 0.1, false, true, 0},
        {"open by a tenth, nobody asked for a limit", PROOF_GAP, 10, 9, 0, 0.005, 0.1, false, false, 0},
        {"open by a tenth, interrupted", PROOF_GAP, 10, 9, 0, 0.005, 0.1, true, true, 0},
        {"open by less than a tie", PROOF_GAP, 10, 9.96, 5, 0.005, 0.004, false, false, 0},
        {"open by a tie, and less counts", PROOF_GAP, 10, 9.96, 5, 0.001, 0.004, false, true, 0},
        {"no plan", PROOF_GAP, 0, 9, 5, 0.005, 1, false, true, 0},
        {"a machine too large to list", PROOF_GAP, 10, 9, 0, 0.005, 0.1, false, true, 7},
        {"that cannot be faster", PROOF_OPTIMAL, 10, 11, 0, 0.005, 0, false, false, 7},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        static Request request;
        static RankedPlan plan;
        request.control.time_limit_seconds = ROWS[i].limit;
        request.control.gap = ROWS[i].counts;
        plan.ranked_seconds = ROWS[i].best;
        SearchResult result = {.request = &request,
                               .plans = &plan,
                               .plan_count = ROWS[i].best > 0,
                               .interrupted = ROWS[i].interrupted,
                               .certificate = {.proof = ROWS[i].proof, .best_bound_seconds = ROWS[i].bound, .gap = 1}};
        result.certificate.plans_pruned[PRUNED_TIME_LIMIT] = ROWS[i].passed_over;
        cr_expect_float_eq(search_gap(&result), ROWS[i].gap, 1e-12, "%s: %g", ROWS[i].name, search_gap(&result));
        cr_expect_eq(search_left_open(&result), ROWS[i].open, "%s", ROWS[i].name);
    }
}
