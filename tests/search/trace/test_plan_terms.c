/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/trace/comparison.h"

#include "base/util.h"

#include <criterion/criterion.h>

/* Ranks of a stage lie `stride` apart; a role of unknown stride is the outermost one. */
Test(plan_terms, stage_of_a_rank) {
    static const struct {
        int64_t stages, stride, chips, rank, stage;
    } ROWS[] = {
        {2, 4, 8, 0, 0},  {2, 4, 8, 3, 0},  {2, 4, 8, 4, 1},   {2, 4, 8, 7, 1},  {2, 1, 8, 5, 1},
        {4, 0, 32, 7, 0}, {4, 0, 32, 8, 1}, {4, 0, 32, 31, 3}, {1, 1, 8, 3, -1}, {2, 4, 8, -1, -1},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        PlanTerms plan = {.chips = ROWS[i].chips};
        plan.shape.degree[TERM_PIPELINE] = ROWS[i].stages;
        plan.shape.stride[TERM_PIPELINE] = ROWS[i].stride;
        cr_expect_eq(plan_stage(&plan, ROWS[i].rank), ROWS[i].stage, "row %zu: %d", i,
                     (int)plan_stage(&plan, ROWS[i].rank));
    }
}

Test(plan_terms, share_of_a_stage) {
    static const double SHARES[] = {0.5, 1};
    PlanTerms known = {.stage_share = SHARES}, unknown = {0};
    cr_expect_eq(plan_stage_share(&known, 0), 0.5);
    cr_expect_eq(plan_stage_share(&known, 1), 1);
    cr_expect_eq(plan_stage_share(&known, -1), 1);
    cr_expect_eq(plan_stage_share(&unknown, 0), 1);
}

/* Each microbatch computes, and sends what tensor, experts and context have; weights, gradients and the update are of a
 * step. */
Test(plan_terms, terms_of_passes) {
    static const TraceTerm PASSES[] = {TERM_MATMUL, TERM_ATTENTION, TERM_ELEMENTWISE, TERM_RECOMPUTE,
                                       TERM_TENSOR, TERM_EXPERT,    TERM_SEQUENCE},
                           STEP[] = {TERM_FSDP, TERM_DATA, TERM_PIPELINE, TERM_OPTIMIZER, TERM_OTHER};
    for (size_t i = 0; i < COUNT_OF(PASSES); i++)
        cr_expect(plan_term_is_of_passes(PASSES[i]), "%s", term_name(PASSES[i]));
    for (size_t i = 0; i < COUNT_OF(STEP); i++)
        cr_expect_not(plan_term_is_of_passes(STEP[i]), "%s", term_name(STEP[i]));
}
