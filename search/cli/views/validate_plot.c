/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Errors of predicted steps as SVG: a row for each source (and for each chip), a stroke for each run at its error, and
 * behind them the range that the prediction calls likely. Predicted against measured would lie on a diagonal over four
 * decades whatever the error is. */
#include "base/text/svg.h"
#include "base/util.h"
#include "search/cli/views/validate_view.h"

#include <math.h>

enum { RUNS_MAX = 20000, ROWS_MAX = 60, TICKS = 9 };
static const double WIDTH = SVG_PANEL, LEFT = 132, RIGHT = 326, TOP = 44, ROW = 17, STROKE = 11;
static const double FINE = 0.05; /* errors below it are drawn to scale, larger ones by their logarithm */

static double bent(double error) { return copysign(log1p(fabs(error) / FINE), error); }

static const char *say_bent(double value, char *text) {
    double error = copysign(FINE * expm1(fabs(value)), value);
    snprintf(text, NUMBER_TEXT_SIZE, fabs(error) < 1e-9 ? "0" : "%+.3g%%", 100 * error);
    return text;
}

/* Predicted over measured - 1: what it is, and between what it would be if measured steps were as likely ones are. */
typedef struct {
    double error, low, high;
} Miss;

static Miss miss_of(const Scored *scored) {
    double predicted = scored->predicted_seconds;
    return (Miss){predicted / scored->measured_seconds - 1, predicted / scored->likely_high_seconds - 1,
                  predicted / scored->likely_low_seconds - 1};
}

static SvgScale scale_of(const Validation *v) {
    double low = -0.2, high = 0.2;
    for (int64_t i = 0; i < v->replayed; i++) {
        if (!(v->scored[i].measured_seconds > 0)) continue;
        double error = miss_of(&v->scored[i]).error;
        low = min_real(low, error), high = max_real(high, error);
    }
    return (SvgScale){bent(low * 1.1), bent(high * 1.1), LEFT, RIGHT, false};
}

static void draw_axis(Svg *svg, const SvgScale *scale, double bottom) {
    static const double ERRORS[TICKS] = {-0.9, -0.5, -0.2, -0.05, 0, 0.05, 0.2, 0.5, 1};
    double ticks[TICKS];
    int count = 0;
    for (int i = 0; i < TICKS; i++) {
        double at = bent(ERRORS[i]);
        if (at >= scale->low && at <= scale->high) ticks[count++] = at;
    }
    svg_axis_x_at(svg, scale, ticks, count, bottom, TOP - 6, say_bent, "predicted is more than measured by");
}

static void write_tip(const Outcome *o, Prose *tip) {
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE];
    prose_add(tip, "%s: measured %s, predicted %s, %s, bound by %s", o->run->id, step_text(o->measured_seconds, a),
              step_text(o->prediction.seconds, b), signed_error_text(o->error, c), bound_name(o->prediction.bound_by));
}

/* The likely range, the mean of the group's; then its runs, which can be pointed at in one of the two panels. */
static void draw_runs(Svg *svg, const SvgScale *scale, double y, const Validation *v, ScoreBy by, const char *name) {
    bool tips = by == BY_SOURCE;
    double low = 0, high = 0;
    int64_t count = 0, stride = v->replayed / RUNS_MAX + 1;
    for (int64_t i = 0; i < v->replayed; i++) {
        if (!(v->scored[i].measured_seconds > 0) || !name_matches(name, v->scored[i].label[by])) continue;
        Miss miss = miss_of(&v->scored[i]);
        low += miss.low, high += miss.high, count++;
    }
    if (count == 0) return;
    double from = svg_at(scale, bent(low / (double)count)), to = svg_at(scale, bent(high / (double)count));
    fprintf(svg->out, "<rect class=\"band\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", from, y - 2,
            to - from, ROW - 2);
    if (!tips) fputs("<path class=\"s0 thin\" d=\"", svg->out);
    for (int64_t i = 0; i < v->replayed; i += stride) {
        if (!(v->scored[i].measured_seconds > 0) || !name_matches(name, v->scored[i].label[by])) continue;
        double x = svg_at(scale, bent(miss_of(&v->scored[i]).error));
        Prose tip = {0};
        if (tips) write_tip(v->of_scored[i], &tip);
        if (tips)
            svg_stroke(svg, x, y, STROKE, "s0 thin", tip.text);
        else
            fprintf(svg->out, "M%.1f %.1fv%.0f", x, y, STROKE);
    }
    if (!tips) fputs("\"/>\n", svg->out);
}

static void draw_rows(FILE *out, const ValidateView *view, ScoreBy by, const char *words, bool alone) {
    const Validation *v = view->validation;
    const ScoreGroup *groups = v->score.by[by];
    int64_t rows = min_whole(v->score.by_count[by], ROWS_MAX);
    char id[32], title[64], a[NUMBER_TEXT_SIZE], label[SVG_FIT_SIZE], clean[PROSE_NAME_SIZE];
    double bottom = TOP + ROW * (double)rows;
    SvgScale scale = scale_of(v);
    snprintf(id, sizeof id, "runs-%s-svg", score_by_name(by));
    snprintf(title, sizeof title, "Errors of predicted steps by %s", score_by_name(by));
    Svg svg = svg_open(out, id, WIDTH, bottom + 72, title, words);
    if (alone) svg_own_style(&svg);
    svg_text(&svg, 4, 14, "start", "head", "By %s: each stroke is a run", score_by_name(by));
    svg_text(&svg, WIDTH - 4, 30, "end", "dim small", "median");
    draw_axis(&svg, &scale, bottom);
    for (int64_t i = 0; i < rows; i++) {
        double y = TOP + ROW * (double)i;
        Prose name = {0};
        draw_runs(&svg, &scale, y, v, by, groups[i].name);
        prose_add(&name, "%s, %lld", clean_name(groups[i].name, clean), (long long)groups[i].rows.count);
        svg_text(&svg, LEFT - 6, y + 10, "end", "small", "%s", svg_fit(name.text, LEFT - 6, label));
        svg_text(&svg, WIDTH - 4, y + 10, "end", "small", "%s", error_text(groups[i].rows.median, a));
    }
    svg_line(&svg, svg_at(&scale, 0), TOP - 6, svg_at(&scale, 0), bottom, "axis");
    SvgLegend legend = {4, WIDTH, 4, bottom + 62};
    if (rows < v->score.by_count[by])
        svg_text(&svg, WIDTH - 4, bottom + 62, "end", NULL, "and %lld more", (long long)(v->score.by_count[by] - rows));
    fprintf(out, "<rect class=\"band\" x=\"4\" y=\"%.1f\" width=\"14\" height=\"12\"/>\n", bottom + 52);
    legend.x += 19;
    svg_text(&svg, legend.x, legend.y, "start", NULL, "what predictions call likely");
    svg_close(&svg);
}

static void write_plot(FILE *out, const ValidateView *view, bool alone) {
    const ErrorStats *all = &view->validation->score.all.rows;
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE];
    Prose words = {0};
    prose_add(
        &words,
        "%lld runs, each at the error of its predicted step, larger errors closer together. Median error %s, 90th "
        "percentile %s.",
        (long long)all->count, error_text(all->median, a), error_text(all->p90, b));
    draw_rows(out, view, BY_SOURCE, words.text, alone);
    if (!alone) draw_rows(out, view, BY_CHIP, words.text, false);
}

bool validate_write_plot(TextOut out, const ValidateView *view, Error *error) {
    (void)error;
    write_plot(out.file, view, true);
    return true;
}

void validate_draw_plot(FILE *out, const ValidateView *view) { write_plot(out, view, false); }
