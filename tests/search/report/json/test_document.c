/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of a document that people read: whose plan it is, and the step in time. */
#include "search/report/around.h"

#include "base/json.h"
#include "base/util.h"
#include "cost/played.h"
#include "search/cli/request_text.h"
#include "tests/cost/workbench.h"
#include "tests/search/report_fixture.h"

#include <criterion/criterion.h>
#include <math.h>

static Fixture fixture;

static cJSON *document_of(const Report *report) {
    Error error = {0};
    cJSON *json = report_document(report, &error);
    cr_assert_not_null(json, "%s", error.text);
    json_settle(json);
    return json;
}

/* A plan that was named is not called the best, and its command explains it. */
Test(document, says_whose_plan_it_is) {
    fixture_fill(&fixture);
    snprintf(fixture.request.requested.words, sizeof fixture.request.requested.words, "--model demo --slice '8x4x4'");
    snprintf(fixture.request.requested.choices, sizeof fixture.request.requested.choices, "--top 2");
    fixture.report.requested = NULL;
    cJSON *named = document_of(&fixture.report);
    fixture.report.requested = fixture.report.request;
    cJSON *searched = document_of(&fixture.report);
    cr_expect_str_eq(json_text_at(named, "words.command"), "explain");
    cr_expect_str_eq(json_text_at(searched, "words.command"), "plan");
    cr_expect(strstr(json_text_at(named, "commands.again"),
                     "shardopt explain --model demo --slice '8x4x4' --top 2 --plan 'tensor=4 fsdp=32 data=4"));
    cr_expect_str_eq(json_text_at(searched, "commands.again"), "shardopt plan --model demo --slice '8x4x4' --top 2");
    cr_expect_null(json_at(searched, "around"), "not searched");
    cJSON_Delete(named);
    cJSON_Delete(searched);
}

Test(document, without_a_plan) {
    fixture_fill(&fixture);
    fixture.report.result.plan_count = 0;
    fixture.report.result.shortfall =
        (Shortfall){.known = true, .plan = fixture.plans[0].plan, .needed_bytes = 150e9, .limit_bytes = 92e9};
    cJSON *json = document_of(&fixture.report);
    cr_expect(strstr(json_text_at(json, "words.answer"), "No plan fits"));
    cr_expect_null(json_at(json, "timeline"));
    cr_expect_null(json_at(json, "commands"));
    cJSON_Delete(json);
}

/* What was searched is told from what was not. */
Test(document, around) {
    static Around around;
    fixture_fill(&fixture);
    fixture.report.around = &around;
    around.figures[0] = (AroundFigure){
        "HBM",
        true,
        {{false, 0, true, false, false, 0, false, ""}, {true, 0.1, true, true, false, 0.05, true, "data=2"}}};
    around.figure_count = 1;
    around.memory[1] = (AroundPoint){.requested = true, .limit_bytes = 70e9};
    around.misses[0] = (NearMiss){2, "HBM", 0.82, 2};
    around.miss_count = 1;
    cJSON *json = document_of(&fixture.report);
    const cJSON *moves = json_at(json_at(json, "around.figures")->child, "moves");
    cr_expect_str_eq(json_text_at(moves->child, "basis"), "search");
    cr_expect(cJSON_IsFalse(json_at(moves->child, "found")));
    cr_expect_null(json_at(moves->child, "relative"));
    cr_expect_eq(json_real_at(moves->child->next, "relative", 0), 0.05);
    cr_expect_eq(cJSON_GetArraySize(json_at(json, "around.less_memory")), 1);
    cr_expect_eq(json_real_at(json_at(json, "around.near_misses")->child, "rank", 0), 2);
    cJSON_Delete(json);
}

/* ---- the step in time ---- */

static const cJSON *row_named(const cJSON *timeline, const char *name) {
    const cJSON *row;
    cJSON_ArrayForEach(row, json_at(timeline, "rows")) if (strcmp(json_text_at(row, "name"), name) == 0) return row;
    return NULL;
}

static double value_at(const cJSON *row, const char *list, int i) {
    return cJSON_GetArrayItem(json_at(row, list), i)->valuedouble;
}

static int bars_of(const cJSON *row) { return cJSON_GetArraySize(json_at(row, "kind")); }

/* ZeRO gathers parameters at the start of a step; gradients are reduced when there are some, after the last backward
 * has begun. */
Test(document, no_gradient_before_a_backward) {
    Arena arena = {0};
    Error error = {0};
    Request *request = ARENA_NEW(&arena, Request, 1);
    Report *report = ARENA_NEW(&arena, Report, 1);
    cr_assert(request && report);
    cr_assert(request_from_text("plan --model 8b --chip h100 --nodes 4 --batch 1Mi --seq 8192 --require "
                                "data=8,tensor=4 --for megatron --top 1",
                                &arena, request));
    cr_assert(report_make(request, &arena, report, &error), "%s", error.text);
    cr_assert_gt(report->result.plan_count, 0);
    cJSON *json = document_of(report);
    const cJSON *timeline = json_at(json, "timeline"), *compute = row_named(timeline, "compute"),
                *gradients = row_named(timeline, "gradients"), *parameters = row_named(timeline, "parameters");
    cr_assert(compute && gradients && parameters);
    double last = 0;
    for (int i = 0; i < bars_of(compute); i++) {
        const cJSON *kind = cJSON_GetArrayItem(json_at(timeline, "kinds"), (int)value_at(compute, "kind", i));
        if (strcmp(json_text_at(kind, "name"), "backward") == 0) last = value_at(compute, "begin_seconds", i);
    }
    cr_expect_geq(value_at(gradients, "begin_seconds", 0), last * (1 - 1e-5));
    cr_expect_eq(value_at(parameters, "begin_seconds", 0), 0);
    cr_expect_gt(bars_of(row_named(json_at(timeline, "layer"), "compute")), 12, "ops of a layer");
    cJSON_Delete(json);
    arena_free(&arena);
}

/* Of a long step the middle is left out: 64 microbatches are all there, of 65 a middle one is not. */
Test(document, middle_of_a_long_step) {
    fixture_fill(&fixture);
    double *of = fixture.plans[0].estimate.resources.of;
    for (int phase = 0; phase < PHASE_COUNT; phase++) of[RES_COMPUTE_FORWARD + phase] = 0.3 * (1 + phase);
    for (int count = 64; count <= 65; count++) {
        fixture.plans[0].plan.knobs.microbatches = count;
        cJSON *json = document_of(&fixture.report);
        const cJSON *compute = row_named(json_at(json, "timeline"), "compute");
        int passes = 0;
        for (int i = 0; i < bars_of(compute); i++) passes += value_at(compute, "microbatch", i) > 0;
        cr_expect_eq(passes, 2 * 64, "%d: %d", count, passes);
        cr_expect_eq(json_real_at(json, "timeline.left_out_microbatches", -1), count - 64);
        cJSON_Delete(json);
    }
}

/* Every pass of every microbatch stands in each stage, none before the one before it ends. */
Test(document, passes_of_a_pipeline) {
    static const struct {
        Schedule schedule;
        int64_t stages, chunks, microbatches;
        int passes;
    } ROWS[] = {{SCHEDULE_INTERLEAVED, 3, 4, 6, 2 * 6 * 4},
                {SCHEDULE_1F1B, 3, 1, 8, 2 * 8},
                {SCHEDULE_GPIPE, 3, 1, 70, 2 * 64}};
    fixture_fill(&fixture);
    fixture.request.question.profile = IDEAL;
    Plan *plan = &fixture.plans[0].plan;
    *plan = fixture.plans[2].plan;
    fixture.plans[0].estimate = fixture.plans[2].estimate;
    for (int phase = 0; phase < PHASE_COUNT; phase++)
        fixture.plans[0].estimate.resources.of[RES_COMPUTE_FORWARD + phase] = 0.3 * (1 + phase);
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        plan->knobs.schedule = ROWS[i].schedule, plan->knobs.virtual_stages = ROWS[i].chunks;
        plan->knobs.microbatches = ROWS[i].microbatches, plan->degrees.of[ROLE_PIPELINE] = ROWS[i].stages;
        cJSON *json = document_of(&fixture.report);
        const cJSON *timeline = json_at(json, "timeline"), *row = row_named(timeline, "stage 2");
        cr_assert_not_null(row, "row %zu", i);
        double stages = json_real_at(timeline, "stages", 0);
        cr_expect_eq(stages, (double)ROWS[i].stages, "row %zu: %g", i, stages);
        cr_expect_eq(bars_of(row), ROWS[i].passes, "row %zu: %d", i, bars_of(row));
        for (int bar = 1; bar < bars_of(row); bar++)
            cr_expect_geq(value_at(row, "begin_seconds", bar), value_at(row, "end_seconds", bar - 1) * (1 - 1e-5));
        cJSON_Delete(json);
    }
}
