/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several launchers: the answer is the best of what each alone gives, priced with its own software. */
#include "tests/search/asked.h"
#include "tests/search/launchers.h"

#include <criterion/criterion.h>
#include <string.h>

enum { ALONE = 3 };
static const char *const NAMES[ALONE] = {"megatron", "torchtitan", "deepspeed"};
static const char *const PROBLEMS[] = {
    "plan --model 8b --chip h100 --nodes 2 --batch 1Mi --seq 8192",
    "plan --model 70b --chip h200 --nodes 4 --batch 1Mi --seq 4096",
    "plan --model llama2-7b --chip mi300x --nodes 1 --batch 256Ki --seq 4096",
};

Test(subproblems, are_each_searched_alone) {
    for (size_t i = 0; i < COUNT_OF(PROBLEMS); i++) {
        RequestedSearch all, alone[ALONE];
        char words[256];
        const RequestedSearch *best = NULL;
        snprintf(words, sizeof words, "%s --for megatron,torchtitan,deepspeed --top 1", PROBLEMS[i]);
        asked_open(&all, words);
        cr_assert_eq(all.result.plan_count, 1, "%s", words);
        for (int k = 0; k < ALONE; k++) {
            snprintf(words, sizeof words, "%s --for %s --top 1", PROBLEMS[i], NAMES[k]);
            asked_open(&alone[k], words);
            if (alone[k].result.plan_count == 0) continue;
            if (!best || alone[k].result.plans[0].ranked_seconds < best->result.plans[0].ranked_seconds)
                best = &alone[k];
        }
        cr_assert_not_null(best, "%s", words);
        const RankedPlan *plan = &all.result.plans[0], *own = &best->result.plans[0];
        cr_expect(plan->ranked_seconds == own->ranked_seconds, "%s: %.17g, alone %.17g", words, plan->ranked_seconds,
                  own->ranked_seconds);
        cr_expect_eq(degrees_compare(&plan->plan.degrees, &own->plan.degrees), 0, "%s", words);
        cr_expect_str_eq(plan->request->question.profile.stack, best->request->question.profile.stack);
        cr_expect_eq(all.result.request, plan->request);
        cr_expect(plan->exact & plan->request->space.launchers, "%s: its launcher cannot be told it", words);
        cr_expect_eq(all.result.certificate.proof, PROOF_OPTIMAL);
        for (int k = 0; k < ALONE; k++) asked_close(&alone[k]);
        asked_close(&all);
    }
}

Test(subproblems, the_k_best_of_all) {
    RequestedSearch all, alone[ALONE];
    char words[256];
    double times[64];
    int count = 0;
    asked_open(&all, "plan --model 8b --chip h100 --nodes 2 --batch 1Mi --for megatron,torchtitan,deepspeed --top 7");
    for (int k = 0; k < ALONE; k++) {
        snprintf(words, sizeof words, "plan --model 8b --chip h100 --nodes 2 --batch 1Mi --for %s --top 7", NAMES[k]);
        asked_open(&alone[k], words);
        for (int i = 0; i < alone[k].result.plan_count; i++) times[count++] = alone[k].result.plans[i].ranked_seconds;
        asked_close(&alone[k]);
    }
    cr_assert_eq(all.result.plan_count, 7);
    for (int i = 0; i < all.result.plan_count; i++) {
        int faster = 0;
        double own = all.result.plans[i].ranked_seconds;
        for (int j = 0; j < count; j++) faster += times[j] < own;
        cr_expect_leq(faster, i, "row %d: %d plans are faster", i + 1, faster);
        cr_expect(i == 0 || own >= all.result.plans[i - 1].ranked_seconds);
    }
    asked_close(&all);
}

Test(subproblems, each_has_its_best) {
    Arena arena = {0};
    Error error = {0};
    SearchResult result;
    Request *request = ARENA_NEW(&arena, Request, 1);
    cr_assert(request_from_text("plan --model 8b --chip h100 --nodes 2 --batch 1Mi --for megatron,torchtitan,deepspeed",
                                &arena, request));
    request->control.each = true;
    cr_assert(search_run(request, &arena, &result, &error), "%s", error.text);
    cr_assert_eq(result.subproblem_count, 3);
    cr_assert_eq(result.plan_count, 3);
    LauncherSet seen = 0;
    for (int i = 0; i < 3; i++) {
        seen |= result.plans[i].request->space.launchers;
        cr_expect(i == 0 || result.plans[i].ranked_seconds >= result.plans[i - 1].ranked_seconds);
    }
    cr_expect_eq(seen, 1u << LAUNCHER_MEGATRON | 1u << LAUNCHER_TORCHTITAN | 1u << LAUNCHER_DEEPSPEED);
    arena_free(&arena);
}

/* A free layout is asked for only where no launcher has a plan. */
Test(subproblems, fallback) {
    static const struct {
        const char *words[8];
        bool any;
    } ROWS[] = {
        {{"plan", "--model", "8b", "--slice", "4x4x4", "--require", "tensor=4"}, false},
        {{"plan", "--model", "8b", "--slice", "4x4x4", "--require", "schedule=1f1b"}, true}, /* MaxText has no 1F1B */
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Arena arena = {0};
        Error error = {0};
        Options options;
        SearchResult result;
        Request *request = ARENA_NEW(&arena, Request, 1);
        cr_assert(options_parse(7, (char **)ROWS[i].words, &COMMAND_PLAN, &arena, &options, &error), "%s", error.text);
        cr_assert(request_from_options(&options, &arena, request, &error), "%s", error.text);
        cr_assert(search_run(request, &arena, &result, &error), "%s", error.text);
        cr_assert_gt(result.plan_count, 0);
        cr_expect_eq(result.request->space.launchers, ROWS[i].any ? 0 : 1u << LAUNCHER_MAXTEXT);
        cr_expect_eq(result.subproblems[1].searched, ROWS[i].any);
        arena_free(&arena);
    }
}
