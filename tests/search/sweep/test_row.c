/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A point's row of a report made by hand: its figures by their definitions, and what it says with or instead of a
 * plan. */
#include "search/sweep/sweep.h"

#include "base/json.h"
#include "tests/search/report_fixture.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

static const char *MODELS[] = {"8b", "70b"}, *CHIPS[] = {"demo"};
static const SweepGrid GRID = {.options = {{"chip", CHIPS, 1}, {"model", MODELS, 2}}, .option_count = 2, .points = 2};

static Fixture fixture;

static void fill(void fill_fixture(Fixture *)) {
    fill_fixture(&fixture);
    fixture.report.result.request = &fixture.request;
}

/* The row of point 1, read back; its text lives in the arena. */
static SweepRow row_of_fixture(Arena *arena) {
    Error error = {0};
    SweepText text = {0};
    SweepRow row;
    cr_assert(sweep_row_of_report(&GRID, 1, &fixture.report, "slow", &text, &error), "%s", error.text);
    cr_assert(sweep_row_read(&GRID, (SweepLine){text.text, text.length, "here"}, arena, &row, &error), "%s",
              error.text);
    free(text.text);
    cr_expect_eq(row.point, 1);
    cr_expect_str_eq(row.warning, "slow");
    return row;
}

static void expect_near(double value, double expected, const char *what) {
    cr_expect(fabs(value - expected) <= 1e-12 * expected, "%s: %.17g, not %.17g", what, value, expected);
}

/* 10^12 tokens in steps of 512 * 8192 at 3.42 s, all 768 chips paid for, at 4 USD; none reserved. */
Test(sweep_row, figures_by_their_definitions) {
    Arena arena = {0};
    fill(fixture_fill);
    fixture.request.question.failing.never = true;
    SweepRow row = row_of_fixture(&arena);
    double tokens = 512.0 * 8192, seconds = 1e12 / tokens * 3.42, hours = seconds / 3600 * 768;
    cr_expect(row.state == POINT_OK && row.has_plan && !*row.message);
    cr_expect_eq(row.chips, 512);
    cr_expect_str_eq(row.machine, "4 x 8x4x4");
    expect_near(row.step_seconds, 3.42, "step");
    expect_near(row.mfu, 0.412, "mfu");
    expect_near(row.hbm_bytes, 36e9, "memory");
    expect_near(row.hbm_limit_bytes, 92e9, "memory's limit");
    expect_near(row.tokens_per_second, tokens / 3.42, "tokens");
    expect_near(row.chip_hours, hours, "chip hours");
    expect_near(row.cost_usd, 4 * hours, "cost");
    expect_near(row.expected_seconds, seconds, "seconds without failures");
    expect_near(row.expected_usd, 4 * hours, "cost without failures");
    cr_expect_lt(row.reserved_usd, 0, "no price is known");
    cr_expect_str_eq(row.price_source, "unverified, the fixture", "a price that is not verified says so");
    cr_expect_str_eq(row.reserved_source, "");
    cr_expect(strncmp(row.priced_by, ", demo, , ", 10) == 0, "%s", row.priced_by);
    arena_free(&arena);
}

/* With a failure every so often the three are the same without them over the same goodput. */
Test(sweep_row, failures_and_a_reserved_price) {
    Arena arena = {0};
    fill(fixture_fill);
    fixture.request.question.failing.mtbf_seconds = 7200;
    fixture.request.question.failing.restart_seconds = 300;
    fixture.request.question.failing.storage_bytes_per_second = 1e11;
    fixture.request.question.chip.usd_per_chip_hour_reserved = fixture_figure(2.5, true);
    SweepRow row = row_of_fixture(&arena);
    double seconds = 1e12 / (512.0 * 8192) * 3.42, goodput = seconds / row.expected_seconds;
    cr_expect(goodput > 0.5 && goodput < 1 - 300.0 / 7200 / 2, "%g", goodput);
    expect_near(row.cost_usd, 4 * row.chip_hours, "cost");
    expect_near(row.expected_usd, row.cost_usd / goodput, "cost");
    expect_near(row.reserved_usd, 2.5 * row.chip_hours / goodput, "reserved");
    cr_expect_str_eq(row.reserved_source, "the fixture");
    arena_free(&arena);
}

/* A bound of 3.2 s below a plan of 3.42 s leaves 0.22 / 3.42 = 6.4% open. */
Test(sweep_row, says_what_is_open_and_what_would_fit) {
    Arena arena = {0};
    fill(fixture_fill);
    fixture.request.control.time_limit_seconds = 1;
    fixture.report.result.certificate.proof = PROOF_GAP;
    fixture.report.result.certificate.best_bound_seconds = 3.2;
    fixture.report.result.plan_count = 1; /* all that a sweep needs */
    SweepRow row = row_of_fixture(&arena);
    cr_expect(row.state == POINT_NOT_PROVEN && row.has_plan);
    cr_expect_str_eq(row.message, "at most 6.4% slower than the best");
    fill(fixture_fill_none);
    fixture.request.control.time_limit_seconds = 1;
    fixture.report.result.certificate.proof = PROOF_GAP;
    row = row_of_fixture(&arena);
    cr_expect(row.state == POINT_NOT_PROVEN && !row.has_plan);
    cr_expect_str_eq(row.message, "no plan was found before the limit");
    fixture.request.control.time_limit_seconds = 0;
    row = row_of_fixture(&arena);
    cr_expect(row.state == POINT_NO_PLAN && !row.has_plan);
    cr_expect_str_eq(row.message, "nearest: 4 x 8x4x4, 512 chips, data=4 fsdp=32 tensor=4");
    fixture.report.nearest_count = 0;
    row = row_of_fixture(&arena);
    cr_expect_str_eq(row.message, "", "nothing near fits");
    arena_free(&arena);
}

/* CSV has every figure in the order of the table, one column behind the other, and people see theirs so too. */
Test(sweep_row, columns_follow_each_other) {
    static const char *const COMMANDS[] = {NULL, "rl", "inference"};
    static const int SHOWN[] = {7, 6, 7};
    for (int i = 0; i < 3; i++) {
        SweepGrid grid = {.command = COMMANDS[i]};
        int column = 0, shown = 0;
        for (const Field *field = sweep_fields(&grid); field->key; field++) {
            if (field->column) cr_expect_eq(field->column, ++column, "%s", field->key);
            if (field->shown) cr_expect_eq(field->shown, ++shown, "%s", field->key);
        }
        cr_expect(column > 8 && shown == SHOWN[i], "%d, %d", column, shown);
    }
}
