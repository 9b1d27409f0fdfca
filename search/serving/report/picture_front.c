/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The front as a picture: what engines launch, what divides and fits, and the points that differ in kind. */
#include "base/text/lines.h"
#include "search/serving/report/serving_report.h"

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

static void add_points(Lines *lines, const ServingReport *report, Table *table) {
    for (int i = 0; i < report_points(report); i++) {
        const char *kind;
        const ServingPoint *point = report_point(report, i, &kind);
        char way[POINT_TEXT_SIZE], tpot[NUMBER_TEXT_SIZE], ttft[NUMBER_TEXT_SIZE];
        Prose tip = {0};
        prose_add(&tip, "%s%s%s, %s: %.1f tokens/s per user, %.1f per chip", kind, kind[0] ? ": " : "",
                  point_engine(point), point_notation(point, way), point->per_user, point->per_chip);
        if (point->tpot_seconds > 0) prose_add(&tip, ", %s per token", step_text(point->tpot_seconds, tpot));
        if (point->ttft_seconds > 0) prose_add(&tip, ", first token in %s", step_text(point->ttft_seconds, ttft));
        lines_point(lines,
                    (LinePoint){.x = point->per_user,
                                .y = point->per_chip,
                                .kind = i,
                                .size = 5.5,
                                .series = NOT_JOINED,
                                .label = kind},
                    "%s", tip.text);
        add_row(table, kind, point);
    }
}

/* Of a user from the largest on: between two points what the slower one gives a chip is not known to be had. */
static void add_front(Lines *lines, const ServingFront *front, const char *style, const char *words) {
    if (front->count == 0) return;
    int series = lines_series(lines, JOIN_STEPS, style, words);
    for (int i = 0; i < front->count; i++)
        lines_point(lines,
                    (LinePoint){.x = front->points[i].per_user, .y = front->points[i].per_chip, .series = series}, "%s",
                    words);
}

bool picture_front(const ServingReport *report, Arena *arena, FILE *out, Prose *words, Table *table) {
    const ServingAnswer *answer = report->answer;
    bool prompts = report->question->modes == 1u << SERVE_PREFILL;
    if (answer->front.count == 0) return false;
    const ServingPoint *first = &answer->front.points[0], *last = &answer->front.points[answer->front.count - 1];
    prose_add(
        words,
        "%d points of which none is beaten in both: from %.4g to %.4g tokens per second for a user, and from %.4g "
        "to %.4g for a chip.",
        answer->front.count, last->per_user, first->per_user, first->per_chip, last->per_chip);
    if (prompts) prose_add(words, " Of prompts alone: prompts per second of one user, and prompt tokens of a chip.");
    Lines lines = lines_new(arena, answer->front.count + answer->physical.count + report_points(report));
    lines.id = "front-svg", lines.words = words->text, lines.width = 860;
    lines.title = "The front: what a user gets against what a chip gets";
    lines.heading = "A user's rate against a chip's";
    lines.x =
        (LineAxis){svg_say_number, prompts ? "prompts per second, a user" : "tokens per second, a user", false, false};
    lines.y = (LineAxis){svg_say_number, "tokens per second, a chip", false, false};
    *table = table_new(arena, "Points of the front",
                       "front|way|engine|>tokens/s/user|>tokens/s/chip|>ms per token|>ms to the first");
    add_front(&lines, &answer->front, "s0 thick",
              report->question->any_engine ? "what divides and fits" : "what engines launch");
    add_front(&lines, &answer->physical, "s1", "what divides and fits, under no engine's rules");
    add_points(&lines, report, table);
    if (!lines_draw(&lines, out)) table->failed = true;
    return true;
}
