/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order of plans that the model cannot tell apart, on plans that differ in one thing each. */
#include "search/answer/tie.h"

#include "base/util.h"
#include "search/answer/plan_words.h"
#include "search/report/report.h"
#include "search/request/request.h"
#include "tests/search/asked.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { PLANS = 6 };

/* A plan of a report, again and again, each a ten-thousandth slower than the one before it. */
static void copies(const char *question, Arena *arena, RankedPlan plans[PLANS]) {
    Error error = {0};
    Report *report = ARENA_NEW(arena, Report, 1);
    Request *request = ARENA_NEW(arena, Request, 1);
    cr_assert(request_from_text(question, arena, request), "%s", question);
    cr_assert(report_make(request, arena, report, &error), "%s", error.text);
    cr_assert(report->result.plan_count >= 1);
    for (int i = 0; i < PLANS; i++) {
        plans[i] = report->result.plans[0];
        plans[i].ranked_seconds *= 1 + 1e-4 * i;
        plans[i].plan.degrees = (Degrees){{1, 1, 1, 1, 1, 1}};
        plans[i].doubt = (PlanDoubt){0};
    }
}

static const char QUESTION[] = "plan --model 8b --chip h100 --nodes 2 --batch 512Ki --seq 4096 --for megatron --top 1";

Test(tie, the_first_thing_that_differs_decides) {
    Arena arena = {0};
    RankedPlan *plans = ARENA_NEW(&arena, RankedPlan, PLANS);
    bool less;
    copies(QUESTION, &arena, plans);
    cr_expect_eq(tie_reason(&plans[0], &plans[1], &less), TIE_BY_TIME);
    cr_expect(less);

    /* each sentence of the header, from the last to the first, against all that come after it */
    plans[1].plan.degrees.of[ROLE_PIPELINE] = 4; /* two stages against four: as many roles */
    plans[2].plan.degrees.of[ROLE_PIPELINE] = 2;
    cr_expect_eq(tie_reason(&plans[1], &plans[2], &less), TIE_BY_STAGES);
    cr_expect(!less);
    plans[2].plan.degrees.of[ROLE_TENSOR] = 2;
    cr_expect_eq(tie_reason(&plans[1], &plans[2], &less), TIE_BY_ROLES);
    cr_expect(less);
    plans[1].odd = 1; /* its first row */
    cr_expect_eq(tie_reason(&plans[1], &plans[2], &less), TIE_BY_ODD);
    cr_expect(!less);
    plans[2].plan.knobs.offload_optimizer = true;
    cr_expect_eq(tie_reason(&plans[1], &plans[2], &less), TIE_BY_OPTIMIZER);
    cr_expect(less);
    plans[1].doubt.unmeasured_figures = 1;
    cr_expect_eq(tie_reason(&plans[1], &plans[2], &less), TIE_BY_UNMEASURED);
    cr_expect(!less);
    plans[2].estimate.memory.logits_bytes += 20e9; /* more than there is in all: it fits in no other case */
    cr_expect_eq(tie_reason(&plans[1], &plans[2], &less), TIE_BY_HBM);
    cr_expect(less);
    arena_free(&arena);
}

Test(tie, bytes_that_change_no_chance_decide_nothing) {
    Arena arena = {0};
    RankedPlan *plans = ARENA_NEW(&arena, RankedPlan, PLANS);
    bool less;
    copies(QUESTION, &arena, plans);
    memset(&plans[0].estimate.memory, 0, sizeof(MemoryRows));
    memset(&plans[1].estimate.memory, 0, sizeof(MemoryRows));
    plans[0].estimate.memory.activations_bytes = 20e9;
    plans[1].estimate.memory.activations_bytes = 40e9; /* of 85 GB: both fit for certain */
    cr_expect_eq(tie_reason(&plans[0], &plans[1], &less), TIE_BY_TIME);
    arena_free(&arena);
}

Test(tie, only_what_is_tied_is_put_in_order) {
    Arena arena = {0};
    RankedPlan *plans = ARENA_NEW(&arena, RankedPlan, PLANS);
    copies(QUESTION, &arena, plans);
    const RankedPlan fastest = plans[0];
    for (int i = 0; i < PLANS - 1; i++) plans[i].plan.degrees.of[ROLE_PIPELINE] = 64 >> i; /* 64, 32, 16, 8, 4 */
    /* four stages, that are slower by more than the tie in rank, and one stage, by its seconds alone */
    plans[4].ranked_seconds = (1 + TIE + 1e-4) * fastest.ranked_seconds;
    plans[5].seconds = (1 + TIE + 1e-4) * fastest.seconds;
    SearchControl control = {.top = PLANS};
    tie_order(&control, &fastest, plans, PLANS);
    cr_expect_eq(plans[0].ranked_seconds, fastest.ranked_seconds, "without a tie they stand by time");
    control.tie = TIE;
    tie_order(&control, &fastest, plans, PLANS);
    static const int64_t STAGES[PLANS] = {8, 16, 32, 64, 4, 1};
    for (int i = 0; i < PLANS; i++) {
        cr_expect_eq(plans[i].plan.degrees.of[ROLE_PIPELINE], STAGES[i], "place %d", i);
        cr_expect_eq(plans[i].tied, i != 4, "place %d", i);
    }
    arena_free(&arena);
}

/* A mixture on one node has its experts on 4 ranks of 8, or on all 8, which is slower by less than a two-hundredth and
 * leaves more HBM: what is surer stands first, and `emit` writes it. */
Test(tie, the_answer_and_what_is_written_are_one_plan) {
    Arena arena = {0};
    Error error = {0};
#define QUESTION_OF_8 "plan --model gpt-oss-20b --chip h200 --nodes 1 --batch 1Mi --seq 4096 --sensitivity none"
    static const char *const QUESTIONS[] = {QUESTION_OF_8, QUESTION_OF_8 " --top 7",
                                            QUESTION_OF_8 " --for megatron --top 1"};
    for (size_t i = 0; i < COUNT_OF(QUESTIONS); i++) {
        Report *report = ARENA_NEW(&arena, Report, 1);
        Request *request = ARENA_NEW(&arena, Request, 1);
        cr_assert(request_from_text(QUESTIONS[i], &arena, request));
        cr_assert(report_make(request, &arena, report, &error), "%s", error.text);
        const SearchResult *result = &report->result;
        cr_expect_eq(result->plans[0].plan.knobs.methods.grid.expert, 8, "%s", QUESTIONS[i]);
        cr_assert(result->fastest, "%s", QUESTIONS[i]);
        cr_expect(result->fastest->ranked_seconds < result->plans[0].ranked_seconds &&
                      result->plans[0].ranked_seconds <= (1 + TIE) * result->fastest->ranked_seconds,
                  "%s", QUESTIONS[i]);
    }
    arena_free(&arena);
}

/* What a row may be behind is what nothing undecided goes below, as a share of the row's own time. */
/* Searches that keep more and more of HBM free, one after the other: where one of them has a plan that the model cannot
 * tell from the fastest and that is likelier to fit, the answer begins with one that is as likely. */
Test(tie, what_may_not_fit_leaves_room_where_that_costs_nothing) {
    static const char *const QUESTIONS[] = {"plan --model 70b --chip h100 --nodes 64 --for megatron",
                                            "plan --model 8b --chip h100 --nodes 1 --for megatron",
                                            "plan --model llama2-13b --chip h100 --nodes 4 --for megatron",
                                            "plan --model 70b --chip h200 --nodes 8 --for torchtitan"};
    int roomier = 0;
    for (size_t i = 0; i < COUNT_OF(QUESTIONS); i++) {
        RequestedSearch answer;
        asked_open(&answer, QUESTIONS[i]);
        const RankedPlan *first = &answer.result.plans[0];
        double fits = plan_fits_chance(first->request, first), fastest = search_fastest(&answer.result)->ranked_seconds;
        roomier += answer.result.fastest != NULL;
        for (int percent = 1; percent <= 8; percent++) {
            RequestedSearch other;
            asked_read(&other, QUESTIONS[i]);
            other.request->question.hbm_reserve += 0.01 * percent;
            other.request->requested.reserve_origin = FROM_OPTION;
            other.request->control.tie = 0;
            requested_search(&other, QUESTIONS[i]);
            if (other.result.plan_count > 0 && other.result.plans[0].ranked_seconds < fastest * (1 + TIE)) {
                double likely = plan_fits_chance(other.request, &other.result.plans[0]);
                cr_expect(fits >= 0.95 || likely < 0.95, "%s: %g, and %g fits", QUESTIONS[i], fits, likely);
            }
            asked_close(&other);
        }
        asked_close(&answer);
    }
    cr_expect_gt(roomier, 0);
}

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
