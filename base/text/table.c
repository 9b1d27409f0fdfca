/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text/table.h"

#include "base/text/terminal.h"

#include <libsmartcols.h>
#include <stdlib.h>
#include <string.h>

enum { DROPS_MAX = 8 };

struct Table {
    struct libscols_table *lines;
    size_t columns;
    size_t drops[DROPS_MAX]; /* columns that may go, first to last */
    size_t drop_count;
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

void table_may_drop(Table *table, size_t column) {
    if (table && column < table->columns && table->drop_count < DROPS_MAX) table->drops[table->drop_count++] = column;
}

/* The next of a text's lines, without its trailing blanks: *text goes on behind it. NULL: there is none. */
static const char *next_line(const char **text, size_t *shown) {
    const char *line = *text;
    if (!line || !*line) return NULL;
    size_t length = strcspn(line, "\n");
    *text = line + length + (line[length] == '\n');
    for (*shown = length; *shown > 0 && line[*shown - 1] == ' ';) --*shown;
    return line;
}

static size_t widest_line(const char *text) {
    size_t widest = 0, shown;
    while (next_line(&text, &shown))
        if (shown > widest) widest = shown;
    return widest;
}

/* The table as text; without the columns that the page has no room for. The caller frees. NULL: memory is out. */
static char *print_to_fit(Table *table, size_t indent, Terminal terminal) {
    char *text = NULL;
    size_t room = (size_t)terminal.columns;
    for (size_t next = 0;; next++) {
        if (scols_print_table_to_string(table->lines, &text) != 0) return NULL;
        if (room == 0 || !text || indent + widest_line(text) <= room || next == table->drop_count) return text;
        struct libscols_column *column = scols_table_get_column(table->lines, table->drops[next]);
        if (!column || scols_column_set_flags(column, SCOLS_FL_HIDDEN) != 0) return text;
        free(text);
        text = NULL;
    }
}

bool table_write(Table *table, const char *indent, TextOut out) {
    char *text = print_to_fit(table, strlen(indent), out.terminal);
    if (!text && table->columns > 0) return false;
    const char *rest = text, *line;
    size_t shown;
    for (bool heading = true; (line = next_line(&rest, &shown)) != NULL; heading = false) {
        if (heading) text_strong(out);
        fprintf(out.file, "%s%.*s", shown ? indent : "", (int)shown, line);
        if (heading) text_plain(out);
        fputc('\n', out.file);
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
