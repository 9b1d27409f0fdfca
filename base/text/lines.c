/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text/lines.h"

#include "base/util.h"

#include <math.h>

static const double TOP = 50, BOTTOM = 300, LEFT = 56, MARGIN = 14;
enum { FEW = 6, LABELS_MAX = 40 };

Lines lines_new(Arena *arena, int64_t points) {
    return (Lines){.arena = arena,
                   .width = SVG_PANEL,
                   .points = ARENA_NEW(arena, LinePoint, (size_t)points),
                   .room = (int)min_whole(points, INT32_MAX)};
}

int lines_series(Lines *lines, Join join, const char *style, const char *words) {
    if (lines->series_count == LINES_SERIES_MAX) return LINES_SERIES_MAX - 1;
    lines->series[lines->series_count] = (LineSeries){style, words, join, 0};
    return lines->series_count++;
}

void lines_legend(Lines *lines, int kind, const char *words) {
    lines->series[lines_series(lines, JOIN_LINE, NULL, words)].kind = kind;
}

void lines_point(Lines *lines, LinePoint point, const char *tip, ...) {
    if (!lines->points || lines->count == lines->room) return;
    va_list arguments;
    va_start(arguments, tip);
    point.tip = arena_format_list(lines->arena, tip, arguments);
    va_end(arguments);
    if (point.tip)
        lines->points[lines->count++] = point;
    else
        lines->points = NULL;
}

typedef struct {
    SvgScale x, y;
} Frame;

/* A twelfth of the length is free on each side, and 5% where all values are one. */
static SvgScale scale_of(const Lines *lines, bool across, double from, double to) {
    double low = INFINITY, high = 0;
    for (int i = 0; i < lines->count; i++) {
        double value = across ? lines->points[i].x : lines->points[i].y;
        low = min_real(low, value), high = max_real(high, value);
    }
    if ((across ? &lines->x : &lines->y)->linear) return (SvgScale){0, high * 1.12, from, to, false};
    double room = pow(high / low, 0.08) * 1.05;
    return (SvgScale){low / room, high * room, from, to, true};
}

/* The values of x from the least to the largest, each once. False: they are many, or too close for their texts. */
static bool ticks_at_points(const Lines *lines, const SvgScale *scale, double ticks[FEW], int *count) {
    enum { ROOM = 44 };
    *count = 0;
    for (double last = -INFINITY;; last = ticks[*count - 1]) {
        double next = INFINITY;
        for (int i = 0; i < lines->count; i++)
            if (lines->points[i].x > last) next = min_real(next, lines->points[i].x);
        if (next == INFINITY) return true;
        if (*count == FEW || (*count > 0 && svg_at(scale, next) - svg_at(scale, last) < ROOM)) return false;
        ticks[(*count)++] = next;
    }
}

static void draw_axes(Svg *svg, const Lines *lines, const Frame *frame) {
    double ticks[FEW];
    int count;
    if (lines->x.at_points && ticks_at_points(lines, &frame->x, ticks, &count))
        svg_axis_x_at(svg, &frame->x, ticks, count, BOTTOM, TOP, lines->x.say, lines->x.label);
    else
        svg_axis_x(svg, &frame->x, FEW, BOTTOM, TOP, lines->x.say, lines->x.label);
    svg_axis_y(svg, &frame->y, 7, LEFT, frame->x.to, lines->y.say, lines->y.label);
}

static void draw_line(Svg *svg, const Lines *lines, int series, const Frame *frame) {
    bool open = false;
    for (int i = 0; i < lines->count; i++) {
        if (lines->points[i].series != series) continue;
        double x = svg_at(&frame->x, lines->points[i].x), y = svg_at(&frame->y, lines->points[i].y);
        if (!open)
            fprintf(svg->out, "<path class=\"%s\" d=\"M%.1f %.1f", lines->series[series].style, x, y);
        else
            fprintf(svg->out, lines->series[series].join == JOIN_STEPS ? "H%.1fV%.1f" : "L%.1f %.1f", x, y);
        open = true;
    }
    if (open) fputs("\"/>\n", svg->out);
}

typedef struct {
    double left, right, y; /* of letters: from there to there, and the line they stand on */
} Place;

/* Within the panel, on no mark and on none of the places that are taken. */
static bool is_free(const Lines *lines, const Frame *frame, Place place, const Place *taken, int count) {
    enum { LINE = 12 };
    bool free = place.left > LEFT + 2 && place.right < lines->width - 2 && place.y > TOP + 4 && place.y < BOTTOM - 3;
    for (int i = 0; i < count && free; i++)
        free = fabs(taken[i].y - place.y) >= LINE || place.left > taken[i].right || place.right < taken[i].left;
    for (int i = 0; i < lines->count && free; i++) {
        double x = svg_at(&frame->x, lines->points[i].x), y = svg_at(&frame->y, lines->points[i].y);
        free = x < place.left - 4 || x > place.right + 4 || y > place.y + 4 || y < place.y - 13;
    }
    return free;
}

static void draw_labels(Svg *svg, const Lines *lines, const Frame *frame) {
    static const double ASIDE[][2] = {{-8, 12}, {-9, 3}, {8, 14}, {8, -7}};
    Place taken[LABELS_MAX];
    int count = 0;
    for (int i = 0; i < lines->count && count < LABELS_MAX; i++) {
        const LinePoint *point = &lines->points[i];
        char fitted[SVG_FIT_SIZE];
        if (!point->label || !point->label[0]) continue;
        double wide = svg_text_width(svg_fit(point->label, 110, fitted));
        for (size_t side = 0; side < COUNT_OF(ASIDE); side++) {
            double x = svg_at(&frame->x, point->x) + ASIDE[side][0];
            bool left = ASIDE[side][0] < 0;
            Place place = {left ? x - wide : x, left ? x : x + wide, svg_at(&frame->y, point->y) + ASIDE[side][1]};
            if (!is_free(lines, frame, place, taken, count)) continue;
            taken[count++] = place;
            svg_text(svg, x, place.y, left ? "end" : "start", "small", "%s", fitted);
            break;
        }
    }
}

/* Returns where its last line stands. `svg` NULL: only that. */
static double draw_legend(Svg *svg, const Lines *lines) {
    SvgLegend legend = {4, lines->width, 4, BOTTOM + 58};
    for (int i = 0; i < lines->series_count; i++) {
        const LineSeries *series = &lines->series[i];
        char fitted[SVG_FIT_SIZE];
        if (!series->words) continue;
        svg_fit(series->words, lines->width - 40, fitted);
        if (series->style)
            svg_legend_add_line(svg, &legend, series->style, fitted);
        else
            svg_legend_add_mark(svg, &legend, series->kind, fitted);
    }
    return legend.y;
}

bool lines_draw(const Lines *lines, FILE *out) {
    if (!lines->points) return false;
    Frame frame = {scale_of(lines, true, LEFT, lines->width - MARGIN), scale_of(lines, false, BOTTOM, TOP)};
    Svg svg = svg_open(out, lines->id, lines->width, draw_legend(NULL, lines) + 10, lines->title, lines->words);
    svg_text(&svg, 4, 14, "start", "head", "%s", lines->heading);
    draw_axes(&svg, lines, &frame);
    for (int i = 0; i < lines->series_count; i++) draw_line(&svg, lines, i, &frame);
    for (int i = 0; i < lines->count; i++) {
        const LinePoint *point = &lines->points[i];
        if (point->size > 0)
            svg_mark(&svg, point->kind, svg_at(&frame.x, point->x), svg_at(&frame.y, point->y), point->size,
                     point->tip);
    }
    draw_labels(&svg, lines, &frame);
    draw_legend(&svg, lines);
    svg_close(&svg);
    return true;
}
