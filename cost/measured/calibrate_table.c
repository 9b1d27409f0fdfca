/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/measured/calibrate_table.h"

#include <stdarg.h>
#include <string.h>

static void add(CalibrationTable *table, const char *text) {
    if (!text || table->failed) {
        table->failed = true;
        return;
    }
    if (table->count == table->room) {
        int room = table->room ? 2 * table->room : 128;
        const char **cells = ARENA_NEW(table->arena, const char *, (size_t)room);
        table->failed = !cells;
        if (!cells) return;
        if (table->count > 0) memcpy(cells, table->cells, (size_t)table->count * sizeof *cells);
        table->cells = cells;
        table->room = room;
    }
    table->cells[table->count++] = text;
}

CalibrationTable table_start(Arena *arena, int columns, int left, const char *const *heading) {
    CalibrationTable table = {.arena = arena, .columns = columns, .left = left};
    for (int i = 0; i < columns; i++) add(&table, heading[i]);
    return table;
}

void table_cell(CalibrationTable *table, const char *format, ...) {
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    add(table, arena_text(table->arena, text));
}

/* Counts characters, not bytes: a +- sign is one. */
static int width_of(const char *text) {
    int width = 0;
    for (; *text; text++) width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

static void print_padded(FILE *out, const char *text, int width, bool left) {
    int blanks = width - width_of(text);
    if (!left) fprintf(out, "%*s", blanks, "");
    fputs(text, out);
    if (left) fprintf(out, "%*s", blanks, "");
}

bool table_print(FILE *out, const CalibrationTable *table, bool markdown) {
    int widths[TABLE_COLUMNS_MAX] = {0};
    if (table->failed) return false;
    for (int i = 0; i < table->count; i++) {
        int width = width_of(table->cells[i]), *widest = &widths[i % table->columns];
        if (width > *widest) *widest = width;
    }
    for (int row = 0; row < table->count / table->columns; row++) {
        const char *const *cells = table->cells + row * table->columns;
        for (int i = 0; i < table->columns; i++) {
            bool left = i < table->left, last = i == table->columns - 1;
            if (markdown)
                fprintf(out, "| %s%s", cells[i], last ? " |" : " ");
            else if (last && !cells[i][0])
                continue; /* no blanks at the end of a line */
            else if (last && left)
                fprintf(out, "  %s", cells[i]);
            else {
                fputs(i == 0 ? "" : "  ", out);
                print_padded(out, cells[i], widths[i], left);
            }
        }
        fputc('\n', out);
        if (!markdown || row > 0) continue;
        for (int i = 0; i < table->columns; i++) fputs(i < table->left ? "|---" : "|---:", out);
        fputs("|\n", out);
    }
    return true;
}
