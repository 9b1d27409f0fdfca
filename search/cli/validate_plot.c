/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Predicted against measured steps as SVG. The source of a run is both a colour and a shape, the colours being told apart
 * by most who do not see all colours (after Okabe and Ito); each point says what it is when pointed at. */
#include "base/escape.h"
#include "base/util.h"
#include "search/cli/validate_view.h"

#include <math.h>
#include <string.h>

enum { COLORS = 8, SHAPES = 4, LEGEND_MAX = COLORS * SHAPES, POINTS_MAX = 20000 };
static const double LEFT = 64, TOP = 40, SIDE = 520, LEGEND_LEFT = 604, LEGEND_STEP = 18, WIDTH = 860;
static const double BAND = 0.1, MARGIN = 1.3;

static const char *const LIGHT[COLORS] = {"#0072b2", "#d55e00", "#008a63", "#b8478f",
                                          "#8a6d00", "#3f96cf", "#a8322b", "#5a5a5a"};
static const char *const DARK[COLORS] = {"#56a8e8", "#ff8a4c", "#2bc79b", "#e79ac4",
                                         "#e8d44d", "#9fd4ff", "#ff7b72", "#bdbdbd"};

/* Both axes run over the same decades, so that a right prediction lies on the diagonal. */
typedef struct {
    double low, high; /* seconds */
} Scale;

static double along(const Scale *scale, double seconds) {
    double t = log(seconds / scale->low) / log(scale->high / scale->low);
    return SIDE * max_real(0, min_real(1, t));
}
static double x_of(const Scale *scale, double seconds) { return LEFT + along(scale, seconds); }
static double y_of(const Scale *scale, double seconds) { return TOP + SIDE - along(scale, seconds); }

static Scale scale_of(const Validation *v) {
    Scale scale = {INFINITY, 0};
    for (int64_t i = 0; i < v->replayed; i++) {
        if (!(v->scored[i].measured_seconds > 0)) continue;
        scale.low = min_real(scale.low, min_real(v->scored[i].measured_seconds, v->scored[i].predicted_seconds));
        scale.high = max_real(scale.high, max_real(v->scored[i].measured_seconds, v->scored[i].predicted_seconds));
    }
    if (!(scale.low <= scale.high)) return (Scale){0.1, 100};
    return (Scale){scale.low / MARGIN, scale.high * MARGIN};
}

static void write_style(FILE *out) {
    fputs("<style>\n.vp text{font:12px system-ui,sans-serif;fill:#222}.vp .bg{fill:#fff}.vp .grid{stroke:#ddd}"
          ".vp .axis{stroke:#555;fill:none}.vp .band{fill:#e8eef4}.vp .right{stroke:#888}.vp .dot{fill-opacity:.75}\n",
          out);
    for (int i = 0; i < COLORS; i++) fprintf(out, ".vp .c%d{fill:%s}", i, LIGHT[i]);
    fputs("\n@media (prefers-color-scheme:dark){.vp text{fill:#ddd}.vp .bg{fill:#16181c}.vp .grid{stroke:#333}"
          ".vp .axis{stroke:#999}.vp .band{fill:#232c36}.vp .right{stroke:#888}\n",
          out);
    for (int i = 0; i < COLORS; i++) fprintf(out, ".vp .c%d{fill:%s}", i, DARK[i]);
    fputs("}\n</style>\n", out);
}

static void write_tick(FILE *out, const Scale *scale, double seconds) {
    double x = x_of(scale, seconds), y = y_of(scale, seconds);
    fprintf(out,
            "<path class=\"grid\" d=\"M%.1f %.1fV%.1fM%.1f %.1fH%.1f\"/><text x=\"%.1f\" y=\"%.1f\" "
            "text-anchor=\"middle\">%g</text><text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n",
            x, TOP, TOP + SIDE, LEFT, y, LEFT + SIDE, x, TOP + SIDE + 18, seconds, LEFT - 8, y + 4, seconds);
}

static void write_axes(FILE *out, const Scale *scale) {
    double decades = log10(scale->high / scale->low);
    for (int power = (int)floor(log10(scale->low)); power <= (int)ceil(log10(scale->high)); power++)
        for (int digit = 1; digit < 10; digit++) {
            double seconds = digit * pow(10, power);
            bool shown = digit == 1 || ((digit == 2 || digit == 5) && decades < 3) || decades < 1;
            if (shown && seconds >= scale->low && seconds <= scale->high) write_tick(out, scale, seconds);
        }
    fprintf(out, "<rect class=\"axis\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", LEFT, TOP, SIDE,
            SIDE);
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">measured step (s)</text>\n", LEFT + SIDE / 2,
            TOP + SIDE + 38);
    fprintf(out,
            "<text x=\"16\" y=\"%.1f\" text-anchor=\"middle\" transform=\"rotate(-90 16 %.1f)\">predicted step "
            "(s)</text>\n",
            TOP + SIDE / 2, TOP + SIDE / 2);
}

/* Where predictions are within BAND: on logarithmic scales a stripe along the diagonal, cut by the frame. */
static void write_band(FILE *out, const Scale *scale) {
    double low = scale->low, high = scale->high, over = 1 + BAND, under = 1 - BAND;
    fprintf(out, "<path class=\"band\" d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1fL%.1f %.1fL%.1f %.1fL%.1f %.1fZ\"/>\n",
            x_of(scale, low), y_of(scale, low), x_of(scale, low), y_of(scale, low * over), x_of(scale, high / over),
            y_of(scale, high), x_of(scale, high), y_of(scale, high), x_of(scale, high), y_of(scale, high * under),
            x_of(scale, low / under), y_of(scale, low));
    fprintf(out, "<path class=\"right\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", x_of(scale, low), y_of(scale, low),
            x_of(scale, high), y_of(scale, high));
}

static void open_mark(FILE *out, int64_t group, double x, double y) {
    int color = (int)(group % COLORS), shape = (int)(group / COLORS % SHAPES);
    switch (shape) {
    case 0:
        fprintf(out, "<circle class=\"dot c%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.6\">", color, x, y);
        break;
    case 1:
        fprintf(out, "<rect class=\"dot c%d\" x=\"%.1f\" y=\"%.1f\" width=\"6.6\" height=\"6.6\">", color, x - 3.3,
                y - 3.3);
        break;
    case 2:
        fprintf(out, "<path class=\"dot c%d\" d=\"M%.1f %.1fl4.2 7.4h-8.4z\">", color, x, y - 4.6);
        break;
    default:
        fprintf(out, "<path class=\"dot c%d\" d=\"M%.1f %.1fl4.6 4.6l-4.6 4.6l-4.6-4.6z\">", color, x, y - 4.6);
    }
}

static void close_mark(FILE *out, int64_t group) {
    static const char *const NAMES[SHAPES] = {"circle", "rect", "path", "path"};
    fprintf(out, "</%s>\n", NAMES[group / COLORS % SHAPES]);
}

static void write_point(FILE *out, const Scale *scale, int64_t group, const Outcome *o) {
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE];
    open_mark(out, group, x_of(scale, o->measured_seconds), y_of(scale, o->prediction.seconds));
    fprintf(out, "<title>");
    escape_write(ESCAPE_HTML, o->run->id, out);
    fprintf(out, ": measured %s, predicted %s, %s, bound by %s</title>", step_text(o->measured_seconds, a),
            step_text(o->prediction.seconds, b), signed_error_text(o->error, c), bound_name(o->prediction.bound_by));
    close_mark(out, group);
}

/* Which group of sources a run is in: names are sorted, and told apart as groups are. */
static int64_t group_of(const Score *score, const char *source) {
    for (int64_t i = 0; i < score->by_count[BY_SOURCE]; i++)
        if (name_matches(score->by[BY_SOURCE][i].name, source)) return i;
    return 0;
}

static void write_points(FILE *out, const Scale *scale, const Validation *v) {
    int64_t stride = v->replayed / POINTS_MAX + 1, group = 0;
    const char *source = "";
    for (int64_t i = 0; i < v->replayed; i += stride) {
        const Outcome *o = v->of_scored[i];
        if (!(o->measured_seconds > 0)) continue;
        if (i == 0 || strcmp(source, o->source) != 0) group = group_of(&v->score, o->source);
        source = o->source;
        write_point(out, scale, group, o);
    }
}

static int64_t legend_rows(const Score *score) { return min_whole(score->by_count[BY_SOURCE], LEGEND_MAX); }

static void write_legend(FILE *out, const Score *score) {
    char a[NUMBER_TEXT_SIZE];
    int64_t rows = legend_rows(score);
    for (int64_t i = 0; i < rows; i++) {
        const ScoreGroup *group = &score->by[BY_SOURCE][i];
        double y = TOP + 8 + LEGEND_STEP * (double)i;
        open_mark(out, i, LEGEND_LEFT, y);
        close_mark(out, i);
        fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">", LEGEND_LEFT + 12, y + 4);
        escape_write(ESCAPE_HTML, group->name, out);
        fprintf(out, ": %lld, median %s</text>\n", (long long)group->rows.count, error_text(group->rows.median, a));
    }
    if (score->by_count[BY_SOURCE] > rows)
        fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">and %lld more sources</text>\n", LEGEND_LEFT + 12,
                TOP + 12 + LEGEND_STEP * (double)rows, (long long)(score->by_count[BY_SOURCE] - rows));
}

bool validate_write_plot(FILE *out, const ValidateView *view, Error *error) {
    const Validation *v = view->validation;
    const ErrorStats *all = &v->score.all.rows;
    Scale scale = scale_of(v);
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE];
    double height = max_real(TOP + SIDE + 56, TOP + 32 + LEGEND_STEP * (double)(legend_rows(&v->score) + 1));
    (void)error;
    fprintf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"vp\" role=\"img\" aria-labelledby=\"vp-title vp-desc\" "
        "viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\">\n<title id=\"vp-title\">Predicted against measured "
        "step times</title>\n<desc id=\"vp-desc\">%lld runs on logarithmic scales; a right prediction lies on the "
        "diagonal, the band is 10%% to either side. Median error %s, 90th percentile %s.</desc>\n",
        WIDTH, height, WIDTH, height, (long long)all->count, error_text(all->median, a), error_text(all->p90, b));
    write_style(out);
    fprintf(out, "<rect class=\"bg\" width=\"%.0f\" height=\"%.0f\"/>\n", WIDTH, height);
    fprintf(out, "<text x=\"%.1f\" y=\"24\">%lld measured training steps: median error %s, 90th percentile %s</text>\n",
            LEFT, (long long)all->count, error_text(all->median, a), error_text(all->p90, b));
    write_band(out, &scale);
    write_axes(out, &scale);
    write_points(out, &scale, v);
    write_legend(out, &v->score);
    fputs("</svg>\n", out);
    return true;
}
