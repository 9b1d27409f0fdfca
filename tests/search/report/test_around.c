/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Searches around a search agree with plain searches, and cost no more than the plan. */
#include "search/report/around.h"

#include "base/util.h"
#include "search/answer/tie.h"
#include "search/cli/request_text.h"
#include "search/report/side_searches.h"
#include "tests/sanitizer.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#define ROWS_TRIED(rows) ((COUNT_OF(rows) + PROBLEMS_SHARE - 1) / PROBLEMS_SHARE)

typedef struct {
    Request *request, *changed;
    Report *report;
    Around *facts;
    int64_t before; /* the effort without the facts */
    Arena arena;
} Made;

/* A report with what is around it. */
static void make_facts(const char *words, Made *out) {
    Error error = {0};
    *out = (Made){0};
    out->request = ARENA_NEW(&out->arena, Request, 1), out->changed = ARENA_NEW(&out->arena, Request, 1);
    out->report = ARENA_NEW(&out->arena, Report, 1), out->facts = ARENA_NEW(&out->arena, Around, 1);
    cr_assert(out->request && out->changed && out->report && out->facts);
    cr_assert(request_from_text(words, &out->arena, out->request));
    cr_assert(report_make(out->request, &out->arena, out->report, &error), "%s", error.text);
    cr_assert_gt(out->report->result.plan_count, 0);
    out->before = out->report->effort;
    cr_assert(around_make(out->report, (AroundProgress){0}, out->facts, &error), "%s", error.text);
}

/* A plain search on plan 1's machine; the request is made->changed, which the caller may change before. */
static SearchResult plain_search(Made *made) {
    SearchResult result = {0};
    Error error = {0};
    made->changed->control.caches = NULL;
    cr_assert(search_run(made->changed, &made->arena, &result, &error), "%s", error.text);
    return result;
}

static void begin_plain(Made *made) {
    request_copy(made->report->request, made->changed);
    request_fix_machine(&made->report->result.plans[0], made->changed);
}

/* Every third figure, those with which another plan wins and, `hardware`, all of the chip. Returns how many. */
static int check_figures(Made *made, bool hardware) {
    const Around *facts = made->facts;
    const RankedPlan *first = &made->report->result.plans[0];
    int checked = 0;
    for (int i = 0, figure = 0; i < facts->figure_count; i++) {
        const AroundFigure *of = &facts->figures[i];
        while (strcmp(around_figure_name(made->request, figure), of->name) != 0) figure++;
        bool all = i % 3 == 0 || (hardware && of->hardware);
        for (int move = 0; move < AROUND_MOVES && (all || of->at[move].changed); move++) {
            if (!of->at[move].searched) continue;
            begin_plain(made);
            if (!around_figure_move(made->changed, figure, AROUND_MOVE[move])) continue;
            SearchResult result = plain_search(made);
            cr_expect_eq(result.plan_count > 0, of->at[move].found, "%s", of->name);
            if (result.plan_count == 0) continue;
            double relative = result.plans[0].ranked_seconds / first->ranked_seconds - 1;
            cr_expect_float_eq(relative, of->at[move].relative, 1e-12, "%s x %g: %g, not %g", of->name,
                               AROUND_MOVE[move], of->at[move].relative, relative);
            checked++;
        }
    }
    return checked;
}

/* More of a resource never slows the best step, less never speeds it up: the fastest, where plan 1 is tied with it. */
static void check_order(const Report *report, const Around *facts) {
    double fastest = search_fastest(&report->result)->ranked_seconds / report->result.plans[0].ranked_seconds - 1;
    for (int i = 0; i < facts->figure_count; i++) {
        const AroundFigure *figure = &facts->figures[i];
        if (!figure->hardware || strstr(figure->name, "latency")) continue;
        if (figure->at[0].found) cr_expect_geq(figure->at[0].relative, fastest - 1e-12, "%s", figure->name);
        if (figure->at[1].found) cr_expect_leq(figure->at[1].relative, 1e-12, "%s", figure->name);
    }
}

static void check_limits(Made *made) {
    const Around *facts = made->facts;
    for (int i = 1; i < AROUND_LIMITS; i++) {
        const AroundPoint *point = &facts->memory[i];
        if (!point->requested) continue;
        begin_plain(made);
        double share = point->limit_bytes / made->report->result.plans[0].estimate.memory_limit_bytes;
        made->changed->question.hbm_reserve = 1 - share * (1 - made->report->request->question.hbm_reserve);
        SearchResult result = plain_search(made);
        cr_expect_eq(point->found, result.plan_count > 0, "%g of the limit", share);
        if (!point->found || result.plan_count == 0) continue;
        cr_expect_float_eq(point->step_seconds, result.plans[0].estimate.time.seconds, 1e-12, "%g of the limit", share);
        cr_expect_leq(point->memory_bytes, point->limit_bytes * (1 + 1e-12));
    }
}

static void check_point(const Made *made, const AroundPoint *point, double machine, double batch) {
    const RankedPlan *first = &made->report->result.plans[0];
    if (!point->found) return;
    double tokens = made->report->request->question.training_tokens;
    cr_expect_float_eq(point->training_seconds * point->tokens / (tokens * point->step_seconds), 1, 1e-12);
    cr_expect_eq((double)point->chips, machine * (double)first->machine.mesh.chips);
    cr_expect_eq(point->tokens, batch * (double)(first->work.sequences * first->work.seq));
    /* FLOPs of a token are the same: MFU falls with the chips and seconds that it takes. */
    double work = first->estimate.mfu * first->estimate.time.seconds;
    cr_expect_float_eq(point->mfu * point->step_seconds * machine / (batch * work), 1, 1e-9);
    cr_expect_leq(point->memory_bytes, point->limit_bytes * (1 + 1e-12));
}

/* A training takes as many steps as its tokens are batches; machines and batches are so many times those of plan 1. */
static void check_trainings(const Made *made) {
    const Around *facts = made->facts;
    int found = 0;
    for (int i = 0; i < AROUND_LIMITS; i++) check_point(made, &facts->memory[i], 1, 1);
    for (int s = 0; s < AROUND_SIZES; s++)
        for (int b = 0; b < AROUND_BATCHES; b++) {
            check_point(made, &facts->size[s][b], facts->size_factor[s], facts->batch_factor[b]);
            found += facts->size[s][b].found;
        }
    cr_expect_geq(found, 4);
}

/* A type or a switch of the software is no figure that moves by a tenth. */
static void check_measured(const Around *facts) {
    static const char *const SWITCHES[] = {"gradient_bytes", "logit_bytes", "lanes", "ring_ways", "tensor_streams"};
    for (int f = 0; f < facts->figure_count; f++)
        for (size_t i = 0; i < COUNT_OF(SWITCHES); i++) cr_expect_str_neq(facts->figures[f].name, SWITCHES[i]);
}

/* What a plan would need to win agrees with the searches: none of them says that plan 1 stays. */
static void check_misses(const Around *facts) {
    for (int i = 0; i < facts->miss_count; i++)
        for (int f = 0; f < facts->figure_count; f++) {
            const NearMiss *miss = &facts->misses[i];
            int move = miss->factor > 1;
            double far = fabs(log(AROUND_MOVE[move]));
            if (miss->name != facts->figures[f].name || fabs(log(miss->factor)) > far) continue;
            if (facts->figures[f].at[move].searched && facts->figures[f].at[move].found)
                cr_expect(facts->figures[f].at[move].changed, "%s x %g", miss->name, miss->factor);
        }
}

/* The seconds of a plan, as it is, with a figure times `factor`; infinite: it does not fit, or is no figure of it. */
static double moved_seconds(Made *made, const RankedPlan *plan, int figure, double factor) {
    double seconds;
    bool fits;
    request_copy(made->report->request, made->changed);
    request_fix_machine(plan, made->changed);
    if (!around_figure_move(made->changed, figure, factor) || !around_reprice(made->changed, plan, &seconds, &fits) ||
        !fits)
        return INFINITY;
    return seconds * plan->ranked_seconds / plan->estimate.time.seconds;
}

/* A plan that nearly won wins with its figure moved so far, and with 0.4% less of it does not yet: unless a search had
 * plan 1 stay up to there. */
static int check_turning_points(Made *made) {
    const Around *facts = made->facts;
    int checked = 0;
    for (int i = 0; i < facts->miss_count; i++) {
        const NearMiss *miss = &facts->misses[i];
        const RankedPlan *first = &made->report->result.plans[0], *other = first + miss->rank - 1;
        int figure = 0;
        cr_expect(other->estimate.time.seconds > first->estimate.time.seconds);
        if (!miss->name) continue;
        while (strcmp(around_figure_name(made->request, figure), miss->name) != 0) figure++;
        cr_expect(miss->factor >= 0.5 * (1 - 1e-9) && miss->factor <= 2, "%g", miss->factor);
        cr_expect_lt(moved_seconds(made, other, figure, miss->factor), moved_seconds(made, first, figure, miss->factor),
                     "%s x %g", miss->name, miss->factor);
        double less = miss->factor > 1 ? miss->factor / 1.004 : miss->factor * 1.004;
        bool settled = fabs(log(less)) < fabs(log(AROUND_MOVE[miss->factor > 1]));
        if (miss->factor > 1 ? less <= 1 : less >= 1) continue;
        /* It begins where a search has moved the figure: below that the search has spoken, of all plans. */
        if (fabs(log(miss->factor / AROUND_MOVE[miss->factor > 1])) < 0.004) continue;
        if (settled)
            for (int f = 0; f < facts->figure_count; f++)
                if (facts->figures[f].name == miss->name && facts->figures[f].at[miss->factor > 1].searched)
                    settled = false;
        cr_expect(settled || moved_seconds(made, other, figure, less) >= moved_seconds(made, first, figure, less),
                  "%s x %g: with %g too", miss->name, miss->factor, less);
        checked++;
    }
    return checked;
}

/* What the facts found under a limit, took from the report, or know without a search, is what a plain search finds. */
Test(facts, facts_are_searches) {
    static const struct {
        const char *words;
        bool hardware; /* all figures of the chip */
        int least;     /* moves compared */
    } ROWS[] = {{"plan --model 8b --chip v5e --slice 4x4 --batch 128Ki --seq 4096 --sensitivity fast", false, 4},
                {"plan --model 8b --chip h100 --nodes 4 --batch 512Ki --seq 8192 --for megatron --offload none --rank "
                 "time --sensitivity fast",
                 true, 16}};
    for (size_t row = 0; row < ROWS_TRIED(ROWS); row++) {
        Made made;
        make_facts(ROWS[row].words, &made);
        cr_expect_geq(check_figures(&made, ROWS[row].hardware), ROWS[row].least, "%s", ROWS[row].words);
        check_order(made.report, made.facts);
        check_limits(&made);
        check_misses(made.facts);
        check_measured(made.facts);
        check_trainings(&made);
        cr_expect_geq(check_turning_points(&made), ROWS[row].hardware, "%s", ROWS[row].words);
        for (int part = 0; part < AROUND_PARTS; part++)
            cr_expect_eq(made.facts->left_out[part], 0, "a small plan leaves nothing out");
        arena_free(&made.arena);
    }
}

/* They take no more than the plan did, or than a third of a second (of two threads) where that takes a moment; by
 * default none is searched: what a figure does is asked of the plans that are there. */
Test(facts, take_no_more_than_the_plan) {
    enum { MOMENT = 240000 }; /* of effort */
    static const struct {
        const char *words;
        bool searches;
    } ROWS[] = {{"plan --model 70b --chip h100 --nodes 64 --batch 4Mi --seq 8192", false},
                {"plan --model 70b --chip h100 --nodes 64 --batch 4Mi --seq 8192 --sensitivity fast", true}};
    for (size_t row = 0; row < ROWS_TRIED(ROWS); row++) {
        Made made;
        int left_out = 0, found = 0;
        make_facts(ROWS[row].words, &made);
        const Around *facts = made.facts;
        for (int part = 0; part < AROUND_PARTS; part++) left_out += facts->left_out[part];
        cr_expect_gt(left_out, 0, "%s", ROWS[row].words);
        int64_t took = made.report->effort - made.before;
        cr_expect_leq(took, max_whole(made.report->plan_effort, MOMENT), "%s: %lld, the plan's %lld", ROWS[row].words,
                      (long long)took, (long long)made.report->plan_effort);
        cr_expect_eq(took > 0, ROWS[row].searches, "%s: %lld", ROWS[row].words, (long long)took);
        for (int i = 0; i < facts->figure_count; i++)
            for (int move = 0; move < AROUND_MOVES; move++)
                cr_expect(facts->figures[i].at[move].searched || facts->figures[i].at[move].shown ||
                              !facts->figures[i].at[move].fits || facts->figures[i].at[move].repriced == 0,
                          "%s", facts->figures[i].name);
        for (int s = 0; s < AROUND_SIZES; s++) found += facts->size[s][1].found;
        if (ROWS[row].searches) cr_expect_geq(found, 2, "machines beside plan 1's");
        arena_free(&made.arena);
    }
}
