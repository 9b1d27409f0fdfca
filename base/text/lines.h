/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/text/lines.h: points against two scales, joined or not: every front, curve and cloud of the pages is one panel
 * of this.
 *
 *     Lines lines = lines_new(&arena, 3);
 *     lines.id = "front-svg", lines.title = ...
 *     int line = lines_series(&lines, JOIN_LINE, "s0 thick", "the front");
 *     lines_point(&lines, (LinePoint){.x = 8, .y = 1.5, .kind = 0, .size = 5, .series = line}, "8 chips: %s", plan);
 *     bool ok = lines_draw(&lines, out);
 *
 * Panels are filled without asking whether memory is out: one that could not take a point is not drawn. */
#pragma once

#include "base/arena.h"
#include "base/text/svg.h"

/* JOIN_STEPS keeps a point's height until the next one, and goes up or down there. */
typedef enum { JOIN_LINE, JOIN_STEPS } Join;

enum { LINES_SERIES_MAX = 2 * SVG_KINDS, NOT_JOINED = -1 };

typedef struct {
    double x, y;
    int kind;          /* of its mark (svg_mark) */
    double size;       /* of its mark; 0: it has none */
    int series;        /* whose line goes through it, in the order of the points; NOT_JOINED: none */
    const char *label; /* small, alongside the point where there is room; NULL: none */
    const char *tip;   /* set by lines_point() */
} LinePoint;

typedef struct {
    SvgSay *say;
    const char *label; /* what it measures; "": a heading says so */
    bool linear;       /* from 0; else logarithmic */
    bool at_points;    /* ticks are the values themselves where they are few */
} LineAxis;

typedef struct {
    const char *style, *words; /* of a line; words for the legend, NULL: none */
    Join join;
    int kind; /* without a style, of a mark in the legend */
} LineSeries;

typedef struct {
    Arena *arena;
    const char *id, *title, *words; /* as svg_open() takes them */
    const char *heading;            /* above the panel */
    double width;
    LineAxis x, y;
    LinePoint *points;
    int count, room;
    LineSeries series[LINES_SERIES_MAX];
    int series_count;
} Lines;

/* An empty panel for at most `points` points. Its texts have to outlive it. */
Lines lines_new(Arena *arena, int64_t points);

/* A line, or an entry of the legend for a kind of marks. Returns its number. */
int lines_series(Lines *lines, Join join, const char *style, const char *words);
void lines_legend(Lines *lines, int kind, const char *words);

/* Adds a point, with what is shown when it is pointed at. */
void lines_point(Lines *lines, LinePoint point, const char *tip, ...) __attribute__((format(printf, 3, 4)));

/* Draws to `out`, the points in the order in which they came; there is at least one. False: memory is out, and nothing
 * was written. */
bool lines_draw(const Lines *lines, FILE *out);
