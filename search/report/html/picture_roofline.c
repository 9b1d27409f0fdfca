/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every op of a step under the roofs of the chip: FLOPs a byte of HBM against FLOP/s, both on logarithmic scales. What
 * has no FLOPs that count (norms, look-ups) stands below as time and bytes. */
#include "search/report/html/pictures.h"

#include "base/util.h"

#include <math.h>

static const double WIDTH = SVG_PANEL, LEFT = 44, RIGHT = 362, TOP = 40, BOTTOM = 330, LINE = 19;
/* The roof turns at least a third of the way to the right of LEFT: left of it and below it is room for a word. */

typedef struct {
    double peak, hbm, intensity_low, intensity_high, rate_low;
} Roof;

static double intensity(const EstimatePart *part) { return part->flops / part->hbm_bytes; }
static double seconds_of(const EstimatePart *part) { return part->forward_seconds + part->backward_seconds; }
static bool is_point(const EstimatePart *part) {
    return part->flops > 0 && part->hbm_bytes > 0 && seconds_of(part) > 0;
}

static Roof roof_of(const Request *request, const Estimate *estimate) {
    CostContext setting = request_cost_context(request);
    Roof roof = {setting.precision_flops_per_second / (double)max_whole(1, request->question.chip.devices_per_chip),
                 setting.chip->hbm_bytes_per_second.value, 0, 0, 0};
    double ridge = roof.peak / roof.hbm;
    roof.intensity_low = ridge / 10, roof.intensity_high = ridge * 10, roof.rate_low = roof.peak / 10;
    for (int i = 0; i < estimate->part_count; i++) {
        const EstimatePart *part = &estimate->parts[i];
        if (!is_point(part)) continue;
        roof.intensity_low = min_real(roof.intensity_low, intensity(part) / 2);
        roof.intensity_high = max_real(roof.intensity_high, intensity(part) * 2);
        roof.rate_low = min_real(roof.rate_low, part->flops / seconds_of(part) / 2);
    }
    return roof;
}

static const char *say_rate(double value, char *text) { return rate_text(value, "FLOP", text); }

static const char *say_tera(double value, char *text) { return svg_say_number(value / 1e12, text); }

/* Dashed: what the profile has the chip reach of them. */
static void draw_reached(Svg *svg, const Roof *roof, const Profile *profile, const SvgScale *x, const SvgScale *y) {
    double peak =
        roof->peak * min_real(1, profile->linear_efficiency / profile->linear_peak_ratio * profile->compute_factor);
    double hbm = roof->hbm * profile->hbm_efficiency, start = max_real(roof->intensity_low, roof->rate_low / hbm);
    if (!(peak > roof->rate_low) || (peak == roof->peak && hbm == roof->hbm)) return;
    fprintf(svg->out, "<path class=\"axis dash\" d=\"M%.1f %.1fL%.1f %.1fH%.1f\"/>\n", svg_at(x, start),
            svg_at(y, start * hbm), svg_at(x, peak / hbm), svg_at(y, peak), RIGHT);
}

static void draw_roofs(Svg *svg, const Roof *roof, const SvgScale *x, const SvgScale *y) {
    char text[NUMBER_TEXT_SIZE];
    double ridge = roof->peak / roof->hbm, start = max_real(roof->intensity_low, roof->rate_low / roof->hbm);
    fprintf(svg->out, "<path class=\"roof thick\" d=\"M%.1f %.1fL%.1f %.1fH%.1f\"/>\n", svg_at(x, start),
            svg_at(y, start * roof->hbm), svg_at(x, ridge), svg_at(y, roof->peak), RIGHT);
    svg_text(svg, RIGHT - 4, svg_at(y, roof->peak) - 8, "end", "head", "peak %s", say_rate(roof->peak, text));
    /* Above the slope, where it is farthest from the axis. */
    rate_text(roof->hbm, "B", text);
    double room = svg_at(x, ridge) - LEFT - 22, wide = svg_text_width("HBM ") + svg_text_width(text);
    if (wide <= room)
        svg_text(svg, LEFT + 6, svg_at(y, roof->peak) + 14, "start", "head", "HBM %s", text);
    else
        svg_text(svg, LEFT + 6, svg_at(y, roof->peak) - 8, "start", "head", "HBM %s", text);
}

static void draw_points(Svg *svg, const Estimate *estimate, const SvgScale *x, const SvgScale *y) {
    int kind = 0;
    for (int i = 0; i < estimate->part_count; i++) {
        const EstimatePart *part = &estimate->parts[i];
        char tip[WORDS_SIZE], rate[NUMBER_TEXT_SIZE], seconds[NUMBER_TEXT_SIZE];
        if (!is_point(part)) continue;
        double speed = part->flops / seconds_of(part);
        snprintf(tip, sizeof tip, "%s: %.4g FLOPs a byte, %s, %s a step", part->name, intensity(part),
                 say_rate(speed, rate), step_text(seconds_of(part), seconds));
        double size = 4 + 5 * sqrt(seconds_of(part) / estimate->time.seconds);
        svg_mark(svg, kind++ % SVG_KINDS, svg_at(x, intensity(part)), svg_at(y, speed), size, tip);
    }
}

/* Beside the roofs: what each mark is, and what has no place under them. */
static void draw_list(FILE *out, const Estimate *estimate, const char *words) {
    int lines = 2, kind = 0;
    double y = 14;
    bool any = false;
    char name[WORDS_SIZE], share[NUMBER_TEXT_SIZE];
    for (int i = 0; i < estimate->part_count; i++) lines += seconds_of(&estimate->parts[i]) > 0;
    Svg svg = svg_open(out, "roofline-ops-svg", WIDTH, 34 + LINE * lines, "The ops of a step, by mark", words);
    svg_text(&svg, 4, y, "start", "head", "Ops, and their share of the step");
    for (int i = 0; i < estimate->part_count; i++) {
        const EstimatePart *part = &estimate->parts[i];
        if (!is_point(part)) continue;
        snprintf(name, sizeof name, "%s, %s", part->name, share_text(seconds_of(part) / estimate->time.seconds, share));
        svg_legend_mark(&svg, 4, y += LINE, kind++ % SVG_KINDS, name);
    }
    for (int i = 0; i < estimate->part_count; i++) {
        const EstimatePart *part = &estimate->parts[i];
        if (is_point(part) || !(seconds_of(part) > 0)) continue;
        if (!any) svg_text(&svg, 4, y += LINE + 9, "start", "head", "Ops that are bound by bytes alone");
        any = true;
        svg_text(&svg, 20, y += LINE, "start", NULL, "%s, %s", part->name,
                 share_text(seconds_of(part) / estimate->time.seconds, share));
    }
    svg_close(&svg);
}

static void list_parts(Table *table, const Estimate *estimate) {
    for (int i = 0; i < estimate->part_count; i++) {
        const EstimatePart *part = &estimate->parts[i];
        char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE], d[NUMBER_TEXT_SIZE], e[NUMBER_TEXT_SIZE];
        const char *cells[] = {part->name,
                               part->flops > 0 ? number_short(part->flops, a) : "",
                               number_bytes(part->hbm_bytes, b),
                               is_point(part) ? svg_say_number(intensity(part), c) : "",
                               is_point(part) ? say_rate(part->flops / seconds_of(part), d) : "",
                               step_text(seconds_of(part), e),
                               seconds_of(part) <= 0 ? "nothing: fused"
                               : part->memory_bound  ? "HBM"
                                                     : "compute"};
        table_row(table, cells);
    }
}

bool picture_roofline(const PageView *view, FILE *out, Prose *words, Table *table) {
    const RankedPlan *ranked = view_first(view);
    if (!ranked || ranked->estimate.part_count == 0) return false;
    const Estimate *estimate = &ranked->estimate;
    Roof roof = roof_of(view->report->request, estimate);
    SvgScale x = {roof.intensity_low, roof.intensity_high, LEFT, RIGHT, true};
    SvgScale y = {roof.rate_low, roof.peak * 1.6, BOTTOM, TOP, true};
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE];
    int points = 0, bound = 0;
    for (int i = 0; i < estimate->part_count; i++) {
        points += is_point(&estimate->parts[i]);
        bound += is_point(&estimate->parts[i]) && estimate->parts[i].memory_bound;
    }
    prose_add(words,
              "%d ops with FLOPs, %d of them bound by HBM; an op needs %.0f FLOPs per byte to reach %s at %s. A mark "
              "grows with the share of the step; dashed lines are what large matmuls and HBM reach by the profile.",
              points, bound, roof.peak / roof.hbm, say_rate(roof.peak, a), rate_text(roof.hbm, "B", b));
    Svg svg = svg_open(out, "roofline-svg", WIDTH, BOTTOM + 46, "The roofline, with every op of a step", words->text);
    svg_axis_x(&svg, &x, 7, BOTTOM, TOP, svg_say_number, "FLOPs a byte of HBM");
    svg_axis_y(&svg, &y, 8, LEFT, RIGHT, say_tera, "TFLOP/s of one device");
    draw_roofs(&svg, &roof, &x, &y);
    draw_reached(&svg, &roof, &view->report->request->question.profile, &x, &y);
    draw_points(&svg, estimate, &x, &y);
    svg_close(&svg);
    draw_list(out, estimate, words->text);
    *table = table_new(view->arena, "Ops of the fullest stage on one device, over one step (without recomputation)",
                       "op|>FLOPs|>bytes|>FLOPs a byte|>FLOP/s|>a step|bound by");
    list_parts(table, estimate);
    return true;
}
