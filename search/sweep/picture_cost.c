/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/sweep/page.h"

#include "base/number.h"
#include "base/text/prose.h"
#include "base/text/svg.h"
#include "base/util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS_MAX = SVG_COLORS, LABELS_MAX = 40 };
static const double WIDTH = SVG_PANEL, LEFT = 46, RIGHT = 362, TOP = 50, BOTTOM = 300, LINE = 12;

/* What is trained, and not with what. */
static bool is_training(const char *option) {
    static const char *const NAMES[] = {"model", "tokens", "seq"};
    for (size_t i = 0; i < COUNT_OF(NAMES); i++)
        if (strcmp(option, NAMES[i]) == 0) return true;
    return false;
}

/* The values that vary, of what is trained or of all else: "70b 8Ki". */
static void label_of(const SweepGrid *grid, int64_t point, bool training, char label[SWEEP_LABEL_SIZE]) {
    size_t used = 0;
    label[0] = '\0';
    for (int i = 0; i < grid->option_count && used < SWEEP_LABEL_SIZE; i++)
        if (grid->options[i].count > 1 && is_training(grid->options[i].option) == training)
            used += (size_t)snprintf(label + used, SWEEP_LABEL_SIZE - used, "%s%s", used ? " " : "",
                                     sweep_value(grid, point, i));
}

/* Points with equal values of what is trained have one number: the place of these values among all. */
static int training_number(const SweepGrid *grid, int64_t point) {
    int64_t number = 0, stride = grid->points;
    for (int i = 0; i < grid->option_count; i++) {
        stride /= grid->options[i].count;
        if (is_training(grid->options[i].option))
            number = number * grid->options[i].count + point / stride % grid->options[i].count;
    }
    return (int)number;
}

static bool is_priced(const SweepRow *row) { return row->has_plan && row->expected_usd > 0; }

static bool beats(const SweepRow *a, const SweepRow *b) {
    bool better = a->expected_usd < b->expected_usd || a->expected_seconds < b->expected_seconds || a->point < b->point;
    return a->expected_usd <= b->expected_usd && a->expected_seconds <= b->expected_seconds && better;
}

void sweep_front(const SweepGrid *grid, const SweepRow *rows, bool *front, int *same) {
    for (int64_t i = 0; i < grid->points; i++) same[i] = training_number(grid, i);
    for (int64_t i = 0; i < grid->points; i++) {
        front[i] = is_priced(&rows[i]);
        for (int64_t j = 0; j < grid->points && front[i]; j++)
            if (same[j] == same[i] && is_priced(&rows[j]) && beats(&rows[j], &rows[i])) front[i] = false;
    }
}

typedef struct {
    const SweepGrid *grid;
    const SweepRow *rows;
    const SweepRow **sorted; /* those with a price, by what they cost */
    int64_t count;
    bool *front;
    int *same;
    int group[GROUPS_MAX], groups; /* the numbers of what is trained; the last stands for all others */
    SvgScale x, y;
} Cost;

static int group_of(const Cost *cost, const SweepRow *row) {
    for (int g = 0; g < cost->groups; g++)
        if (cost->group[g] == cost->same[row->point]) return g;
    return GROUPS_MAX - 1;
}

static int by_cost(const void *left, const void *right) {
    const SweepRow *a = *(const SweepRow *const *)left, *b = *(const SweepRow *const *)right;
    if (a->expected_usd != b->expected_usd) return a->expected_usd < b->expected_usd ? -1 : 1;
    return (a->point > b->point) - (a->point < b->point);
}

static double days_of(const SweepRow *row) { return row->expected_seconds / 86400; }

static const char *say_usd(double value, char *text) {
    static const double SIZES[] = {1e9, 1e6, 1e3, 1};
    static const char *const UNITS[] = {" B", " M", " k", ""};
    size_t i = 0;
    while (i + 1 < COUNT_OF(SIZES) && value < SIZES[i] * (1 - 1e-9)) i++;
    snprintf(text, NUMBER_TEXT_SIZE, "$%.3g%s", value / SIZES[i], UNITS[i]);
    return text;
}

static SvgScale scale_of(double low, double high, double from, double to) {
    double room = pow(high / low, 0.14) * 1.06;
    return (SvgScale){low / room, high * room, from, to, true};
}

static void fill(Cost *cost) {
    double usd[2] = {INFINITY, 0}, days[2] = {INFINITY, 0};
    sweep_front(cost->grid, cost->rows, cost->front, cost->same);
    for (int64_t i = 0; i < cost->grid->points; i++) {
        const SweepRow *row = &cost->rows[i];
        if (!is_priced(row)) continue;
        cost->sorted[cost->count++] = row;
        usd[0] = min_real(usd[0], row->expected_usd), usd[1] = max_real(usd[1], row->expected_usd);
        days[0] = min_real(days[0], days_of(row)), days[1] = max_real(days[1], days_of(row));
        bool known = false;
        for (int g = 0; g < cost->groups; g++) known = known || cost->group[g] == cost->same[i];
        if (!known && cost->groups < GROUPS_MAX) cost->group[cost->groups++] = cost->same[i];
    }
    qsort(cost->sorted, (size_t)cost->count, sizeof *cost->sorted, by_cost);
    cost->x = scale_of(usd[0], usd[1], LEFT, RIGHT), cost->y = scale_of(days[0], days[1], BOTTOM, TOP);
}

/* Through the points of the front of a group, as steps: what a sum of money gets. */
static void draw_front(Svg *svg, const Cost *cost, int number, int color) {
    bool open = false;
    for (int64_t i = 0; i < cost->count; i++) {
        const SweepRow *row = cost->sorted[i];
        if (!cost->front[row->point] || cost->same[row->point] != number) continue;
        double x = svg_at(&cost->x, row->expected_usd), y = svg_at(&cost->y, days_of(row));
        if (open)
            fprintf(svg->out, "H%.1fV%.1f", x, y);
        else
            fprintf(svg->out, "<path class=\"s%d thick\" d=\"M%.1f %.1f", color, x, y);
        open = true;
    }
    if (open) fputs("\"/>\n", svg->out);
}

static void draw_mark(Svg *svg, const Cost *cost, const SweepRow *row) {
    char point[SWEEP_LABEL_SIZE], usd[NUMBER_TEXT_SIZE], days[NUMBER_TEXT_SIZE];
    Prose tip = {0};
    bool front = cost->front[row->point];
    prose_add(&tip, "%s: %s, %s, %s%s", sweep_point_text(cost->grid, row->point, point, sizeof point), row->plan,
              duration_text(row->expected_seconds, days), say_usd(row->expected_usd, usd),
              front ? "" : " (another is cheaper and not slower)");
    svg_mark(svg, group_of(cost, row), svg_at(&cost->x, row->expected_usd), svg_at(&cost->y, days_of(row)),
             front ? 5 : 3, tip.text);
}

typedef struct {
    double left, right, y; /* of letters: from there to there, and the line they stand on */
} Place;

/* Within the picture, on no mark and on none of the places that are taken. */
static bool is_free(const Cost *cost, Place place, const Place *taken, int count) {
    bool free = place.left > LEFT + 2 && place.right < WIDTH - 2 && place.y > TOP + 4 && place.y < BOTTOM - 3;
    for (int j = 0; j < count && free; j++)
        free = fabs(taken[j].y - place.y) >= LINE || place.left > taken[j].right || place.right < taken[j].left;
    for (int64_t i = 0; i < cost->count && free; i++) {
        double x = svg_at(&cost->x, cost->sorted[i]->expected_usd), y = svg_at(&cost->y, days_of(cost->sorted[i]));
        free = x < place.left - 4 || x > place.right + 4 || y > place.y + 4 || y < place.y - 13;
    }
    return free;
}

/* What the points of the fronts are, where there is room: below and to the left of a point of a front lies no other of
 * its own. */
static void draw_labels(Svg *svg, const Cost *cost) {
    static const double ASIDE[][2] = {{-8, 12}, {-9, 3}, {8, 14}, {8, -7}};
    Place taken[LABELS_MAX];
    int count = 0;
    for (int64_t i = 0; i < cost->count && count < LABELS_MAX; i++) {
        const SweepRow *row = cost->sorted[i];
        char label[SWEEP_LABEL_SIZE], fitted[SVG_FIT_SIZE];
        if (!cost->front[row->point]) continue;
        label_of(cost->grid, row->point, false, label);
        double wide = svg_text_width(svg_fit(label, 110, fitted));
        for (size_t side = 0; side < COUNT_OF(ASIDE); side++) {
            double x = svg_at(&cost->x, row->expected_usd) + ASIDE[side][0];
            bool left = ASIDE[side][0] < 0;
            Place place = {left ? x - wide : x, left ? x : x + wide, svg_at(&cost->y, days_of(row)) + ASIDE[side][1]};
            if (!is_free(cost, place, taken, count)) continue;
            taken[count++] = place;
            svg_text(svg, x, place.y, left ? "end" : "start", "small", "%s", fitted);
            break;
        }
    }
}

static void draw_legend(Svg *svg, const Cost *cost) {
    SvgLegend legend = {4, WIDTH, 4, BOTTOM + 58};
    for (int g = 0; g < cost->groups; g++) {
        char label[SWEEP_LABEL_SIZE] = "every point", fitted[SVG_FIT_SIZE];
        for (int64_t i = 0; i < cost->grid->points && cost->groups > 1; i++)
            if (cost->same[i] == cost->group[g]) label_of(cost->grid, i, true, label);
        svg_legend_add_mark(svg, &legend, g, svg_fit(g == GROUPS_MAX - 1 ? "others" : label, 200, fitted));
    }
    svg_legend_add_line(svg, &legend, "s0 thick", "nothing is cheaper and as fast");
}

static void draw(const Cost *cost, const char *words, FILE *out) {
    Svg svg = svg_open(out, "cost-svg", WIDTH, BOTTOM + 90, "Days of the training against its cost, on demand", words);
    svg_text(&svg, 4, 14, "start", "head", "Days against dollars, on demand");
    svg_axis_x(&svg, &cost->x, 6, BOTTOM, TOP, say_usd, "cost of the training");
    svg_axis_y(&svg, &cost->y, 7, LEFT, RIGHT, svg_say_number, "days, with failures as far as they are known");
    for (int g = 0; g < cost->groups; g++) draw_front(&svg, cost, cost->group[g], g);
    for (int64_t i = 0; i < cost->count; i++) draw_mark(&svg, cost, cost->sorted[i]);
    draw_labels(&svg, cost);
    draw_legend(&svg, cost);
    svg_close(&svg);
}

bool sweep_draw_cost(const SweepGrid *grid, const SweepRow *rows, const char *words, FILE *out) {
    size_t points = (size_t)grid->points;
    Cost cost = {.grid = grid, .rows = rows, .sorted = calloc(points, sizeof *cost.sorted)};
    cost.front = calloc(points, sizeof *cost.front);
    cost.same = calloc(points, sizeof *cost.same);
    if (cost.sorted && cost.front && cost.same) {
        fill(&cost);
        if (cost.count > 1) draw(&cost, words, out);
    }
    free(cost.sorted);
    free(cost.front);
    free(cost.same);
    return cost.count > 1;
}
