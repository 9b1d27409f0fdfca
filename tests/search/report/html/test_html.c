/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports to be looked at: Markdown and CSV that add up, names that stay names; ticks of pictures. */
#include "tests/search/golden.h"
#include "tests/search/report_fixture.h"

#include "base/text/svg.h"
#include "base/util.h"
#include "search/report/html/write.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

/* ---- ticks ---- */

static const struct {
    const char *name;
    SvgScale scale;
    int most, count;
    double first, last;
} TICKS[] = {
    {"2 4 6 8 10 and zero", {0, 10, 0, 100, false}, 6, 6, 0, 10},
    {"half of a second each", {0, 2.7, 0, 100, false}, 8, 6, 0, 2.5},
    {"below zero too", {-0.07, 0.09, 0, 100, false}, 8, 4, -0.05, 0.1},
    {"decades", {1, 1000, 0, 100, true}, 4, 4, 1, 1000},
    {"1 2 5", {1, 100, 0, 100, true}, 8, 7, 1, 100},
    {"close together: round steps", {2.6, 2.81, 0, 100, true}, 6, 5, 2.6, 2.8},
    {"three figures at least", {33.8, 104, 0, 100, true}, 6, 4, 40, 100},
    {"nothing to say", {3, 3, 0, 100, false}, 6, 0, 0, 0},
};

Test(look, ticks) {
    for (size_t i = 0; i < COUNT_OF(TICKS); i++) {
        double ticks[SVG_TICKS_MAX];
        int count = svg_ticks(&TICKS[i].scale, TICKS[i].most, ticks);
        cr_expect_leq(count, TICKS[i].most, "%s", TICKS[i].name);
        if (count == 0) {
            cr_expect_eq(TICKS[i].count, 0, "%s", TICKS[i].name);
            continue;
        }
        cr_expect_float_eq(ticks[0], TICKS[i].first, 1e-9, "%s: from %g", TICKS[i].name, ticks[0]);
        cr_expect_not(signbit(ticks[0]) && ticks[0] == 0, "%s: minus zero", TICKS[i].name);
        if (TICKS[i].scale.low >= 0)
            cr_expect_float_eq(ticks[count - 1], TICKS[i].last, 1e-9, "%s: to %g", TICKS[i].name, ticks[count - 1]);
    }
    SvgScale scale = {1, 100, 10, 20, true};
    cr_expect_float_eq(svg_at(&scale, 10), 15, 1e-12, "the middle of two decades");
    cr_expect_float_eq(svg_at(&scale, 1000), 20, 1e-12, "held at the end");
    cr_expect_float_eq(svg_at(&scale, 0), 10, 1e-12);
}

typedef bool Writer(const Report *report, FILE *out, Error *error);

static char *written(Writer *write, const Report *report) {
    char *text = NULL;
    size_t length = 0;
    Error error = {0};
    FILE *memory = open_memstream(&text, &length);
    cr_assert(memory && write(report, memory, &error), "%s", error.text);
    cr_assert_eq(fclose(memory), 0);
    cr_assert(text && strlen(text) == length);
    return text;
}

/* ---- names ---- */

Test(look, names_are_text) {
    static const char NAME[] = "=cmd|<script>\"&'</title>*x*";
    static Fixture fixture;
    fixture_fill(&fixture);
    snprintf(fixture.request.question.model.name, sizeof fixture.request.question.model.name, "%s", NAME);
    snprintf(fixture.request.question.chip.title, sizeof fixture.request.question.chip.title, "%s", NAME);
    snprintf(fixture.request.requested.model, sizeof fixture.request.requested.model, "%s", NAME);
    char *markdown = written(report_write_markdown, &fixture.report),
         *table = written(report_write_csv, &fixture.report);
    cr_expect_null(strstr(markdown, "<script"));
    cr_expect_null(strstr(markdown, "*x*"));
    cr_expect(strstr(table, ",\"'=cmd|<script>\"\"&"), "quoted, and no formula");
    free(markdown);
    free(table);
}

/* ---- CSV and Markdown ---- */

/* The cells of a line without quotes; returns how many. */
static int cells_of(char *line, char *cells[], int most) {
    int count = 0;
    for (char *at = line; at && count < most;) {
        cells[count++] = at;
        at = strchr(at, ',');
        if (at) *at++ = '\0';
    }
    return count;
}

static double cell_named(char *const head[], char *const cells[], int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(head[i], name) == 0) return atof(cells[i]);
    return NAN;
}

Test(look, csv_adds_up) {
    enum { MOST = 64 };
    static Fixture fixture;
    fixture_fill(&fixture);
    char *table = written(report_write_csv, &fixture.report), *rest = table;
    char *head_line = strsep(&rest, "\n"), *head[MOST], *cells[MOST];
    int count = cells_of(head_line, head, MOST), rows = 0;
    for (char *line; (line = strsep(&rest, "\n")) && *line; rows++) {
        cr_assert_eq(cells_of(line, cells, MOST), count, "row %d", rows + 1);
        static const char *const PARTS[] = {"compute_seconds", "exposed_communication_seconds", "bubble_seconds",
                                            "optimizer_seconds", "other_seconds"};
        double sum = 0;
        for (size_t i = 0; i < COUNT_OF(PARTS); i++) sum += cell_named(head, cells, count, PARTS[i]);
        cr_expect_float_eq(sum, fixture.plans[rows].estimate.time.seconds, 1e-9);
        cr_expect_eq(cell_named(head, cells, count, "step_seconds"), fixture.plans[rows].estimate.time.seconds);
        cr_expect_eq(cell_named(head, cells, count, "memory_bytes"), 36e9);
        cr_expect_eq(cell_named(head, cells, count, "tensor"),
                     (double)fixture.plans[rows].plan.degrees.of[ROLE_TENSOR]);
    }
    cr_expect_eq(rows, 3);
    free(table);
}

Test(look, markdown_tables_are_whole) {
    static Fixture fixture;
    fixture_fill(&fixture);
    char *text = written(report_write_markdown, &fixture.report), *rest = text;
    int columns = 0, tables = 0;
    for (char *line; (line = strsep(&rest, "\n"));) {
        int bars = 0;
        for (const char *at = line; *line == '|' && *at; at++) bars += *at == '|' && (at == line || at[-1] != '\\');
        tables += bars > 0 && columns == 0;
        if (bars > 0 && columns > 0) cr_expect_eq(bars, columns, "%s", line);
        columns = bars;
    }
    cr_expect_geq(tables, 4, "plans, step, HBM, options");
    free(text);
}

/* As they lie in tests/data/reports/page, which were looked at. */
Test(look, as_they_were_looked_at) {
    static const struct {
        const char *name;
        Writer *write;
    } ROWS[] = {{"page/plans.md", report_write_markdown}, {"page/plans.csv", report_write_csv}};
    static Fixture fixture;
    fixture_fill(&fixture);
    fixture.report.requested = fixture.report.request;
    snprintf(fixture.request.requested.words, sizeof fixture.request.requested.words,
             "--model demo --slice 8x4x4 --slices 6");
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        char *text = written(ROWS[i].write, &fixture.report);
        expect_golden(ROWS[i].name, text);
        free(text);
    }
}
