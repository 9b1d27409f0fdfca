/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why a plan is not the best, against searches of its own: the best is that of the open request, terms make up the whole
 * difference, every change is one change, as fast as the plan that it names, and no faster than the best. */
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

static void check_changes(const AskedSearch *open, const RankedPlan *here, const WhyNot *why_not) {
    for (int i = 0; i < why_not->change_count; i++) {
        const Change *change = &why_not->changes[i];
        int moved = roles_moved(&here->plan.degrees, &change->after.plan.degrees);
        cr_expect_eq(moved, change->kind == CHANGE_DEGREES ? 2 : 0, "%s", change->text);
        cr_expect(change->after.ranked_seconds < here->ranked_seconds, "%s", change->text);
        cr_expect(change->after.ranked_seconds >= open->result.plans[0].ranked_seconds * (1 - 1e-12), "%s",
                  change->text);
        cr_expect(i == 0 || change->after.ranked_seconds >= change[-1].after.ranked_seconds, "%s", change->text);
        cr_expect_eq(change->suffices, change->after.ranked_seconds <= 1.005 * open->result.plans[0].ranked_seconds,
                     "%s", change->text);
        if (change->kind == CHANGE_KNOB || change->kind == CHANGE_REMAT)
            cr_expect_eq(placement_compare(&change->after.plan.placement, &here->plan.placement), 0, "%s",
                         change->text);
        if (change->kind == CHANGE_PLACEMENT || change->kind == CHANGE_REMAT)
            cr_expect_eq(knobs_compare(&change->after.plan.knobs, &here->plan.knobs), 0, "%s", change->text);
    }
    cr_expect_eq(why_not->smallest < 0, why_not->change_count == 0);
    for (int i = 0; i < why_not->path_count; i++) {
        const RankedPlan *before = i > 0 ? &why_not->path[i - 1].after : here, *after = &why_not->path[i].after;
        cr_expect(after->ranked_seconds < before->ranked_seconds, "%s", why_not->path[i].text);
        cr_expect(roles_moved(&before->plan.degrees, &after->plan.degrees) <= 2, "%s", why_not->path[i].text);
        cr_expect(i == why_not->path_count - 1 || !why_not->path[i].suffices, "%s", why_not->path[i].text);
    }
}

Test(why_not, laws) {
    for (size_t row = 0; row < COUNT_OF(ROWS); row++) {
        AskedSearch open, plan;
        char words[512];
        Error error = {0};
        static WhyNot why_not;
        asked_open(&open, ROWS[row].open);
        memset(&plan, 0, sizeof plan);
        plan.request = ARENA_NEW(&plan.arena, Request, 1);
        cr_assert(plan.request && request_from_text(ROWS[row].open, &plan.arena, plan.request));
        cr_assert(requirements_parse(ROWS[row].plan, "plan", plan.request->space.requirements,
                                     &plan.request->space.requirement_count, &error),
                  "%s", error.text);
        cr_assert(search_run(plan.request, &plan.arena, &plan.result, &error), "%s", error.text);
        cr_assert_gt(plan.result.plan_count, 0, "%s", ROWS[row].plan);
        const RankedPlan *here = &plan.result.plans[0], *best = &open.result.plans[0];
        cr_assert(why_not_make(open.request, plan.request, here, &plan.arena, &why_not, &error), "%s", error.text);
        snprintf(words, sizeof words, "%s, %s", ROWS[row].open, ROWS[row].plan);
        cr_assert(!why_not.is_best, "%s", words);
        cr_expect_float_eq(why_not.best.ranked_seconds, best->ranked_seconds, 1e-12 * best->ranked_seconds, "%s",
                           words);
        cr_expect_float_eq(why_not.behind, here->ranked_seconds / best->ranked_seconds - 1, 1e-12, "%s", words);
        int faster = 0;
        while (faster < open.result.plan_count &&
               open.result.plans[faster].ranked_seconds < here->ranked_seconds * (1 - 1e-6))
            faster++;
        cr_expect(why_not.faster == faster || (faster == open.result.plan_count && why_not.faster >= faster),
                  "%s: %d, not %d", words, why_not.faster, faster);
        double lost = 0;
        for (int i = 0; i < why_not.term_count; i++) lost += why_not.terms[i].second - why_not.terms[i].first;
        cr_expect_float_eq(lost, here->estimate.time.seconds - best->estimate.time.seconds,
                           1e-9 * here->estimate.time.seconds, "%s", words);
        check_changes(&open, here, &why_not);
        /* and of the best itself there is nothing to say */
        cr_assert(why_not_make(open.request, plan.request, best, &plan.arena, &why_not, &error), "%s", error.text);
        cr_expect(why_not.is_best && why_not.change_count == 0, "%s", words);
        asked_close(&open);
        asked_close(&plan);
    }
}
