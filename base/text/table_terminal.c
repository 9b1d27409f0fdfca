/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table as aligned text: libsmartcols lays it out. */
#include "base/memory_stream.h"
#include "base/text/prose.h"
#include "base/text/table.h"
#include "base/utf8.h"

#include <errno.h>
#include <libsmartcols.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

/* ---- the text of libsmartcols ---- */

/* A copy of the text that a terminal can show: control characters, direction overrides and what is no UTF-8 become '?';
 * newlines stay. NULL means that memory is out. */
static char *clean_copy(Arena *arena, const char *text) {
    size_t left = strlen(text);
    char *copy = arena_alloc(arena, left + 1, 1), *to = copy;
    while (copy && left > 0) {
        size_t size = utf8_size(text, left), step = size ? size : 1;
        bool is_shown = *text == '\n' || (size > 0 && !utf8_is_harmful(text, size));
        memcpy(to, is_shown ? text : "?", is_shown ? step : 1);
        to += is_shown ? step : 1;
        text += step;
        left -= step;
    }
    return copy;
}

static bool add_columns(const Table *table, struct libscols_table *lines) {
    for (int c = 0; c < table->columns; c++) {
        const TableColumn *column = &table->column[c];
        const char *name = clean_copy(table->arena, column->name ? column->name : "");
        int flags = SCOLS_FL_WRAP | (column->right ? SCOLS_FL_RIGHT : 0);
        struct libscols_column *to = name ? scols_table_new_column(lines, name, 0, flags) : NULL;
        if (!to || scols_column_set_safechars(to, "\n") != 0 ||
            scols_column_set_wrapfunc(to, scols_wrapnl_chunksize, scols_wrapnl_nextchunk, NULL) != 0)
            return false;
    }
    return true;
}

static bool add_row(const Table *table, const TableRow *row, struct libscols_table *lines) {
    struct libscols_line *line = scols_table_new_line(lines, NULL);
    if (!line) return false;
    for (int c = 0; c < table->columns; c++) {
        char *text = clean_copy(table->arena, row->cell[c]);
        if (text && table->column[c].wrap > 0) text_wrap(text, table->column[c].wrap);
        if (!text || scols_line_set_data(line, (size_t)c, text) != 0) return false;
    }
    return true;
}

/* The same table in libsmartcols. NULL means that memory is out. */
static struct libscols_table *lines_of(const Table *table) {
    char separator[16];
    snprintf(separator, sizeof separator, "%*s", table->gap, "");
    struct libscols_table *lines = scols_new_table();
    bool ok = lines && scols_table_set_termforce(lines, SCOLS_TERMFORCE_NEVER) == 0 &&
              scols_table_set_column_separator(lines, separator) == 0 && add_columns(table, lines);
    for (const TableRow *row = table->first; row && ok; row = row->next) ok = add_row(table, row, lines);
    if (ok) return lines;
    scols_unref_table(lines);
    return NULL;
}

/* ---- the columns that fit ---- */

/* Returns the next line of a text and, in *shown, its bytes without the blanks at its end; *text moves to the line
 * after it. NULL means that there is none. */
static const char *next_line(const char **text, size_t *shown) {
    const char *line = *text;
    if (!line || !*line) return NULL;
    size_t length = strcspn(line, "\n");
    *text = line + length + (line[length] == '\n');
    for (*shown = length; *shown > 0 && line[*shown - 1] == ' ';) --*shown;
    return line;
}

/* Columns of the first `size` bytes on a screen, in the locale of the thread. */
static size_t columns_of(const char *text, size_t size) {
    size_t columns = 0;
    mbstate_t state = {0};
    while (size > 0) {
        wchar_t character;
        size_t length = mbrtowc(&character, text, size, &state);
        if (length == 0 || length > size) return columns + size; /* no UTF-8: libsmartcols has written ASCII */
        int width = wcwidth(character);
        columns += width > 0 ? (size_t)width : 0;
        text += length;
        size -= length;
    }
    return columns;
}

/* Bytes of the text that are no blanks, once it is clean. */
static size_t shown_bytes(const char *text) {
    size_t shown = 0, left = text ? strlen(text) : 0;
    while (left > 0) {
        size_t size = utf8_size(text, left), step = size ? size : 1;
        if (*text != ' ' && *text != '\n') shown += size > 0 && !utf8_is_harmful(text, size) ? size : 1;
        text += step;
        left -= step;
    }
    return shown;
}

static bool is_hidden(struct libscols_table *lines, int column) {
    return (scols_column_get_flags(scols_table_get_column(lines, (size_t)column)) & SCOLS_FL_HIDDEN) != 0;
}

/* Whether no heading, no cell and no row was lost: out of memory, libsmartcols leaves them out and says nothing. Some
 * characters are written longer than they were given, none shorter. */
static bool is_whole(const Table *table, struct libscols_table *lines, const char *text) {
    size_t given = 0;
    for (int c = 0; c < table->columns; c++) {
        if (is_hidden(lines, c)) continue;
        given += shown_bytes(table->column[c].name);
        for (const TableRow *row = table->first; row; row = row->next) given += shown_bytes(row->cell[c]);
    }
    return shown_bytes(text) >= given;
}

static char *print_once(const Table *table, struct libscols_table *lines) {
    char *text = NULL;
    size_t length = 0;
    FILE *memory = memory_stream_open(&text, &length);
    bool ok = memory && scols_table_set_stream(lines, memory) == 0 && scols_print_table(lines) == 0;
    if (memory && fclose(memory) != 0) ok = false;
    if (ok && is_whole(table, lines, text)) return text;
    free(text);
    return NULL;
}

/* What libsmartcols prints. Out of memory it may also put what wraps into another row: it prints twice, and what is not
 * the same is none. NULL means that memory is out. */
static char *print_lines(const Table *table, struct libscols_table *lines) {
    char *text = print_once(table, lines), *again = print_once(table, lines);
    bool same = text && again && strcmp(text, again) == 0;
    free(again);
    if (same) return text;
    free(text);
    return NULL;
}

static size_t widest_line(const char *text) {
    size_t widest = 0, shown;
    for (const char *line; (line = next_line(&text, &shown)) != NULL;) {
        size_t columns = columns_of(line, shown);
        if (columns > widest) widest = columns;
    }
    return widest;
}

static bool leave_out(const Table *table, int drop, struct libscols_table *lines) {
    for (int c = 0; c < table->columns; c++) {
        if (table->column[c].drop != drop) continue;
        struct libscols_column *column = scols_table_get_column(lines, (size_t)c);
        return column && scols_column_set_flags(column, SCOLS_FL_HIDDEN) == 0;
    }
    return true;
}

/* The text, without the columns that `room` columns (0: any number) have no place for. The caller frees it. NULL means
 * that memory is out. */
static char *print_to_fit(const Table *table, struct libscols_table *lines, size_t room) {
    for (int drop = 1;; drop++) {
        char *text = print_lines(table, lines);
        if (room == 0 || !text || widest_line(text) <= room || drop > table->drops) return text;
        free(text);
        if (!leave_out(table, drop, lines)) return NULL;
    }
}

/* libsmartcols queries the locale of the thread how wide a character is; a program that has not called setlocale()
 * knows ASCII alone. Where the system has no locale of UTF-8, other characters are written as \xNN. */
static char *print_in_utf8(const Table *table, size_t room) {
    locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    if (!utf8 && errno == ENOMEM) return NULL;
    if (!utf8) utf8 = newlocale(LC_CTYPE_MASK, "en_US.UTF-8", (locale_t)0);
    locale_t before = utf8 ? uselocale(utf8) : (locale_t)0;
    struct libscols_table *lines = lines_of(table);
    char *text = lines ? print_to_fit(table, lines, room) : NULL;
    if (lines) scols_unref_table(lines);
    if (utf8) {
        uselocale(before);
        freelocale(utf8);
    }
    return text;
}

static void write_lines(const char *text, const char *indent, TextOut out) {
    const char *line;
    size_t shown;
    for (bool heading = true; (line = next_line(&text, &shown)) != NULL; heading = false) {
        if (heading) text_strong(out);
        fprintf(out.file, "%s%.*s", shown ? indent : "", (int)shown, line);
        if (heading) text_plain(out);
        fputc('\n', out.file);
    }
}

bool table_write_text(const Table *table, const char *indent, TextOut out) {
    if (table->failed) return false;
    if (table->rows == 0) return true;
    size_t room = (size_t)out.terminal.columns, indent_columns = strlen(indent);
    char *text = print_in_utf8(table, room == 0 ? 0 : room > indent_columns ? room - indent_columns : 1);
    if (!text) return false;
    write_lines(text, indent, out);
    free(text);
    return true;
}
