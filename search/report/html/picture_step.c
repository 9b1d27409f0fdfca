/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Step time, split, as one bar for each plan. */
#include "search/answer/doubts.h"
#include "search/report/html/pictures.h"

#include "base/util.h"

#include <math.h>
#include <string.h>

static const double WIDTH = 860, LEFT = 36, RIGHT = 780, BAR = 24, ROW = 58;
enum { PLANS_MAX = 10 };

static Paint paint_of_term(const char *name) {
    static const struct {
        const char *name;
        Paint paint;
    } PAINTS[] = {{"matmul", PAINT_MATMUL},       {"attention", PAINT_ATTENTION}, {"elementwise", PAINT_ELEMENTWISE},
                  {"recompute", PAINT_RECOMPUTE}, {"tensor", PAINT_TENSOR},       {"expert", PAINT_EXPERT},
                  {"sequence", PAINT_SEQUENCE},   {"fsdp", PAINT_FSDP},           {"weights", PAINT_FSDP},
                  {"data", PAINT_DATA},           {"pipeline", PAINT_PIPELINE},   {"waits", PAINT_WAITS},
                  {"PCIe, waits", PAINT_WAITS},   {"bubble", PAINT_BUBBLE},       {"optimizer", PAINT_OPTIMIZER}};
    for (size_t i = 0; i < COUNT_OF(PAINTS); i++)
        if (strcmp(PAINTS[i].name, name) == 0) return PAINTS[i].paint;
    return PAINT_OTHER;
}

static const char *say_term(const Term *term, Paint paint, char text[WORDS_SIZE]) {
    bool communicates = paint >= PAINT_TENSOR && paint <= PAINT_PIPELINE;
    snprintf(text, WORDS_SIZE, "%s%s", communicates ? "exposed " : "", term->name);
    return text;
}

static void draw_bar(Svg *svg, const SvgScale *scale, double y, const Term *terms, int count) {
    double start = 0;
    for (int i = 0; i < count; i++) {
        double from = svg_at(scale, start), to = svg_at(scale, start + terms[i].seconds);
        Paint paint = paint_of_term(terms[i].name);
        char tip[WORDS_SIZE + NUMBER_TEXT_SIZE + 4], name[WORDS_SIZE], seconds[NUMBER_TEXT_SIZE];
        start += terms[i].seconds;
        if (!(terms[i].seconds > 0)) continue;
        snprintf(tip, sizeof tip, "%s: %s", say_term(&terms[i], paint, name), step_text(terms[i].seconds, seconds));
        svg_bar(svg, from, y, to - from, BAR, paint, tip);
    }
}

/* From what measured steps would likely take, as a line with ends; the bounds as ticks. */
static void draw_range(Svg *svg, const SvgScale *scale, double y, const Request *request, const RankedPlan *ranked) {
    double least, most;
    if (!plan_likely(request, ranked, &least, &most)) return;
    double low = svg_at(scale, least), high = svg_at(scale, most);
    svg_line(svg, low, y, high, y, "axis thick");
    svg_line(svg, low, y - 4, low, y + 4, "axis thick");
    svg_line(svg, high, y - 4, high, y + 4, "axis thick");
}

static double draw_legend(Svg *svg, double y, const bool used[PAINT_COUNT], bool range) {
    static const char *const NAMES[PAINT_COUNT] = {
        [PAINT_MATMUL] = "matmul",
        [PAINT_ATTENTION] = "attention",
        [PAINT_ELEMENTWISE] = "elementwise",
        [PAINT_RECOMPUTE] = "recompute",
        [PAINT_TENSOR] = "exposed tensor",
        [PAINT_EXPERT] = "exposed expert",
        [PAINT_SEQUENCE] = "exposed sequence",
        [PAINT_FSDP] = "exposed weights (fsdp)",
        [PAINT_DATA] = "exposed data",
        [PAINT_PIPELINE] = "exposed pipeline",
        [PAINT_WAITS] = "waits",
        [PAINT_BUBBLE] = "bubble",
        [PAINT_OPTIMIZER] = "optimizer",
        [PAINT_OTHER] = "other overheads",
    };
    double x = LEFT;
    for (int i = 0; i < PAINT_COUNT; i++) {
        if (!used[i]) continue;
        if (x + 19 + svg_text_width(NAMES[i]) > RIGHT + 60) x = LEFT, y += 20;
        x += svg_legend_bar(svg, x, y, (Paint)i, NAMES[i]);
    }
    if (!range) return y;
    if (x + 230 > WIDTH) x = LEFT, y += 20;
    svg_line(svg, x, y - 4, x + 22, y - 4, "axis thick");
    svg_text(svg, x + 28, y, "start", NULL, "nine of ten measured steps");
    return y;
}

static void list_terms(Table *table, int rank, const RankedPlan *ranked, const Term *terms, int count) {
    double total = ranked->estimate.time.seconds;
    for (int i = 0; i < count; i++) {
        char plan[24], name[WORDS_SIZE], seconds[NUMBER_TEXT_SIZE], share[NUMBER_TEXT_SIZE], whole[NUMBER_TEXT_SIZE];
        if (!(terms[i].seconds > 0) && !(terms[i].whole_seconds > 0)) continue;
        snprintf(plan, sizeof plan, "plan %d", rank);
        const char *cells[] = {plan, say_term(&terms[i], paint_of_term(terms[i].name), name),
                               step_text(terms[i].seconds, seconds), share_text(terms[i].seconds / total, share),
                               terms[i].whole_seconds > 0 ? step_text(terms[i].whole_seconds, whole) : ""};
        table_row(table, cells);
    }
    char plan[24], seconds[NUMBER_TEXT_SIZE];
    snprintf(plan, sizeof plan, "plan %d", rank);
    const char *cells[] = {plan, "step", step_text(total, seconds), "100.0%", ""};
    table_row(table, cells);
}

bool picture_step(const PageView *view, FILE *out, Prose *words, Table *table) {
    const Request *request = view->report->request;
    const SearchResult *result = &view->report->result;
    int plans = (int)min_whole(result->plan_count, PLANS_MAX);
    if (plans == 0) return false;
    const StepTime *time = &result->plans[0].estimate.time;
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE], d[NUMBER_TEXT_SIZE];
    double least, most;
    bool used[PAINT_COUNT] = {false}, range = plan_likely(request, &result->plans[0], &least, &most);
    double longest = range ? most : 0;
    for (int i = 0; i < plans; i++) {
        Term terms[TERMS_MAX];
        const RankedPlan *ranked = &result->plans[i];
        int count = step_terms(&ranked->estimate, &ranked->plan.degrees, terms);
        longest = max_real(longest, ranked->estimate.time.seconds);
        for (int t = 0; t < count; t++)
            if (terms[t].seconds > 2e-4 * ranked->estimate.time.seconds) used[paint_of_term(terms[t].name)] = true;
    }
    prose_add(words, "Plan 1 computes for %s of its step of %s; communication that is not overlapped takes %s",
              share_text(time->compute_seconds / time->seconds, a), step_text(time->seconds, b),
              share_text(time->exposed_seconds / time->seconds, c));
    if (time->bubble_seconds > 0)
        prose_add(words, ", and the bubble takes %s", share_text(time->bubble_seconds / time->seconds, d));
    prose_add(words, ".");

    SvgScale scale = {0, longest * 1.02, LEFT, RIGHT, false};
    double bottom = 22 + ROW * plans;
    Svg svg = svg_open(out, "step-svg", WIDTH, bottom + 46 + 44, "Where a step goes, plan by plan", words->text);
    svg_axis_x(&svg, &scale, 8, bottom, 8, svg_say_seconds, "");
    *table = table_new(view->arena, "Where a step goes, by plan",
                       "plan|part|>seconds of the step|>share|>with the overlapped part");
    for (int i = 0; i < plans; i++) {
        Term terms[TERMS_MAX];
        char label[WORDS_SIZE];
        const RankedPlan *ranked = &result->plans[i];
        int count = step_terms(&ranked->estimate, &ranked->plan.degrees, terms);
        double y = 14 + ROW * i;
        svg_text(&svg, LEFT - 6, y + 33, "end", "head", "%d", i + 1);
        svg_text(&svg, LEFT, y + 10, "start", "small", "%s", plan_label(ranked, label));
        draw_bar(&svg, &scale, y + 16, terms, count);
        svg_text(&svg, svg_at(&scale, ranked->estimate.time.seconds) + 6, y + 33, "start", "head", "%s",
                 step_text(ranked->estimate.time.seconds, a));
        if (i == 0) draw_range(&svg, &scale, y + 46, request, &result->plans[0]);
        list_terms(table, i + 1, ranked, terms, count);
    }
    draw_legend(&svg, bottom + 46, used, range);
    svg_close(&svg);
    return true;
}
