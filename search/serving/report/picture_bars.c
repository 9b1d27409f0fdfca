/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bars of the pools that are shown: the memory of a chip by row, and the time of a step by kernel. */
#include "base/text/svg.h"
#include "base/util.h"
#include "search/serving/report/serving_pictures.h"

static const double WIDTH = 860, LEFT = 24, RIGHT = 760, BAR = 20, ROW = 48;

int shown_pools(const ServingReport *report, ShownPool list[SHOWN_POOLS_MAX]) {
    int count = 0;
    for (int i = 0; i < report_points(report); i++) {
        static const char *const PHASES[] = {"", ", prompts", ", decode"};
        const char *kind;
        const ServingPoint *point = report_point(report, i, &kind);
        for (int p = 0; p < point->pool_count && count < SHOWN_POOLS_MAX; p++, count++) {
            const ServingPool *pool = &point->pools[p];
            char way[POOL_TEXT_SIZE], number[24];
            snprintf(number, sizeof number, "point %d", i + 1);
            list[count].pool = pool;
            snprintf(list[count].name, sizeof list[count].name, "%s%s: %lld x %s, batch %lld, %s",
                     kind[0] ? kind : number, PHASES[pool->phase], (long long)pool->workers, pool_notation(pool, way),
                     (long long)pool->batch, point_engine(point));
        }
    }
    return count;
}

typedef struct {
    const char *name;
    Paint paint;
    double value;
} Part;

/* One row of bars, with its parts told when they are pointed at. */
static double draw_parts(Svg *svg, const SvgScale *scale, double y, const Part *parts, int count, bool bytes) {
    double start = 0;
    for (int i = 0; i < count; i++) {
        char tip[96], text[NUMBER_TEXT_SIZE];
        double from = svg_at(scale, start);
        if (!(parts[i].value > 0)) continue;
        start += parts[i].value;
        snprintf(tip, sizeof tip, "%s: %s", parts[i].name,
                 bytes ? number_bytes(parts[i].value, text) : step_text(parts[i].value, text));
        svg_bar(svg, from, y, svg_at(scale, start) - from, BAR, parts[i].paint, tip);
    }
    return start;
}

static void draw_legend(Svg *svg, double y, const Part *parts, int count) {
    double x = LEFT;
    for (int i = 0; i < count; i++) {
        if (x + 19 + svg_text_width(parts[i].name) > WIDTH - 20) x = LEFT, y += 20;
        x += svg_legend_bar(svg, x, y, parts[i].paint, parts[i].name);
    }
}

enum { MEMORY_PARTS = 4 };
static void memory_parts(const WorkerMemory *memory, Part parts[MEMORY_PARTS]) {
    parts[0] = (Part){"weights", PAINT_MATMUL, memory->weights_bytes};
    parts[1] = (Part){"cache", PAINT_ATTENTION, memory->kv_bytes};
    parts[2] = (Part){"activations", PAINT_ELEMENTWISE, memory->activations_bytes};
    parts[3] = (Part){"graphs and buffers", PAINT_OTHER, memory->workspace_bytes};
}

static void memory_row(Table *table, const ShownPool *shown, const Part parts[MEMORY_PARTS]) {
    char text[NUMBER_TEXT_SIZE];
    table_cell(table, "%s", shown->name);
    for (int i = 0; i < MEMORY_PARTS; i++) table_cell(table, "%s", number_bytes(parts[i].value, text));
    table_cell(table, "%s", number_bytes(worker_memory_total(&shown->pool->memory), text));
    table_cell(table, "%s", number_bytes(shown->pool->memory.limit_bytes, text));
}

bool picture_chip(const ServingReport *report, Arena *arena, FILE *out, Prose *words, Table *table) {
    ShownPool pools[SHOWN_POOLS_MAX];
    Part parts[MEMORY_PARTS];
    int count = shown_pools(report, pools);
    char text[NUMBER_TEXT_SIZE], limit[NUMBER_TEXT_SIZE];
    double most = 0, bottom = 24 + ROW * count;
    if (count == 0) return false;
    for (int i = 0; i < count; i++)
        most = max_real(most, max_real(pools[i].pool->memory.limit_bytes, worker_memory_total(&pools[i].pool->memory)));
    prose_add(words,
              "A chip of the first holds %s of the %s that its engine may use, every sequence at its full length.",
              number_bytes(worker_memory_total(&pools[0].pool->memory), text),
              number_bytes(pools[0].pool->memory.limit_bytes, limit));
    SvgScale scale = {0, most * 1.02, LEFT, RIGHT, false};
    Svg svg = svg_open(out, "chip-svg", WIDTH, bottom + 80, "Memory of a chip by row, against the limit", words->text);
    svg_axis_x(&svg, &scale, 8, bottom, 8, svg_say_bytes, "");
    *table =
        table_new(arena, "Memory of a chip", "point|>weights|>cache|>activations|>graphs and buffers|>total|>limit");
    for (int i = 0; i < count; i++) {
        const WorkerMemory *memory = &pools[i].pool->memory;
        double y = 12 + ROW * i, at = svg_at(&scale, memory->limit_bytes);
        memory_parts(memory, parts);
        svg_text(&svg, LEFT, y + 10, "start", "small", "%s", pools[i].name);
        double total = draw_parts(&svg, &scale, y + 16, parts, MEMORY_PARTS, true);
        svg_line(&svg, at, y + 13, at, y + 16 + BAR + 3, "roof thick");
        svg_text(&svg, WIDTH - 8, y + 31, "end", "head", "%s", number_bytes(total, text));
        memory_row(table, &pools[i], parts);
    }
    draw_legend(&svg, bottom + 48, parts, MEMORY_PARTS);
    svg_close(&svg);
    return true;
}

static void step_parts(const StepCost *step, Part parts[STEP_TERMS]) {
    static const Part KINDS[STEP_TERMS] = {[STEP_MATMUL] = {"matmuls", PAINT_MATMUL, 0},
                                           [STEP_ATTENTION] = {"attention", PAINT_ATTENTION, 0},
                                           [STEP_EXPERTS] = {"experts", PAINT_FORWARD, 0},
                                           [STEP_REDUCE] = {"all_reduce and cache moves", PAINT_TENSOR, 0},
                                           [STEP_EXCHANGE] = {"tokens to experts and back", PAINT_EXPERT, 0},
                                           [STEP_LAYERS] = {"small kernels", PAINT_ELEMENTWISE, 0},
                                           [STEP_HEAD] = {"head", PAINT_RECOMPUTE, 0},
                                           [STEP_PASS] = {"between stages", PAINT_PIPELINE, 0},
                                           [STEP_DRAFT] = {"drafts", PAINT_BACKWARD, 0},
                                           [STEP_HOST] = {"host and sampling", PAINT_OTHER, 0}};
    for (int term = 0; term < STEP_TERMS; term++) {
        parts[term] = KINDS[term];
        parts[term].value = step->terms[term];
    }
}

static void list_steps(Table *table, const ShownPool *shown, const Part parts[STEP_TERMS]) {
    char text[NUMBER_TEXT_SIZE], share[NUMBER_TEXT_SIZE];
    double seconds = shown->pool->step.seconds;
    for (int term = 0; term < STEP_TERMS; term++) {
        if (!(parts[term].value > 0)) continue;
        table_cell(table, "%s", shown->name);
        table_cell(table, "%s", parts[term].name);
        table_cell(table, "%s", step_text(parts[term].value, text));
        table_cell(table, "%s", share_text(parts[term].value / seconds, share));
    }
}

bool picture_kernels(const ServingReport *report, Arena *arena, FILE *out, Prose *words, Table *table) {
    ShownPool pools[SHOWN_POOLS_MAX];
    Part parts[STEP_TERMS];
    int count = shown_pools(report, pools);
    char text[NUMBER_TEXT_SIZE];
    double most = 0, bottom = 24 + ROW * count;
    if (count == 0) return false;
    for (int i = 0; i < count; i++) most = max_real(most, pools[i].pool->step.seconds);
    const StepCost *first = &pools[0].pool->step;
    prose_add(words, "A step of the first takes %s; it is held up by %s.", step_text(first->seconds, text),
              held_by_name(step_held_by(first)));
    SvgScale scale = {0, most * 1.02, LEFT, RIGHT, false};
    Svg svg = svg_open(out, "kernels-svg", WIDTH, bottom + 100, "The time of a step by kernel", words->text);
    svg_axis_x(&svg, &scale, 8, bottom, 8, svg_say_seconds, "");
    *table = table_new(arena, "The time of a step by kernel", "point|kernel|>seconds|>share");
    for (int i = 0; i < count; i++) {
        double y = 12 + ROW * i;
        step_parts(&pools[i].pool->step, parts);
        svg_text(&svg, LEFT, y + 10, "start", "small", "%s", pools[i].name);
        draw_parts(&svg, &scale, y + 16, parts, STEP_TERMS, false);
        svg_text(&svg, WIDTH - 8, y + 31, "end", "head", "%s", step_text(pools[i].pool->step.seconds, text));
        list_steps(table, &pools[i], parts);
    }
    draw_legend(&svg, bottom + 48, parts, STEP_TERMS);
    svg_close(&svg);
    return true;
}
