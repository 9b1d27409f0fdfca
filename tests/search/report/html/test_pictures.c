/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page and its pictures as they lie in tests/data/reports/page, drawn of the fixture and of facts that are invented
 * here: their layout, which was looked at. What bars and marks stand for, test_html.c measures. */
#include "search/report/html/pictures.h"

#include "base/util.h"
#include "cost/played.h"
#include "search/report/html/write.h"
#include "tests/cost/workbench.h"
#include "tests/search/golden.h"
#include "tests/search/report/html/page_text.h"
#include "tests/search/report_fixture.h"

/* A plan that takes so much; the training follows from the step. */
static PagePoint point_of(int64_t chips, double sequences, double step, double memory, double limit, const char *plan) {
    PagePoint point = {.requested = true,
                       .found = true,
                       .chips = chips,
                       .tokens = sequences * 8192,
                       .step_seconds = step,
                       .mfu = 0.412 * 3.42 / step * 512 / (double)chips * sequences / 512,
                       .memory_bytes = memory,
                       .limit_bytes = limit};
    point.training_seconds = 1e12 / point.tokens * step;
    snprintf(point.machine, sizeof point.machine, "%lld x 8x4x4", (long long)chips / 128);
    snprintf(point.plan, sizeof point.plan, "%s", plan);
    return point;
}

static void fill_memory(PageFacts *facts) {
    facts->memory[0] = point_of(512, 512, 3.42, 36e9, 92e9, "data=4 fsdp=32 tensor=4");
    facts->memory[1] = point_of(512, 512, 3.42, 36e9, 70e9, "data=4 fsdp=32 tensor=4");
    facts->memory[2] = point_of(512, 512, 3.6, 33e9, 35e9, "data=2 fsdp=64 tensor=4");
    facts->memory[3] = point_of(512, 512, 4.1, 24e9, 25e9, "data=2 fsdp=32 tensor=8");
    facts->memory[4] = (PagePoint){.requested = true, .limit_bytes = 15e9};
    facts->memory[5] = (PagePoint){.requested = true, .cut_short = true, .limit_bytes = 10e9};
}

static void fill_sizes(PageFacts *facts) {
    static const double SIZES[PAGE_SIZES] = {0.25, 0.5, 1, 2, 4}, BATCHES[PAGE_BATCHES] = {0.5, 1, 2};
    static const double STEPS[PAGE_SIZES] = {13.1, 6.6, 3.42, 1.9, 1.1};
    for (int s = 0; s < PAGE_SIZES; s++)
        for (int b = 0; b < PAGE_BATCHES; b++) {
            int64_t chips = (int64_t)(512 * SIZES[s]);
            double step = STEPS[s] * BATCHES[b] * (1.06 - 0.03 * b);
            facts->size_factor[s] = SIZES[s], facts->batch_factor[b] = BATCHES[b];
            facts->size[s][b] = point_of(chips, 512 * BATCHES[b], step, 36e9 - 1e9 * s, 92e9, "fsdp=128 tensor=4");
        }
    facts->size[0][2] = (PagePoint){.requested = true};
    facts->size[4][0] = (PagePoint){.requested = true, .cut_short = true};
    facts->size[4][2].requested = facts->size[4][2].found = false;
}

/* A figure that moves the step so: searched, with another winner, where nothing fits, of the plans here, unchanged. */
static void fill_figures(PageFacts *facts) {
    static const PageFigure FIGURES[] = {
        {"HBM bandwidth",
         true,
         {{true, 0.011, true, true, false, 0.01, false, ""}, {true, -0.012, true, true, false, -0.02, false, ""}}},
        {"bf16 peak",
         true,
         {{true, 0.09, true, true, false, 0.085, true, "tensor=8"},
          {true, -0.07, true, true, false, -0.075, false, ""}}},
        {"HBM", true, {{false, 0, true, false, false, 0, false, ""}, {true, 0, true, true, false, 0, false, ""}}},
        {"ICI link",
         true,
         {{true, 0.03, true, true, false, 0.02, true, "data=8"},
          {true, -0.02, true, true, false, -0.03, true, "data=2"}}},
        {"matmul efficiency",
         false,
         {{true, 0.08, false, false, true, 0.06, true, "data=2"}, {true, -0.06, false, false, true, -0.06, false, ""}}},
        {"an overhead of the host that has a long name",
         false,
         {{true, -0.001, false, false, false, 0, false, ""}, {true, 0.001, false, false, false, 0, false, ""}}},
    };
    facts->figure_count = COUNT_OF(FIGURES);
    memcpy(facts->figures, FIGURES, sizeof FIGURES);
    facts->misses[0] = (NearMiss){"ICI link", 0.82, 2};
    facts->misses[1] = (NearMiss){NULL, 0, 0};
    facts->miss_count = 2;
    facts->left_out[PAGE_SENSITIVITY] = 3;
}

static Fixture fixture;
static PageFacts facts;

static void fill(void) {
    fixture_fill(&fixture);
    memset(&facts, 0, sizeof facts);
    fixture.report.requested = fixture.report.request;
    snprintf(fixture.request.requested.words, sizeof fixture.request.requested.words,
             "--model demo --slice 8x4x4 --slices 6");
    fill_memory(&facts);
    fill_sizes(&facts);
    fill_figures(&facts);
}

/* `digest` 0: the whole picture is kept. */
static void look_at(const char *name, Picture *draw, const PageFacts *of, unsigned long long digest) {
    Arena arena = {0};
    PageView view = {&fixture.report, of, &arena};
    Prose words = {0};
    Table table;
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    cr_assert(memory && draw(&view, memory, &words, &table), "%s", name);
    cr_assert_eq(fclose(memory), 0);
    cr_expect_null(first_flaw(text), "%s", name);
    if (digest)
        expect_picture_digest(name, text, digest);
    else
        expect_golden(name, text);
    free(text);
    arena_free(&arena);
}

Test(pictures, as_they_were_looked_at, .init = fill) {
    static const struct {
        const char *name;
        Picture *draw;
        unsigned long long digest;
    } ROWS[] = {
        {"page/step.svg", picture_step, 0},
        {"page/memory.svg", picture_memory, 0x7dd5f66ae4377497},
        {"page/mesh.svg", picture_mesh, 0xce6f4e2884039229},
        {"page/timeline.svg", picture_timeline, 0xeba7523f459d3a89},
        {"page/pareto.svg", picture_pareto, 0x77243d415987f878},
        {"page/scaling.svg", picture_scaling, 0xd3e6b7f41104fca2},
        {"page/sensitivity.svg", picture_sensitivity, 0xb43ad3533d9edc18},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) look_at(ROWS[i].name, ROWS[i].draw, &facts, ROWS[i].digest);
}

/* Passes of a third and two thirds of a second, beside which each group communicates: 1 GB is a second. */
static void fill_passes(RankedPlan *ranked) {
    static const struct {
        Group group;
        double gigabytes;
    } TRAFFIC[] = {{GROUP_TENSOR, 0.15}, {GROUP_WEIGHTS, 0.2}, {GROUP_PIPELINE, 0.01}};
    Estimate *estimate = &ranked->estimate;
    double *of = estimate->resources.of;
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        of[RES_COMPUTE_FORWARD + phase] = 0.3 * (1 + phase);
        of[RES_ATTENTION_FORWARD + phase] = 0.03 * (1 + phase);
        for (size_t i = 0; i < COUNT_OF(TRAFFIC); i++)
            of[res_bytes(TRAFFIC[i].group, (Phase)phase)] = 1e9 * TRAFFIC[i].gigabytes * (1 + phase);
    }
    for (int group = 0; group < GROUP_COUNT; group++) estimate->rates.cost[group].seconds_per_byte[0] = 1e-9;
    estimate->rule.microbatches = (double)ranked->plan.knobs.microbatches;
    estimate->rule.data_start[0].bytes = 0.4e9, estimate->rule.data_end[0].bytes = 0.5e9;
    estimate->rule.bubble_saved_seconds = 0.2;
    fixture.request.question.profile = IDEAL;
}

/* Microbatches one after the other, each with what is exposed behind it; of a hundred the middle is left out. */
Test(pictures, of_microbatches, .init = fill) {
    fill_passes(&fixture.plans[0]);
    look_at("page/microbatches_timeline.svg", picture_timeline, NULL, 0xb4412b013c6b0c34);
    for (int count = 64; count <= 65; count++) { /* 64 are all shown */
        Arena arena = {0};
        PageView view = {&fixture.report, NULL, &arena};
        Prose words = {0};
        Table table;
        char *text = NULL;
        size_t length = 0;
        FILE *memory = open_memstream(&text, &length);
        fixture.plans[0].plan.knobs.microbatches = count;
        cr_assert(picture_timeline(&view, memory, &words, &table) && fclose(memory) == 0);
        cr_expect_eq(strstr(text, ">...</text>") != NULL, count > 64, "%d", count);
        cr_expect_eq(strstr(words.text, "in the middle") != NULL, count > 64, "%d", count);
        free(text);
        arena_free(&arena);
    }
    fixture.plans[0].plan.knobs.microbatches = 100;
    fixture.plans[0].estimate.time.seconds = 105;
    look_at("page/many_microbatches_timeline.svg", picture_timeline, NULL, 0x4eb5cdeb030005b3);
}

/* Stages, microbatches and chunks of a pipeline, and plans without the searches around them. */
Test(pictures, of_a_pipeline, .init = fill) {
    static const struct {
        const char *name;
        Schedule schedule;
        int64_t stages, chunks, microbatches;
        unsigned long long digest;
    } ROWS[] = {{"page/interleaved_timeline.svg", SCHEDULE_INTERLEAVED, 3, 4, 6, 0x34cd4822d3818f28},
                {"page/1f1b_timeline.svg", SCHEDULE_1F1B, 3, 1, 8, 0},
                {"page/zb_h1_timeline.svg", SCHEDULE_ZB_H1, 3, 1, 8, 0xca1359c6f17da342},
                {"page/dualpipe_timeline.svg", SCHEDULE_DUALPIPE, 4, 1, 8, 0xe4e63948ea0a1189},
                {"page/many_stages_timeline.svg", SCHEDULE_1F1B, 18, 1, 18, 0x29cc8dedb490928a},
                {"page/left_out_timeline.svg", SCHEDULE_GPIPE, 2, 1, 70, 0x7c93ed853a849882}};
    RankedPlan first = fixture.plans[0];
    fixture.plans[0] = fixture.plans[2], fixture.plans[2] = first;
    look_at("page/pipeline_mesh.svg", picture_mesh, NULL, 0xc689f9c11f7cf25a);
    look_at("page/pipeline_pareto.svg", picture_pareto, NULL, 0x56bc761f8a403b03);
    look_at("page/pipeline_memory.svg", picture_memory, NULL, 0xb274dcb51136881c);
    fill_passes(&fixture.plans[0]);
    /* what is drawn is played by the cost model, at 100 GB/s, and so is the step */
    for (int group = 0; group < GROUP_COUNT; group++)
        fixture.plans[0].estimate.rates.cost[group].seconds_per_byte[0] = 1e-11;
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Plan *plan = &fixture.plans[0].plan;
        plan->knobs.schedule = ROWS[i].schedule, plan->knobs.virtual_stages = ROWS[i].chunks;
        plan->knobs.microbatches = ROWS[i].microbatches, plan->degrees.of[ROLE_PIPELINE] = ROWS[i].stages;
        CostContext setting = ranked_cost_context(&fixture.request, &fixture.plans[0]);
        Estimate *estimate = &fixture.plans[0].estimate;
        estimate->time.seconds = played_seconds(&(PlayedPlan){&setting, &estimate->shard, plan, &estimate->rates});
        cr_assert(estimate->time.seconds > 0, "%s", ROWS[i].name);
        look_at(ROWS[i].name, picture_timeline, NULL, ROWS[i].digest);
    }
}

/* The page without what is drawn, styled or scripted: its words and tables. */
Test(pictures, words_of_the_page, .init = fill) {
    static bool (*const WRITERS[])(const Report *, FILE *, Error *) = {report_write_markdown, report_write_csv};
    static const char *const NAMES[] = {"page/plans.md", "page/plans.csv"};
    char *text = NULL;
    size_t length = 0;
    Error error = {0};
    FILE *memory = open_memstream(&text, &length);
    cr_assert(memory && report_write_html(&fixture.report, &facts, memory, &error), "%s", error.text);
    cr_assert_eq(fclose(memory), 0);
    leave_out(text, "svg");
    leave_out(text, "style");
    leave_out(text, "script");
    expect_golden("page/words.html", text);
    free(text);
    for (size_t i = 0; i < COUNT_OF(WRITERS); i++) {
        memory = open_memstream(&text, &length);
        cr_assert(memory && WRITERS[i](&fixture.report, memory, &error), "%s", error.text);
        cr_assert_eq(fclose(memory), 0);
        expect_golden(NAMES[i], text);
        free(text);
    }
}
