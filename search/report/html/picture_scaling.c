/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The whole training against the size of the machine, one line for each batch; and the MFU that is left of it. */
#include "search/report/html/pictures.h"

#include "base/util.h"

#include <math.h>

static const double WIDTH = SVG_PANEL, TOP = 34, BOTTOM = 284, LEFT = 52, RIGHT = 366;
enum { MIDDLE = 1 };
static const int KINDS[PAGE_BATCHES] = {1, 0, 2}; /* marks: a square, a disc, a triangle */

typedef double Measure(const PagePoint *point);
static double chips_of(const PagePoint *point) { return (double)point->chips; }
static double training_of_point(const PagePoint *point) { return point->training_seconds; }
static double mfu_of(const PagePoint *point) { return point->mfu; }

static SvgScale around(const PageFacts *facts, Measure *of, double from, double to, bool log) {
    double low = INFINITY, high = 0;
    for (int s = 0; s < PAGE_SIZES; s++)
        for (int b = 0; b < PAGE_BATCHES; b++) {
            if (!facts->size[s][b].found) continue;
            low = min_real(low, of(&facts->size[s][b])), high = max_real(high, of(&facts->size[s][b]));
        }
    if (!log) return (SvgScale){0, high * 1.12, from, to, false};
    double room = pow(high / low, 0.06) * 1.02;
    return (SvgScale){low / room, high * room, from, to, true};
}

/* A training is seldom a round number of seconds. */
typedef struct {
    double seconds;
    const char *label;
} Unit;
static Unit unit_of(double longest) {
    static const Unit UNITS[] = {{31557600, "the whole training, years"},
                                 {86400, "the whole training, days"},
                                 {3600, "the whole training, hours"},
                                 {60, "the whole training, minutes"},
                                 {1, "the whole training, seconds"}};
    size_t i = 0;
    while (i + 1 < COUNT_OF(UNITS) && longest < 3 * UNITS[i].seconds) i++;
    return UNITS[i];
}

static int list_ticks(const PageFacts *facts, double ticks[PAGE_SIZES]) {
    int count = 0;
    for (int s = 0; s < PAGE_SIZES; s++)
        for (int b = 0; b < PAGE_BATCHES; b++) {
            if (!facts->size[s][b].found) continue;
            ticks[count++] = chips_of(&facts->size[s][b]);
            break;
        }
    return count;
}

static void draw_batch(Svg *svg, const PageFacts *facts, int b, const SvgScale *x, const SvgScale *y, Measure *of) {
    bool open = false;
    for (int s = 0; s < PAGE_SIZES; s++) {
        const PagePoint *point = &facts->size[s][b];
        if (!point->found) continue;
        if (open)
            fputc('L', svg->out);
        else
            fprintf(svg->out, "<path class=\"s%d thick\" d=\"M", KINDS[b] % SVG_COLORS);
        fprintf(svg->out, "%.1f %.1f", svg_at(x, chips_of(point)), svg_at(y, of(point)));
        open = true;
    }
    if (open) fputs("\"/>\n", svg->out);
    for (int s = 0; s < PAGE_SIZES; s++) {
        const PagePoint *point = &facts->size[s][b];
        char tip[2 * WORDS_SIZE], chips[NUMBER_TEXT_SIZE], step[NUMBER_TEXT_SIZE], time[NUMBER_TEXT_SIZE],
            mfu[NUMBER_TEXT_SIZE];
        if (!point->found) continue;
        snprintf(tip, sizeof tip, "%s chips (%s): %s, steps of %s, %s MFU: %s", svg_say_count(chips_of(point), chips),
                 point->machine, duration_text(point->training_seconds, time), step_text(point->step_seconds, step),
                 share_text(point->mfu, mfu), point->plan);
        bool asked = facts->size_factor[s] == 1 && b == MIDDLE;
        svg_mark(svg, KINDS[b], svg_at(x, chips_of(point)), svg_at(y, of(point)), asked ? 6.5 : 4.5, tip);
    }
}

/* What as many chip-hours as plan 1 takes would give. */
static void draw_ideal(Svg *svg, const PageFacts *facts, const SvgScale *x, const SvgScale *y) {
    for (int s = 0; s < PAGE_SIZES; s++) {
        const PagePoint *point = &facts->size[s][MIDDLE];
        if (facts->size_factor[s] != 1 || !point->found) continue;
        double product = point->training_seconds * chips_of(point);
        double low = max_real(x->low, product / y->high), high = min_real(x->high, product / y->low);
        svg_line(svg, svg_at(x, low), svg_at(y, product / low), svg_at(x, high), svg_at(y, product / high),
                 "axis dash");
    }
}

static void list_points(const PageFacts *facts, Table *table) {
    for (int b = 0; b < PAGE_BATCHES; b++)
        for (int s = 0; s < PAGE_SIZES; s++) {
            const PagePoint *point = &facts->size[s][b];
            char tokens[NUMBER_TEXT_SIZE], chips[NUMBER_TEXT_SIZE], step[NUMBER_TEXT_SIZE], time[NUMBER_TEXT_SIZE],
                mfu[NUMBER_TEXT_SIZE], factor[48];
            if (!point->asked) continue;
            snprintf(factor, sizeof factor, "machine x %g, batch x %g", facts->size_factor[s], facts->batch_factor[b]);
            if (!point->found) {
                const char *cells[] = {
                    factor, "", "", "", "", "", point->cut_short ? "the search ended early" : "no plan fits"};
                table_row(table, cells);
                continue;
            }
            const char *cells[] = {factor,
                                   svg_say_count(chips_of(point), chips),
                                   number_grouped((int64_t)point->tokens, tokens),
                                   step_text(point->step_seconds, step),
                                   share_text(point->mfu, mfu),
                                   duration_text(point->training_seconds, time),
                                   point->plan};
            table_row(table, cells);
        }
}

static void add_words(const PageView *view, Prose *words) {
    const PageFacts *facts = view->facts;
    const PagePoint *least = NULL, *most = NULL;
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE];
    for (int s = 0; s < PAGE_SIZES; s++) {
        const PagePoint *point = &facts->size[s][MIDDLE];
        if (!point->found) continue;
        if (!least) least = point;
        most = point;
    }
    if (!least) return;
    prose_add(words, "%s tokens take %s on %s chips", number_short(view->report->request->question.training_tokens, a),
              duration_text(least->training_seconds, b), svg_say_count(chips_of(least), c));
    if (most != least) {
        double ideal = least->training_seconds * chips_of(least) / chips_of(most);
        prose_add(words, " and %s on %s", duration_text(most->training_seconds, a), svg_say_count(chips_of(most), b));
        prose_add(words, ", which is %s of linear scaling", share_text(ideal / most->training_seconds, c));
    }
    prose_add(words, ", with the batch as asked. Each point is a search of its own, on machines like plan 1's.");
    if (facts->thin) prose_add(words, " The search is large, so fewer points were searched.");
    page_say_left_out(facts, PAGE_SCALING, words);
}

static void draw_legend(Svg *svg, const PageFacts *facts, bool ideal) {
    SvgLegend legend = {4, WIDTH, 4, BOTTOM + 58};
    for (int b = 0; b < PAGE_BATCHES; b++) {
        const PagePoint *any = NULL;
        char label[NUMBER_TEXT_SIZE + 16], tokens[NUMBER_TEXT_SIZE];
        for (int s = 0; s < PAGE_SIZES && !any; s++)
            if (facts->size[s][b].found) any = &facts->size[s][b];
        if (!any) continue;
        snprintf(label, sizeof label, "batch %s", number_short(any->tokens, tokens));
        svg_legend_add_mark(svg, &legend, KINDS[b], label);
    }
    if (ideal) svg_legend_add_line(svg, &legend, "axis dash", "linear scaling from plan 1, the larger mark");
}

/* `training`: the time of the whole training; else MFU. */
static void draw_panel(FILE *out, const PageFacts *facts, bool training, const char *words) {
    double ticks[PAGE_SIZES];
    int count = list_ticks(facts, ticks);
    Measure *of = training ? training_of_point : mfu_of;
    SvgScale x = around(facts, chips_of, LEFT, RIGHT, true), y = around(facts, of, BOTTOM, TOP, training);
    Svg svg =
        svg_open(out, training ? "scaling-svg" : "scaling-mfu-svg", WIDTH, BOTTOM + (training ? 88 : 68),
                 training ? "Time against the machine and the batch" : "MFU against the machine and the batch", words);
    svg_axis_x_at(&svg, &x, ticks, count, BOTTOM, TOP, svg_say_count, "chips");
    if (training) {
        Unit unit = unit_of(y.high);
        SvgScale time = {y.low / unit.seconds, y.high / unit.seconds, BOTTOM, TOP, true};
        svg_axis_y(&svg, &time, 7, LEFT, RIGHT, svg_say_number, unit.label);
        draw_ideal(&svg, facts, &x, &y);
    } else {
        svg_axis_y(&svg, &y, 7, LEFT, RIGHT, svg_say_share, "MFU");
    }
    for (int b = 0; b < PAGE_BATCHES; b++) draw_batch(&svg, facts, b, &x, &y, of);
    draw_legend(&svg, facts, training);
    svg_close(&svg);
}

bool picture_scaling(const PageView *view, FILE *out, Prose *words, Table *table) {
    const PageFacts *facts = view->facts;
    int found = 0;
    for (int s = 0; facts && s < PAGE_SIZES; s++)
        for (int b = 0; b < PAGE_BATCHES; b++) found += facts->size[s][b].found;
    if (found == 0) return false;
    add_words(view, words);
    draw_panel(out, facts, true, words->text);
    draw_panel(out, facts, false, words->text);
    *table = table_new(view->arena, "Other machines and batches",
                       "against plan 1|>chips|>tokens a step|>step|>MFU|>training|best plan");
    list_points(facts, table);
    return true;
}
