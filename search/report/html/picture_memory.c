/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HBM by row against the limit: each moment of plan 1 that can peak, then the peaks of the other plans; without a plan
 * what the one that lacks least would need. */
#include "search/report/html/pictures.h"

#include "base/util.h"

static const double WIDTH = 860, LEFT = 214, RIGHT = 770, BAR = 22, ROW = 34;
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
    for (int i = 1; i < result->plan_count && count < BARS_MAX - 4; i++) {
        bars[count] = (Bar){.rows = result->plans[i].estimate.memory, .peak = true};
        snprintf(bars[count++].name, sizeof bars[0].name, "plan %d at its peak", i + 1);
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

bool picture_memory(const PageView *view, FILE *out, Prose *words, Table *table) {
    Bar bars[BARS_MAX];
    double limit, reserve, most = 0;
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE], text[NUMBER_TEXT_SIZE];
    int count = list_bars(view, bars, &limit, &reserve);
    const RankedPlan *first = view_first(view);
    if (count == 0) return false;
    for (int i = 0; i < count; i++) most = max_real(most, memory_total(&bars[i].rows));
    if (first)
        prose_add(words, "Plan 1 takes %s of the %s that plans may use (%s); %s are reserved.",
                  number_bytes(memory_total(&first->estimate.memory), a), number_bytes(limit, b),
                  moment_text(first->estimate.moment, first->plan.degrees.of[ROLE_PIPELINE] > 1),
                  number_bytes(reserve, c));
    else
        prose_add(words, "The plan closest to fitting needs %s of HBM per chip; plans may use %s, and %s are reserved.",
                  number_bytes(memory_total(&bars[0].rows), a), number_bytes(limit, b), number_bytes(reserve, c));

    int shown = first ? 1 : 0, plans = view->report->result.plan_count;
    for (int i = 0; i < count; i++) shown += first && !bars[i].own;
    if (shown < plans) prose_add(words, " The first %d of %d plans are shown.", shown, plans);
    SvgScale scale = {0, max_real(most, limit + reserve) * 1.02, LEFT, RIGHT, false};
    double bottom = 34 + ROW * count;
    Svg svg = svg_open(out, "memory-svg", WIDTH, bottom + 74, "HBM per chip by row, against the limit", words->text);
    svg_bar(&svg, svg_at(&scale, limit), 26, svg_at(&scale, limit + reserve) - svg_at(&scale, limit), bottom - 26,
            PAINT_BUBBLE, "reserved");
    svg_axis_x(&svg, &scale, 8, bottom, 26, svg_say_bytes, "");
    *table = table_new(view->arena, "HBM per chip by row",
                       "moment|>parameters|>gradients|>optimizer|>activations|>gathered|>logits|>transients|>total");
    for (int i = 0; i < count; i++) {
        double y = 32 + ROW * i, total = memory_total(&bars[i].rows);
        svg_text(&svg, LEFT - 8, y + 15, "end", bars[i].own && bars[i].peak ? "head" : NULL, "%s", bars[i].name);
        draw_bar(&svg, &scale, y, &bars[i]);
        svg_text(&svg, WIDTH - 8, y + 15, "end", bars[i].peak ? "head" : NULL, "%s", number_bytes(total, text));
        list_bar(table, &bars[i]);
    }
    double at = svg_at(&scale, limit);
    svg_line(&svg, at, 20, at, bottom, "roof thick");
    svg_text(&svg, at, 14, at > WIDTH - 150 ? "end" : "middle", "head", "limit %s", number_bytes(limit, text));
    double x = 24;
    for (int row = 0; row < ROWS; row++)
        x += svg_legend_bar(&svg, x, bottom + 48, PAINTS[row], memory_row_name((MemoryRow)row));
    svg_legend_bar(&svg, x, bottom + 48, PAINT_BUBBLE, "reserved");
    svg_close(&svg);
    return true;
}
