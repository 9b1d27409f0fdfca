/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A point's row of a report made by hand: its figures by their definitions, and what it says with or instead of a
 * plan. */
#include "tests/search/sweep/rows.h"

#include "base/util.h"
#include "tests/search/report_fixture.h"

#include <math.h>

static const char *MODELS[] = {"8b", "70b"}, *CHIPS[] = {"demo"};
static const SweepGrid GRID = {.options = {{"chip", CHIPS, 1}, {"model", MODELS, 2}}, .option_count = 2, .points = 2};

static Fixture fixture;

static void fill(void fill_fixture(Fixture *)) {
    fill_fixture(&fixture);
    fixture.report.result.request = &fixture.request;
}

static SweepRow row;

/* Makes the row of point 1. What is read of its line is what was made. */
static void make(void) {
    Error error = {0};
    Arena arena = {0};
    PointAnswer answer = {0};
    SweepRow read;
    sweep_rows_free(&row, 1);
    cr_assert(sweep_answer_of_report(&fixture.report, &arena, &answer, &error), "%s", error.text);
    answer.warning = "slow";
    cr_assert(sweep_row_new(&GRID, 1, &answer, &row, &error), "%s", error.text);
    cr_assert(sweep_row_read(&GRID, row.line, row.length, "here", &read, &error), "%s", error.text);
    cr_expect_eq(read.point, 1);
    cr_expect_eq(read.state, row.state);
    cr_expect(cJSON_Compare(read.json, row.json, true), "%s", row.line);
    cr_expect_str_eq(sweep_says(&row, "warning"), "slow");
    sweep_rows_free(&read, 1);
    arena_free(&arena);
}

static double of(const char *key) { return sweep_figure(&row, key); }

static void expect_near(double value, double expected, const char *what) {
    cr_expect(fabs(value - expected) <= 1e-12 * expected, "%s: %.17g, not %.17g", what, value, expected);
}

/* 10^12 tokens in steps of 512 * 8192 at 3.42 s, all 768 chips paid for, at 4 USD; none reserved. */
Test(sweep_row, figures_by_their_definitions) {
    fill(fixture_fill);
    fixture.request.question.failing.never = true;
    make();
    double tokens = 512.0 * 8192, seconds = 1e12 / tokens * 3.42, hours = seconds / 3600 * 768;
    cr_expect(row.state == POINT_OK && sweep_has_plan(&row) && !*sweep_says(&row, "message"));
    cr_expect_eq(of("chips"), 512);
    cr_expect_str_eq(sweep_says(&row, "best.machine"), "4 x 8x4x4");
    const struct {
        const char *key;
        double value;
    } FIGURES[] = {{"step_seconds", 3.42},           {"mfu", 0.412},
                   {"hbm_bytes", 36e9},              {"hbm_limit_bytes", 92e9},
                   {"chip_hours", hours},            {"tokens_per_second", tokens / 3.42},
                   {"cost_usd", 4 * hours},          {"expected_cost_usd", 4 * hours},
                   {"expected_seconds", seconds}};
    for (size_t i = 0; i < COUNT_OF(FIGURES); i++) expect_near(of(FIGURES[i].key), FIGURES[i].value, FIGURES[i].key);
    cr_expect_lt(of("reserved_cost_usd"), 0, "no price is known");
    cr_expect_str_eq(sweep_says(&row, "best.price_source"), "unverified, the fixture", "it is not verified");
    cr_expect_str_eq(sweep_says(&row, "best.reserved_price_source"), "");
    cr_expect(strncmp(sweep_says(&row, "priced_by"), ", demo, , ", 10) == 0, "%s", sweep_says(&row, "priced_by"));
}

/* With a failure every so often the three are the same without them over the same goodput. */
Test(sweep_row, failures_and_a_reserved_price) {
    fill(fixture_fill);
    fixture.request.question.failing.mtbf_seconds = 7200;
    fixture.request.question.failing.restart_seconds = 300;
    fixture.request.question.failing.storage_bytes_per_second = 1e11;
    fixture.request.question.chip.usd_per_chip_hour_reserved = fixture_figure(2.5, true);
    make();
    double seconds = 1e12 / (512.0 * 8192) * 3.42, goodput = seconds / of("expected_seconds");
    cr_expect(goodput > 0.5 && goodput < 1 - 300.0 / 7200 / 2, "%g", goodput);
    expect_near(of("cost_usd"), 4 * of("chip_hours"), "cost");
    expect_near(of("expected_cost_usd"), of("cost_usd") / goodput, "cost");
    expect_near(of("reserved_cost_usd"), 2.5 * of("chip_hours") / goodput, "reserved");
    cr_expect_str_eq(sweep_says(&row, "best.reserved_price_source"), "the fixture");
}

/* A bound of 3.2 s below a plan of 3.42 s leaves 0.22 / 3.42 = 6.4% open. */
Test(sweep_row, says_what_is_open_and_what_would_fit) {
    fill(fixture_fill);
    fixture.request.control.time_limit_seconds = 1;
    fixture.report.result.certificate.proof = PROOF_GAP;
    fixture.report.result.certificate.best_bound_seconds = 3.2;
    fixture.report.result.plan_count = 1; /* all that a sweep needs */
    make();
    cr_expect(row.state == POINT_NOT_PROVEN && sweep_has_plan(&row));
    cr_expect_str_eq(sweep_says(&row, "message"), "at most 6.4% slower than the best");
    fill(fixture_fill_none);
    fixture.request.control.time_limit_seconds = 1;
    fixture.report.result.certificate.proof = PROOF_GAP;
    make();
    cr_expect(row.state == POINT_NOT_PROVEN && !sweep_has_plan(&row));
    cr_expect_str_eq(sweep_says(&row, "message"), "no plan was found before the limit");
    fixture.request.control.time_limit_seconds = 0;
    make();
    cr_expect(row.state == POINT_NO_PLAN && !sweep_has_plan(&row));
    cr_expect_str_eq(sweep_says(&row, "message"), "nearest: 4 x 8x4x4, 512 chips, data=4 fsdp=32 tensor=4");
    fixture.report.nearest_count = 0;
    make();
    cr_expect_str_eq(sweep_says(&row, "message"), "", "nothing near fits");
}
