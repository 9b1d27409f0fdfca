/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why a plan is not the best, against searches of its own: the best is that of the open request, terms make up the
 * whole difference, every change is one change, as fast as the plan that it names, and no faster than the best. */
#include "search/report/compare_to_best.h"
#include "tests/search/asked.h"

#include <criterion/criterion.h>
#include <math.h>

static const struct {
    const char *open, *plan;
} ROWS[] = {
    {"plan --model 8b --chip v5e --slice 4x8 --batch 256Ki --seq 4096 --max-idle 0",
     "tensor=8 fsdp=4 data=1 sequence=1 pipeline=1 expert=1"},
    {"plan --model 8b --chip v5e --slice 4x8 --batch 256Ki --seq 4096 --max-idle 0 --for maxtext",
     "tensor=1 fsdp=16 data=2 sequence=1 pipeline=1 expert=1 microbatches=2"},
    {"plan --model 8b --chip h100 --nodes 2 --batch 512Ki --seq 8192 --max-idle 0",
     "tensor=4 fsdp=1 data=2 sequence=1 pipeline=2 expert=1 schedule=1f1b microbatch_sequences=1"},
    {"plan --model mixtral-8x7b --chip h100 --nodes 2 --batch 128Ki --seq 4096 --max-idle 0",
     "tensor=2 fsdp=8 data=1 sequence=1 pipeline=1 expert=1 folded_expert=8 folded_expert_tensor=1"},
};

static int roles_moved(const Degrees *a, const Degrees *b) {
    int moved = 0;
    for (int role = 0; role < ROLE_COUNT; role++) moved += a->of[role] != b->of[role];
    return moved;
}

static void check_changes(const RequestedSearch *open, const RankedPlan *here, const BestComparison *comparison) {
    for (int i = 0; i < comparison->change_count; i++) {
        const Change *change = &comparison->changes[i];
        int moved = roles_moved(&here->plan.degrees, &change->after.plan.degrees);
        cr_expect_eq(moved, change->kind == CHANGE_DEGREES ? 2 : 0, "%s", change->text);
        cr_expect(change->after.ranked_seconds < here->ranked_seconds, "%s", change->text);
        cr_expect(change->after.ranked_seconds >= open->result.plans[0].ranked_seconds * (1 - 1e-12), "%s",
                  change->text);
        cr_expect(i == 0 || change->after.ranked_seconds >= change[-1].after.ranked_seconds, "%s", change->text);
        cr_expect_eq(change->suffices, change->after.ranked_seconds <= 1.02 * open->result.plans[0].ranked_seconds,
                     "%s", change->text);
        if (change->kind == CHANGE_KNOB || change->kind == CHANGE_REMAT)
            cr_expect_eq(placement_compare(&change->after.plan.placement, &here->plan.placement), 0, "%s",
                         change->text);
        if (change->kind == CHANGE_PLACEMENT || change->kind == CHANGE_REMAT)
            cr_expect_eq(knobs_compare(&change->after.plan.knobs, &here->plan.knobs), 0, "%s", change->text);
    }
    cr_expect_eq(comparison->smallest < 0, comparison->change_count == 0);
    for (int i = 0; i < comparison->path_count; i++) {
        const RankedPlan *before = i > 0 ? &comparison->path[i - 1].after : here, *after = &comparison->path[i].after;
        cr_expect(after->ranked_seconds < before->ranked_seconds, "%s", comparison->path[i].text);
        cr_expect(roles_moved(&before->plan.degrees, &after->plan.degrees) <= 2, "%s", comparison->path[i].text);
        cr_expect(i == comparison->path_count - 1 || !comparison->path[i].suffices, "%s", comparison->path[i].text);
    }
}

Test(comparison, laws) {
    for (size_t row = 0; row < COUNT_OF(ROWS); row++) {
        RequestedSearch open, plan;
        char words[512];
        Error error = {0};
        static BestComparison comparison;
        asked_open_by_time(&open, ROWS[row].open);
        memset(&plan, 0, sizeof plan);
        plan.request = ARENA_NEW(&plan.arena, Request, 1);
        cr_assert(plan.request && request_from_text(ROWS[row].open, &plan.arena, plan.request));
        cr_assert(requirements_parse(ROWS[row].plan, "plan", plan.request->space.requirements,
                                     &plan.request->space.requirement_count, &error),
                  "%s", error.text);
        plan.request->control.tie = 0;
        cr_assert(search_run(plan.request, &plan.arena, &plan.result, &error), "%s", error.text);
        cr_assert_gt(plan.result.plan_count, 0, "%s", ROWS[row].plan);
        const RankedPlan *here = &plan.result.plans[0], *best = &open.result.plans[0];
        cr_assert(compare_to_best(open.request, plan.request, here, &plan.arena, &comparison, &error), "%s",
                  error.text);
        snprintf(words, sizeof words, "%s, %s", ROWS[row].open, ROWS[row].plan);
        cr_assert(!comparison.is_best, "%s", words);
        cr_expect_float_eq(comparison.best.ranked_seconds, best->ranked_seconds, 1e-12 * best->ranked_seconds, "%s",
                           words);
        cr_expect_float_eq(comparison.behind, here->ranked_seconds / best->ranked_seconds - 1, 1e-12, "%s", words);
        int faster = 0;
        while (faster < open.result.plan_count &&
               open.result.plans[faster].ranked_seconds < here->ranked_seconds * (1 - 1e-6))
            faster++;
        cr_expect(comparison.faster == faster || (faster == open.result.plan_count && comparison.faster >= faster),
                  "%s: %d, not %d", words, comparison.faster, faster);
        double lost = 0;
        for (int i = 0; i < comparison.term_count; i++) lost += comparison.terms[i].second - comparison.terms[i].first;
        cr_expect_float_eq(lost, here->estimate.time.seconds - best->estimate.time.seconds,
                           1e-9 * here->estimate.time.seconds, "%s", words);
        check_changes(&open, here, &comparison);
        /* and of the best itself there is nothing to say */
        cr_assert(compare_to_best(open.request, plan.request, best, &plan.arena, &comparison, &error), "%s",
                  error.text);
        cr_expect(comparison.is_best && comparison.change_count == 0, "%s", words);
        asked_close(&open);
        asked_close(&plan);
    }
}
