/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What less memory and fewer chips cost: the step against the HBM that plans may fill, and against chips. On the front
 * lies what nothing beats in both. */
#include "search/report/html/pictures.h"

#include "base/util.h"

#include <math.h>

static const double WIDTH = SVG_PANEL, TOP = 50, BOTTOM = 300, LEFT = 52, RIGHT = 366;
enum { POINTS_MAX = PAGE_LIMITS + PAGE_SIZES + 16, MIDDLE = 1 };

typedef struct {
    double cost, seconds; /* bytes or chips; of a step */
    const PagePoint *of;  /* NULL: a plan of the table, */
    int rank;             /* this one */
    bool front;
} Point;

static void mark_front(Point *points, int count) {
    for (int i = 0; i < count; i++) {
        points[i].front = true;
        for (int j = 0; j < count; j++) {
            bool better = points[j].cost <= points[i].cost && points[j].seconds <= points[i].seconds;
            if (better && (points[j].cost < points[i].cost || points[j].seconds < points[i].seconds || j < i))
                points[i].front = false;
        }
    }
    for (int i = 1; i < count; i++) /* by cost */
        for (int j = i; j > 0 && points[j].cost < points[j - 1].cost; j--) {
            Point swap = points[j];
            points[j] = points[j - 1], points[j - 1] = swap;
        }
}

static int memory_points(const PageView *view, Point points[POINTS_MAX]) {
    const SearchResult *result = &view->report->result;
    int count = 0;
    for (int i = 1; i < PAGE_LIMITS && view->facts; i++) {
        const PagePoint *point = &view->facts->memory[i];
        if (point->found) points[count++] = (Point){point->memory_bytes, point->step_seconds, point, 0, false};
    }
    for (int i = 0; i < result->plan_count && count < POINTS_MAX; i++)
        points[count++] = (Point){memory_total(&result->plans[i].estimate.memory),
                                  result->plans[i].estimate.time.seconds, NULL, i + 1, false};
    mark_front(points, count);
    return count;
}

static int chip_points(const PageView *view, Point points[POINTS_MAX]) {
    int count = 0;
    for (int i = 0; i < PAGE_SIZES && view->facts; i++) {
        const PagePoint *point = &view->facts->size[i][MIDDLE];
        if (point->found)
            points[count++] = (Point){(double)point->chips, point->step_seconds, point,
                                      view->facts->size_factor[i] == 1 ? 1 : 0, false};
    }
    mark_front(points, count);
    return count;
}

static SvgScale around(const Point *points, int count, bool seconds, double from, double to) {
    double low = INFINITY, high = 0;
    for (int i = 0; i < count; i++) {
        double value = seconds ? points[i].seconds : points[i].cost;
        low = min_real(low, value), high = max_real(high, value);
    }
    double room = pow(high / low, 0.08) * 1.03; /* a twelfth of the length, and 3% where all are one */
    return (SvgScale){low / room, high * room, from, to, true};
}

static void draw_front(Svg *svg, const SvgScale *x, const SvgScale *y, const Point *points, int count) {
    bool open = false;
    for (int i = 0; i < count; i++) {
        if (!points[i].front) continue;
        double px = svg_at(x, points[i].cost), py = svg_at(y, points[i].seconds);
        if (open)
            fprintf(svg->out, "H%.1fV%.1f", px, py);
        else
            fprintf(svg->out, "<path class=\"s0 thick\" d=\"M%.1f %.1f", px, py);
        open = true;
    }
    if (open) fputs("\"/>\n", svg->out);
}

/* `chips`: a tick for each machine; else round ones of bytes. */
static void draw_points(Svg *svg, const Point *points, int count, bool chips) {
    SvgSay *say = chips ? svg_say_count : number_bytes;
    double ticks[POINTS_MAX];
    SvgScale x = around(points, count, false, LEFT, RIGHT), y = around(points, count, true, BOTTOM, TOP);
    for (int i = 0; i < count; i++) ticks[i] = points[i].cost;
    if (chips)
        svg_axis_x_at(svg, &x, ticks, count, BOTTOM, TOP, say, "chips");
    else
        svg_axis_x(svg, &x, 6, BOTTOM, TOP, svg_say_bytes, "HBM that the plan takes, per chip");
    svg_axis_y(svg, &y, 7, LEFT, RIGHT, svg_say_seconds, "step");
    draw_front(svg, &x, &y, points, count);
    for (int i = 0; i < count; i++) {
        char tip[2 * WORDS_SIZE], cost[NUMBER_TEXT_SIZE], step[NUMBER_TEXT_SIZE];
        double px = svg_at(&x, points[i].cost), py = svg_at(&y, points[i].seconds);
        snprintf(tip, sizeof tip, "%s, %s%s%s%s", say(points[i].cost, cost), step_text(points[i].seconds, step),
                 points[i].of ? ": " : "", points[i].of ? points[i].of->plan : "",
                 points[i].front ? "" : " (not on the front)");
        svg_mark(svg, points[i].rank == 0 ? 0 : 1, px, py, points[i].front ? 5 : 3.5, tip);
        if (points[i].rank == 1) svg_text(svg, px, py + 20, px > RIGHT - 30 ? "end" : "middle", "head", "plan 1");
    }
}

static void draw_panel(FILE *out, const char *id, const Point *points, int count, bool chips, const char *words) {
    Svg svg = svg_open(out, id, WIDTH, BOTTOM + (chips ? 64 : 84),
                       chips ? "The Pareto front: time against chips" : "The Pareto front: time against memory", words);
    SvgLegend legend = {4, WIDTH, 4, BOTTOM + 58};
    svg_text(&svg, 4, 14, "start", "head", chips ? "Against chips, the same batch" : "Against memory");
    draw_points(&svg, points, count, chips);
    svg_legend_add_mark(&svg, &legend, 1, chips ? "plan 1" : "plans of this report");
    svg_legend_add_mark(&svg, &legend, 0, chips ? "best on other machines" : "best with less memory");
    svg_legend_add_line(&svg, &legend, "s0 thick", "the front");
    svg_close(&svg);
}

static void list_points(Table *table, const char *against, const Point *points, int count, SvgSay *say) {
    for (int i = 0; i < count; i++) {
        char cost[NUMBER_TEXT_SIZE], step[NUMBER_TEXT_SIZE], name[WORDS_SIZE];
        snprintf(name, sizeof name, "%s", points[i].of ? points[i].of->plan : "");
        if (!points[i].of) snprintf(name, sizeof name, "plan %d", points[i].rank);
        const char *cells[] = {against, say(points[i].cost, cost), step_text(points[i].seconds, step), name,
                               points[i].front ? "yes" : "no"};
        table_row(table, cells);
    }
}

bool picture_pareto(const PageView *view, FILE *out, Prose *words, Table *table) {
    Point memory[POINTS_MAX], chips[POINTS_MAX];
    if (!view_first(view) || (!view->facts && view->report->result.plan_count < 2)) return false;
    int memory_count = memory_points(view, memory), chip_count = chip_points(view, chips);
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], change[NUMBER_TEXT_SIZE];
    const Point *least = &memory[0];
    double seconds = view_first(view)->estimate.time.seconds;
    prose_add(words, "The plan found with the least memory takes %s, in steps of %s (%s).",
              number_bytes(least->cost, a), step_text(least->seconds, b),
              change_text(least->seconds / seconds - 1, change));
    for (int i = 1; view->facts && i < PAGE_LIMITS; i++) {
        const PagePoint *less = &view->facts->memory[i];
        if (!less->asked || less->found || less->cut_short) continue;
        prose_add(words, " If plans may use only %s, none fits.", number_bytes(less->limit_bytes, a));
        break;
    }
    if (chip_count > 1)
        prose_add(words, " With the same batch, %s chips take steps of %s, and %s chips take %s.",
                  svg_say_count(chips[0].cost, a), step_text(chips[0].seconds, b),
                  svg_say_count(chips[chip_count - 1].cost, change),
                  step_text(chips[chip_count - 1].seconds, (char[NUMBER_TEXT_SIZE]){0}));
    if (view->facts) page_say_left_out(view->facts, PAGE_MEMORY, words);
    draw_panel(out, "pareto-svg", memory, memory_count, false, words->text);
    if (chip_count > 0) draw_panel(out, "pareto-chips-svg", chips, chip_count, true, words->text);
    *table = table_new(view->arena, "Plans by memory and by chips", "against|>takes|>step|plan|on the front");
    list_points(table, "memory", memory, memory_count, number_bytes);
    list_points(table, "chips", chips, chip_count, svg_say_count);
    return true;
}
