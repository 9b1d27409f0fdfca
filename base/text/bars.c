/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text/bars.h"

#include "base/text/prose.h"
#include "base/util.h"

#include <math.h>
#include <string.h>

static const double WIDTH = SVG_PANEL, LEFT = 118, RIGHT = 276, ROW = 21, BAR = 14, HEAD = 30;
static const double OTHER = 40, SIDE = 306; /* a row of the others, and where its bars end */
static const double BOLD = 0.9;             /* bold letters are wider: so much of the room is used */
static const double LEAST = 2e-4;           /* of the first's total: a part that is smaller everywhere is not shown */
enum { OTHERS_TICKS = 6 };

int bars_part(Bars *bars, const char *name, Paint paint) {
    for (int i = 0; i < bars->parts; i++)
        if (strcmp(bars->name[i], name) == 0) return i;
    if (bars->parts == BAR_PARTS_MAX) return BAR_PARTS_MAX - 1;
    snprintf(bars->name[bars->parts], BAR_NAME_SIZE, "%s", name);
    bars->paint[bars->parts] = paint;
    return bars->parts++;
}

static bool matters(const Bars *bars, double value) { return fabs(value) > LEAST * bars->row[0].total; }

static void draw_likely(Svg *svg, const SvgScale *scale, double y, const double likely[2]) {
    double low = svg_at(scale, likely[0]), high = svg_at(scale, likely[1]);
    svg_line(svg, low, y, high, y, "axis thick");
    svg_line(svg, low, y - 4, low, y + 4, "axis thick");
    svg_line(svg, high, y - 4, high, y + 4, "axis thick");
}

void bars_draw_first(const Bars *bars, const char *id, const char *title, const char *words, const double likely[2],
                     FILE *out) {
    const BarRow *first = &bars->row[0];
    SvgScale scale = {0, max_real(first->total, likely[1]) * 1.01, LEFT, RIGHT, false};
    int rows = 0;
    for (int i = 0; i < bars->parts; i++) rows += matters(bars, first->of[i]);
    double bottom = HEAD + ROW * (rows + 1) + (likely[1] > 0 ? ROW : 0), y = HEAD, start = 0;
    char value[NUMBER_TEXT_SIZE], share[NUMBER_TEXT_SIZE], label[BAR_LABEL_SIZE];
    Svg svg = svg_open(out, id, WIDTH, bottom + 26, title, words);
    svg_text(&svg, 4, 14, "start", "head", "%s", svg_fit(first->label, BOLD * (WIDTH - 8), label));
    svg_axis_x(&svg, &scale, 5, bottom, HEAD - 4, bars->say, "");
    for (int i = 0; i < bars->parts; i++) {
        char tip[2 * BAR_LABEL_SIZE];
        double from = svg_at(&scale, start), to = svg_at(&scale, start + first->of[i]);
        start += first->of[i];
        if (!matters(bars, first->of[i])) continue;
        const char *said = bars->amount(first->of[i], value);
        share_text(first->of[i] / first->total, share);
        snprintf(tip, sizeof tip, "%s: %s, %s", bars->name[i], said, share);
        svg_text(&svg, LEFT - 6, y + 11, "end", NULL, "%s", svg_fit(bars->name[i], LEFT - 8, label));
        svg_bar(&svg, from, y, max_real(0.8, to - from), BAR, bars->paint[i], tip);
        svg_text(&svg, WIDTH - 4, y + 11, "end", NULL, "%s, %s", said, share);
        y += ROW;
    }
    svg_text(&svg, LEFT - 6, y + 11, "end", "head", "all");
    svg_line(&svg, LEFT, y + BAR / 2, svg_at(&scale, first->total), y + BAR / 2, "roof thick");
    svg_text(&svg, WIDTH - 4, y + 11, "end", "head", "%s", bars->amount(first->total, value));
    if (likely[1] > 0) {
        svg_text(&svg, LEFT - 6, y + ROW + 11, "end", "dim", "9 of 10 runs");
        draw_likely(&svg, &scale, y + ROW + BAR / 2, likely);
    }
    svg_close(&svg);
}

/* How far a whole reaches to both sides of the first. */
static void reach_of(const Bars *bars, const BarRow *whole, double *less, double *more) {
    *less = 0, *more = 0;
    for (int i = 0; i < bars->parts; i++) {
        double difference = whole->of[i] - bars->row[0].of[i];
        *(difference < 0 ? less : more) += difference;
    }
}

/* The parts with less grow to the left from the line, those with more to the right, each in the order of the parts. */
static void draw_difference(Svg *svg, const SvgScale *scale, double y, const Bars *bars, const BarRow *whole) {
    double ends[2] = {0, 0};
    for (int i = 0; i < bars->parts; i++) {
        double difference = whole->of[i] - bars->row[0].of[i], *end = &ends[difference > 0];
        char tip[2 * BAR_LABEL_SIZE], value[NUMBER_TEXT_SIZE];
        double from = svg_at(scale, *end), to = svg_at(scale, *end + difference);
        *end += difference;
        if (difference == 0) continue;
        snprintf(tip, sizeof tip, "%s: %s%s", bars->name[i], difference > 0 ? "+" : "-",
                 bars->amount(fabs(difference), value));
        svg_bar(svg, min_real(from, to), y, fabs(to - from), BAR, bars->paint[i], tip);
    }
}

/* A line across the bar that is seen on every paint. */
static void draw_sum(Svg *svg, double x, double y, const char *tip) {
    fprintf(svg->out, "<path class=\"halo\" d=\"M%.1f %.1fv%.1f\"/>", x, y - 3, BAR + 6);
    svg_stroke(svg, x, y - 3, BAR + 6, "roof thick", tip);
}

/* Into `svg`, or NULL, where only its height is requested. */
static double draw_legend(Svg *svg, const Bars *bars, const bool shown[], double y) {
    SvgLegend legend = {4, WIDTH - 4, 4, y};
    for (int i = 0; i < bars->parts; i++)
        if (shown[i]) svg_legend_add_bar(svg, &legend, bars->paint[i], bars->name[i]);
    svg_legend_add_line(svg, &legend, "roof thick", "the sum");
    return legend.y - y;
}

/* Whether any does; which parts, and how far to both sides. */
static bool differs(const Bars *bars, bool shown[], double *least, double *most) {
    *least = 0, *most = 0;
    for (int w = 1; w < bars->rows; w++) {
        double less, more;
        reach_of(bars, &bars->row[w], &less, &more);
        *least = min_real(*least, less), *most = max_real(*most, more);
        for (int i = 0; i < bars->parts; i++)
            shown[i] = shown[i] || matters(bars, bars->row[w].of[i] - bars->row[0].of[i]);
    }
    return *most > *least;
}

/* From the left edge, or as far from it as the words of the first tick need. */
static SvgScale others_scale(const Bars *bars, double least, double most) {
    double room = 0.02 * (most - least), ticks[SVG_TICKS_MAX];
    char words[NUMBER_TEXT_SIZE];
    SvgScale scale = {least - room, most + room, 8, SIDE, false};
    if (svg_ticks(&scale, OTHERS_TICKS, ticks) == 0) return scale;
    double half = svg_text_width(bars->say(ticks[0], words)) / 2;
    if (svg_at(&scale, ticks[0]) < half) scale.from = half + 4;
    return scale;
}

void bars_draw_others(const Bars *bars, const char *id, const char *title, const char *words, FILE *out) {
    bool shown[BAR_PARTS_MAX] = {false};
    double least, most, y = HEAD;
    if (bars->rows < 2 || !differs(bars, shown, &least, &most)) return;
    double bottom = HEAD + OTHER * (bars->rows - 1);
    SvgScale scale = others_scale(bars, least, most);
    Svg svg = svg_open(out, id, WIDTH, bottom + 50 + draw_legend(NULL, bars, shown, 0), title, words);
    svg_text(&svg, 4, 14, "start", "head", "%s",
             bars->heading ? bars->heading : "The others: more, or less, than plan 1");
    svg_axis_x(&svg, &scale, OTHERS_TICKS, bottom, HEAD - 4, bars->say, "");
    for (int w = 1; w < bars->rows; w++, y += OTHER) {
        const BarRow *whole = &bars->row[w];
        char label[BAR_LABEL_SIZE], change[NUMBER_TEXT_SIZE], value[NUMBER_TEXT_SIZE], tip[2 * NUMBER_TEXT_SIZE + 8];
        double difference = whole->total - bars->row[0].total;
        change_text(difference / bars->row[0].total, change);
        snprintf(tip, sizeof tip, "%s, %s", bars->amount(whole->total, value), change);
        svg_text(&svg, 4, y + 9, "start", "small", "%s", svg_fit(whole->label, WIDTH - 8, label));
        draw_difference(&svg, &scale, y + 14, bars, whole);
        draw_sum(&svg, svg_at(&scale, difference), y + 14, tip);
        svg_line(&svg, svg_at(&scale, 0), y + 12, svg_at(&scale, 0), y + OTHER - 8, "axis");
        svg_text(&svg, WIDTH - 4, y + 25, "end", "head", "%s", change);
    }
    draw_legend(&svg, bars, shown, bottom + 40);
    svg_close(&svg);
}

/* ---- stacked ---- */

/* The parts of a row side by side; returns where they end. */
static double draw_parts(Svg *svg, const SvgScale *scale, double y, const Bars *bars, const BarRow *row) {
    double start = 0;
    for (int i = 0; i < bars->parts; i++) {
        char tip[2 * BAR_LABEL_SIZE], value[NUMBER_TEXT_SIZE];
        double from = svg_at(scale, start), to = svg_at(scale, start + row->of[i]);
        start += row->of[i];
        if (!(to - from > 0.02)) continue;
        snprintf(tip, sizeof tip, "%s: %s", bars->name[i], bars->amount(row->of[i], value));
        svg_bar(svg, from, y, to - from, BAR, bars->paint[i], row->tip ? row->tip : tip);
    }
    return svg_at(scale, start);
}

/* Returns where its last line stands. `svg` NULL: only that. */
static double draw_stacked_legend(Svg *svg, const Bars *bars, double width, double y) {
    SvgLegend legend = {4, width - 4, 4, y};
    bool limit = false;
    for (int i = 0; i < bars->parts; i++) {
        bool used = false;
        for (int r = 0; r < bars->rows; r++) used = used || bars->row[r].of[i] > 0;
        if (used && bars->parts > 1) svg_legend_add_bar(svg, &legend, bars->paint[i], bars->name[i]);
    }
    for (int r = 0; r < bars->rows; r++) limit = limit || bars->row[r].limit > 0;
    if (limit) svg_legend_add_line(svg, &legend, "roof thick", "the limit");
    return legend.y;
}

/* A name is alongside its bar, its total behind it; or both are above. */
static void draw_row(Svg *svg, const SvgScale *scale, double y, const Bars *bars, const BarRow *row, double right) {
    char label[SVG_FIT_SIZE], value[NUMBER_TEXT_SIZE];
    bool on_the_left = bars->left > 0;
    double top = on_the_left ? y : y + 16;
    double end = draw_parts(svg, scale, top, bars, row), at = svg_at(scale, row->limit);
    bars->amount(row->total, value);
    if (on_the_left) {
        svg_text(svg, bars->left - 8, y + 11, "end", NULL, "%s", svg_fit(row->label, bars->left - 10, label));
        svg_text(svg, end + 5, y + 11, "start", "small", "%s", value);
    } else {
        double room = right - 4 - svg_text_width(value);
        svg_text(svg, 4, y + 10, "start", NULL, "%s", svg_fit(row->label, BOLD * (room - 8), label));
        svg_text(svg, right - 4, y + 10, "end", "head", "%s", value);
    }
    if (row->limit > 0) svg_line(svg, at, top - 2, at, top + BAR + 4, "roof thick");
}

void bars_draw_stacked(const Bars *bars, const char *id, const char *title, const char *words, double width,
                       FILE *out) {
    double high = bars->left > 0 ? ROW : OTHER, bottom = HEAD + high * bars->rows, most = 0;
    for (int r = 0; r < bars->rows; r++) most = max_real(most, max_real(bars->row[r].total, bars->row[r].limit));
    /* Behind a bar is room for its total. */
    SvgScale scale = {0, most * 1.02, max_real(8, bars->left), width - (bars->left > 0 ? 64 : 8), false};
    Svg svg = svg_open(out, id, width, draw_stacked_legend(NULL, bars, width, bottom + 40) + 10, title, words);
    svg_text(&svg, 4, 14, "start", "head", "%s", bars->heading ? bars->heading : title);
    svg_axis_x(&svg, &scale, width > SVG_PANEL ? 8 : 5, bottom, HEAD - 4, bars->say, "");
    for (int r = 0; r < bars->rows; r++) draw_row(&svg, &scale, HEAD + high * r, bars, &bars->row[r], width);
    draw_stacked_legend(&svg, bars, width, bottom + 40);
    svg_close(&svg);
}

Table bars_table(const Bars *bars, Arena *arena, const char *caption, const char *heading) {
    Table table = table_new(arena, caption, NULL);
    table_column(&table, heading, false);
    for (int i = 0; i < bars->parts; i++) table_column(&table, bars->name[i], true);
    table_column(&table, "total", true);
    bars_list(bars, 0, &table);
    return table;
}

void bars_list(const Bars *bars, int from, Table *table) {
    char value[NUMBER_TEXT_SIZE];
    for (int r = from; r < bars->rows; r++) {
        table_cell(table, "%s", bars->row[r].label);
        for (int i = 0; i < bars->parts; i++) table_cell(table, "%s", bars->amount(bars->row[r].of[i], value));
        table_cell(table, "%s", bars->amount(bars->row[r].total, value));
    }
}
