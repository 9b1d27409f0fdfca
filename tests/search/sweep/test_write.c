/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The forms of a sweep: fronts by hand, names that stay names, the line that makes it again. */
#include "tests/search/sweep/rows.h"

#include "base/util.h"
#include "tests/search/golden.h"

enum { MODELS = 2, CHIPS = 2, SIZES = 3, COUNT = MODELS * CHIPS * SIZES };
static const char HOSTILE[] = "=c|\"><script>alert(1)</script>'&";

/* days, dollars, MFU of a model on a chip with so many of them; no days: nothing fits; no dollars: no price is
 * known. */
static const struct {
    double days, usd, mfu;
    bool front;
} POINTS[COUNT] = {
    {100, 10, 0.4, true},  {50, 12, 0.4, false},
    {25, 15, 0.38, false}, /* small on a */
    {49, 12, 0.5, true},   {24, 12.5, 0.49, true},
    {12, -1, 0.45, false}, /* small on b: ahead of a but for its cheapest */
    {900, 100, 0.6, true}, {900, 100, 0.6, false},
    {0, 0, 0, false}, /* large on a: of equals the first */
    {901, 99, 0.3, true},  {200, 130, 0.3, true},
    {100, 130, 0.2, true}, /* large on b */
};

static SweepRow rows[COUNT];
static SweepGrid grid;

/* Figures that count from point to point, and those of POINTS; a reserved price is half of it. */
static SweepRow row_of(int64_t i) {
    char usd[NUMBER_TEXT_SIZE], half[NUMBER_TEXT_SIZE];
    if (!(POINTS[i].days > 0)) return made_row(&grid, i, POINT_ERROR, HOSTILE, NULL);
    json_figure(POINTS[i].usd, usd), json_figure(POINTS[i].usd / 2, half);
    return made_row(&grid, i, POINT_OK, "",
                    "{\"plan\":\"=c|\\\"><script>alert(1)</script>'&\",\"machine\":\"4x4\",\"chips\":%d,"
                    "\"step_seconds\":%.17g,\"mfu\":%.17g,\"hbm_bytes\":%.17g,\"hbm_limit_bytes\":40e9,"
                    "\"tokens_per_second\":%.17g,\"chip_hours\":%.17g,\"cost_usd\":%s,\"expected_seconds\":%.17g,"
                    "\"expected_cost_usd\":%s,\"reserved_cost_usd\":%s,\"price_source\":\"here, 2026\","
                    "\"reserved_price_source\":\"there, 2025\"}",
                    8 << i % SIZES, 1.5 + (double)i, POINTS[i].mfu, 20e9 + 1e9 * (double)i, 1e5 / ((double)i + 1),
                    1e4 * ((double)i + 1), usd, 86400 * POINTS[i].days, usd, half);
}

static void make(void) {
    static const char *models[] = {HOSTILE, "large"}, *chips[] = {"a", "b"}, *sizes[] = {"8", "16", "32"};
    grid = (SweepGrid){.options = {{"model", models, MODELS}, {"chip", chips, CHIPS}, {"chips", sizes, SIZES}},
                       .option_count = 3,
                       .points = COUNT};
    sweep_rows_free(rows, COUNT);
    for (int i = 0; i < COUNT; i++) rows[i] = row_of(i);
}

/* (200, 130) is not on the front: (100, 130) is as cheap and faster. */
Test(sweep_write, fronts_of_each_model) {
    Arena arena = {0};
    make();
    const bool *front = sweep_front(&grid, rows, &arena);
    cr_assert_not_null(front);
    for (int i = 0; i < COUNT; i++) {
        bool expected = POINTS[i].front && i != 10;
        cr_expect_eq(front[i], expected, "point %d", i);
    }
    arena_free(&arena);
}

/* ---- the forms ---- */

static const SweepGoal NONE;

/* The forms of a sweep as they lie in tests/data/reports/sweep, which were looked at. */
Test(sweep_write, as_it_was_looked_at) {
    static const struct {
        const char *name;
        SweepGoal goal;
        SweepFormat format;
    } ROWS[] = {
        {"sweep/table.txt", {0, 0}, SWEEP_TEXT},
        {"sweep/goal.txt", {86400 * 60, 20}, SWEEP_TEXT},
        {"sweep/table.md", {0, 0}, SWEEP_MARKDOWN},
        {"sweep/table.csv", {0, 0}, SWEEP_CSV},
    };
    make();
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        char *text = written(&grid, rows, &ROWS[i].goal, ROWS[i].format);
        expect_golden(ROWS[i].name, text);
        free(text);
    }
}

/* Rows that were planned before get what they are among the others: only of the front, only on the first. */
static char *document(SweepFormat format, int64_t points) {
    static const char BEST[] = "{\"expected_seconds\":1,\"expected_cost_usd\":1}";
    static SweepRow many[301];
    static const char *values[301];
    make();
    grid.options[2] = (SweepOption){"chips", values, (int)points};
    grid.options[0].count = grid.options[1].count = 1;
    grid.points = points;
    for (int64_t i = 0; i < points; i++) values[i] = HOSTILE;
    for (int64_t i = 0; i < points; i++) many[i] = made_row(&grid, i, POINT_OK, ",\"report\":", BEST);
    char *text = written(&grid, many, &NONE, format);
    sweep_rows_free(many, points);
    return text;
}

Test(sweep_write, json_and_page) {
    static const struct {
        const char *name;
        SweepFormat format;
        int64_t points;
        bool reports;
    } ROWS[] = {
        {"JSON", SWEEP_JSON, 301, true}, {"page", SWEEP_HTML, 300, true}, {"long page", SWEEP_HTML, 301, false}};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        char *text = document(ROWS[i].format, ROWS[i].points);
        cr_expect_eq(strstr(text, "\"report\":{") != NULL, ROWS[i].reports, "%s", ROWS[i].name);
        cr_expect(strstr(text, ",\"front\":true,\"words\":{\"lead\":"), "%s: of equals the first", ROWS[i].name);
        if (ROWS[i].format == SWEEP_HTML) cr_expect_null(strstr(text, "<script>alert"), "%s", ROWS[i].name);
        char *second = strstr(strstr(text, "\"words\":{") + 1, "\"words\":{\"lead");
        cr_expect_null(second, "%s: words are of the first row", ROWS[i].name);
        free(text);
    }
}

/* ---- the line that makes the sweep again ---- */

/* A sweep of one option with so many values of `value`; whether it has a line, and that it holds `holds`. */
static void expect_line(const char *option, const char *value, int count, const char *holds) {
    static const char *values[COUNT];
    make();
    for (int i = 0; i < count; i++) values[i] = value;
    grid = (SweepGrid){.options = {{option, values, count}}, .option_count = 1, .points = count};
    char *text = written(&grid, rows, &NONE, SWEEP_JSON);
    cr_expect_eq(strstr(text, "\"again\":") != NULL, holds != NULL, "%s=%.40s", option, value);
    if (holds) cr_expect(strstr(text, holds), "%s=%.40s: %s", option, value, holds);
    free(text);
}

/* Words that a shell takes as they are, words in quotes, and none where a shell, a comma or the length would make
 * another line of it. */
Test(sweep_write, line_that_writes_it_again) {
    char word[1002];
    memset(word, 'm', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    expect_line("model", "8b", 1, "shardopt sweep --model 8b --format html -o sweep.html");
    expect_line("model", "8b", 3, "shardopt sweep --model 8b,8b,8b --format html");
    expect_line("require", "tensor<=8 data>2", 1, " --require 'tensor<=8 data>2' --format");
    expect_line("quiet", "", 1, "shardopt sweep --quiet --format");
    expect_line("chips", "a,b", 1, " --chips a,b --format");
    expect_line("chips", "a,b", 2, NULL);
    expect_line("model", "it's", 1, NULL);
    expect_line("model", "a\nb", 1, NULL);
    expect_line("model", "a\x1f", 1, NULL);
    expect_line("model", "a b", 1, " --model 'a b' --format");
    expect_line("model", "a~b", 1, " --model 'a~b' --format");
    expect_line("model", "a\x7f", 1, NULL);
    expect_line("model", "gro\xc3\x9f", 1, NULL);
    expect_line("model", word, 1, NULL);
    expect_line("model", word + 1, 1, " --model mmmm");
    expect_line("model", word + 501, 2, " --model mmmm");
    expect_line("model", word + 1, 5, NULL); /* more than a line holds */
}

/* A line of a thousand bytes gets no more options. */
Test(sweep_write, line_that_is_long) {
    static char word[900];
    static const char *values[1] = {word};
    for (int options = 1; options <= 3; options++) {
        make();
        memset(word, 'm', sizeof word - 1);
        grid = (SweepGrid){.option_count = options, .points = 1};
        for (int i = 0; i < options; i++) grid.options[i] = (SweepOption){"model", values, 1};
        char *text = written(&grid, rows, &NONE, SWEEP_JSON);
        cr_expect_eq(strstr(text, "\"again\":") != NULL, options <= 2, "%d options", options);
        free(text);
    }
}
