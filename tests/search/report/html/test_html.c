/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports to be looked at: pages whose tags close, pictures whose bars add up, names that stay names. */
#include "tests/search/report/html/page_text.h"
#include "tests/search/report_fixture.h"

#include "base/util.h"
#include "search/cli/request_text.h"
#include "search/report/html/pictures.h"
#include "search/report/html/write.h"
#include "search/report/side_searches.h"

#include <criterion/criterion.h>
#include <ctype.h>
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

/* ---- well-formed ---- */

typedef bool Writer(const Report *report, FILE *out, Error *error);
static bool write_page(const Report *report, FILE *out, Error *error) {
    return report_write_html(report, NULL, out, error);
}

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

Test(look, page_is_whole) {
    static Fixture fixture;
    fixture_fill(&fixture);
    char *page = written(write_page, &fixture.report);
    const char *flaw = first_flaw(page);
    cr_expect_null(flaw, "at: %.200s", flaw);
    cr_expect_eq(occurrences(page, "<h1>"), 1);
    /* step and memory, and what differs in the other plans; mesh, timeline, and time against memory */
    cr_expect_eq(occurrences(page, "<svg "), 6);
    cr_expect_eq(occurrences(page, "<svg "), occurrences(page, "<title id="));
    for (size_t i = 0; i < 3; i++) {
        static const char *const LOADS[] = {"<link", "src=", "url(http"};
        cr_expect_null(strstr(page, LOADS[i]), "%s", LOADS[i]);
    }
    cr_expect_eq(occurrences(page, "<script"), 1, "that of the tables");
    free(page);
}

/* A plan that was named is not called the best; that of a search is, with what to type for it. */
Test(look, page_says_whose_plan_it_is) {
    static const char *const BEST[] = {"The best way", "Best of all plans", "Why plan 1"};
    static Fixture fixture;
    fixture_fill(&fixture);
    snprintf(fixture.request.requested.words, sizeof fixture.request.requested.words, "--model demo --slice '8x4x4'");
    snprintf(fixture.request.requested.choices, sizeof fixture.request.requested.choices, "--top 2");
    fixture.report.requested = NULL;
    char *named = written(write_page, &fixture.report);
    fixture.report.requested = fixture.report.request;
    char *searched = written(write_page, &fixture.report);
    for (size_t i = 0; i < sizeof BEST / sizeof BEST[0]; i++) {
        cr_expect_null(strstr(named, BEST[i]), "%s", BEST[i]);
        cr_expect_not_null(strstr(searched, BEST[i]), "%s", BEST[i]);
    }
    cr_expect_not_null(strstr(named, "The plan, for --plan: <code>tensor=4 fsdp=32 data=4"));
    cr_expect_not_null(strstr(named, "<code>shardopt explain --model demo --slice &#39;8x4x4&#39; --top 2 --plan "
                                     "&#39;tensor=4 fsdp=32 data=4"));
    cr_expect_not_null(
        strstr(searched, "<code>shardopt plan --model demo --slice &#39;8x4x4&#39; --top 2 --format html"));
    const char *flaw = first_flaw(searched);
    cr_expect_null(flaw, "at: %.200s", flaw);
    free(named);
    free(searched);
}

Test(look, page_without_a_plan) {
    static Fixture fixture;
    fixture_fill(&fixture);
    fixture.report.nearest[0] = fixture.plans[2];
    fixture.report.nearest_count = 1;
    fixture.report.result.plan_count = 0;
    fixture.report.result.shortfall =
        (Shortfall){.known = true, .plan = fixture.plans[0].plan, .needed_bytes = 150e9, .limit_bytes = 92e9};
    fixture.report.result.shortfall.memory = (MemoryRows){.parameters_bytes = 50e9, .activations_bytes = 100e9};
    char *page = written(write_page, &fixture.report);
    const char *flaw = first_flaw(page);
    cr_expect_null(flaw, "at: %.200s", flaw);
    cr_expect(strstr(page, "No plan fits"));
    cr_expect_eq(occurrences(page, "<svg "), 1, "HBM against the limit");
    char *table = written(report_write_csv, &fixture.report);
    cr_expect_eq(occurrences(table, "\n"), 1, "the names of the columns alone");
    free(table);
    free(page);
}

/* ---- bars ---- */

static double attribute(const char *tag, const char *name) {
    char wanted[24];
    snprintf(wanted, sizeof wanted, " %s=\"", name);
    const char *at = strstr(tag, wanted);
    return at ? atof(at + strlen(wanted)) : NAN;
}

static char *picture_of(Picture *picture, const PageView *view, Table *table) {
    char *text = NULL;
    size_t length = 0;
    Prose words = {0};
    FILE *memory = open_memstream(&text, &length);
    cr_assert(memory && picture(view, memory, &words, table));
    cr_assert_eq(fclose(memory), 0);
    cr_expect_gt(words.used, 0);
    return text;
}

/* Lines that stand upright, of a class: where. Returns how many. */
static int uprights(const char *svg, const char *class, double x[], int most) {
    char start[48];
    int count = 0;
    snprintf(start, sizeof start, "<path class=\"%s\" d=\"M", class);
    for (const char *at = svg; (at = strstr(at, start)) && count < most; at++) {
        double y, to;
        if (sscanf(at + strlen(start), "%lf %lfL%lf", &x[count], &y, &to) == 3 && to == x[count]) count++;
    }
    return count;
}

/* What a row of differences comes to: pixels to the right of the line less those to its left. */
static double net_at(const char *svg, double y, double zero) {
    double net = 0;
    for (const char *at = svg; (at = strstr(at, "<rect class=\"k")); at++)
        if (attribute(at, "y") == y && attribute(at, "height") == 14)
            net += attribute(at, "x") + 0.1 < zero ? -attribute(at, "width") : attribute(at, "width");
    return net;
}

/* Plan 1's parts lie between 118 and 276 pixels, which are 1.01 of the likely most: 1.25 x 3.42 s. Each begins where
 * the one above it ends. */
Test(look, bars_add_up) {
    static Fixture fixture;
    Arena arena = {0};
    fixture_fill(&fixture);
    PageView view = {&fixture.report, NULL, &arena};
    Table table;
    double sum = 0, end = 118;
    char *svg = picture_of(picture_step, &view, &table), *others = strstr(svg, "step-others-svg");
    cr_assert(others);
    for (const char *at = svg; (at = strstr(at, "<rect class=\"k")) && at < others; at++) {
        if (attribute(at, "height") != 14) continue;
        cr_expect_float_eq(attribute(at, "x"), end, 0.2, "a part begins at %g, not %g", attribute(at, "x"), end);
        end = attribute(at, "x") + attribute(at, "width");
        sum += attribute(at, "width");
    }
    cr_expect_float_eq(sum, (276 - 118) / 1.01 / 1.25, 0.5, "%g", sum);
    free(svg);
    arena_free(&arena);
}

/* Each of the others is as far from plan 1 as its bars say, and its line stands there. */
Test(look, differences_add_up) {
    enum { ROWS = 2 };
    static Fixture fixture;
    Arena arena = {0};
    fixture_fill(&fixture);
    PageView view = {&fixture.report, NULL, &arena};
    Table table;
    static Picture *const PICTURES[] = {picture_step, picture_memory};
    fixture.plans[1].estimate.memory.activations_bytes += 8e9; /* all are alike in the fixture */
    fixture.plans[2].estimate.memory.gathered_bytes += 3e9;
    fixture.plans[2].estimate.memory.parameters_bytes -= 1e9;
    for (size_t i = 0; i < COUNT_OF(PICTURES); i++) {
        char *svg = picture_of(PICTURES[i], &view, &table), *others = strstr(svg, "-others-svg-t");
        double zero[ROWS + 1], net[ROWS], far[ROWS];
        cr_assert(others);
        cr_assert_eq(uprights(others, "axis", zero, ROWS + 1), ROWS);
        for (int row = 0; row < ROWS; row++) {
            const Estimate *mine = &fixture.plans[row + 1].estimate, *first = &fixture.plans[0].estimate;
            net[row] = net_at(others, 30 + 40 * row + 14, zero[row]);
            far[row] = i == 0 ? mine->time.seconds - first->time.seconds
                              : memory_total(&mine->memory) - memory_total(&first->memory);
        }
        cr_expect_gt(fabs(net[0]), 5);
        cr_expect_float_eq(net[1] / net[0], far[1] / far[0], 0.02, "%g, not %g", net[1] / net[0], far[1] / far[0]);
        const char *sum = strstr(others, "roof thick\" d=\"M");
        cr_assert(sum);
        cr_expect_float_eq(atof(sum + strlen("roof thick\" d=\"M")), zero[0] + net[0], 0.3);
        free(svg);
    }
    arena_free(&arena);
}

/* ---- time ---- */

/* The y of a text, as of a lane's name; 0: it is not there. */
static double text_y(const char *svg, const char *words) {
    char wanted[64];
    snprintf(wanted, sizeof wanted, ">%s</text>", words);
    const char *at = strstr(svg, wanted);
    while (at && at > svg && strncmp(at, "<text", 5) != 0) at--;
    return at ? attribute(at, "y") : 0;
}

/* The first bar of a row of the height of a lane; infinite: none. */
static double first_bar(const char *svg, double y) {
    double least = INFINITY;
    for (const char *at = svg; (at = strstr(at, "<rect class=\"k")); at++)
        if (attribute(at, "y") == y && attribute(at, "height") == 16) least = fmin(least, attribute(at, "x"));
    return least;
}

/* ZeRO gathers parameters at the start of a step; gradients are reduced when there are some, after the last backward
 * has begun. What stands behind a pass is in the legend, and each op in the table. */
Test(look, no_gradient_before_a_backward) {
    Arena arena = {0};
    Error error = {0};
    Request *request = ARENA_NEW(&arena, Request, 1);
    Report *report = ARENA_NEW(&arena, Report, 1);
    cr_assert(request && report);
    cr_assert(
        request_from_text("plan --model 8b --chip h100 --nodes 4 --batch 1Mi --seq 8192 --require data=8,tensor=4 "
                          "--for megatron --top 1",
                          &arena, request));
    cr_assert(report_make(request, &arena, report, &error), "%s", error.text);
    cr_assert_gt(report->result.plan_count, 0);
    PageView view = {report, NULL, &arena};
    Table table;
    char *svg = picture_of(picture_timeline, &view, &table);
    double gradients = text_y(svg, "gradients"), parameters = text_y(svg, "parameters");
    cr_assert(gradients > 0 && parameters > 0);
    const char *backward = strstr(svg, ", backward: ");
    while (backward && strncmp(backward, "<rect", 5) != 0) backward--;
    cr_assert(backward);
    cr_expect_gt(first_bar(svg, gradients - 12), attribute(backward, "x"));
    cr_expect_float_eq(first_bar(svg, parameters - 12), 104, 0.1, "at the start");
    cr_expect(strstr(svg, ">tensor (in the row of compute: exposed)</text>"));
    cr_expect_gt(table.rows, 12, "ops too");
    free(svg);
    arena_free(&arena);
}

/* ---- names ---- */

Test(look, names_are_text) {
    static const char NAME[] = "=cmd|<script>\"&'</title>*x*";
    static Fixture fixture;
    fixture_fill(&fixture);
    snprintf(fixture.request.question.model.name, sizeof fixture.request.question.model.name, "%s", NAME);
    snprintf(fixture.request.question.chip.title, sizeof fixture.request.question.chip.title, "%s", NAME);
    snprintf(fixture.request.requested.model, sizeof fixture.request.requested.model, "%s", NAME);
    char *page = written(write_page, &fixture.report), *markdown = written(report_write_markdown, &fixture.report),
         *table = written(report_write_csv, &fixture.report);
    cr_expect_null(first_flaw(page));
    cr_expect_eq(occurrences(page, "<script"), 1, "the page's own");
    cr_expect_null(strstr(markdown, "<script"));
    cr_expect_null(strstr(markdown, "*x*"));
    cr_expect(strstr(table, ",\"'=cmd|<script>\"\"&"), "quoted, and no formula");
    free(page);
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
