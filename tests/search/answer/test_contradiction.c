/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A search with a wrong bound is contradicted by the plan that it has lost; one with right bounds by none; and a plan
 * of another space contradicts nothing. */
#include "base/util.h"
#include "search/answer/contradiction.h"
#include "search/report/compare_to_best.h"
#include "tests/search/asked.h"

/* Requests, one of which has its best plan among tuples of degrees that a wrong bound cuts. */
static const char *const OPEN[] = {
    "plan --model 8b --chip v5e --slice 4x4 --batch 256Ki --seq 4096 --max-idle 0 --top 1 --offload all",
    "plan --model 8b --chip v5e --slice 4x4 --batch 32Ki --seq 2048 --max-idle 0 --top 1",
    "plan --model 8b --chip h100 --nodes 2 --batch 256Ki --seq 4096 --max-idle 0 --top 1",
    "plan --model 70b --chip h100 --nodes 8 --batch 1Mi --seq 8192 --max-idle 0 --top 1 --for megatron",
    "plan --model 70b --chip v6e --slice 8x8 --batch 512Ki --seq 8192 --max-idle 0 --top 1",
};

/* With the bounds of degrees times as much, tuples that hold the best plans are cut. */
static SearchResult search_with_error(Request *request, double bound_error, Arena *arena) {
    SearchResult result;
    Error error = {0};
    request->control.bound_error = bound_error;
    cr_assert(search_run(request, arena, &result, &error), "%s", error.text);
    request->control.bound_error = 0;
    return result;
}

/* The best plan, which the wrong search does not find. */
static void make_wrong(RequestedSearch *asked, SearchResult *wrong) {
    for (size_t i = 0; i < COUNT_OF(OPEN); i++) {
        asked_open(asked, OPEN[i]);
        *wrong = asked->result;
        for (double by = 0.01; by < 100 && wrong->plans[0].ranked_seconds == asked->result.plans[0].ranked_seconds;
             by *= 2) {
            *wrong = search_with_error(asked->request, by, &asked->arena);
            cr_assert(wrong->plan_count == 1 && wrong->certificate.proof == PROOF_OPTIMAL);
        }
        if (wrong->plans[0].ranked_seconds > asked->result.plans[0].ranked_seconds * 1.0001) return;
        if (i + 1 < COUNT_OF(OPEN)) asked_close(asked);
    }
}

Test(contradiction, a_wrong_proof_does_not_stand) {
    RequestedSearch asked;
    SearchResult wrong;
    Error error = {0};
    make_wrong(&asked, &wrong);
    const RankedPlan *best = &asked.result.plans[0];
    cr_assert(wrong.plans[0].ranked_seconds > best->ranked_seconds * 1.0001, "no wrong bound loses the best plan");
    cr_expect(proof_stands(asked.request, &asked.result, asked.request, best, &error));
    cr_expect(proof_stands(asked.request, &asked.result, asked.request, &wrong.plans[0], &error));
    cr_expect(!proof_stands(asked.request, &wrong, asked.request, best, &error));
    cr_expect(error.kind == ERROR_INTERNAL, "%s", error.text);
    wrong.plan_count = 0;
    cr_expect(!proof_stands(asked.request, &wrong, asked.request, best, &error));
    wrong.certificate.proof = PROOF_GAP;
    cr_expect(proof_stands(asked.request, &wrong, asked.request, best, &error), "a gap proves nothing");
    asked_close(&asked);
}

/* Each request leaves the plan out, or prices it otherwise. */
Test(contradiction, a_plan_of_another_space_says_nothing) {
    RequestedSearch asked;
    SearchResult wrong;
    Error error = {0};
    make_wrong(&asked, &wrong);
    const RankedPlan *best = &asked.result.plans[0];
    static Request other[8];
    for (size_t i = 0; i < COUNT_OF(other); i++) other[i] = *asked.request;
    other[0].space.launchers = ~best->launchable_by;
    other[1].space.requirements[other[1].space.requirement_count++] =
        (Requirement){.role = ROLE_FSDP, .op = REQUIRE_AT_LEAST, .degree = 2 * best->plan.degrees.of[ROLE_FSDP]};
    other[2].question.hbm_reserve += 0.01;
    other[3].question.chip.hbm_bytes.value *= 1.01;
    other[4].question.remat.required = true;
    other[5].question.work.sequences++;
    other[6].space.pin_count = 1;
    other[7].question.precision = PRECISION_INT8;
    for (size_t i = 0; i < COUNT_OF(other); i++)
        cr_expect(proof_stands(&other[i], &wrong, asked.request, best, &error), "row %zu: %s", i, error.text);
    asked_close(&asked);
}

/* "Why not this plan" asks for what is no slower than the plan: a search that does not find even that is wrong. */
Test(contradiction, why_not_notices) {
    RequestedSearch asked;
    SearchResult wrong;
    Error error = {0};
    BestComparison comparison;
    make_wrong(&asked, &wrong);
    const RankedPlan *best = &asked.result.plans[0];
    cr_expect(compare_to_best(asked.request, asked.request, best, &asked.arena, &comparison, &error), "%s", error.text);
    cr_expect(comparison.is_best);
    asked.request->control.bound_error = 100;
    cr_expect(!compare_to_best(asked.request, asked.request, best, &asked.arena, &comparison, &error));
    cr_expect(error.kind == ERROR_INTERNAL, "%s", error.text);
    asked_close(&asked);
}
