/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HBM by row against the limit: each moment of plan 1 that can peak; beside it what the other plans have more or less
 * of at their peaks. Without a plan what the one that lacks least would need. */
#include "search/report/html/part_bars.h"
#include "search/report/html/pictures.h"

#include "base/util.h"

static const double WIDTH = SVG_PANEL, LEFT = 6, RIGHT = 374, BAR = 18, ROW = 42, TOP = 26;
enum { BARS_MAX = 14, ROWS = MEMORY_TRANSIENT + 1 };

static const Paint PAINTS[ROWS] = {PAINT_MATMUL, PAINT_TENSOR,   PAINT_OPTIMIZER, PAINT_ATTENTION,
                                   PAINT_FSDP,   PAINT_PIPELINE, PAINT_SEQUENCE};

typedef struct {
    char name[64];
    MemoryRows rows;
    bool peak, own; /* own: a moment of plan 1 */
} Bar;

static int list_bars(const PageView *view, Bar bars[BARS_MAX], double *limit, double *reserve) {
    const Request *request = view->report->request;
    const SearchResult *result = &view->report->result;
    const RankedPlan *first = view_first(view);
    int count = 0;
    CostContext setting = request_cost_context(request);
    *limit = cost_context_memory_limit(&setting);
    *reserve = setting.chip->hbm_bytes.value - *limit;
    if (!first) {
        if (!result->shortfall.known) return 0;
        bars[count] = (Bar){.rows = result->shortfall.memory, .peak = true};
        if (memory_total(&bars[count].rows) <= 0) bars[count].rows.optimizer_bytes = result->shortfall.needed_bytes;
        snprintf(bars[count++].name, sizeof bars[0].name, "the plan closest to fitting");
        for (int i = 0; i < view->report->nearest_count; i++) {
            bars[count] = (Bar){.rows = view->report->nearest[i].estimate.memory, .peak = true};
            snprintf(bars[count++].name, sizeof bars[0].name, "on %.40s", view->report->nearest[i].machine.text);
        }
        return count;
    }
    bool stages = first->plan.degrees.of[ROLE_PIPELINE] > 1;
    setting.work = first->work;
    for (int i = 0; i < MOMENT_COUNT; i++) {
        if (i == MOMENT_LAST_BACKWARD && !stages) continue;
        Bar *bar = &bars[count++];
        *bar = (Bar){.peak = i == (int)first->estimate.moment, .own = true};
        plan_memory(&setting, &first->estimate.shard, &first->plan, (Moment)i, &bar->rows);
        snprintf(bar->name, sizeof bar->name, "%s", moment_text((Moment)i, stages));
    }
    return count;
}

static void draw_bar(Svg *svg, const SvgScale *scale, double y, const Bar *bar) {
    double start = 0;
    for (int row = 0; row < ROWS; row++) {
        double bytes = memory_row_bytes(&bar->rows, (MemoryRow)row), from = svg_at(scale, start);
        char tip[96], text[NUMBER_TEXT_SIZE];
        start += bytes;
        if (!(bytes > 0)) continue;
        snprintf(tip, sizeof tip, "%s: %s", memory_row_name((MemoryRow)row), number_bytes(bytes, text));
        svg_bar(svg, from, y, svg_at(scale, start) - from, BAR, PAINTS[row], tip);
    }
}

static void list_bar(Table *table, const Bar *bar) {
    char texts[ROWS + 1][NUMBER_TEXT_SIZE];
    const char *cells[ROWS + 2] = {bar->name};
    for (int row = 0; row < ROWS; row++)
        cells[1 + row] = number_bytes(memory_row_bytes(&bar->rows, (MemoryRow)row), texts[row]);
    cells[1 + ROWS] = number_bytes(memory_total(&bar->rows), texts[ROWS]);
    table_row(table, cells);
}

static void draw_limit(Svg *svg, const SvgScale *scale, double limit, double bottom) {
    char text[NUMBER_TEXT_SIZE];
    double at = svg_at(scale, limit);
    svg_line(svg, at, 18, at, bottom, "roof thick");
    svg_text(svg, min_real(WIDTH - 50, max_real(50, at)), 13, "middle", "head", "limit %s", number_bytes(limit, text));
}

/* The moments of plan 1, or how far off the nearest plan is. */
static void draw_moments(FILE *out, const Bar *bars, int count, double limit, double reserve, const char *words) {
    double most = 0, bottom = TOP + ROW * count;
    char text[NUMBER_TEXT_SIZE];
    bool used[ROWS] = {false};
    for (int i = 0; i < count; i++) {
        most = max_real(most, memory_total(&bars[i].rows));
        for (int row = 0; row < ROWS; row++)
            used[row] = used[row] || memory_row_bytes(&bars[i].rows, (MemoryRow)row) > 0;
    }
    SvgScale scale = {0, max_real(most, limit + reserve) * 1.02, LEFT, RIGHT, false};
    Svg svg = svg_open(out, "memory-svg", WIDTH, bottom + 84, "HBM per chip by row, against the limit", words);
    svg_bar(&svg, svg_at(&scale, limit), 20, svg_at(&scale, limit + reserve) - svg_at(&scale, limit), bottom - 20,
            PAINT_BUBBLE, "reserved");
    svg_axis_x(&svg, &scale, 6, bottom, 20, svg_say_bytes, "");
    for (int i = 0; i < count; i++) {
        double y = TOP + ROW * i;
        const char *style = bars[i].peak ? "head" : NULL;
        svg_text(&svg, LEFT, y + 11, "start", style, "%s: %s", bars[i].name,
                 number_bytes(memory_total(&bars[i].rows), text));
        draw_bar(&svg, &scale, y + 16, &bars[i]);
    }
    draw_limit(&svg, &scale, limit, bottom);
    SvgLegend legend = {LEFT, RIGHT, LEFT, bottom + 38};
    for (int row = 0; row < ROWS; row++)
        if (used[row]) svg_legend_add_bar(&svg, &legend, PAINTS[row], memory_row_name((MemoryRow)row));
    svg_legend_add_bar(&svg, &legend, PAINT_BUBBLE, "reserved");
    svg_close(&svg);
}

/* At their peaks. */
static bool draw_others(const PageView *view, FILE *out, const char *words, Table *table) {
    const SearchResult *result = &view->report->result;
    PartBars *wholes = ARENA_NEW(view->arena, PartBars, 1);
    if (!wholes) return false;
    wholes->say = svg_say_bytes, wholes->amount = number_bytes;
    wholes->wholes = (int)min_whole(result->plan_count, WHOLES_MAX);
    for (int w = 0; w < wholes->wholes; w++) {
        const MemoryRows *rows = &result->plans[w].estimate.memory;
        Whole *whole = &wholes->whole[w];
        Bar bar = {.rows = *rows};
        char label[WORDS_SIZE];
        snprintf(whole->label, sizeof whole->label, "%d  %.300s", w + 1, plan_label(&result->plans[w], label));
        whole->total = memory_total(rows);
        for (int row = 0; row < ROWS; row++)
            whole->of[part_bars_part(wholes, memory_row_name((MemoryRow)row), PAINTS[row])] =
                memory_row_bytes(rows, (MemoryRow)row);
        snprintf(bar.name, sizeof bar.name, "plan %d at its peak", w + 1);
        if (w > 0) list_bar(table, &bar);
    }
    part_bars_draw_others(wholes, "memory-others-svg", "Where HBM of the other plans differs", words, out);
    return true;
}

bool picture_memory(const PageView *view, FILE *out, Prose *words, Table *table) {
    Bar bars[BARS_MAX];
    double limit, reserve;
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE];
    int count = list_bars(view, bars, &limit, &reserve);
    const RankedPlan *first = view_first(view);
    if (count == 0) return false;
    if (first)
        prose_add(words, "%s takes %s of the %s that plans may use (%s); %s are reserved.", view_plan(view),
                  number_bytes(memory_total(&first->estimate.memory), a), number_bytes(limit, b),
                  moment_text(first->estimate.moment, first->plan.degrees.of[ROLE_PIPELINE] > 1),
                  number_bytes(reserve, c));
    else
        prose_add(words, "The plan closest to fitting needs %s of HBM per chip; plans may use %s, and %s are reserved.",
                  number_bytes(memory_total(&bars[0].rows), a), number_bytes(limit, b), number_bytes(reserve, c));
    int plans = view->report->result.plan_count;
    if (plans > WHOLES_MAX) prose_add(words, " The first %d of %d plans are shown.", WHOLES_MAX, plans);
    *table = table_new(view->arena, "HBM per chip by row",
                       "moment|>parameters|>gradients|>optimizer|>activations|>gathered|>logits|>transients|>total");
    draw_moments(out, bars, count, limit, reserve, words->text);
    for (int i = 0; i < count; i++) list_bar(table, &bars[i]);
    if (first && !draw_others(view, out, words->text, table)) table->failed = true;
    return true;
}
