/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Predicted against measured steps as SVG. The source of a run is both a colour and a shape; each point says what it is
 * when pointed at. */
#include "base/util.h"
#include "search/cli/views/validate_view.h"
#include "base/text/svg.h"

#include <math.h>
#include <string.h>

enum { LEGEND_MAX = SVG_KINDS, POINTS_MAX = 20000 };
static const double LEFT = 64, TOP = 40, SIDE = 520, LEGEND_LEFT = 598, LEGEND_STEP = 18, WIDTH = 860;
static const double BAND = 0.1, MARGIN = 1.3, MARK = 3.6;

/* Both axes run over the same decades, so that a right prediction lies on the diagonal. */
typedef struct {
    SvgScale x, y;
} Square;

static Square square_of(const Validation *v) {
    double low = INFINITY, high = 0;
    for (int64_t i = 0; i < v->replayed; i++) {
        if (!(v->scored[i].measured_seconds > 0)) continue;
        low = min_real(low, min_real(v->scored[i].measured_seconds, v->scored[i].predicted_seconds));
        high = max_real(high, max_real(v->scored[i].measured_seconds, v->scored[i].predicted_seconds));
    }
    if (!(low <= high)) low = 0.1 * MARGIN, high = 100 / MARGIN;
    return (Square){{low / MARGIN, high * MARGIN, LEFT, LEFT + SIDE, true},
                    {low / MARGIN, high * MARGIN, TOP + SIDE, TOP, true}};
}

/* Where predictions are within BAND: on logarithmic scales a stripe along the diagonal, cut by the frame. */
static void draw_band(Svg *svg, const Square *square) {
    const SvgScale *x = &square->x, *y = &square->y;
    double low = x->low, high = x->high, over = 1 + BAND, under = 1 - BAND;
    fprintf(svg->out, "<path class=\"band\" d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1fL%.1f %.1fL%.1f %.1fL%.1f %.1fZ\"/>\n",
            svg_at(x, low), svg_at(y, low), svg_at(x, low), svg_at(y, low * over), svg_at(x, high / over),
            svg_at(y, high), svg_at(x, high), svg_at(y, high), svg_at(x, high), svg_at(y, high * under),
            svg_at(x, low / under), svg_at(y, low));
    svg_line(svg, svg_at(x, low), svg_at(y, low), svg_at(x, high), svg_at(y, high), "axis");
}

static void draw_point(Svg *svg, const Square *square, int64_t group, const Outcome *o) {
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE];
    Prose tip = {0};
    prose_add(&tip, "%s: measured %s, predicted %s, %s, bound by %s", o->run->id, step_text(o->measured_seconds, a),
              step_text(o->prediction.seconds, b), signed_error_text(o->error, c), bound_name(o->prediction.bound_by));
    svg_mark(svg, (int)(group % SVG_KINDS), svg_at(&square->x, o->measured_seconds),
             svg_at(&square->y, o->prediction.seconds), MARK, tip.text);
}

/* Which group of sources a run is in: names are sorted, and told apart as groups are. */
static int64_t group_of(const Score *score, const char *source) {
    for (int64_t i = 0; i < score->by_count[BY_SOURCE]; i++)
        if (name_matches(score->by[BY_SOURCE][i].name, source)) return i;
    return 0;
}

static void draw_points(Svg *svg, const Square *square, const Validation *v) {
    int64_t stride = v->replayed / POINTS_MAX + 1, group = 0;
    const char *source = "";
    for (int64_t i = 0; i < v->replayed; i += stride) {
        const Outcome *o = v->of_scored[i];
        if (!(o->measured_seconds > 0)) continue;
        if (i == 0 || strcmp(source, o->source) != 0) group = group_of(&v->score, o->source);
        source = o->source;
        draw_point(svg, square, group, o);
    }
}

static int64_t legend_rows(const Score *score) { return min_whole(score->by_count[BY_SOURCE], LEGEND_MAX); }

static void draw_legend(Svg *svg, const Score *score) {
    char a[NUMBER_TEXT_SIZE], clean[PROSE_NAME_SIZE];
    int64_t rows = legend_rows(score);
    for (int64_t i = 0; i < rows; i++) {
        const ScoreGroup *group = &score->by[BY_SOURCE][i];
        Prose words = {0};
        prose_add(&words, "%s: %lld, median %s", clean_name(group->name, clean), (long long)group->rows.count,
                  error_text(group->rows.median, a));
        svg_legend_mark(svg, LEGEND_LEFT, TOP + 12 + LEGEND_STEP * (double)i, (int)i, words.text);
    }
    if (score->by_count[BY_SOURCE] > rows)
        svg_text(svg, LEGEND_LEFT + 16, TOP + 12 + LEGEND_STEP * (double)rows, "start", NULL, "and %lld more sources",
                 (long long)(score->by_count[BY_SOURCE] - rows));
}

static void write_plot(FILE *out, const ValidateView *view, bool alone) {
    const Validation *v = view->validation;
    const ErrorStats *all = &v->score.all.rows;
    Square square = square_of(v);
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE];
    double height = max_real(TOP + SIDE + 56, TOP + 32 + LEGEND_STEP * (double)(legend_rows(&v->score) + 1));
    Prose words = {0};
    prose_add(&words,
              "%lld runs on logarithmic scales; a right prediction lies on the diagonal, the band is 10%% to either "
              "side. Median error %s, 90th percentile %s.",
              (long long)all->count, error_text(all->median, a), error_text(all->p90, b));
    Svg svg = svg_open(out, "runs-svg", WIDTH, height, "Predicted against measured step times", words.text);
    if (alone) svg_own_style(&svg);
    svg_text(&svg, LEFT, 14, "start", "head", "%lld measured training steps: median error %s, 90th percentile %s",
             (long long)all->count, error_text(all->median, a), error_text(all->p90, b));
    draw_band(&svg, &square);
    svg_axis_x(&svg, &square.x, 12, TOP + SIDE, TOP, svg_say_seconds, "measured step");
    svg_axis_y(&svg, &square.y, 12, LEFT, LEFT + SIDE, svg_say_seconds, "predicted step");
    draw_points(&svg, &square, v);
    draw_legend(&svg, &v->score);
    svg_close(&svg);
}

bool validate_write_plot(TextOut out, const ValidateView *view, Error *error) {
    (void)error;
    write_plot(out.file, view, true);
    return true;
}

void validate_draw_plot(FILE *out, const ValidateView *view) { write_plot(out, view, false); }
