/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/text/svg.h: what every picture is drawn with: scales and ticks, axes, bars, marks, text that is text. A picture
 * needs nothing but the rules of svg_style(), has a title and a description for who cannot see it, and
 * says nothing by colour alone: kinds of bars have patterns, marks have shapes. Coordinates are pixels of the viewBox,
 * y down. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* What a bar stands for, in every picture the same. */
typedef enum {
    PAINT_MATMUL,
    PAINT_ATTENTION,
    PAINT_ELEMENTWISE,
    PAINT_RECOMPUTE,
    PAINT_TENSOR,
    PAINT_EXPERT,
    PAINT_SEQUENCE,
    PAINT_FSDP,
    PAINT_DATA,
    PAINT_PIPELINE,
    PAINT_WAITS,
    PAINT_BUBBLE,
    PAINT_OPTIMIZER,
    PAINT_OTHER,
    PAINT_FORWARD, /* passes */
    PAINT_BACKWARD,
    PAINT_COUNT
} Paint;

enum { SVG_ID_SIZE = 32, SVG_TICKS_MAX = 16 };

/* The width of a panel: a picture of this width has letters of a readable size on a telephone, and two of them lie
 * next to each other on a screen. Wider pictures are scrolled sideways where there is no room. */
enum { SVG_PANEL = 380 };

/* A picture while it is written. */
typedef struct {
    FILE *out;
    char id[SVG_ID_SIZE]; /* unique on its page */
} Svg;

/* `id`: letters, digits and -. `title` and `description` are text. */
Svg svg_open(FILE *out, const char *id, double width, double height, const char *title, const char *description);
void svg_close(Svg *svg);

/* The CSS rules of all pictures, light and dark: for the <style> of a page, or of an SVG that stands alone. */
void svg_style(FILE *out);

/* Those rules within the picture, which then stands alone. */
void svg_own_style(Svg *svg);

/* Values from `low` to `high` onto pixels `from` to `to`. */
typedef struct {
    double low, high, from, to;
    bool log; /* then low > 0 */
} SvgScale;

/* Where a value lies; what is beyond the ends lies on them. */
double svg_at(const SvgScale *scale, double value);

/* Round values within the scale, at most `most` (<= SVG_TICKS_MAX); returns how many. */
int svg_ticks(const SvgScale *scale, int most, double ticks[SVG_TICKS_MAX]);

/* A tick as text, into NUMBER_TEXT_SIZE bytes, returned. */
typedef const char *SvgSay(double value, char *text);
SvgSay svg_say_seconds; /* "0" "500 ms" "1.5 s" */
SvgSay svg_say_bytes;   /* "20 GB" */
SvgSay svg_say_share;   /* "40%" */
SvgSay svg_say_number;  /* "0.5" "2000" */
SvgSay svg_say_count;   /* "65,536" */

/* A scale along the bottom at `y` with a grid up to `top`; along the left at `x` with a grid to `right`. `label` names
 * it with its unit where `say` has none. */
void svg_axis_x(Svg *svg, const SvgScale *scale, int most, double y, double top, SvgSay *say, const char *label);
void svg_axis_x_at(Svg *svg, const SvgScale *scale, const double *ticks, int count, double y, double top, SvgSay *say,
                   const char *label);
void svg_axis_y(Svg *svg, const SvgScale *scale, int most, double x, double right, SvgSay *say, const char *label);

/* Text is escaped, and made harmless. `style`: classes, or NULL; anchor: "start" "middle" "end". */
void svg_text(Svg *svg, double x, double y, const char *anchor, const char *style, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* How wide a text will be, about: what decides whether a label has room. */
double svg_text_width(const char *text);

/* `text`, cut with ... where it is wider than `width` pixels; into `out`, returned. */
enum { SVG_FIT_SIZE = 320 };
const char *svg_fit(const char *text, double width, char out[SVG_FIT_SIZE]);

void svg_line(Svg *svg, double x1, double y1, double x2, double y2, const char *style);

/* An upright stroke that can be pointed at. */
void svg_stroke(Svg *svg, double x, double y, double height, const char *style, const char *tip);

/* A rectangle in the colour and pattern of what it stands for; `tip` is shown when it is pointed at; NULL: nothing. */
void svg_bar(Svg *svg, double x, double y, double width, double height, Paint paint, const char *tip);

/* A mark at a point: `kind` is both colour and shape. */
enum { SVG_COLORS = 8, SVG_SHAPES = 4, SVG_KINDS = SVG_COLORS * SVG_SHAPES };
void svg_mark(Svg *svg, int kind, double x, double y, double size, const char *tip);

/* A legend of several lines between `left` and `right`, the next entry at (x, y). `svg` NULL: only the place is taken,
 * which says how high it will be. */
typedef struct {
    double left, right, x, y;
} SvgLegend;
void svg_legend_add_bar(Svg *svg, SvgLegend *legend, Paint paint, const char *words);
void svg_legend_add_mark(Svg *svg, SvgLegend *legend, int kind, const char *words);
void svg_legend_add_line(Svg *svg, SvgLegend *legend, const char *style, const char *words);
