/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports to be looked at: pages whose tags close, pictures whose bars add up, names that stay names, and figures that
 * agree with plain searches. */
#include "tests/search/report_fixture.h"

#include "base/util.h"
#include "search/cli/request_text.h"
#include "search/report/html/pictures.h"
#include "search/report/html/write.h"
#include "search/report/questions.h"

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

static bool is_void(const char *name) { return strcmp(name, "meta") == 0 || strcmp(name, "br") == 0; }

/* Every tag closes, in order; attributes stand in quotes; & begins a reference; where a < is text, it is none. Returns
 * NULL or where it is wrong. */
static const char *first_flaw(const char *text) {
    enum { DEPTH_MAX = 64, NAME_SIZE = 32 };
    char open[DEPTH_MAX][NAME_SIZE];
    int depth = 0;
    for (const char *at = text; *at; at++) {
        if (*at == '&' && strncmp(at, "&amp;", 5) && strncmp(at, "&lt;", 4) && strncmp(at, "&gt;", 4) &&
            strncmp(at, "&quot;", 6) && strncmp(at, "&#39;", 5))
            return at;
        if (*at != '<' || strncmp(at, "<!DOCTYPE", 9) == 0) continue;
        const char *start = at + 1 + (at[1] == '/');
        size_t length = strspn(start, "abcdefghijklmnopqrstuvwxyz0123456789");
        char name[NAME_SIZE];
        if (length == 0 || length >= NAME_SIZE) return at;
        snprintf(name, sizeof name, "%.*s", (int)length, start);
        bool quoted = false;
        const char *end = start + length;
        for (; *end && (quoted || *end != '>'); end++) {
            if (*end == '"') quoted = !quoted;
            if (*end == '<' || (*end == '=' && !quoted && end[1] != '"')) return end;
        }
        if (*end != '>') return at;
        if (at[1] == '/') {
            if (depth == 0 || strcmp(open[--depth], name) != 0) return at;
        } else if (end[-1] != '/' && !is_void(name)) {
            if (depth == DEPTH_MAX) return at;
            snprintf(open[depth++], NAME_SIZE, "%s", name);
        }
    }
    return depth == 0 ? NULL : "the end: something is open";
}

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

static int occurrences(const char *text, const char *what) {
    int count = 0;
    for (const char *at = text; (at = strstr(at, what)); at += strlen(what)) count++;
    return count;
}

Test(look, page_is_whole) {
    static Fixture fixture;
    fixture_fill(&fixture);
    char *page = written(write_page, &fixture.report);
    const char *flaw = first_flaw(page);
    cr_expect_null(flaw, "at: %.200s", flaw);
    cr_expect_eq(occurrences(page, "<h1>"), 1);
    /* step, memory, mesh, roofline, timeline; those of plans and of less memory need no search */
    cr_expect_eq(occurrences(page, "<svg "), 6);
    cr_expect_eq(occurrences(page, "<svg "), occurrences(page, "<title id="));
    for (size_t i = 0; i < 3; i++) {
        static const char *const LOADS[] = {"<script", "src=", "url(http"};
        cr_expect_null(strstr(page, LOADS[i]), "%s", LOADS[i]);
    }
    free(page);
}

/* A plan that was named is not called the best; that of a search is, with what to type for it. */
Test(look, page_says_whose_plan_it_is) {
    static const char *const BEST[] = {"The best way", "Best of all plans", "Why plan 1"};
    static Fixture fixture;
    fixture_fill(&fixture);
    snprintf(fixture.request.asked.words, sizeof fixture.request.asked.words, "--model demo --slice '8x4x4'");
    fixture.report.asked = NULL;
    char *named = written(write_page, &fixture.report);
    fixture.report.asked = fixture.report.request;
    char *searched = written(write_page, &fixture.report);
    for (size_t i = 0; i < sizeof BEST / sizeof BEST[0]; i++) {
        cr_expect_null(strstr(named, BEST[i]), "%s", BEST[i]);
        cr_expect_not_null(strstr(searched, BEST[i]), "%s", BEST[i]);
    }
    cr_expect_not_null(strstr(named, "The plan: <code>data=4 fsdp=32 tensor=4</code>"));
    cr_expect_null(strstr(named, "--format html"));
    cr_expect_not_null(strstr(searched, "<code>shardopt plan --model demo --slice &#39;8x4x4&#39; --format html"));
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

/* Widths of the bars at `y`, their patterns not counted. */
static double widths_at(const char *svg, double y, double height) {
    double sum = 0;
    for (const char *at = svg; (at = strstr(at, "<rect class=\"k")); at++)
        if (attribute(at, "y") == y && attribute(at, "height") == height) sum += attribute(at, "width");
    return sum;
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

/* The scale is 744 pixels for 1.02 of the longest: 1.25 x 3.42 s, plan 1's likely most. 3.42 s: 744 / 1.02 / 1.25. Of
 * HBM 556 pixels for 1.02 of 100 GB: 36 GB. */
Test(look, bars_add_up) {
    static Fixture fixture;
    Arena arena = {0};
    fixture_fill(&fixture);
    PageView view = {&fixture.report, NULL, &arena};
    Table table;
    char *svg = picture_of(picture_step, &view, &table);
    cr_expect_float_eq(widths_at(svg, 30, 24), 744 / 1.02 / 1.25, 0.05, "%g", widths_at(svg, 30, 24));
    free(svg);
    svg = picture_of(picture_memory, &view, &table);
    fixture.plans[0].estimate.moment = MOMENT_FIRST_BACKWARD;
    /* behind the moments of plan 1, priced by the cost model, stand plans 2 and 3 as the fixture has them */
    cr_expect_float_eq(widths_at(svg, 32 + 34 * 3, 22), 556 * 36 / 102., 0.05, "%g", widths_at(svg, 32 + 34 * 3, 22));
    cr_expect_float_eq(widths_at(svg, 32 + 34 * 4, 22), 556 * 36 / 102., 0.05);
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
    snprintf(fixture.request.asked.model, sizeof fixture.request.asked.model, "%s", NAME);
    char *page = written(write_page, &fixture.report), *markdown = written(report_write_markdown, &fixture.report),
         *table = written(report_write_csv, &fixture.report);
    cr_expect_null(first_flaw(page));
    cr_expect_null(strstr(page, "<script"));
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

/* ---- facts ---- */

/* What the facts found under a limit is what a plain search finds without one. */
Test(look, facts_are_searches) {
    Arena arena = {0};
    Error error = {0};
    Request *request = ARENA_NEW(&arena, Request, 1), *changed = ARENA_NEW(&arena, Request, 1);
    Report *report = ARENA_NEW(&arena, Report, 1);
    PageFacts *facts = ARENA_NEW(&arena, PageFacts, 1);
    cr_assert(request && changed && report && facts);
    cr_assert(request_from_text("plan --model 8b --chip v5e --slice 4x4 --batch 128Ki --seq 4096", &arena, request));
    cr_assert(report_make(request, &arena, report, &error), "%s", error.text);
    cr_assert_gt(report->result.plan_count, 0);
    cr_assert(page_facts(report, (PageProgress){0}, facts, &error), "%s", error.text);
    const RankedPlan *first = &report->result.plans[0];
    int checked = 0;
    for (int i = 0, figure = 0; i < facts->figure_count; i++) {
        while (strcmp(page_figure_name(request, figure), facts->figures[i].name) != 0) figure++;
        for (int move = 0; move < PAGE_MOVES && (i % 3 == 0 || facts->figures[i].at[move].changed); move++) {
            SearchResult result = {0};
            if (!facts->figures[i].at[move].searched) continue;
            request_copy(request, changed);
            request_fix_machine(first, changed);
            if (!page_figure_move(changed, figure, PAGE_MOVE[move])) continue;
            cr_assert(search_run(changed, &arena, &result, &error));
            cr_expect_eq(result.plan_count > 0, facts->figures[i].at[move].found, "%s", facts->figures[i].name);
            if (result.plan_count == 0) continue;
            double relative = result.plans[0].ranked_seconds / first->ranked_seconds - 1;
            cr_expect_float_eq(relative, facts->figures[i].at[move].relative, 1e-12, "%s x %g: %g, not %g",
                               facts->figures[i].name, PAGE_MOVE[move], facts->figures[i].at[move].relative, relative);
            checked++;
        }
    }
    cr_expect_geq(checked, 4);
    /* More of a resource never slows the best step, less never speeds it up. */
    for (int i = 0; i < facts->figure_count; i++) {
        const PageFigure *figure = &facts->figures[i];
        if (!figure->hardware || strstr(figure->name, "latency")) continue;
        if (figure->at[0].found) cr_expect_geq(figure->at[0].relative, -1e-12, "%s", figure->name);
        if (figure->at[1].found) cr_expect_leq(figure->at[1].relative, 1e-12, "%s", figure->name);
    }
    for (int i = 1; i < PAGE_LIMITS; i++)
        if (facts->memory[i].found) {
            cr_expect_geq(facts->memory[i].step_seconds, facts->memory[0].step_seconds * (1 - 1e-12));
            cr_expect_leq(facts->memory[i].memory_bytes, facts->memory[i].limit_bytes * (1 + 1e-12));
        }
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    cr_assert(memory && report_write_html(report, facts, memory, &error) && fclose(memory) == 0);
    cr_expect_null(first_flaw(text));
    cr_expect_eq(occurrences(text, "<svg "), 8, "all of them");
    free(text);
    arena_free(&arena);
}
