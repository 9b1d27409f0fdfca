/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tokens per second of a chip and the time of a token against the batch, for several lengths of the prompt, in the
 * layout of the best point: one worker, steady. */
#include "base/text/lines.h"
#include "base/util.h"
#include "search/serving/report/serving_report.h"

#include <math.h>

enum { CONTEXTS = 4, BATCHES_MAX = 17 };

typedef struct {
    double prompt;
    int count;
    double batch[BATCHES_MAX], per_chip[BATCHES_MAX], seconds[BATCHES_MAX];
} Curve;

/* Powers of two as far as there is room, and the last batch of all. */
static void price_curve(const ServingQuestion *requested, const ServingPool *pool, ServingMode mode, Curve *out) {
    ServingQuestion question = *requested;
    PricedLayout layout;
    WorkerLinks links;
    question.rate = 0;
    question.concurrency = 0;
    question_lengths(&question, out->prompt, requested->request.output);
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

/* The time of a token, else what a chip gives. */
static bool draw_panel(const Curve curves[CONTEXTS], bool times, const char *words, Arena *arena, FILE *out) {
    static const char *const STYLES[CONTEXTS] = {"s0", "s1", "s2", "s3"};
    Lines lines = lines_new(arena, CONTEXTS * BATCHES_MAX);
    lines.id = times ? "token-svg" : "throughput-svg", lines.words = words;
    lines.title = times ? "The time of a token against batch and context" : "Throughput against batch and context";
    lines.heading = times ? "Time of a token" : "Tokens per second of a chip";
    lines.x = (LineAxis){svg_say_count, "sequences in flight", false, false};
    lines.y = (LineAxis){times ? svg_say_seconds : svg_say_number, "", false, false};
    for (int c = 0; c < CONTEXTS; c++) {
        const Curve *curve = &curves[c];
        int series = lines_series(&lines, JOIN_LINE, STYLES[c], NULL);
        char time[NUMBER_TEXT_SIZE];
        lines_legend(&lines, c, arena_format(arena, "prompts of %.0f", curve->prompt));
        for (int i = 0; i < curve->count; i++)
            lines_point(&lines,
                        (LinePoint){.x = curve->batch[i],
                                    .y = times ? curve->seconds[i] : curve->per_chip[i],
                                    .kind = c,
                                    .size = 3.5,
                                    .series = series},
                        "prompts of %.0f, batch %.0f: %.4g tokens/s per chip, %s per token", curve->prompt,
                        curve->batch[i], curve->per_chip[i], step_text(curve->seconds[i], time));
    }
    return lines_draw(&lines, out);
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
    bool ok = draw_panel(curves, false, words->text, arena, out) && draw_panel(curves, true, words->text, arena, out);
    *table = table_new(arena, "Throughput against batch and context",
                       ">prompt tokens|>batch|>tokens/s per chip|>ms per token");
    list_curves(table, curves);
    table->failed = table->failed || !ok;
    return true;
}
