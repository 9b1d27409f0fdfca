/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tokens per second of a chip and the time of a token against the batch, for several lengths of the prompt, in the
 * layout of the best point: one worker, steady. */
#include "base/text/svg.h"
#include "base/util.h"
#include "search/serving/report/serving_pictures.h"

#include <math.h>

static const double WIDTH = 860, TOP = 44, BOTTOM = 350, FIRST_LEFT = 76, FIRST_RIGHT = 410, SECOND_LEFT = 506,
                    SECOND_RIGHT = 836;
enum { CONTEXTS = 4, BATCHES_MAX = 17 };

typedef struct {
    double prompt;
    int count;
    double batch[BATCHES_MAX], per_chip[BATCHES_MAX], seconds[BATCHES_MAX];
} Curve;

/* Powers of two as far as there is room, and the last batch of all. */
static void price_curve(const ServingQuestion *asked, const ServingPool *pool, ServingMode mode, Curve *out) {
    ServingQuestion question = *asked;
    PricedLayout layout;
    WorkerLinks links;
    question.rate = 0;
    question.concurrency = 0;
    question_lengths(&question, out->prompt, asked->request.output);
    layout_links(&question, &pool->on, &links);
    price_layout(&question, &pool->on, &links, &layout);
    int64_t room = layout_room(&layout.memory, mode == SERVE_AGGREGATED ? question.budgets[0] : 1);
    double chips = (double)pool->on.submesh->devices / max_real(1, (double)question.chip.devices_per_chip);
    for (int64_t batch = 1; room > 0 && out->count < BATCHES_MAX; batch *= 2) {
        ServingPoint point;
        int64_t tried = min_whole(batch, room);
        point_of_batch(&question, &layout, tried, mode, &point);
        out->batch[out->count] = (double)tried;
        out->seconds[out->count] = point.tpot_seconds;
        out->per_chip[out->count++] = (double)tried * point.per_user / chips;
        if (tried == room) break;
    }
}

typedef struct {
    const Curve *curves;
    SvgScale x, y;
    bool times;
} Panel;

static double value_of(const Panel *panel, const Curve *curve, int i) {
    return panel->times ? curve->seconds[i] : curve->per_chip[i];
}

static void scale_panel(Panel *panel, double left, double right) {
    double low = INFINITY, high = 0, most = 1;
    for (int c = 0; c < CONTEXTS; c++)
        for (int i = 0; i < panel->curves[c].count; i++) {
            double value = value_of(panel, &panel->curves[c], i);
            low = min_real(low, value), high = max_real(high, value);
            most = max_real(most, panel->curves[c].batch[i]);
        }
    panel->x = (SvgScale){0.9, most * 1.2, left, right, true};
    panel->y = (SvgScale){low / 1.1, high * 1.1, BOTTOM, TOP, true};
}

static void draw_panel(Svg *svg, const Panel *panel) {
    for (int c = 0; c < CONTEXTS; c++) {
        const Curve *curve = &panel->curves[c];
        if (curve->count > 1) fprintf(svg->out, "<path class=\"s%d\" d=\"", c);
        for (int i = 0; i < curve->count && curve->count > 1; i++)
            fprintf(svg->out, "%c%.1f %.1f", i ? 'L' : 'M', svg_at(&panel->x, curve->batch[i]),
                    svg_at(&panel->y, value_of(panel, curve, i)));
        if (curve->count > 1) fputs("\"/>\n", svg->out);
        for (int i = 0; i < curve->count; i++) {
            char tip[160], time[NUMBER_TEXT_SIZE];
            snprintf(tip, sizeof tip, "prompts of %.0f, batch %.0f: %.4g tokens/s per chip, %s per token",
                     curve->prompt, curve->batch[i], curve->per_chip[i], step_text(curve->seconds[i], time));
            svg_mark(svg, c, svg_at(&panel->x, curve->batch[i]), svg_at(&panel->y, value_of(panel, curve, i)), 3.5,
                     tip);
        }
    }
}

static void list_curves(Table *table, const Curve curves[CONTEXTS]) {
    for (int c = 0; c < CONTEXTS; c++)
        for (int i = 0; i < curves[c].count; i++) {
            table_cell(table, "%.0f", curves[c].prompt);
            table_cell(table, "%.0f", curves[c].batch[i]);
            table_cell(table, "%.1f", curves[c].per_chip[i]);
            table_cell(table, "%.2f", 1e3 * curves[c].seconds[i]);
        }
}

bool picture_throughput(const ServingReport *report, Arena *arena, FILE *out, Prose *words, Table *table) {
    static const double FACTORS[CONTEXTS] = {0.25, 1, 4, 16};
    const ServingAnswer *answer = report->answer;
    if (answer->front.count == 0 || report->question->modes == 1u << SERVE_PREFILL) return false;
    const ServingPoint *point = answer->has_best ? &answer->best : &answer->front.points[answer->front.count - 1];
    const ServingPool *pool = &point->pools[point->pool_count - 1];
    ServingMode mode = pool->phase == PHASE_BOTH ? SERVE_AGGREGATED : SERVE_DECODE;
    Curve curves[CONTEXTS] = {{0}};
    char way[POOL_TEXT_SIZE];
    for (int c = 0; c < CONTEXTS; c++) {
        curves[c].prompt = max_real(1, floor(report->question->request.prompt * FACTORS[c]));
        price_curve(report->question, pool, mode, &curves[c]);
    }
    prose_add(words,
              "One worker in the best point's layout (%s), at every batch for which its memory has room, with prompts "
              "of %.0f, %.0f, %.0f and %.0f tokens.",
              pool_notation(pool, way), curves[0].prompt, curves[1].prompt, curves[2].prompt, curves[3].prompt);
    Panel rates = {.curves = curves}, times = {.curves = curves, .times = true};
    scale_panel(&rates, FIRST_LEFT, FIRST_RIGHT);
    scale_panel(&times, SECOND_LEFT, SECOND_RIGHT);
    Svg svg = svg_open(out, "throughput-svg", WIDTH, BOTTOM + 84, "Throughput against batch and context", words->text);
    svg_text(&svg, FIRST_LEFT, 16, "start", "head", "Tokens per second of a chip");
    svg_axis_x(&svg, &rates.x, 6, BOTTOM, TOP, svg_say_count, "sequences in flight");
    svg_axis_y(&svg, &rates.y, 7, FIRST_LEFT, FIRST_RIGHT, svg_say_number, "");
    draw_panel(&svg, &rates);
    svg_text(&svg, SECOND_LEFT, 16, "start", "head", "Time of a token");
    svg_axis_x(&svg, &times.x, 6, BOTTOM, TOP, svg_say_count, "sequences in flight");
    svg_axis_y(&svg, &times.y, 7, SECOND_LEFT, SECOND_RIGHT, svg_say_seconds, "");
    draw_panel(&svg, &times);
    double x = FIRST_LEFT;
    for (int c = 0; c < CONTEXTS; c++) {
        char name[64];
        snprintf(name, sizeof name, "prompts of %.0f", curves[c].prompt);
        x += svg_legend_mark(&svg, x, BOTTOM + 70, c, name);
    }
    svg_close(&svg);
    *table = table_new(arena, "Throughput against batch and context",
                       ">prompt tokens|>batch|>tokens/s per chip|>ms per token");
    list_curves(table, curves);
    return true;
}
