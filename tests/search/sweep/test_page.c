/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sweep's page: the fronts by hand, errors said once, names that stay names. */
#include "search/sweep/sweep.h"

#include "base/util.h"
#include "tests/search/golden.h"
#include "tests/search/report/html/page_text.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

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

static void make(void) {
    static const char *models[] = {HOSTILE, "large"}, *chips[] = {"a", "b"}, *sizes[] = {"8", "16", "32"};
    grid = (SweepGrid){.options = {{"model", models, MODELS}, {"chip", chips, CHIPS}, {"chips", sizes, SIZES}},
                       .option_count = 3,
                       .points = COUNT};
    for (int i = 0; i < COUNT; i++)
        rows[i] = (SweepRow){.point = i,
                             .state = POINTS[i].days > 0 ? POINT_OK : POINT_ERROR,
                             .has_plan = POINTS[i].days > 0,
                             .plan = HOSTILE,
                             .machine = "m",
                             .chips = 8 << i % SIZES,
                             .mfu = POINTS[i].mfu,
                             .step_seconds = 1,
                             .cost_usd = POINTS[i].usd,
                             .expected_seconds = 86400 * POINTS[i].days,
                             .expected_usd = POINTS[i].usd,
                             .reserved_usd = -1,
                             .price_source = "",
                             .reserved_source = "",
                             .message = POINTS[i].days > 0 ? "" : HOSTILE};
}

/* (200, 130) is not on the front: (100, 130) is as cheap and faster. */
Test(sweep_page, fronts_of_each_model) {
    bool front[COUNT];
    int same[COUNT];
    make();
    sweep_front(&grid, rows, front, same);
    for (int i = 0; i < COUNT; i++) {
        bool expected = POINTS[i].front && i != 10;
        cr_expect_eq(front[i], expected, "point %d", i);
        cr_expect_eq(same[i] == same[0], i < COUNT / MODELS, "point %d", i);
    }
}

static char *drawn(bool draw(const SweepGrid *, const SweepRow *, const char *, FILE *), bool any) {
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    cr_assert(memory);
    cr_expect_eq(draw(&grid, rows, "words", memory), any);
    cr_assert_eq(fclose(memory), 0);
    cr_expect_eq(length > 0, any);
    return text;
}

Test(sweep_page, pictures) {
    make();
    char *cost = drawn(sweep_draw_cost, true);
    cr_expect_eq(occurrences(cost, " r=\"5.0\"") + occurrences(cost, "width=\"9.0\""), 3 + 3,
                 "the marks of the fronts");
    cr_expect_eq(occurrences(cost, "thick\" d=\"M"), 2 + 1, "two fronts, and the legend's");
    free(cost);
    for (int i = 0; i < COUNT; i++) rows[i].expected_usd = 0.5; /* smaller than every unit */
    cost = drawn(sweep_draw_cost, true);
    cr_expect(strstr(cost, "$0.5<"), "%s", cost);
    free(cost);
    for (int i = 0; i < COUNT; i++) rows[i].expected_usd = -1;
    free(drawn(sweep_draw_cost, false));
}

Test(sweep_page, is_text_and_says_errors_once) {
    static const SweepGoal NONE;
    char *text = NULL;
    size_t length = 0;
    Error error = {0};
    make();
    rows[0].state = POINT_ERROR, rows[0].has_plan = false, rows[0].message = HOSTILE;
    FILE *memory = open_memstream(&text, &length);
    cr_assert(memory);
    cr_assert(sweep_write(&grid, rows, &NONE, SWEEP_HTML, (TextOut){.file = memory}, &error), "%s", error.text);
    cr_assert_eq(fclose(memory), 0);
    cr_expect_null(strstr(text, "<script>alert"));
    cr_expect_eq(occurrences(text, "<td>error 1</td>"), 2);
    cr_expect_eq(occurrences(text, "<li>=c|"), 1, "said once");
    cr_expect_null(strstr(text, "This page again"), "a quote in a name: no line");
    free(text);
}

/* ---- layout ---- */

static const SweepGoal NONE;

static char *written(const SweepGrid *of, const SweepRow *points, const SweepGoal *goal, SweepFormat format) {
    char *text = NULL;
    size_t length = 0;
    Error error = {0};
    FILE *memory = open_memstream(&text, &length);
    cr_assert(memory);
    cr_assert(sweep_write(of, points, goal, format, (TextOut){.file = memory}, &error), "%s", error.text);
    cr_assert_eq(fclose(memory), 0);
    return text;
}

/* The forms of a sweep as they lie in tests/data/reports/sweep, which were looked at; of the page all but
 * its style and scripts. */
Test(sweep_page, as_it_was_looked_at) {
    static const struct {
        const char *name;
        SweepGoal goal;
        SweepFormat format;
    } ROWS[] = {
        {"sweep/table.txt", {0, 0}, SWEEP_TEXT},          {"sweep/goal.txt", {86400 * 60, 20}, SWEEP_TEXT},
        {"sweep/table.md", {0, 0}, SWEEP_MARKDOWN},       {"sweep/table.csv", {0, 0}, SWEEP_CSV},
        {"sweep/page.html", {86400 * 60, 0}, SWEEP_HTML},
    };
    make();
    for (int i = 0; i < COUNT; i++) {
        rows[i].machine = "4x4", rows[i].step_seconds = 1.5 + i, rows[i].chip_hours = 1e4 * (i + 1);
        rows[i].hbm_bytes = 20e9 + 1e9 * i, rows[i].hbm_limit_bytes = 40e9, rows[i].tokens_per_second = 1e5 / (i + 1);
        rows[i].reserved_usd = rows[i].expected_usd / 2;
        rows[i].price_source = "here, 2026", rows[i].reserved_source = "there, 2025";
    }
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        char *text = written(&grid, rows, &ROWS[i].goal, ROWS[i].format);
        if (ROWS[i].format == SWEEP_HTML) leave_out(text, "style"), leave_out(text, "script");
        expect_golden(ROWS[i].name, text);
        free(text);
    }
}

/* A picture of the page, counted from 0. */
static void expect_picture(const SweepGrid *of, const SweepRow *points, int number, const char *name,
                           unsigned long long digest) {
    char *page = written(of, points, &NONE, SWEEP_HTML), *begin = page, *end = page;
    for (int i = 0; i <= number && end; i++) {
        begin = strstr(end, "<svg "), end = begin ? strstr(begin, "</svg>\n") : NULL;
        if (end) end += strlen("</svg>\n");
    }
    cr_assert(end, "%s", name);
    *end = '\0';
    expect_picture_digest(name, begin, digest);
    free(page);
}

/* Twenty models, whose names stand below the picture; and eight batches on one machine, as bars. */
Test(sweep_page, many_series_and_none) {
    enum { MANY = 20, LENGTHS = 2, BATCHES = 8 };
    static const char *names[MANY], *lengths[] = {"8", "32"};
    static char text[MANY][24];
    static SweepRow all[MANY * LENGTHS];
    make();
    for (int i = 0; i < MANY; i++) {
        snprintf(text[i], sizeof text[i], "model %d", i + 1);
        names[i] = text[i];
    }
    for (int i = 0; i < MANY * LENGTHS; i++) {
        all[i] = rows[0];
        all[i].point = i, all[i].plan = "fsdp=8", all[i].chips = i % LENGTHS ? 32 : 8;
        all[i].mfu = 0.3 + 0.01 * (i / LENGTHS), all[i].step_seconds = 1 + i;
        all[i].expected_seconds = 86400. * (10 + i), all[i].expected_usd = 1e3 * (100 - i);
    }
    memcpy(rows, all, sizeof rows);
    for (int i = 0; i < BATCHES; i++) rows[i].chips = 8;
    grid = (SweepGrid){.options = {{"batch", names, BATCHES}}, .option_count = 1, .points = BATCHES};
    expect_picture(&grid, rows, 0, "sweep/bars.svg", 0x386f84e81296e1f3);
    SweepGrid many = {.options = {{"model", names, MANY}, {"chips", lengths, LENGTHS}}, .option_count = 2};
    many.points = MANY * LENGTHS;
    expect_picture(&many, all, 0, "sweep/many.svg", 0x4185334be71fcb96);
    expect_picture(&many, all, 1, "sweep/many_costs.svg", 0xc29e98150937b204);
}

/* Of 34 models 31 have a line of their own, and the others one. */
Test(sweep_page, series_beyond_the_last_are_others) {
    enum { MANY = 34, OWN = 31 };
    static const char *names[MANY], *lengths[] = {"8", "32"};
    static char text[MANY][24];
    static SweepRow all[2 * MANY];
    make();
    for (int i = 0; i < MANY; i++) snprintf(text[i], sizeof text[i], "model %02d", i + 1), names[i] = text[i];
    for (int i = 0; i < 2 * MANY; i++) all[i] = rows[0], all[i].point = i, all[i].chips = i % 2 ? 32 : 8;
    SweepGrid many = {.options = {{"model", names, MANY}, {"chips", lengths, 2}}, .option_count = 2};
    many.points = 2 * MANY;
    char *page = written(&many, all, &NONE, SWEEP_HTML), *picture = strstr(page, "<svg ");
    char *end = picture ? strstr(picture, "</svg>") : NULL;
    cr_assert(end);
    *end = '\0';
    cr_expect_eq(occurrences(picture, ">and others<"), 1);
    for (int i = 0; i < MANY; i++) {
        char legend[32];
        snprintf(legend, sizeof legend, ">%s<", names[i]);
        cr_expect_eq(occurrences(picture, legend), i < OWN, "%s", legend);
    }
    free(page);
}

/* ---- the line that writes the page again ---- */

/* A page of one option with so many values of `value`; whether it has a line, and that it holds `holds`. */
static void expect_line(const char *option, const char *value, int count, const char *holds) {
    static const char *values[COUNT];
    make();
    for (int i = 0; i < count; i++) values[i] = value;
    grid = (SweepGrid){.options = {{option, values, count}}, .option_count = 1, .points = count};
    char *text = written(&grid, rows, &NONE, SWEEP_HTML);
    cr_expect_eq(strstr(text, "This page again") != NULL, holds != NULL, "%s=%.40s", option, value);
    if (holds) cr_expect(strstr(text, holds), "%s=%.40s: %s", option, value, holds);
    free(text);
}

/* Words that a shell takes as they are, words in quotes, and none where a shell, a comma or the length would make
 * another line of it. */
Test(sweep_page, line_that_writes_it_again) {
    char word[1002];
    memset(word, 'm', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    expect_line("model", "8b", 1, "shardopt sweep --model 8b --format html -o sweep.html");
    expect_line("model", "8b", 3, "shardopt sweep --model 8b,8b,8b --format html");
    expect_line("require", "tensor<=8 data>2", 1, " --require &#39;tensor&lt;=8 data&gt;2&#39; --format");
    expect_line("quiet", "", 1, "shardopt sweep --quiet --format");
    expect_line("chips", "a,b", 1, " --chips a,b --format");
    expect_line("chips", "a,b", 2, NULL);
    expect_line("model", "it's", 1, NULL);
    expect_line("model", "a\nb", 1, NULL);
    expect_line("model", "a\x1f", 1, NULL);
    expect_line("model", "a b", 1, " --model &#39;a b&#39; --format");
    expect_line("model", "a~b", 1, " --model &#39;a~b&#39; --format");
    expect_line("model", "a\x7f", 1, NULL);
    expect_line("model", "gro\xc3\x9f", 1, NULL);
    expect_line("model", word, 1, NULL);
    expect_line("model", word + 1, 1, " --model mmmm");
    expect_line("model", word + 501, 2, " --model mmmm");
}

/* A line of a thousand bytes gets no more options. */
Test(sweep_page, line_that_is_long) {
    static char word[900];
    static const char *values[1] = {word};
    for (int options = 1; options <= 3; options++) {
        make();
        memset(word, 'm', sizeof word - 1);
        grid = (SweepGrid){.option_count = options, .points = 1};
        for (int i = 0; i < options; i++) grid.options[i] = (SweepOption){"model", values, 1};
        char *text = written(&grid, rows, &NONE, SWEEP_HTML);
        cr_expect_eq(strstr(text, "This page again") != NULL, options <= 2, "%d options", options);
        free(text);
    }
}
