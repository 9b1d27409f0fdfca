/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/baseline/diff_tables.h"

#include "base/util.h"

#include <math.h>
#include <string.h>

enum { COLUMNS_MAX = 6, CELL_SIZE = 512, CELL_COLUMNS = 34 };

static const char NUMBERS[] = "|>A|>B|>change";

static Table begin_table(Arena *arena, const char *headings) {
    Table table = table_new(arena, NULL, headings);
    for (int c = 0; c < table.columns; c++) table_wrap(&table, c, CELL_COLUMNS);
    return table;
}

static void add_row(Table *table, const char *const *cells) {
    char own[COLUMNS_MAX][CELL_SIZE];
    const char *shown[COLUMNS_MAX];
    for (int c = 0; c < table->columns; c++) shown[c] = clean_text(cells[c], own[c], CELL_SIZE);
    table_row(table, shown);
}

Table diff_texts_table(const DiffText *list, int count, Arena *arena) {
    Table table = begin_table(arena, "|A|B");
    for (int i = 0; i < count; i++)
        add_row(&table,
                (const char *const[]){list[i].name, list[i].a[0] ? list[i].a : "-", list[i].b[0] ? list[i].b : "-"});
    return table;
}

Table diff_figures_table(const Diff *diff, Arena *arena) {
    Table table = begin_table(arena, NUMBERS);
    for (int i = 0; i < diff->figure_count; i++) {
        const DiffFigure *figure = &diff->figures[i];
        char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], change[NUMBER_TEXT_SIZE];
        add_row(&table, (const char *const[]){figure->words, figure->unit(figure->a, a), figure->unit(figure->b, b),
                                              diff_change(figure->a, figure->b, change)});
    }
    return table;
}

/* What is nothing in both is left out. */
static Table parts_table(const PartChange *parts, int count, double whole,
                         const char *(*unit)(double value, char *text), Arena *arena) {
    Table table = begin_table(arena, NUMBERS);
    for (int i = 0; i < count; i++) {
        char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], size[NUMBER_TEXT_SIZE], change[NUMBER_TEXT_SIZE + 1] = "none";
        double moved = parts[i].now - parts[i].was;
        if (fabs(parts[i].was) < 1e-9 * whole && fabs(parts[i].now) < 1e-9 * whole) continue;
        if (fabs(moved) >= 1e-9 * whole)
            snprintf(change, sizeof change, "%c%s", moved > 0 ? '+' : '-', unit(fabs(moved), size));
        add_row(&table, (const char *const[]){parts[i].name, unit(parts[i].was, a), unit(parts[i].now, b), change});
    }
    return table;
}

Table diff_step_table(const Diff *diff, Arena *arena) {
    return parts_table(diff->step, diff->step_count, diff->b.best.seconds, number_time, arena);
}

Table diff_memory_table(const Diff *diff, Arena *arena) {
    return parts_table(diff->memory, diff->memory_count, diff->b.best.hbm_bytes, number_bytes, arena);
}

static const char *rank_text(int rank, char *text) {
    if (rank == 0) return "-";
    snprintf(text, NUMBER_TEXT_SIZE, "%d", rank);
    return text;
}

Table diff_plans_table(const Diff *diff, Arena *arena) {
    Table table = begin_table(arena, "plan|>in A|>in B|>step A|>step B|>change");
    for (int i = 0; i < diff->plans_count; i++) {
        const DiffPlan *plan = &diff->plans[i];
        char in_a[NUMBER_TEXT_SIZE], in_b[NUMBER_TEXT_SIZE], a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE],
            change[NUMBER_TEXT_SIZE];
        PlanMove move = diff_plan_move(diff, plan);
        add_row(&table,
                (const char *const[]){plan->label, rank_text(plan->rank_a, in_a), rank_text(plan->rank_b, in_b),
                                      plan->rank_a ? step_text(plan->seconds_a, a) : "-",
                                      plan->rank_b ? step_text(plan->seconds_b, b) : "-",
                                      move == PLAN_IN_BOTH ? diff_change(plan->seconds_a, plan->seconds_b, change)
                                      : move == PLAN_NEW   ? "new"
                                      : move == PLAN_GONE  ? "gone"
                                                           : "not listed"});
    }
    return table;
}
