/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text/table.h"

#include "base/escape.h"

#include <stdarg.h>
#include <string.h>

Table table_new(Arena *arena, const char *caption, const char *headings) {
    Table table = {.arena = arena, .caption = caption, .gap = 2};
    char *text = arena_text(arena, headings ? headings : "");
    table.failed = text == NULL;
    while (headings && text) {
        char *end = strchr(text, '|');
        if (end) *end = '\0';
        table_column(&table, text + (*text == '>'), *text == '>');
        text = end ? end + 1 : NULL;
    }
    return table;
}

static bool make_room(Table *table) {
    if (table->columns < table->column_room) return true;
    int room = table->column_room ? 2 * table->column_room : 16;
    TableColumn *columns = ARENA_NEW(table->arena, TableColumn, (size_t)room);
    if (!columns) return false;
    if (table->columns > 0) memcpy(columns, table->column, (size_t)table->columns * sizeof *columns);
    table->column = columns;
    table->column_room = room;
    return true;
}

void table_column(Table *table, const char *heading, bool right) {
    if (make_room(table))
        table->column[table->columns++] = (TableColumn){.name = heading, .right = right};
    else
        table->failed = true;
}

void table_wrap(Table *table, int column, int columns) {
    if (column < table->columns) table->column[column].wrap = columns;
}

void table_may_drop(Table *table, int column) {
    if (column < table->columns) table->column[column].drop = ++table->drops;
}

void table_is_markdown(Table *table, int column) {
    if (column < table->columns) table->column[column].markdown = true;
}

/* Adds a row of empty cells. NULL means that memory is out. */
static TableRow *add_row(Table *table) {
    TableRow *row = ARENA_NEW(table->arena, TableRow, 1);
    if (row) row->cell = ARENA_NEW(table->arena, const char *, (size_t)table->columns);
    if (!row || !row->cell || table->failed) {
        table->failed = true;
        return NULL;
    }
    for (int c = 0; c < table->columns; c++) row->cell[c] = "";
    *(table->last ? &table->last->next : &table->first) = row;
    table->last = row;
    table->rows++;
    return row;
}

/* We copy all texts into one piece, because an arena rounds each piece up. */
void table_row(Table *table, const char *const *cells) {
    size_t size = 0;
    for (int c = 0; c < table->columns; c++) size += cells[c] ? strlen(cells[c]) + 1 : 0;
    TableRow *row = add_row(table);
    char *text = row ? arena_alloc(table->arena, size, 1) : NULL;
    table->failed = table->failed || !text;
    table->pending = 0;
    for (int c = 0; c < table->columns && text; c++) {
        if (!cells[c]) continue;
        row->cell[c] = strcpy(text, cells[c]);
        text += strlen(text) + 1;
    }
}

void table_cell(Table *table, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const char *text = arena_format_list(table->arena, format, arguments);
    va_end(arguments);
    if (table->pending == 0 && add_row(table)) table->pending = table->columns;
    table->failed = table->failed || !text;
    if (!table->failed && table->pending > 0) table->last->cell[table->columns - table->pending--] = text;
}

/* A table as CSV, Markdown and HTML. */

/* A number is not a formula, though it may begin with a minus. */
static void write_csv_cell(const char *text, bool number, FILE *out) {
    if (number)
        fputs(text, out);
    else
        escape_write(ESCAPE_CSV, text, out);
}

bool table_write_csv(const Table *table, FILE *out) {
    if (table->failed) return false;
    for (int c = 0; c < table->columns; c++) {
        if (c > 0) fputc(',', out);
        write_csv_cell(table->column[c].name ? table->column[c].name : "", false, out);
    }
    fputc('\n', out);
    for (const TableRow *row = table->first; row; row = row->next) {
        for (int c = 0; c < table->columns; c++) {
            if (c > 0) fputc(',', out);
            write_csv_cell(row->cell[c], table->column[c].right, out);
        }
        fputc('\n', out);
    }
    return true;
}

static void write_markdown_cell(const char *text, bool is_markdown, FILE *out) {
    fputs("| ", out);
    if (is_markdown)
        fputs(text, out);
    else
        escape_write(ESCAPE_MARKDOWN, text, out);
    fputc(' ', out);
}

bool table_write_markdown(const Table *table, FILE *out) {
    if (table->failed) return false;
    for (int c = 0; c < table->columns; c++) {
        if (table->column[c].name)
            write_markdown_cell(table->column[c].name, false, out);
        else
            fputs("| ", out);
    }
    fputs("|\n", out);
    for (int c = 0; c < table->columns; c++) fputs(table->column[c].right ? "|---:" : "|---", out);
    fputs("|\n", out);
    for (const TableRow *row = table->first; row; row = row->next) {
        for (int c = 0; c < table->columns; c++) write_markdown_cell(row->cell[c], table->column[c].markdown, out);
        fputs("|\n", out);
    }
    return true;
}
