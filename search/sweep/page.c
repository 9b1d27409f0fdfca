/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MFU against chips, a line for each setting of what is no machine, or where all points have as many chips a bar for
 * each point; days against dollars; the table, and what was wrong below it. */
#include "search/sweep/sweep.h"

#include "base/number.h"
#include "base/text/bars.h"
#include "base/text/html.h"
#include "base/text/lines.h"
#include "base/text/prose.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

enum { SERIES_MAX = SVG_KINDS, LABEL_SIZE = SWEEP_LABEL_SIZE };

typedef struct {
    char label[LABEL_SIZE]; /* "8b 4Mi"; "": everything */
} Series;

static bool of_the_machine(const char *option) {
    static const char *const NAMES[] = {"pods", "slice", "slices", "chips", "nodes", "gpus-per-node"};
    for (size_t i = 0; i < COUNT_OF(NAMES); i++)
        if (strcmp(option, NAMES[i]) == 0) return true;
    return false;
}

/* What varies except the size of the machine. */
static void series_label(const SweepGrid *grid, int64_t point, char label[LABEL_SIZE]) {
    size_t used = 0;
    label[0] = '\0';
    for (int i = 0; i < grid->option_count && used < LABEL_SIZE; i++)
        if (grid->options[i].count > 1 && !of_the_machine(grid->options[i].option))
            used +=
                (size_t)snprintf(label + used, LABEL_SIZE - used, "%s%s", used ? " " : "", sweep_value(grid, point, i));
}

/* Which of the series a point is in; those beyond SERIES_MAX are the last. */
static int series_of(const SweepGrid *grid, int64_t point, Series *series, int *count) {
    char label[LABEL_SIZE];
    series_label(grid, point, label);
    for (int i = 0; i < *count; i++)
        if (strcmp(series[i].label, label) == 0) return i;
    if (*count == SERIES_MAX) return SERIES_MAX - 1;
    snprintf(series[*count].label, LABEL_SIZE, "%s", label);
    return (*count)++;
}

static const char *tip_of(const SweepGrid *grid, const SweepRow *row, Prose *tip) {
    char point[LABEL_SIZE], step[NUMBER_TEXT_SIZE], mfu[NUMBER_TEXT_SIZE], rate[NUMBER_TEXT_SIZE];
    prose_add(tip, "%s: %s, steps of %s, %s tokens/s, %s MFU", sweep_point_text(grid, row->point, point, sizeof point),
              row->plan, step_text(row->step_seconds, step), number_short(row->tokens_per_second, rate),
              share_text(row->mfu, mfu));
    return tip->text;
}

static int by_chips(const void *left, const void *right) {
    const SweepRow *a = *(const SweepRow *const *)left, *b = *(const SweepRow *const *)right;
    if (a->chips != b->chips) return a->chips < b->chips ? -1 : 1;
    return (a->point > b->point) - (a->point < b->point);
}

/* The values of a name, and what they are values of: "MFU by model, chip". */
static void heading_of(const SweepGrid *grid, Prose *to) {
    bool first = true;
    prose_add(to, "MFU");
    for (int i = 0; i < grid->option_count; i++) {
        if (grid->options[i].count == 1 || of_the_machine(grid->options[i].option)) continue;
        prose_add(to, "%s%s", first ? " by " : ", ", grid->options[i].option);
        first = false;
    }
}

/* MFU by chips: `sorted` are the rows of `count` points with a plan. */
static bool draw_lines(const SweepGrid *grid, const SweepRow *const *sorted, int64_t count, const char *lead,
                       FILE *out) {
    Arena arena = {0};
    Lines lines = lines_new(&arena, count);
    Series *names = ARENA_NEW(&arena, Series, SERIES_MAX);
    int series_count = 0;
    Prose heading = {0};
    heading_of(grid, &heading);
    lines.id = "sweep-svg", lines.words = lead, lines.title = "The points of the sweep by chips";
    lines.heading = heading.text;
    lines.x = (LineAxis){svg_say_count, "chips", false, true};
    lines.y = (LineAxis){svg_say_share, "", true, false};
    for (int64_t i = 0; i < count && names; i++) {
        Prose tip = {0};
        int series = series_of(grid, sorted[i]->point, names, &series_count);
        lines_point(
            &lines,
            (LinePoint){.x = sorted[i]->chips, .y = sorted[i]->mfu, .kind = series, .size = 4.5, .series = series},
            "%s", tip_of(grid, sorted[i], &tip));
    }
    for (int i = 0; i < series_count; i++)
        lines_series(&lines, JOIN_LINE, arena_format(&arena, "s%d", i % SVG_COLORS), NULL);
    for (int i = 0; i < series_count && names[0].label[0]; i++)
        lines_legend(&lines, i, series_count == SERIES_MAX && i == SERIES_MAX - 1 ? "and others" : names[i].label);
    bool ok = names && lines_draw(&lines, out);
    arena_free(&arena);
    return ok;
}

static bool draw_series_of(const SweepGrid *grid, const SweepRow *rows, const char *lead, FILE *out) {
    const SweepRow **sorted = calloc((size_t)grid->points, sizeof *sorted);
    int64_t found = 0;
    if (!sorted) return false;
    for (int64_t i = 0; i < grid->points; i++)
        if (rows[i].has_plan) sorted[found++] = &rows[i];
    qsort(sorted, (size_t)found, sizeof *sorted, by_chips);
    bool ok = draw_lines(grid, sorted, found, lead, out);
    free(sorted);
    return ok;
}

/* The steps of the first points. */
static bool draw_bars(const SweepGrid *grid, const SweepRow *rows, const char *lead, FILE *out) {
    enum { LEFT_LEAST = 90, LEFT_MOST = 300, BARS_WIDTH = 860 };
    Arena arena = {0};
    Bars *bars = ARENA_NEW(&arena, Bars, 1);
    if (!bars) return false;
    bars->say = svg_say_seconds, bars->amount = step_text, bars->left = LEFT_LEAST;
    bars_part(bars, "step", PAINT_MATMUL);
    for (int64_t i = 0; i < grid->points && bars->rows < BAR_ROWS_MAX; i++) {
        BarRow *row = &bars->row[bars->rows];
        Prose tip = {0};
        if (!rows[i].has_plan) continue;
        sweep_point_text(grid, i, row->label, LABEL_SIZE);
        if (!row->label[0]) snprintf(row->label, sizeof row->label, "the point");
        bars->left = min_real(LEFT_MOST, max_real(bars->left, 22 + svg_text_width(row->label)));
        row->of[0] = row->total = rows[i].step_seconds;
        row->tip = arena_text(&arena, tip_of(grid, &rows[i], &tip));
        bars->rows++;
    }
    bars_draw_stacked(bars, "sweep-svg", "The steps of the points", lead, BARS_WIDTH, out);
    arena_free(&arena);
    return true;
}

static bool write_pictures(const SweepPage *page, int64_t planned, bool lines, FILE *out) {
    bool ok = true;
    html_section_open(out, "picture", "The points");
    html_paragraph(out, page->summary);
    Prose more = {0};
    prose_add(&more, "The picture shows the first %d points that have a plan; the table has all.", BAR_ROWS_MAX);
    if (!lines && planned > BAR_ROWS_MAX) html_paragraph(out, more.text);
    html_figure_open(out, "the points");
    if (lines)
        ok = draw_series_of(page->grid, page->rows, page->lead, out);
    else
        ok = draw_bars(page->grid, page->rows, page->lead, out);
    sweep_draw_cost(page->grid, page->rows, page->lead, out);
    html_figure_close(out);
    html_section_close(out);
    return ok;
}

bool sweep_page_write(const SweepPage *page, FILE *out) {
    static const HtmlLink LINKS[] = {{"picture", "The points"}, {"points", "The table"}};
    int64_t planned = 0, low = INT64_MAX, high = 0; /* points with a plan; their chips */
    bool ok = true;
    for (int64_t i = 0; i < page->grid->points; i++) {
        if (!page->rows[i].has_plan) continue;
        planned++, low = min_whole(low, page->rows[i].chips), high = max_whole(high, page->rows[i].chips);
    }
    html_open(out, "A sweep of shardopt", page->lead);
    html_contents(out, planned ? LINKS : LINKS + 1, planned ? 2 : 1);
    if (planned) ok = write_pictures(page, planned, low < high, out);
    html_section_open(out, "points", "The table");
    if (!planned) html_paragraph(out, page->summary);
    table_write_html(page->table, out);
    if (page->note_count > 0) {
        html_heading(out, "Errors");
        html_list(out, "ol", page->notes, page->note_count);
    }
    html_section_close(out);
    if (page->command) html_again(out, page->command);
    html_close(out);
    return ok;
}
