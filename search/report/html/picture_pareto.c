/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What less memory and fewer chips cost: the step against the HBM that plans may fill, and against chips. On the front
 * lies what nothing beats in both. */
#include "search/report/html/pictures.h"

#include "base/text/lines.h"

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

/* `chips`: a tick for each machine; else round ones of bytes. */
static bool draw_panel(const PageView *view, FILE *out, const Point *points, int count, bool chips, const char *words) {
    SvgSay *say = chips ? svg_say_count : number_bytes;
    Lines lines = lines_new(view->arena, count);
    lines.id = chips ? "pareto-chips-svg" : "pareto-svg", lines.words = words;
    lines.title = chips ? "The Pareto front: time against chips" : "The Pareto front: time against memory";
    lines.heading = chips ? "Against chips, the same batch" : "Against memory";
    lines.x = chips ? (LineAxis){svg_say_count, "chips", false, true}
                    : (LineAxis){svg_say_bytes, "HBM that the plan takes, per chip", false, false};
    lines.y = (LineAxis){svg_say_seconds, "step", false, false};
    lines_legend(&lines, 1, chips ? "plan 1" : "plans of this report");
    lines_legend(&lines, 0, chips ? "best on other machines" : "best with less memory");
    int front = lines_series(&lines, JOIN_STEPS, "s0 thick", "the front");
    for (int i = 0; i < count; i++) {
        const Point *point = &points[i];
        char cost[NUMBER_TEXT_SIZE], step[NUMBER_TEXT_SIZE];
        lines_point(&lines,
                    (LinePoint){.x = point->cost,
                                .y = point->seconds,
                                .kind = point->rank > 0,
                                .size = point->front ? 5 : 3.5,
                                .series = point->front ? front : NOT_JOINED,
                                .label = point->rank == 1 ? "plan 1" : NULL},
                    "%s, %s%s%s%s", say(point->cost, cost), step_text(point->seconds, step), point->of ? ": " : "",
                    point->of ? point->of->plan : "", point->front ? "" : " (not on the front)");
    }
    return lines_draw(&lines, out);
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
        if (!less->requested || less->found || less->cut_short) continue;
        prose_add(words, " If plans may use only %s, none fits.", number_bytes(less->limit_bytes, a));
        break;
    }
    if (chip_count > 1)
        prose_add(words, " With the same batch, %s chips take steps of %s, and %s chips take %s.",
                  svg_say_count(chips[0].cost, a), step_text(chips[0].seconds, b),
                  svg_say_count(chips[chip_count - 1].cost, change),
                  step_text(chips[chip_count - 1].seconds, (char[NUMBER_TEXT_SIZE]){0}));
    if (view->facts) page_say_left_out(view->facts, PAGE_MEMORY, words);
    bool ok = draw_panel(view, out, memory, memory_count, false, words->text) &&
              (chip_count == 0 || draw_panel(view, out, chips, chip_count, true, words->text));
    *table = table_new(view->arena, "Plans by memory and by chips", "against|>takes|>step|plan|on the front");
    list_points(table, "memory", memory, memory_count, number_bytes);
    list_points(table, "chips", chips, chip_count, svg_say_count);
    table->failed = table->failed || !ok;
    return true;
}
