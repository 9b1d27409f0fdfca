/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/serving/measured/tsv.h"

#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

TsvReader tsv_start(const char *where, char *text, size_t length) {
    TsvReader reader = {.where = where, .at = text, .end = text + length, .line = 1, .column = 1};
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) reader.at += 3;
    return reader;
}

/* Sets *error; always returns false. */
static bool wrong(const TsvReader *reader, int64_t line, int64_t column, const char *text, Error *error) {
    char where[192];
    snprintf(where, sizeof where, "%.150s:%lld:%lld", reader->where, (long long)line, (long long)column);
    return error_set(error, ERROR_INPUT, where, "%s", text);
}

static bool wrong_here(const TsvReader *reader, const char *text, Error *error) {
    return wrong(reader, reader->line, reader->column, text, error);
}

/* The number of bytes of the LF or CR LF where the reader stands; else 0. */
static size_t line_end(const TsvReader *reader) {
    if (reader->at[0] == '\n') return 1;
    return reader->at[0] == '\r' && reader->at[1] == '\n' ? 2 : 0;
}

static void step(TsvReader *reader, size_t bytes) {
    reader->at += bytes;
    reader->column++;
}

static void step_line(TsvReader *reader, size_t bytes) {
    reader->at += bytes;
    reader->line++;
    reader->column = 1;
}

/* Takes one character of text to *to, which is never ahead of the reader. False means that the character may not stand
 * in a table. */
static bool take(TsvReader *reader, char **to, Error *error) {
    size_t size = utf8_size(reader->at, (size_t)(reader->end - reader->at));
    unsigned char first = (unsigned char)reader->at[0];
    if (size == 0) return wrong_here(reader, "this byte is not UTF-8; give the table in UTF-8", error);
    if (first < 0x20 || first == 0x7F || (first == 0xC2 && (unsigned char)reader->at[1] < 0xA0))
        return wrong_here(reader, "a control character; give text, and end lines in LF or CR LF", error);
    memmove(*to, reader->at, size);
    *to += size;
    step(reader, size);
    return true;
}

/* Takes the text from the opening mark to after the closing one. */
static bool take_quoted(TsvReader *reader, char **to, Error *error) {
    int64_t line = reader->line, column = reader->column;
    step(reader, 1);
    while (reader->at < reader->end) {
        size_t lines = line_end(reader);
        if (lines > 0) {
            step_line(reader, lines);
            *(*to)++ = ' ';
        } else if (reader->at[0] == '\t') {
            step(reader, 1);
            *(*to)++ = ' ';
        } else if (reader->at[0] != '"') {
            if (!take(reader, to, error)) return false;
        } else {
            step(reader, 1);
            if (reader->at[0] != '"') return true;
            step(reader, 1);
            *(*to)++ = '"';
        }
    }
    return wrong(reader, line, column, "this quotation mark is never closed; end the cell with another one", error);
}

/* Takes one cell, up to the separator after it; *to is its end. */
static bool take_cell(TsvReader *reader, TsvCell *cell, char **to, Error *error) {
    *cell = (TsvCell){.text = reader->at, .line = reader->line, .column = reader->column};
    *to = reader->at;
    bool quoted = reader->at[0] == '"';
    if (quoted && !take_quoted(reader, to, error)) return false;
    while (reader->at < reader->end && reader->at[0] != '\t' && line_end(reader) == 0) {
        if (quoted)
            return wrong_here(reader, "text behind a closing quotation mark; give a tab, or double the mark", error);
        if (!take(reader, to, error)) return false;
    }
    if (*to - cell->text > TSV_CELL_MAX)
        return wrong(reader, cell->line, cell->column,
                     "a cell of more than 65,536 bytes; give less, or look for a quotation mark that is not closed",
                     error);
    while (cell->text < *to && cell->text[0] == ' ') cell->text++;
    while (*to > cell->text && (*to)[-1] == ' ') (*to)--;
    return true;
}

TsvResult tsv_next(TsvReader *reader, Error *error) {
    reader->count = 0;
    for (size_t lines; (lines = line_end(reader)) > 0;) step_line(reader, lines);
    if (reader->at == reader->end) return TSV_END;
    for (;;) {
        char *end;
        if (reader->count == TSV_COLUMNS_MAX)
            return wrong_here(reader, "more than 512 cells in a row; give fewer columns", error) ? TSV_ROW : TSV_ERROR;
        if (!take_cell(reader, &reader->cells[reader->count++], &end, error)) return TSV_ERROR;
        bool last = reader->at == reader->end, tab = reader->at[0] == '\t';
        size_t lines = line_end(reader);
        *end = '\0'; /* this may overwrite the separator, which has been read */
        if (last) return TSV_ROW;
        if (!tab) {
            step_line(reader, lines);
            return TSV_ROW;
        }
        step(reader, 1);
    }
}
