/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows that differ in kind: each is the best of its kind, found again by a search that asks for that kind alone. */
#include "base/util.h"
#include "search/answer/tie.h"
#include "search/cli/commands.h"
#include "search/launch/launcher.h"
#include "search/report/side_searches.h"
#include "tests/sanitizer.h"
#include "tests/search/asked.h"

#include <criterion/criterion.h>

static double alone(const char *words) {
    RequestedSearch asked;
    asked_open_by_time(&asked, words);
    cr_assert_gt(asked.result.plan_count, 0, "%s", words);
    double seconds = asked.result.plans[0].ranked_seconds;
    asked_close(&asked);
    return seconds;
}

static const RankedPlan *row_of(const Report *report, RowKind kind) {
    for (int i = 0; i < report->result.plan_count; i++)
        if (report->result.plans[i].row_kinds >> kind & 1) return &report->result.plans[i];
    return NULL;
}

#define SHORT_WORDS "plan --model 8b --chip h100 --nodes 4 --batch 1Mi --seq 8192"
#define WORDS SHORT_WORDS " --sensitivity fast"

Test(rows, are_the_best_of_their_kind) {
    Arena arena = {0};
    Error error = {0};
    Report *report = ARENA_NEW(&arena, Report, 1);
    Request *request = ARENA_NEW(&arena, Request, 1);
    cr_assert(request_from_text(WORDS " --for megatron,torchtitan", &arena, request));
    request->control.tie = 0; /* the fastest is the first, whatever is tied with it */
    cr_assert(report_make(request, &arena, report, &error), "%s", error.text);
    const RankedPlan *first = row_of(report, ROW_FASTEST), *other = row_of(report, ROW_OF_LAUNCHER),
                     *with = row_of(report, ROW_WITH_PIPELINE), *without = row_of(report, ROW_WITHOUT_PIPELINE);
    cr_assert(first == report->result.plans && other != NULL);
    cr_expect_eq(first->request->space.launchers & other->request->space.launchers, 0);
    cr_expect_eq(alone(WORDS " --for megatron --top 1"),
                 (first->request->space.launchers & 1u << 2 ? first : other)->ranked_seconds);
    cr_expect_eq(alone(WORDS " --for torchtitan --top 1"),
                 (first->request->space.launchers & 1u << 3 ? first : other)->ranked_seconds);
    bool stages = first->plan.degrees.of[ROLE_PIPELINE] > 1;
    cr_expect_null(stages ? with : without);
    const RankedPlan *flipped = stages ? without : with;
    cr_assert_not_null(flipped);
    cr_expect_eq(stages, flipped->plan.degrees.of[ROLE_PIPELINE] == 1);
    const char *launcher = first->request->space.launchers & 1u << 2 ? "megatron" : "torchtitan";
    char words[256];
    snprintf(words, sizeof words, WORDS " --for %s --top 1 --require pipeline%s", launcher, stages ? "=1" : ">=2");
    cr_expect_eq(alone(words), flipped->ranked_seconds);
    const RankedPlan *room = row_of(report, ROW_HEADROOM);
    if (room) {
        snprintf(words, sizeof words, WORDS " --for %s --top 1 --hbm-reserve 15%%", launcher);
        cr_expect_eq(alone(words), room->ranked_seconds);
        cr_expect_leq(memory_total(&room->estimate.memory), 0.85 * 80e9);
    }
    for (int i = 1; i < report->result.plan_count; i++)
        cr_expect_geq(report->result.plans[i].ranked_seconds, report->result.plans[i - 1].ranked_seconds);
    arena_free(&arena);
}

/* What a launcher takes that cannot be told a free layout: the best of the same plan with what it can be told. */
Test(rows, others_have_their_price) {
    Arena arena = {0};
    Error error = {0};
    Report *report = ARENA_NEW(&arena, Report, 1);
    Request *request = ARENA_NEW(&arena, Request, 2), *own = request + 1;
    cr_assert(request_from_text(WORDS " --for any", &arena, request));
    cr_assert(report_make(request, &arena, report, &error), "%s", error.text);
    int asked = 0;
    for (int i = 0; i < report->result.plan_count; i++) {
        const RankedPlan *row = &report->result.plans[i];
        for (int k = 0; k < row->launch_count; k++) {
            const LaunchAnswer *answer = &row->launch[k];
            bool otherwise = (row->launchable_by & ~row->exact) >> answer->launcher & 1;
            cr_expect_eq(otherwise, answer->expressible_seconds != 0);
            if (!otherwise) continue;
            char words[256];
            SearchResult result;
            snprintf(words, sizeof words, WORDS " --for %s --stack %s --hbm-reserve %.6f",
                     launcher_name(answer->launcher), row->request->question.profile.stack,
                     row->request->question.hbm_reserve);
            cr_assert(request_from_text(words, &arena, own), "%s", words);
            own->control.top = 1;
            own->space.schedules = SCHEDULES_ALL;
            own->space.padding = row->request->space.padding;
            cr_assert(request_require(&row->plan.degrees, &row->plan.knobs, 0, own));
            request_pin(row, own);
            cr_assert(search_run(own, &arena, &result, &error), "%s", error.text);
            cr_assert_eq(result.plan_count > 0, answer->expressible_seconds > 0, "%s", words);
            if (result.plan_count == 0) continue;
            cr_expect_eq(result.plans[0].estimate.time.seconds, answer->expressible_seconds, "%s", words);
            cr_expect_geq(answer->expressible_seconds, row->estimate.time.seconds);
            asked++;
        }
    }
    cr_expect_geq(asked, 4);
    arena_free(&arena);
}

/* More HBM left free never makes a step faster. */
Test(rows, headroom_costs) {
    Arena arena = {0};
    Error error = {0};
    Report *report = ARENA_NEW(&arena, Report, 1);
    Request *request = ARENA_NEW(&arena, Request, 1);
    cr_assert(request_from_text("plan --model 8b --chip v5e --slice 4x8 --batch 512Ki --seq 4096 --for maxtext "
                                "--sensitivity fast",
                                &arena, request));
    cr_assert(report_make(request, &arena, report, &error), "%s", error.text);
    cr_assert_eq(report->headroom_count, 3);
    double before = 0;
    for (int i = 0; i < report->headroom_count; i++) {
        if (!report->headroom[i].found) break;
        cr_expect_geq(report->headroom[i].relative, before - 1e-12);
        before = report->headroom[i].relative;
    }
    arena_free(&arena);
}

static Report *report_of(const char *words, int64_t *work, Arena *arena) {
    Error error = {0};
    Report *report = ARENA_NEW(arena, Report, 1);
    Request *request = ARENA_NEW(arena, Request, 1);
    cr_assert(request_from_text(words, arena, request), "%s", words);
    cr_assert(report_make(request, arena, report, &error), "%s", error.text);
    *work = report->result.work;
    return report;
}

/* Without searches around it the plan is the same, and so is the work of its own search. */
Test(rows, none_are_searched_where_none_are_asked_for) {
    Arena arena = {0};
    int64_t work[5];
    const Report *fast = report_of(WORDS, &work[0], &arena),
                 *all = report_of(SHORT_WORDS " --sensitivity all", &work[1], &arena),
                 *none = report_of(SHORT_WORDS " --sensitivity none", &work[2], &arena),
                 *rows = report_of(SHORT_WORDS, &work[4], &arena);
    report_of(SHORT_WORDS " --sensitivity none --threads 3", &work[3], &arena);
    cr_expect(work[0] > 0 && work[0] == work[1] && work[0] == work[2] && work[0] == work[3]);
    cr_expect_eq(none->result.plans[0].ranked_seconds, fast->result.plans[0].ranked_seconds);
    cr_expect(none->headroom_count == 0 && none->sensitivity_count == 0 && !none->has_free && none->left_out == 0);
    cr_expect(all->headroom_count > 0 && all->sensitivity_count > 0 && all->left_out == 0);
    /* What JSON and the screen have: the rows of the long text, alternatives as far as they are soon searched. */
    cr_expect(rows->headroom_count == 0 && rows->sensitivity_count == 0 && work[4] == work[0]);
    cr_assert_eq(rows->result.plan_count, fast->result.plan_count);
    for (int i = 0; i < rows->result.plan_count; i++)
        cr_expect_eq(rows->result.plans[i].ranked_seconds, fast->result.plans[i].ranked_seconds);
    for (int i = 0; i < ALTERNATIVE_COUNT; i++) {
        const AlternativeResult *way = &rows->alternatives[i], *whole = &fast->alternatives[i];
        cr_expect_eq(way->tried, whole->tried);
        cr_expect(way->left_out || way->found == whole->found, "alternative %d", i);
        cr_expect(!way->found || way->best.ranked_seconds == whole->best.ranked_seconds, "alternative %d", i);
    }
    cr_expect(rows->effort < fast->effort && rows->effort < rows->plan_effort * 1.25);
    for (int i = 0; i < none->result.plan_count; i++)
        cr_expect_eq(none->result.plans[i].row_kinds &
                         ~(1u << ROW_FASTEST | 1u << ROW_OF_LAUNCHER | 1u << ROW_SUREST | 1u << ROW_ODD),
                     0u);
    arena_free(&arena);
}

/* A search around the search that takes more than it may is left out, and the report counts it. */
Test(rows, what_takes_too_much_work_is_counted) {
    Arena arena = {0};
    Error error = {0};
    int64_t work;
    Report *report = report_of(SHORT_WORDS " --sensitivity none", &work, &arena);
    Request *changed = ARENA_NEW(&arena, Request, 1);
    report->work_limit = 1;
    for (int asked = 1; asked <= 2; asked++) {
        SideAnswer answer;
        request_copy(report->request, changed);
        cr_assert(report_ask(report, changed, &answer, &error), "%s", error.text);
        cr_expect(answer.left_out && !answer.found);
        cr_expect_eq(report->left_out, asked, "%d of %d", report->left_out, asked);
    }
    arena_free(&arena);
}

/* A limit of work ends a search at the same block on any number of threads, and leaves a gap. */
Test(rows, work_ends_a_search_alike_on_all_threads) {
    Arena arena = {0};
    Error error = {0};
    SearchResult results[3]; /* the first without a limit */
    for (int i = 0; i < 3; i++) {
        Request *request = ARENA_NEW(&arena, Request, 1);
        cr_assert(request_from_text(WORDS " --for megatron --top 1", &arena, request));
        request->control.threads = i == 2 ? 3 : 1;
        request->control.work_limit = i == 0 ? 0 : results[0].work / 4;
        cr_assert(search_run(request, &arena, &results[i], &error), "%s", error.text);
    }
    cr_expect(results[0].certificate.proof == PROOF_OPTIMAL && results[1].certificate.proof == PROOF_GAP);
    cr_expect(results[1].work > results[0].work / 4 && results[1].work < results[0].work);
    cr_expect_eq(results[1].work, results[2].work);
    cr_expect_eq(results[1].plan_count, results[2].plan_count);
    cr_expect_eq(results[1].certificate.best_bound_seconds, results[2].certificate.best_bound_seconds);
    arena_free(&arena);
}

/* ---- who reads while it is made ---- */

typedef struct {
    FILE *text;
    int stages;
    double first; /* ranked seconds of plan 1 when it was told */
} Reading;

static bool read_stage(void *of, Report *report, ReportStage stage, Error *error) {
    Reading *reading = of;
    cr_expect_eq((int)stage, reading->stages++);
    if (stage == STAGE_PLAN && report->result.plan_count > 0) reading->first = report->result.plans[0].ranked_seconds;
    if (stage == STAGE_PLAN) cr_expect(!report->has_free && report->headroom_count == 0);
    if (stage < STAGE_WHOLE) cr_expect_eq(report->sensitivity_count, 0);
    return report_write_text_stage(report, stage, (TextOut){.file = reading->text}, error);
}

/* What is told in stages is the whole text, plan 1 first, before anything around it is searched. */
Test(rows, the_answer_is_told_before_what_is_around_it) {
    static const char *const ASKED[] = {WORDS, WORDS " --top 2", SHORT_WORDS " --sensitivity none",
                                        "plan --model 405b --chip v5e --slice 2x2 --batch 64Ki --seq 8192"};
    for (size_t i = 0; i < COUNT_OF(ASKED); i++) {
        Arena arena = {0};
        Error error = {0};
        Report *report = ARENA_NEW(&arena, Report, 1);
        Request *request = ARENA_NEW(&arena, Request, 1);
        char *told = NULL, *whole = NULL;
        size_t told_size = 0, whole_size = 0;
        Reading reading = {.text = open_memstream(&told, &told_size)};
        ReportReader reader = {read_stage, &reading};
        cr_assert(request_from_text(ASKED[i], &arena, request), "%s", ASKED[i]);
        cr_assert(report_make_for(request, &reader, &arena, report, &error), "%s", error.text);
        cr_expect_eq(reading.stages, STAGE_COUNT);
        fclose(reading.text);
        FILE *text = open_memstream(&whole, &whole_size);
        cr_assert(report_write_text(report, (TextOut){.file = text}, &error));
        fclose(text);
        cr_expect_str_eq(told, whole, "%s", ASKED[i]);
        if (report->result.plan_count > 0) cr_expect_eq(reading.first, report->result.plans[0].ranked_seconds);
        free(told);
        free(whole);
        arena_free(&arena);
    }
}

/* As a command line without --for has it. */
static Request *usual_request(const char *chip, const char *nodes, Arena *arena) {
    char *words[] = {"plan", "--model", "70b", "--chip", (char *)chip, "--chips", (char *)nodes, NULL};
    Options options;
    Error error = {0};
    Request *request = ARENA_NEW(arena, Request, 1);
    cr_assert(options_parse(COUNT_OF(words) - 1, words, &COMMAND_PLAN, arena, &options, &error), "%s", error.text);
    cr_assert(request_from_options(&options, arena, request, &error), "%s", error.text);
    return request;
}

/* The short answer says what a free layout takes at most: a plan of the free space, which its best does not exceed. */
Test(rows, a_quick_search_finds_a_plan) {
    static const char *const ASKED[][2] = {{"h100", "256"}, {"v5p", "1024"}};
    for (size_t i = 0; i < COUNT_OF(ASKED); i++) {
        Arena arena = {0};
        Error error = {0};
        Report *report = ARENA_NEW(&arena, Report, 1);
        Request *request = usual_request(ASKED[i][0], ASKED[i][1], &arena);
        char words[128];
        snprintf(words, sizeof words, "plan --model 70b --chip %s --chips %s --for any", ASKED[i][0], ASKED[i][1]);
        cr_assert(report_make(request, &arena, report, &error), "%s", error.text);
        RequestedSearch free;
        asked_open_by_time(&free, words);
        double best = free.result.plans[0].ranked_seconds, first = search_fastest(&report->result)->ranked_seconds;
        cr_assert(report->has_free && report->free_or_less, "%s", words);
        cr_expect(report->free.ranked_seconds >= best * (1 - 1e-12), "%s: %.9g s, the best %.9g", words,
                  report->free.ranked_seconds, best);
        cr_expect(report->free.ranked_seconds < first, "%s", words);
        asked_close(&free);
        arena_free(&arena);
    }
}

/* ---- one answer is one row ---- */

/* What may tell two answers apart: none of it, and each part alone. */
enum { NOTHING, DEGREES, KNOBS, CHIPS, SEQUENCES, LAUNCHERS, SECONDS, PARTS };

static void change(int part, RankedPlan *plan, Request *other) {
    if (part == DEGREES) plan->plan.degrees.of[ROLE_DATA] *= 2;
    if (part == KNOBS) plan->plan.knobs.microbatches *= 2;
    if (part == CHIPS) plan->machine.mesh.chips *= 2;
    if (part == SEQUENCES) plan->work.sequences *= 2;
    if (part == SECONDS) plan->estimate.time.seconds *= 0.999;
    if (part == LAUNCHERS) plan->request = other;
}

/* The surest of tied plans and the fastest of them are one row where they are one plan, and two where they are not: the
 * surest first, though it is slower. */
Test(rows, one_answer_is_one_row) {
    Arena arena = {0};
    Error error = {0};
    int64_t work;
    Report *report = report_of(SHORT_WORDS " --sensitivity none", &work, &arena);
    Request *other = ARENA_NEW(&arena, Request, 1);
    const RankedPlan first = report->result.plans[0];
    *other = *first.request;
    other->space.launchers ^= 1u << 1;
    report->result.subproblem_count = 0;
    report->result.odd = NULL; /* a third row */
    for (int part = NOTHING; part < PARTS; part++) {
        RankedPlan pair[2] = {first, first};
        pair[1].ranked_seconds *= 0.999;
        change(part, &pair[1], other);
        report->result.plans = pair;
        report->result.fastest = &pair[1];
        cr_assert(report_make_rows(report, &arena, &error), "%s", error.text);
        const RankedPlan *rows = report->result.plans;
        cr_assert_eq(report->result.plan_count, part == NOTHING ? 1 : 2, "%d: %d", part, report->result.plan_count);
        uint32_t surest = 1u << ROW_SUREST, fastest = 1u << ROW_FASTEST;
        cr_expect_eq(rows[0].row_kinds, part == NOTHING ? surest | fastest : surest, "%d", part);
        if (part != NOTHING) cr_expect_eq(rows[1].row_kinds, fastest, "%d", part);
        cr_expect(rows[0].tied, "%d", part);
    }
    arena_free(&arena);
}

/* No two rows of a report are one answer. */
Test(rows, differ) {
    static const char *const ASKED[] = {WORDS,
                                        "plan --model 70b --chip h100 --nodes 4 --batch 1Mi --seq 4096 --for any",
                                        "plan --model 70b --chip v4 --slice 4x4x8 --batch 1Mi --seq 4096 --for any"};
    for (size_t i = 0; i < (COUNT_OF(ASKED) + PROBLEMS_SHARE - 1) / PROBLEMS_SHARE; i++) {
        Arena arena = {0};
        int64_t work;
        const Report *report = report_of(ASKED[i], &work, &arena);
        for (int b = 1; b < report->result.plan_count; b++)
            for (int a = 0; a < b; a++) {
                const RankedPlan *x = &report->result.plans[a], *y = &report->result.plans[b];
                cr_expect(degrees_compare(&x->plan.degrees, &y->plan.degrees) != 0 ||
                              knobs_compare(&x->plan.knobs, &y->plan.knobs) != 0 ||
                              x->request->space.launchers != y->request->space.launchers ||
                              x->estimate.time.seconds != y->estimate.time.seconds,
                          "%s: rows %d and %d", ASKED[i], a + 1, b + 1);
                unsigned one = ~(1u << ROW_OF_LAUNCHER | 1u << ROW_ODD); /* several may be odd, and faster */
                cr_expect_eq(x->row_kinds & y->row_kinds & one, 0, "%s: one row of a kind", ASKED[i]);
            }
        arena_free(&arena);
    }
}
