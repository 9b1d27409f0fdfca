/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HBM by row against the limit: each moment of plan 1 that can peak; alongside it what the other plans have more or
 * less of at their peaks. Without a plan what the one that lacks least would need. */
#include "search/report/html/pictures.h"

enum { ROWS = MEMORY_TRANSIENT + 1 };

static const Paint PAINTS[ROWS] = {PAINT_MATMUL, PAINT_TENSOR,   PAINT_OPTIMIZER, PAINT_ATTENTION,
                                   PAINT_FSDP,   PAINT_PIPELINE, PAINT_SEQUENCE};

void memory_bar(Bars *bars, const MemoryRows *rows, double limit, const char *label) {
    if (bars->rows == BAR_ROWS_MAX) return;
    BarRow *to = &bars->row[bars->rows++];
    snprintf(to->label, sizeof to->label, "%s", label);
    to->total = memory_total(rows), to->limit = limit;
    for (int row = 0; row < ROWS; row++)
        to->of[bars_part(bars, memory_row_name((MemoryRow)row), PAINTS[row])] = memory_row_bytes(rows, (MemoryRow)row);
}

/* The moments of plan 1 that can peak. */
static void add_moments(const PageView *view, const RankedPlan *first, double limit, Bars *bars) {
    CostContext setting = ranked_cost_context(view->report->request, first);
    bool stages = first->plan.degrees.of[ROLE_PIPELINE] > 1;
    for (int i = 0; i < MOMENT_COUNT; i++) {
        MemoryRows rows;
        char label[WORDS_SIZE];
        if (i == MOMENT_LAST_BACKWARD && !stages) continue;
        plan_memory(&setting, &first->estimate.shard, &first->plan, (Moment)i, &rows);
        snprintf(label, sizeof label, "%s%s", moment_text((Moment)i, stages),
                 i == (int)first->estimate.moment ? " (the peak)" : "");
        memory_bar(bars, &rows, limit, label);
    }
}

/* The plan that lacks least, here and on other machines. */
static void add_nearest(const PageView *view, double limit, Bars *bars) {
    const SearchResult *result = &view->report->result;
    MemoryRows rows = result->shortfall.memory;
    if (memory_total(&rows) <= 0) rows.optimizer_bytes = result->shortfall.needed_bytes;
    memory_bar(bars, &rows, limit, "the plan closest to fitting");
    for (int i = 0; i < view->report->nearest_count; i++) {
        char label[WORDS_SIZE];
        snprintf(label, sizeof label, "on %.40s", view->report->nearest[i].machine.text);
        memory_bar(bars, &view->report->nearest[i].estimate.memory, limit, label);
    }
}

/* At their peaks. */
static void add_plans(const PageView *view, Bars *bars) {
    const SearchResult *result = &view->report->result;
    for (int i = 0; i < result->plan_count && i < PLANS_SHOWN; i++) {
        char label[WORDS_SIZE], plan[WORDS_SIZE];
        snprintf(label, sizeof label, "%d  %.300s", i + 1, plan_label(&result->plans[i], plan));
        memory_bar(bars, &result->plans[i].estimate.memory, 0, label);
    }
}

bool picture_memory(const PageView *view, FILE *out, Prose *words, Table *table) {
    const RankedPlan *first = view_first(view);
    CostContext setting = request_cost_context(view->report->request);
    double limit = cost_context_memory_limit(&setting), reserve = setting.chip->hbm_bytes.value - limit;
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE];
    Bars *moments = ARENA_NEW(view->arena, Bars, 1), *plans = ARENA_NEW(view->arena, Bars, 1);
    if (!first && !view->report->result.shortfall.known) return false;
    if (!moments || !plans) return table->failed = true;
    moments->say = plans->say = svg_say_bytes, moments->amount = plans->amount = number_bytes;
    if (first)
        add_moments(view, first, limit, moments);
    else
        add_nearest(view, limit, moments);
    add_plans(view, plans);
    if (first)
        prose_add(words, "%s takes %s of the %s that plans may use (%s); %s are reserved.", view_plan(view),
                  number_bytes(memory_total(&first->estimate.memory), a), number_bytes(limit, b),
                  moment_text(first->estimate.moment, first->plan.degrees.of[ROLE_PIPELINE] > 1),
                  number_bytes(reserve, c));
    else
        prose_add(words, "The plan closest to fitting needs %s of HBM per chip; plans may use %s, and %s are reserved.",
                  number_bytes(moments->row[0].total, a), number_bytes(limit, b), number_bytes(reserve, c));
    int count = view->report->result.plan_count;
    if (count > PLANS_SHOWN) prose_add(words, " The first %d of %d plans are shown.", PLANS_SHOWN, count);
    moments->heading = "HBM per chip";
    bars_draw_stacked(moments, "memory-svg", "HBM per chip, row by row, against its limit", words->text, SVG_PANEL,
                      out);
    bars_draw_others(plans, "memory-others-svg", "Where HBM of the other plans differs", words->text, out);
    *table = bars_table(moments, view->arena, "HBM per chip by row", "moment, or plan at its peak");
    bars_list(plans, 1, table);
    return true;
}
