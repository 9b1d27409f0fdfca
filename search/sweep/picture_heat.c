/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/sweep/pictures.h"

#include "base/number.h"
#include "base/text/prose.h"
#include "base/text/svg.h"
#include "base/util.h"

#include <math.h>
#include <string.h>

enum { SIDE_MAX = 24 };
static const double WIDTH = SVG_PANEL, LEFT = 116, RIGHT = 376, TOP = 58, CELL = 26;

/* Model and chip if they vary, else the first two that do. False: fewer do. */
static bool choose(const SweepGrid *grid, int *row, int *column) {
    static const char *const WANTED[] = {"model", "chip"};
    int found[2] = {-1, -1};
    for (int w = 0; w < 2; w++)
        for (int i = 0; i < grid->option_count; i++)
            if (grid->options[i].count > 1 && strcmp(grid->options[i].option, WANTED[w]) == 0) found[w] = i;
    for (int w = 0; w < 2; w++)
        for (int i = 0; i < grid->option_count && found[w] < 0; i++)
            if (grid->options[i].count > 1 && i != found[1 - w]) found[w] = i;
    *row = found[0], *column = found[1];
    return found[0] >= 0 && found[1] >= 0;
}

static const SweepRow *best_of(const SweepGrid *grid, const SweepRow *rows, const int option[2], const int value[2]) {
    const SweepRow *best = NULL;
    for (int64_t i = 0; i < grid->points; i++) {
        bool here = rows[i].has_plan;
        for (int o = 0; o < 2 && here; o++)
            here = sweep_value(grid, i, option[o]) == grid->options[option[o]].values[value[o]];
        if (here && (!best || rows[i].mfu > best->mfu)) best = &rows[i];
    }
    return best;
}

/* Darker is more; the figure stands in it, so that nothing is said by colour alone. */
static void draw_cell(Svg *svg, const SweepGrid *grid, const SweepRow *best, double most, const double box[3]) {
    char share[NUMBER_TEXT_SIZE], point[SWEEP_LABEL_SIZE];
    double x = box[0], y = box[1], wide = box[2];
    if (!best) {
        svg_text(svg, x + wide / 2, y + 17, "middle", "dim small", "none");
        return;
    }
    Prose tip = {0};
    share_text(best->mfu, share);
    prose_add(&tip, "%s: %s MFU with %s", sweep_point_text(grid, best->point, point, sizeof point), share, best->plan);
    fprintf(svg->out, "<g fill-opacity=\"%.2f\">", 0.06 + 0.44 * best->mfu / most);
    svg_bar(svg, x + 1, y + 1, wide - 2, CELL - 2, PAINT_MATMUL, tip.text);
    fputs("</g>\n", svg->out);
    svg_text(svg, x + wide / 2, y + 17, "middle", wide < 44 ? "small" : NULL, "%s", share);
}

bool sweep_draw_heat(const SweepGrid *grid, const SweepRow *rows, const char *words, FILE *out) {
    int option[2], value[2];
    if (!choose(grid, &option[0], &option[1])) return false;
    const SweepOption *down = &grid->options[option[0]], *across = &grid->options[option[1]];
    if (down->count > SIDE_MAX || across->count > SIDE_MAX) return false;
    double most = 0, wide = min_real(84, (RIGHT - LEFT) / across->count);
    char label[SVG_FIT_SIZE], clean[PROSE_NAME_SIZE];
    for (int64_t i = 0; i < grid->points; i++) most = rows[i].has_plan ? max_real(most, rows[i].mfu) : most;
    if (!(most > 0)) return false;
    Svg svg = svg_open(out, "heat-svg", WIDTH, TOP + CELL * down->count + 8, "The best MFU, as a heat map", words);
    svg_text(&svg, 4, 14, "start", "head", "Best MFU, %s by %s", clean_name(down->option, clean), across->option);
    for (int c = 0; c < across->count; c++)
        svg_text(&svg, LEFT + wide * (c + 0.5), TOP - 8 - (wide < 60 && c % 2 ? 13 : 0), "middle", "small", "%s",
                 svg_fit(across->values[c], wide < 60 ? 2 * wide - 4 : wide - 4, label));
    for (int r = 0; r < down->count; r++) {
        double y = TOP + CELL * r;
        svg_text(&svg, LEFT - 6, y + 17, "end", NULL, "%s", svg_fit(down->values[r], LEFT - 8, label));
        for (int c = 0; c < across->count; c++) {
            value[0] = r, value[1] = c;
            draw_cell(&svg, grid, best_of(grid, rows, option, value), most, (double[3]){LEFT + wide * c, y, wide});
        }
    }
    svg_close(&svg);
    return true;
}
