/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The best point in time: a whole request, what lies before its first token, and one step of the pool that decodes,
 * each on a scale of its own. */
#include "base/util.h"
#include "search/answer/plan_words.h"
#include "search/serving/report/serving_report.h"

enum { PARTS_MAX = STEP_TERMS + 1 };
static const double LEFT = 84, RIGHT = 366, TOP = 34, LANE = 26, BAR = 18;

/* Parts that follow each other, in lanes of their own. */
typedef struct {
    const char *name;
    Paint paint;
    double from, seconds;
} TimePart;

typedef struct {
    const char *id, *title, *heading;
    TimePart part[PARTS_MAX];
    int count;
    double end;
} TimeSpan;

static void add(TimeSpan *span, const char *name, Paint paint, double from, double seconds) {
    if (!(seconds > 0)) return;
    span->part[span->count++] = (TimePart){name, paint, from, seconds};
    span->end = max_real(span->end, from + seconds);
}

static void draw(const TimeSpan *span, const char *words, FILE *out) {
    double bottom = TOP + LANE * span->count;
    Svg svg = svg_open(out, span->id, SVG_PANEL, bottom + 30, span->title, words);
    SvgScale scale = {0, span->end, LEFT, RIGHT, false};
    svg_text(&svg, 4, 16, "start", "head", "%s", span->heading);
    svg_axis_x(&svg, &scale, 6, bottom, TOP - 6, svg_say_seconds, "");
    for (int i = 0; i < span->count; i++) {
        const TimePart *part = &span->part[i];
        char tip[128], text[NUMBER_TEXT_SIZE];
        double y = TOP + LANE * i, x = svg_at(&scale, part->from), to = svg_at(&scale, part->from + part->seconds);
        snprintf(tip, sizeof tip, "%s: %s", part->name, step_text(part->seconds, text));
        svg_text(&svg, LEFT - 6, y + 13, "end", "small", "%s", part->name);
        svg_bar(&svg, x, y, max_real(0.6, to - x), BAR, part->paint, tip);
    }
    svg_close(&svg);
}

static void list(const TimeSpan *span, Table *table) {
    for (int i = 0; i < span->count; i++) {
        char text[NUMBER_TEXT_SIZE];
        table_cell(table, "%s", span->heading);
        table_cell(table, "%s", span->part[i].name);
        table_cell(table, "%s", step_text(span->part[i].from, text));
        table_cell(table, "%s", step_text(span->part[i].seconds, text));
    }
}

/* What the first token waits for, each after the other. */
static TimeSpan first_token_of(const ServingQuestion *question, const ServingPoint *point) {
    FirstTokenParts parts = point_first_token_parts(question, point);
    TimeSpan span = {.id = "first-svg", .title = "Up to the first token", .heading = "Up to the first token"};
    add(&span, "queue", PAINT_WAITS, span.end, parts.queue);
    add(&span, "prefill", PAINT_FORWARD, span.end, parts.prompt);
    add(&span, "cache moves", PAINT_PIPELINE, span.end, parts.transfer);
    add(&span, point->pool_count > 1 ? "handing over" : "host", PAINT_OTHER, span.end, parts.hand_over);
    return span;
}

static TimeSpan request_of(const ServingQuestion *question, const ServingPoint *point, const TimeSpan *first) {
    TimeSpan span = {.id = "request-svg", .title = "A request from its arrival on", .heading = "A request"};
    for (int i = 0; i < first->count; i++)
        add(&span, first->part[i].name, first->part[i].paint, first->part[i].from, first->part[i].seconds);
    add(&span, "decode", PAINT_BACKWARD, span.end, (question->request.output - 1) * point->tpot_seconds);
    return span;
}

/* Kernels one after the other; messages end with the step, during kernels where engines hide them. */
static TimeSpan step_of(const ServingPool *pool) {
    static const char *const SHORT[STEP_TERMS] = {"matmuls", "attention",     "experts", "all_reduce", "to experts",
                                                  "small",   "logits (head)", "stages",  "drafts",     "host"};
    TimeSpan span = {
        .id = "decode-svg", .title = "One step of decoding", .heading = "One step, a token of each sequence"};
    double kernels = 0, messages = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int term = 0; term < STEP_TERMS; term++) {
            bool message = term == STEP_REDUCE || term == STEP_EXCHANGE || term == STEP_PASS;
            double seconds = pool->step.terms[term], *now = message ? &messages : &kernels;
            if (message != (pass == 1)) continue;
            if (pass == 1 && messages == 0)
                messages = pool->step.seconds - pool->step.terms[STEP_REDUCE] - pool->step.terms[STEP_EXCHANGE] -
                           pool->step.terms[STEP_PASS];
            add(&span, SHORT[term], STEP_PARTS[term].paint, max_real(0, *now), seconds);
            *now += seconds;
        }
    span.end = pool->step.seconds;
    return span;
}

bool picture_request(const ServingReport *report, Arena *arena, FILE *out, Prose *words, Table *table) {
    const ServingQuestion *question = report->question;
    const ServingPoint *best = &report->answer->best;
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE];
    if (!report->answer->has_best) return false;
    TimeSpan first = first_token_of(question, best), request = request_of(question, best, &first),
             step = step_of(&best->pools[best->pool_count - 1]);
    *table = table_new(arena, "One request in time", "what|part|>from|>seconds");
    if (best->ttft_seconds > 0) prose_add(words, "The first token comes after %s", step_text(best->ttft_seconds, a));
    if (best->ttft_seconds > 0 && best->tpot_seconds > 0)
        prose_add(words, ", the last of %.0f after %s. ", question->request.output, step_text(request.end, b));
    if (best->tpot_seconds > 0)
        prose_add(words, "A step takes %s; its parts are the sums over all layers.", step_text(step.end, c));
    if (best->ttft_seconds > 0 && best->tpot_seconds > 0) draw(&request, words->text, out), list(&request, table);
    if (best->ttft_seconds > 0) draw(&first, words->text, out), list(&first, table);
    if (best->tpot_seconds > 0) draw(&step, words->text, out), list(&step, table);
    return true;
}
