/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tokens a second and MFU against chips, a line for each setting of what is no machine; where all points have as many
 * chips, a bar for each point. */
#include "search/sweep/page.h"

#include "base/number.h"
#include "base/text/html.h"
#include "base/text/prose.h"
#include "base/text/svg.h"
#include "base/util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SERIES_MAX = SVG_KINDS, BARS_MAX = 60, LABEL_SIZE = 256 };
static const double WIDTH = 860, TOP = 44, BOTTOM = 350, FIRST_LEFT = 70, FIRST_RIGHT = 400, SECOND_LEFT = 506,
                    SECOND_RIGHT = 836, ROW = 24, BAR_LEFT_MOST = 300, BAR_RIGHT = 740;

typedef struct {
    char label[LABEL_SIZE]; /* "model=8b batch=4Mi"; "": everything */
} Series;

static bool of_the_machine(const char *option) {
    static const char *const NAMES[] = {"pods", "slice", "slices", "chips", "nodes"};
    for (size_t i = 0; i < COUNT_OF(NAMES); i++)
        if (strcmp(option, NAMES[i]) == 0) return true;
    return false;
}

/* What varies beside the size of the machine. */
static void series_label(const SweepGrid *grid, int64_t point, char label[LABEL_SIZE]) {
    size_t used = 0;
    label[0] = '\0';
    for (int i = 0; i < grid->option_count && used < LABEL_SIZE; i++)
        if (grid->options[i].count > 1 && !of_the_machine(grid->options[i].option))
            used += (size_t)snprintf(label + used, LABEL_SIZE - used, "%s%s=%s", used ? " " : "",
                                     grid->options[i].option, sweep_value(grid, point, i));
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

typedef double Measure(const SweepRow *row);
static double chips_of(const SweepRow *row) { return (double)row->chips; }
static double rate_of(const SweepRow *row) { return row->tokens_per_second; }
static double mfu_of(const SweepRow *row) { return row->mfu; }

/* Of all points with a plan. False: there is none. */
static bool range_of(const SweepGrid *grid, const SweepRow *rows, Measure *of, double *low, double *high) {
    *low = INFINITY, *high = 0;
    for (int64_t i = 0; i < grid->points; i++)
        if (rows[i].has_plan) *low = min_real(*low, of(&rows[i])), *high = max_real(*high, of(&rows[i]));
    return *high > 0;
}

static SvgScale log_scale(double low, double high, double from, double to) {
    double room = pow(high / low, 0.06) * 1.03;
    return (SvgScale){low / room, high * room, from, to, true};
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

/* The points that have a plan, by chips, and the series of each point of the grid. */
typedef struct {
    const SweepGrid *grid;
    const SweepRow *const *sorted;
    int64_t count;
    const int *series;
} Points;

/* One of the two diagrams: what it shows against chips. */
typedef struct {
    SvgScale x, y;
    Measure *of;
} Panel;

/* One series: a line through its points by chips, and their marks. */
static void draw_series(Svg *svg, const Points *points, int which, const Panel *panel) {
    const SweepRow *const *sorted = points->sorted;
    const SvgScale *x = &panel->x, *y = &panel->y;
    bool open = false;
    for (int64_t i = 0; i < points->count; i++) {
        if (points->series[sorted[i]->point] != which) continue;
        if (open)
            fputc('L', svg->out);
        else
            fprintf(svg->out, "<path class=\"s%d\" d=\"M", which % SVG_COLORS);
        fprintf(svg->out, "%.1f %.1f", svg_at(x, chips_of(sorted[i])), svg_at(y, panel->of(sorted[i])));
        open = true;
    }
    if (open) fputs("\"/>\n", svg->out);
    for (int64_t i = 0; i < points->count; i++) {
        Prose tip = {0};
        if (points->series[sorted[i]->point] != which) continue;
        svg_mark(svg, which, svg_at(x, chips_of(sorted[i])), svg_at(y, panel->of(sorted[i])), 4.5,
                 tip_of(points->grid, sorted[i], &tip));
    }
}

static const char *say_rate(double value, char *text) { return number_short(value, text); }

/* A tick for each number of chips where there are few, else round ones. */
static void draw_chips(Svg *svg, const SvgScale *x, const SweepRow *const *sorted, int64_t count) {
    enum { FEW = 6 };
    double ticks[FEW];
    int kinds = 0;
    for (int64_t i = 0; i < count; i++) {
        if (i > 0 && sorted[i]->chips == sorted[i - 1]->chips) continue;
        if (kinds < FEW) ticks[kinds] = chips_of(sorted[i]);
        kinds++;
    }
    for (int i = 1; i < kinds && kinds <= FEW; i++)
        if (svg_at(x, ticks[i]) - svg_at(x, ticks[i - 1]) < 44) kinds = FEW + 1; /* no room */
    if (kinds <= FEW)
        svg_axis_x_at(svg, x, ticks, kinds, BOTTOM, TOP, svg_say_count, "chips");
    else
        svg_axis_x(svg, x, 5, BOTTOM, TOP, svg_say_count, "chips");
}

static bool draw_lines(const SweepGrid *grid, const SweepRow *rows, const char *lead, FILE *out) {
    int count = 0, *series = calloc((size_t)grid->points, sizeof *series);
    Series *names = calloc(SERIES_MAX, sizeof *names);
    const SweepRow **sorted = calloc((size_t)grid->points, sizeof *sorted);
    int64_t found = 0;
    bool ok = series && names && sorted;
    for (int64_t i = 0; i < grid->points && ok; i++) {
        if (!rows[i].has_plan) continue;
        series[i] = series_of(grid, i, names, &count);
        sorted[found++] = &rows[i];
    }
    if (ok) {
        double low, high, columns = count > 8 ? 2 : count > 0 ? 3 : 1;
        qsort(sorted, (size_t)found, sizeof *sorted, by_chips);
        range_of(grid, rows, chips_of, &low, &high);
        SvgScale x = log_scale(low, high, FIRST_LEFT, FIRST_RIGHT), second = x;
        second.from = SECOND_LEFT, second.to = SECOND_RIGHT;
        range_of(grid, rows, rate_of, &low, &high);
        SvgScale rate = log_scale(low, high, BOTTOM, TOP);
        range_of(grid, rows, mfu_of, &low, &high);
        SvgScale mfu = {0, high * 1.1, BOTTOM, TOP, false};
        double legend = ceil(count / columns);
        Svg svg =
            svg_open(out, "sweep-svg", WIDTH, BOTTOM + 60 + 19 * legend, "The points of the sweep by chips", lead);
        draw_chips(&svg, &x, sorted, found);
        svg_axis_y(&svg, &rate, 7, FIRST_LEFT, FIRST_RIGHT, say_rate, "tokens a second");
        draw_chips(&svg, &second, sorted, found);
        svg_axis_y(&svg, &mfu, 7, SECOND_LEFT, SECOND_RIGHT, svg_say_share, "MFU");
        const Points points = {grid, sorted, found, series};
        for (int i = 0; i < count; i++) {
            draw_series(&svg, &points, i, &(Panel){x, rate, rate_of});
            draw_series(&svg, &points, i, &(Panel){second, mfu, mfu_of});
            bool rest = count == SERIES_MAX && i == SERIES_MAX - 1;
            svg_legend_mark(&svg, 24 + fmod(i, columns) * (WIDTH - 40) / columns, BOTTOM + 62 + 19 * floor(i / columns),
                            i,
                            rest                ? "and others"
                            : names[i].label[0] ? names[i].label
                                                : "every point");
        }
        svg_close(&svg);
    }
    free(series);
    free(names);
    free(sorted);
    return ok;
}

/* The steps of up to BARS_MAX points. */
static void draw_bars(const SweepGrid *grid, const SweepRow *rows, const char *lead, FILE *out) {
    double longest = 0, y = TOP, left = 90;
    int64_t shown = 0;
    for (int64_t i = 0; i < grid->points; i++) {
        if (!rows[i].has_plan || shown == BARS_MAX) continue;
        char label[LABEL_SIZE];
        longest = max_real(longest, rows[i].step_seconds);
        left = max_real(left, 16 + svg_text_width(sweep_point_text(grid, i, label, sizeof label)));
        shown++;
    }
    left = min_real(left, BAR_LEFT_MOST);
    SvgScale scale = {0, longest * 1.02, left, BAR_RIGHT, false};
    double bottom = TOP + ROW * (double)shown;
    Svg svg = svg_open(out, "sweep-svg", WIDTH, bottom + 50, "The steps of the points", lead);
    svg_axis_x(&svg, &scale, 8, bottom, TOP - 6, svg_say_seconds, "step");
    for (int64_t i = 0; i < grid->points && shown > 0; i++) {
        char label[LABEL_SIZE], step[NUMBER_TEXT_SIZE];
        Prose tip = {0};
        if (!rows[i].has_plan) continue;
        sweep_point_text(grid, i, label, sizeof label);
        double to = svg_at(&scale, rows[i].step_seconds);
        svg_text(&svg, left - 8, y + 13, "end", NULL, "%.42s", label[0] ? label : "the point");
        svg_bar(&svg, left, y, to - left, ROW - 7, PAINT_MATMUL, tip_of(grid, &rows[i], &tip));
        svg_text(&svg, to + 6, y + 13, "start", "head", "%s", step_text(rows[i].step_seconds, step));
        y += ROW;
        shown--;
    }
    svg_close(&svg);
}

static int64_t points_with_plan(const SweepGrid *grid, const SweepRow *rows) {
    int64_t count = 0;
    for (int64_t i = 0; i < grid->points; i++) count += rows[i].has_plan;
    return count;
}

bool sweep_page_write(const SweepGrid *grid, const SweepRow *rows, const Table *table, const char *lead,
                      const char *summary, FILE *out) {
    double low = 0, high = 0;
    bool any = range_of(grid, rows, chips_of, &low, &high), ok = true;
    static const HtmlLink LINKS[] = {{"picture", "The points"}, {"points", "The table"}};
    html_open(out, "A sweep of shardopt", lead);
    html_contents(out, any ? LINKS : LINKS + 1, any ? 2 : 1);
    if (any) {
        html_section_open(out, "picture", "The points");
        html_paragraph(out, summary);
        Prose more = {0};
        prose_add(&more, "The picture shows the first %d points that have a plan; the table has all.", BARS_MAX);
        if (!(low < high) && points_with_plan(grid, rows) > BARS_MAX) html_paragraph(out, more.text);
        html_figure_open(out, "the points");
        if (low < high)
            ok = draw_lines(grid, rows, lead, out);
        else
            draw_bars(grid, rows, lead, out);
        html_figure_close(out);
        html_section_close(out);
    }
    html_section_open(out, "points", "The table");
    if (!any) html_paragraph(out, summary);
    table_write_html(table, out);
    html_section_close(out);
    html_close(out);
    return ok;
}
