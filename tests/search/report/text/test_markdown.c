/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports to be looked at: Markdown and CSV that add up, names that stay names. */
#include "tests/search/golden.h"
#include "tests/search/report_fixture.h"

#include "base/util.h"
#include "search/report/text/markdown.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

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

/* As they lie in tests/data/reports/plans, which were looked at. */
Test(look, as_they_were_looked_at) {
    static const struct {
        const char *name;
        Writer *write;
    } ROWS[] = {{"plans/plans.md", report_write_markdown}, {"plans/plans.csv", report_write_csv}};
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
