/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bars of the pools that are shown: the memory of a chip by row, and the time of a step by kernel. */
#include "base/text/bars.h"
#include "search/serving/report/serving_report.h"

static const double WIDTH = 860;

static int shown_pools(const ServingReport *report, ShownPool list[SHOWN_POOLS_MAX]) {
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

/* A row for each pool that is shown, without parts yet. NULL: memory is out. */
static Bars *bars_of(const ShownPool *pools, int count, SvgSay *say, SvgSay *amount, Arena *arena) {
    Bars *bars = ARENA_NEW(arena, Bars, 1);
    if (!bars) return NULL;
    bars->rows = count, bars->say = say, bars->amount = amount;
    for (int i = 0; i < count; i++) snprintf(bars->row[i].label, sizeof bars->row[i].label, "%.300s", pools[i].name);
    return bars;
}

static void add_part(Bars *bars, int row, const ServingPart *part, double value) {
    bars->row[row].of[bars_part(bars, part->name, part->paint)] = value;
    bars->row[row].total += value;
}

bool picture_chip(const ServingReport *report, Arena *arena, FILE *out, Prose *words, Table *table) {
    static const ServingPart WEIGHTS = {"weights", PAINT_MATMUL}, CACHE = {"cache", PAINT_ATTENTION},
                             ACTIVATIONS = {"activations", PAINT_ELEMENTWISE},
                             BUFFERS = {"graphs and buffers", PAINT_OTHER};
    ShownPool pools[SHOWN_POOLS_MAX];
    int count = shown_pools(report, pools);
    char text[NUMBER_TEXT_SIZE], limit[NUMBER_TEXT_SIZE];
    if (count == 0) return false;
    Bars *bars = bars_of(pools, count, svg_say_bytes, number_bytes, arena);
    if (!bars) return table->failed = true;
    for (int i = 0; i < count; i++) {
        const WorkerMemory *memory = &pools[i].pool->memory;
        add_part(bars, i, &WEIGHTS, memory->weights_bytes);
        add_part(bars, i, &CACHE, memory->kv_bytes);
        add_part(bars, i, &ACTIVATIONS, memory->activations_bytes);
        add_part(bars, i, &BUFFERS, memory->workspace_bytes);
        bars->row[i].limit = memory->limit_bytes;
    }
    prose_add(words,
              "A chip of the first holds %s of the %s that its engine may use, every sequence at its full length.",
              number_bytes(bars->row[0].total, text), number_bytes(bars->row[0].limit, limit));
    bars_draw_stacked(bars, "chip-svg", "Memory of a chip by row, against the limit", words->text, WIDTH, out);
    *table = bars_table(bars, arena, "Memory of a chip", "point");
    return true;
}

static void list_steps(Table *table, const Bars *bars) {
    char text[NUMBER_TEXT_SIZE], share[NUMBER_TEXT_SIZE];
    for (int i = 0; i < bars->rows; i++)
        for (int part = 0; part < bars->parts; part++) {
            double seconds = bars->row[i].of[part];
            if (!(seconds > 0)) continue;
            table_cell(table, "%s", bars->row[i].label);
            table_cell(table, "%s", bars->name[part]);
            table_cell(table, "%s", step_text(seconds, text));
            table_cell(table, "%s", share_text(seconds / bars->row[i].total, share));
        }
}

const ServingPart STEP_PARTS[STEP_TERMS] = {[STEP_MATMUL] = {"matmuls", PAINT_MATMUL},
                                            [STEP_ATTENTION] = {"attention", PAINT_ATTENTION},
                                            [STEP_EXPERTS] = {"experts", PAINT_FORWARD},
                                            [STEP_REDUCE] = {"all_reduce and cache moves", PAINT_TENSOR},
                                            [STEP_EXCHANGE] = {"tokens to experts and back", PAINT_EXPERT},
                                            [STEP_LAYERS] = {"small kernels", PAINT_ELEMENTWISE},
                                            [STEP_HEAD] = {"head", PAINT_RECOMPUTE},
                                            [STEP_PASS] = {"between stages", PAINT_PIPELINE},
                                            [STEP_DRAFT] = {"drafts", PAINT_BACKWARD},
                                            [STEP_HOST] = {"host and sampling", PAINT_OTHER}};

bool picture_kernels(const ServingReport *report, Arena *arena, FILE *out, Prose *words, Table *table) {
    ShownPool pools[SHOWN_POOLS_MAX];
    int count = shown_pools(report, pools);
    char text[NUMBER_TEXT_SIZE];
    if (count == 0) return false;
    Bars *bars = bars_of(pools, count, svg_say_seconds, step_text, arena);
    if (!bars) return table->failed = true;
    for (int i = 0; i < count; i++) {
        for (int term = 0; term < STEP_TERMS; term++)
            add_part(bars, i, &STEP_PARTS[term], pools[i].pool->step.terms[term]);
        bars->row[i].total = pools[i].pool->step.seconds;
    }
    const StepCost *first = &pools[0].pool->step;
    prose_add(words, "A step of the first takes %s; it is held up by %s.", step_text(first->seconds, text),
              held_by_name(step_held_by(first)));
    bars_draw_stacked(bars, "kernels-svg", "The time of a step by kernel", words->text, WIDTH, out);
    *table = table_new(arena, "The time of a step by kernel", "point|kernel|>seconds|>share");
    list_steps(table, bars);
    return true;
}
