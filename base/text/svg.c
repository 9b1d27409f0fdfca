/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text/svg.h"

#include "base/escape.h"
#include "base/text/prose.h"
#include "base/util.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* Colours distinguished by most who do not see all colours (after Okabe and Ito), each at least 3:1 on its
 * background. */
static const char *const MARKS[2][SVG_COLORS] = {
    {"#0072b2", "#d55e00", "#00815c", "#b8478f", "#8a6d00", "#3f86b8", "#a8322b", "#5a5a5a"},
    {"#56a8e8", "#ff8a4c", "#2bc79b", "#e79ac4", "#e8d44d", "#9fd4ff", "#ff7b72", "#bdbdbd"}};

/* `pattern`: 0 none, else PATTERNS[pattern - 1]. */
static const struct {
    const char *light, *dark;
    int pattern;
} PAINTS[PAINT_COUNT] = {
    [PAINT_MATMUL] = {"#0072b2", "#4a9fe0", 0},      [PAINT_ATTENTION] = {"#3f86b8", "#8cc8f5", 1},
    [PAINT_ELEMENTWISE] = {"#5e8fb0", "#b9d9ee", 3}, [PAINT_RECOMPUTE] = {"#0072b2", "#4a9fe0", 5},
    [PAINT_TENSOR] = {"#d55e00", "#ff8a4c", 0},      [PAINT_EXPERT] = {"#8e4b9e", "#cf9add", 0},
    [PAINT_SEQUENCE] = {"#8a6d00", "#e8d44d", 0},    [PAINT_FSDP] = {"#00815c", "#2bc79b", 0},
    [PAINT_DATA] = {"#00815c", "#2bc79b", 2},        [PAINT_PIPELINE] = {"#b8478f", "#e79ac4", 0},
    [PAINT_WAITS] = {"#a8322b", "#ff7b72", 1},       [PAINT_BUBBLE] = {"#8a8a8a", "#8f8f8f", 2},
    [PAINT_OPTIMIZER] = {"#5a5a5a", "#bdbdbd", 4},   [PAINT_OTHER] = {"#5a5a5a", "#bdbdbd", 0},
    [PAINT_FORWARD] = {"#2f7aad", "#8cc8f5", 0},     [PAINT_BACKWARD] = {"#0a4a7a", "#4a8fc7", 0},
};

static const char *const PATTERNS[] = {"M-1 7L7 -1M-1 1L1 -1M5 7L7 5", "M-1 -1L7 7M5 -1L7 1M-1 5L1 7", "M2 3h2",
                                       "M0 3H6", "M-1 7L7 -1M-1 -1L7 7"};

static void write_theme(FILE *out, bool dark) {
    fprintf(out,
            ".pic text{fill:%s}.pic .dim{fill:%s}.pic .bg{fill:%s}.pic .grid{stroke:%s}.pic .axis{stroke:%s}"
            ".pic .band{fill:%s}.pic .roof{stroke:%s}.pic .hatch,.pic .halo{stroke:%s}.pic .onbar{fill:%s}\n",
            dark ? "#e4e6ea" : "#1c2128", dark ? "#b3b9c2" : "#57606a", dark ? "#16181c" : "#ffffff",
            dark ? "#2f343b" : "#e2e5e9", dark ? "#8b939e" : "#6b737d", dark ? "#232c36" : "#e8eef4",
            dark ? "#e4e6ea" : "#1c2128", dark ? "#16181c" : "#ffffff", dark ? "#16181c" : "#ffffff");
    for (int i = 0; i < PAINT_COUNT; i++)
        fprintf(out, ".pic .k%d{fill:%s}", i, dark ? PAINTS[i].dark : PAINTS[i].light);
    for (int i = 0; i < SVG_COLORS; i++)
        fprintf(out, ".pic .c%d{fill:%s}.pic .s%d{stroke:%s}", i, MARKS[dark][i], i, MARKS[dark][i]);
    fputc('\n', out);
}

void svg_style(FILE *out) {
    fputs(".pic text{font:12px system-ui,-apple-system,'Segoe UI',sans-serif}.pic .head{font-weight:600}"
          ".pic .small{font-size:11px}.pic .axis,.pic .roof,.pic .s0,.pic .s1,.pic .s2,.pic .s3,.pic .s4,.pic .s5,"
          ".pic .s6,.pic .s7{fill:none}.pic .roof{stroke-width:1.5}.pic .hatch{stroke-width:1.4;fill:none;"
          "opacity:.75}.pic .thick{stroke-width:2}.pic .thin{stroke-width:1.6;opacity:.6}.pic "
          ".halo{stroke-width:5;fill:none}.pic .dash{stroke-dasharray:5 4}\n",
          out);
    write_theme(out, false);
    fputs("@media screen and (prefers-color-scheme:dark){\n", out);
    write_theme(out, true);
    fputs("}\n", out);
}

void svg_own_style(Svg *svg) {
    fputs("<style>\n", svg->out);
    svg_style(svg->out);
    fputs("</style>\n", svg->out);
}

Svg svg_open(FILE *out, const char *id, double width, double height, const char *title, const char *description) {
    Svg svg = {.out = out};
    snprintf(svg.id, sizeof svg.id, "%s", id);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"pic%s\" role=\"img\" aria-labelledby=\"%s-t %s-d\" "
            "viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\">\n<title id=\"%s-t\">",
            width > SVG_PANEL + 60 ? " long" : "", id, id, width, height, width, height, id);
    escape_write(ESCAPE_HTML, title, out);
    fprintf(out, "</title>\n<desc id=\"%s-d\">", id);
    escape_write(ESCAPE_HTML, description, out);
    fputs("</desc>\n<defs>", out);
    for (size_t i = 0; i < COUNT_OF(PATTERNS); i++)
        fprintf(out,
                "<pattern id=\"%s-p%zu\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><path "
                "class=\"hatch\" d=\"%s\"/></pattern>",
                id, i + 1, PATTERNS[i]);
    fputs("</defs>\n", out);
    fprintf(out, "<rect class=\"bg\" width=\"%.0f\" height=\"%.0f\"/>\n", width, height);
    return svg;
}

void svg_close(Svg *svg) { fputs("</svg>\n", svg->out); }

double svg_at(const SvgScale *scale, double value) {
    double share = 0;
    if (scale->log)
        share = value > 0 ? log(value / scale->low) / log(scale->high / scale->low) : 0;
    else if (scale->high > scale->low)
        share = (value - scale->low) / (scale->high - scale->low);
    if (!(share >= 0)) share = 0;
    return scale->from + (scale->to - scale->from) * min_real(1, share);
}

/* 1, 2, 5 times a power of ten: the least of them that gives at most `most` steps. */
static int linear_ticks(const SvgScale *scale, int most, double *ticks) {
    double span = scale->high - scale->low;
    if (!(span > 0) || !isfinite(span)) return 0;
    double power = pow(10, floor(log10(span / most))), step = power;
    static const double DIGITS[] = {1, 2, 5, 10, 20};
    for (size_t i = 0; i < COUNT_OF(DIGITS) && span / (step = DIGITS[i] * power) > most - 1; i++) continue;
    int count = 0;
    for (double i = ceil(scale->low / step - 1e-9); i * step <= scale->high + 1e-9 * span && count < most; i++)
        ticks[count++] = i * step + 0.0; /* no zero is negative */
    return count;
}

static int log_ticks(const SvgScale *scale, int most, double *ticks) {
    enum { FEW = 3 }; /* fewer digits do not show how far apart they are */
    static const char *const SETS[] = {"123456789", "1235", "125", "13", "1"};
    int low = (int)floor(log10(scale->low)), high = (int)ceil(log10(scale->high));
    if (scale->high < 3 * scale->low) return linear_ticks(scale, most, ticks); /* digits are too far apart */
    for (size_t set = 0; set < COUNT_OF(SETS); set++) {
        int count = 0;
        for (int power = low; power <= high; power++)
            for (const char *digit = SETS[set]; *digit; digit++) {
                double value = (*digit - '0') * pow(10, power);
                if (value < scale->low * (1 - 1e-9) || value > scale->high * (1 + 1e-9)) continue;
                if (count < most) ticks[count] = value;
                count++;
            }
        if (count <= most) return count < FEW && high - low <= 2 ? linear_ticks(scale, most, ticks) : count;
    }
    int count = 0, stride = (high - low) / most + 1;
    for (int power = low; power <= high && count < most; power += stride)
        if (pow(10, power) >= scale->low * (1 - 1e-9) && pow(10, power) <= scale->high * (1 + 1e-9))
            ticks[count++] = pow(10, power);
    return count;
}

int svg_ticks(const SvgScale *scale, int most, double ticks[SVG_TICKS_MAX]) {
    most = (int)min_whole(most, SVG_TICKS_MAX);
    return scale->log ? log_ticks(scale, most, ticks) : linear_ticks(scale, most, ticks);
}

/* Of a unit that `value` has at least one of. */
static const char *say_in(double value, const double *sizes, const char *const *units, size_t count, char *text) {
    size_t unit = 0;
    while (unit + 1 < count && fabs(value) < sizes[unit] * (1 - 1e-9)) unit++;
    if (value == 0)
        snprintf(text, NUMBER_TEXT_SIZE, "0");
    else
        snprintf(text, NUMBER_TEXT_SIZE, "%.4g %s", value / sizes[unit], units[unit]);
    return text;
}

const char *svg_say_seconds(double value, char *text) {
    static const double SIZES[] = {1, 1e-3, 1e-6};
    static const char *const UNITS[] = {"s", "ms", "us"};
    return say_in(value, SIZES, UNITS, COUNT_OF(SIZES), text);
}

const char *svg_say_bytes(double value, char *text) {
    static const double SIZES[] = {1e12, 1e9, 1e6, 1e3, 1};
    static const char *const UNITS[] = {"TB", "GB", "MB", "kB", "B"};
    return say_in(value, SIZES, UNITS, COUNT_OF(SIZES), text);
}

const char *svg_say_share(double value, char *text) {
    snprintf(text, NUMBER_TEXT_SIZE, "%.4g%%", 100 * value);
    return text;
}

const char *svg_say_number(double value, char *text) {
    snprintf(text, NUMBER_TEXT_SIZE, "%.6g", value);
    return text;
}

const char *svg_say_count(double value, char *text) { return number_grouped((int64_t)(value + 0.5), text); }

void svg_axis_x_at(Svg *svg, const SvgScale *scale, const double *ticks, int count, double y, double top, SvgSay *say,
                   const char *label) {
    double end = -1e9; /* of the last text: what would lie on it is left out */
    for (int i = 0; i < count; i++) {
        char text[NUMBER_TEXT_SIZE];
        double x = svg_at(scale, ticks[i]), half = svg_text_width(say(ticks[i], text)) / 2;
        svg_line(svg, x, y, x, top, "grid");
        if (x - half < end + 4) continue;
        end = x + half;
        svg_text(svg, x, y + 17, "middle", "dim", "%s", text);
    }
    svg_line(svg, min_real(scale->from, scale->to), y, max_real(scale->from, scale->to), y, "axis");
    if (label[0]) svg_text(svg, (scale->from + scale->to) / 2, y + 36, "middle", NULL, "%s", label);
}

void svg_axis_x(Svg *svg, const SvgScale *scale, int most, double y, double top, SvgSay *say, const char *label) {
    double ticks[SVG_TICKS_MAX];
    svg_axis_x_at(svg, scale, ticks, svg_ticks(scale, most, ticks), y, top, say, label);
}

void svg_axis_y(Svg *svg, const SvgScale *scale, int most, double x, double right, SvgSay *say, const char *label) {
    double ticks[SVG_TICKS_MAX];
    int count = svg_ticks(scale, most, ticks);
    for (int i = 0; i < count; i++) {
        char text[NUMBER_TEXT_SIZE];
        double y = svg_at(scale, ticks[i]);
        svg_line(svg, x, y, right, y, "grid");
        svg_text(svg, x - 6, y + 4, "end", "dim", "%s", say(ticks[i], text));
    }
    svg_line(svg, x, scale->from, x, scale->to, "axis");
    /* Above the axis, where it need not be turned to be read. */
    if (label[0]) svg_text(svg, x, min_real(scale->from, scale->to) - 10, "start", NULL, "%s", label);
}

void svg_text(Svg *svg, double x, double y, const char *anchor, const char *style, const char *format, ...) {
    char text[PROSE_SIZE], clean[PROSE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(svg->out, "<text x=\"%.1f\" y=\"%.1f\"", x, y);
    if (strcmp(anchor, "start") != 0) fprintf(svg->out, " text-anchor=\"%s\"", anchor);
    if (style) fprintf(svg->out, " class=\"%s\"", style);
    fputc('>', svg->out);
    escape_write(ESCAPE_HTML, clean_text(text, clean, sizeof clean), svg->out);
    fputs("</text>\n", svg->out);
}

const char *svg_fit(const char *text, double width, char out[SVG_FIT_SIZE]) {
    size_t length = strlen(text);
    snprintf(out, SVG_FIT_SIZE, "%s", text);
    while (length > 0 && svg_text_width(out) > width) {
        do length--;
        while (length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80); /* no letter is cut in two */
        snprintf(out, SVG_FIT_SIZE, "%.*s...", (int)min_whole((int64_t)length, SVG_FIT_SIZE - 4), text);
    }
    return out;
}

double svg_text_width(const char *text) { return 6.6 * text_columns(text); }

void svg_line(Svg *svg, double x1, double y1, double x2, double y2, const char *style) {
    fprintf(svg->out, "<path class=\"%s\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", style, x1, y1, x2, y2);
}

static void write_tip(FILE *out, const char *tip) {
    char clean[PROSE_SIZE];
    fputs("<title>", out);
    escape_write(ESCAPE_HTML, clean_text(tip, clean, sizeof clean), out);
    fputs("</title>", out);
}

void svg_stroke(Svg *svg, double x, double y, double height, const char *style, const char *tip) {
    fprintf(svg->out, "<path class=\"%s\" d=\"M%.1f %.1fv%.1f\">", style, x, y, height);
    write_tip(svg->out, tip);
    fputs("</path>\n", svg->out);
}

void svg_bar(Svg *svg, double x, double y, double width, double height, Paint paint, const char *tip) {
    fprintf(svg->out, "<rect class=\"k%d\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\"", (int)paint, x, y,
            max_real(0, width), max_real(0, height));
    if (tip) {
        fputc('>', svg->out);
        write_tip(svg->out, tip);
        fputs("</rect>\n", svg->out);
    } else {
        fputs("/>\n", svg->out);
    }
    if (PAINTS[paint].pattern > 0)
        fprintf(svg->out,
                "<rect fill=\"url(#%s-p%d)\" pointer-events=\"none\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" "
                "height=\"%.1f\"/>\n",
                svg->id, PAINTS[paint].pattern, x, y, max_real(0, width), height);
}

void svg_mark(Svg *svg, int kind, double x, double y, double size, const char *tip) {
    static const char *const NAMES[SVG_SHAPES] = {"circle", "rect", "path", "path"};
    int color = kind % SVG_COLORS, shape = (kind + kind / SVG_COLORS) % SVG_SHAPES; /* neighbours differ in both */
    fprintf(svg->out, "<%s class=\"c%d\" ", NAMES[shape], color);
    switch (shape) {
    case 0:
        fprintf(svg->out, "cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"", x, y, size);
        break;
    case 1:
        fprintf(svg->out, "x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"", x - 0.9 * size, y - 0.9 * size,
                1.8 * size, 1.8 * size);
        break;
    case 2:
        fprintf(svg->out, "d=\"M%.1f %.1fl%.1f %.1fh%.1fz\"", x, y - 1.25 * size, 1.15 * size, 2 * size, -2.3 * size);
        break;
    default:
        fprintf(svg->out, "d=\"M%.1f %.1fl%.1f %.1fl%.1f %.1fl%.1f %.1fz\"", x, y - 1.25 * size, 1.25 * size,
                1.25 * size, -1.25 * size, 1.25 * size, -1.25 * size, -1.25 * size);
    }
    if (tip) {
        fputc('>', svg->out);
        write_tip(svg->out, tip);
        fprintf(svg->out, "</%s>\n", NAMES[shape]);
    } else {
        fputs("/>\n", svg->out);
    }
}

static double svg_legend_bar(Svg *svg, double x, double y, Paint paint, const char *words) {
    svg_bar(svg, x, y - 10, 14, 12, paint, NULL);
    svg_text(svg, x + 19, y, "start", NULL, "%s", words);
    return 19 + svg_text_width(words) + 16;
}

/* A legend's entry, bar or mark with its words; returns how wide it is. */
static double svg_legend_mark(Svg *svg, double x, double y, int kind, const char *words) {
    svg_mark(svg, kind, x + 6, y - 4, 4, NULL);
    svg_text(svg, x + 16, y, "start", NULL, "%s", words);
    return 16 + svg_text_width(words) + 16;
}

/* On to the next line where an entry has no room; what stands first on its line is drawn however wide it is. */
static void place(SvgLegend *legend, double wide) {
    enum { LINE = 20 };
    if (legend->x <= legend->left || legend->x + wide <= legend->right) return;
    legend->x = legend->left;
    legend->y += LINE;
}

void svg_legend_add_bar(Svg *svg, SvgLegend *legend, Paint paint, const char *words) {
    double wide = 19 + svg_text_width(words);
    place(legend, wide);
    if (svg) svg_legend_bar(svg, legend->x, legend->y, paint, words);
    legend->x += wide + 16;
}

void svg_legend_add_mark(Svg *svg, SvgLegend *legend, int kind, const char *words) {
    double wide = 16 + svg_text_width(words);
    place(legend, wide);
    if (svg) svg_legend_mark(svg, legend->x, legend->y, kind, words);
    legend->x += wide + 16;
}

void svg_legend_add_line(Svg *svg, SvgLegend *legend, const char *style, const char *words) {
    double wide = 28 + svg_text_width(words);
    place(legend, wide);
    if (svg) svg_line(svg, legend->x, legend->y - 4, legend->x + 22, legend->y - 4, style);
    if (svg) svg_text(svg, legend->x + 28, legend->y, "start", NULL, "%s", words);
    legend->x += wide + 16;
}
