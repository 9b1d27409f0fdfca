/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The front as a picture: what engines launch, what divides and fits, and the points that differ in kind. */
#include "base/text/svg.h"
#include "base/util.h"
#include "search/serving/report/serving_pictures.h"

#include <math.h>

static const double WIDTH = 860, TOP = 28, BOTTOM = 400, LEFT = 76, RIGHT = 836, ROOM = 1.15;

typedef struct {
    SvgScale x, y;
} Frame;

static Frame frame_of(const ServingFront *const fronts[2]) {
    double low[2] = {INFINITY, INFINITY}, high[2] = {0, 0};
    for (int f = 0; f < 2; f++)
        for (int i = 0; i < fronts[f]->count; i++) {
            const ServingPoint *point = &fronts[f]->points[i];
            low[0] = min_real(low[0], point->per_user), high[0] = max_real(high[0], point->per_user);
            low[1] = min_real(low[1], point->per_chip), high[1] = max_real(high[1], point->per_chip);
        }
    return (Frame){{low[0] / ROOM, high[0] * ROOM, LEFT, RIGHT, true},
                   {low[1] / ROOM, high[1] * ROOM, BOTTOM, TOP, true}};
}

/* Steps: between two points nothing better than the lower of them in each direction is known to be had. */
static void draw_front(Svg *svg, const Frame *frame, const ServingFront *front, const char *style) {
    if (front->count == 0) return;
    fprintf(svg->out, "<path class=\"%s\" d=\"", style);
    for (int i = front->count - 1; i >= 0; i--) {
        double x = svg_at(&frame->x, front->points[i].per_user), y = svg_at(&frame->y, front->points[i].per_chip);
        if (i == front->count - 1)
            fprintf(svg->out, "M%.1f %.1f", x, y);
        else
            fprintf(svg->out, "V%.1fH%.1f", y, x);
    }
    fputs("\"/>\n", svg->out);
}

static void add_row(Table *table, const char *kind, const ServingPoint *point) {
    char way[POINT_TEXT_SIZE];
    table_cell(table, "%s", kind);
    table_cell(table, "%s", point_notation(point, way));
    table_cell(table, "%s", point_engine(point));
    table_cell(table, "%.1f", point->per_user);
    table_cell(table, "%.1f", point->per_chip);
    table_cell(table, "%.2f", 1e3 * point->tpot_seconds);
    table_cell(table, "%.1f", 1e3 * point->ttft_seconds);
}

static void draw_points(Svg *svg, const Frame *frame, const ServingReport *report, Table *table) {
    for (int i = 0; i < report_points(report); i++) {
        const char *kind;
        const ServingPoint *point = report_point(report, i, &kind);
        char way[POINT_TEXT_SIZE], tpot[NUMBER_TEXT_SIZE], ttft[NUMBER_TEXT_SIZE];
        double x = svg_at(&frame->x, point->per_user), y = svg_at(&frame->y, point->per_chip);
        Prose tip = {0};
        prose_add(&tip, "%s%s%s, %s: %.1f tokens/s per user, %.1f per chip", kind, kind[0] ? ": " : "",
                  point_engine(point), point_notation(point, way), point->per_user, point->per_chip);
        if (point->tpot_seconds > 0) prose_add(&tip, ", %s per token", step_text(point->tpot_seconds, tpot));
        if (point->ttft_seconds > 0) prose_add(&tip, ", first token in %s", step_text(point->ttft_seconds, ttft));
        svg_mark(svg, i, x, y, 5.5, tip.text);
        if (kind[0])
            svg_text(svg, x > RIGHT - 120 ? x - 10 : x + 10, y - 8, x > RIGHT - 120 ? "end" : "start", "head", "%s",
                     kind);
        add_row(table, kind, point);
    }
}

bool picture_front(const ServingReport *report, Arena *arena, FILE *out, Prose *words, Table *table) {
    const ServingAnswer *answer = report->answer;
    const ServingFront *fronts[] = {&answer->front, &answer->physical};
    bool prompts = report->question->modes == 1u << SERVE_PREFILL;
    if (answer->front.count == 0) return false;
    Frame frame = frame_of(fronts);
    const ServingPoint *first = &answer->front.points[0], *last = &answer->front.points[answer->front.count - 1];
    prose_add(
        words,
        "%d points of which none is beaten in both: from %.4g to %.4g tokens per second for a user, and from %.4g "
        "to %.4g for a chip.",
        answer->front.count, last->per_user, first->per_user, first->per_chip, last->per_chip);
    if (prompts) prose_add(words, " Of prompts alone: prompts per second of one user, and prompt tokens of a chip.");
    Svg svg = svg_open(out, "front-svg", WIDTH, BOTTOM + 84, "The front: what a user gets against what a chip gets",
                       words->text);
    svg_axis_x(&svg, &frame.x, 8, BOTTOM, TOP, svg_say_number,
               prompts ? "prompts per second, a user" : "tokens per second, a user");
    svg_axis_y(&svg, &frame.y, 8, LEFT, RIGHT, svg_say_number, "tokens per second, a chip");
    draw_front(&svg, &frame, &answer->physical, "s1");
    draw_front(&svg, &frame, &answer->front, "s0 thick");
    *table = table_new(arena, "Points of the front",
                       "front|way|engine|>tokens/s/user|>tokens/s/chip|>ms per token|>ms to the first");
    draw_points(&svg, &frame, report, table);
    svg_line(&svg, LEFT, BOTTOM + 66, LEFT + 22, BOTTOM + 66, "s0 thick");
    svg_text(&svg, LEFT + 28, BOTTOM + 70, "start", NULL, "%s",
             report->question->any_engine ? "what divides and fits" : "what engines launch");
    if (answer->physical.count > 0) {
        svg_line(&svg, LEFT + 220, BOTTOM + 66, LEFT + 242, BOTTOM + 66, "s1");
        svg_text(&svg, LEFT + 248, BOTTOM + 70, "start", NULL, "what divides and fits, under no engine's rules");
    }
    svg_close(&svg);
    return true;
}
