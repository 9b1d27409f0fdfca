/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/table.h"

#include <libsmartcols.h>
#include <stdlib.h>
#include <string.h>

struct Table {
    struct libscols_table *lines;
    size_t columns;
};

static bool set_up(Table *table, const TableColumn *columns, size_t count) {
    table->lines = scols_new_table();
    bool ok = table->lines && scols_table_set_termforce(table->lines, SCOLS_TERMFORCE_NEVER) == 0 &&
              scols_table_set_column_separator(table->lines, "  ") == 0;
    for (size_t i = 0; i < count && ok; i++) {
        struct libscols_column *column = scols_table_new_column(
            table->lines, columns[i].name, 0, SCOLS_FL_WRAP | (columns[i].right ? SCOLS_FL_RIGHT : 0));
        ok = column && scols_column_set_safechars(column, "\n") == 0 &&
             scols_column_set_wrapfunc(column, scols_wrapnl_chunksize, scols_wrapnl_nextchunk, NULL) == 0;
    }
    return ok;
}

Table *table_new(const TableColumn *columns, size_t count) {
    Table *table = calloc(1, sizeof *table);
    if (!table) return NULL;
    table->columns = count;
    if (set_up(table, columns, count)) return table;
    table_free(table);
    return NULL;
}

bool table_row(Table *table, const char *const *cells) {
    struct libscols_line *line = scols_table_new_line(table->lines, NULL);
    bool ok = line != NULL;
    for (size_t i = 0; i < table->columns && ok; i++) ok = scols_line_set_data(line, i, cells[i] ? cells[i] : "") == 0;
    return ok;
}

bool table_write(Table *table, const char *indent, FILE *out) {
    char *text = NULL;
    if (scols_print_table_to_string(table->lines, &text) != 0) return false;
    for (const char *line = text; line && *line;) {
        size_t length = strcspn(line, "\n"), shown = length;
        while (shown > 0 && line[shown - 1] == ' ') shown--;
        fprintf(out, "%s%.*s\n", shown ? indent : "", (int)shown, line);
        line += length + (line[length] == '\n');
    }
    free(text);
    return true;
}

void table_free(Table *table) {
    if (!table) return;
    scols_unref_table(table->lines);
    free(table);
}

void table_wrap(char *text, int columns) {
    char *start = text, *blank = NULL;
    for (char *at = text; *at; at++) {
        if (*at == ' ') blank = at;
        if (at - start < columns || !blank) continue;
        *blank = '\n';
        start = blank + 1;
        blank = NULL;
    }
}
