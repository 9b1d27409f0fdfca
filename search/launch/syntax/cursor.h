/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/syntax/cursor.h: a buffer read character by character, that knows where it stands. For the readers of
 * TOML, Python and words. */
#pragma once

#include "search/launch/syntax/config_file.h"

typedef struct {
    const char *at, *end, *line_start;
    int64_t line;
} Cursor;

static inline Cursor cursor_start(const char *text, size_t length) { return (Cursor){text, text + length, text, 1}; }

/* The character, '\n' for CR LF too; '\0': the end (no text has a NUL). */
static inline char cursor_peek(const Cursor *cursor) {
    if (cursor->at == cursor->end) return '\0';
    if (*cursor->at == '\r' && (cursor->at + 1 == cursor->end || cursor->at[1] == '\n')) return '\n';
    return *cursor->at;
}

static inline int64_t cursor_column(const Cursor *cursor) { return cursor->at - cursor->line_start + 1; }

static inline void cursor_step(Cursor *cursor) {
    if (cursor->at == cursor->end) return;
    bool ends = cursor_peek(cursor) == '\n';
    if (*cursor->at == '\r' && ends && cursor->at + 1 < cursor->end) cursor->at++;
    cursor->at++;
    if (!ends) return;
    cursor->line++;
    cursor->line_start = cursor->at;
}

static inline void cursor_skip_blanks(Cursor *cursor) {
    while (cursor_peek(cursor) == ' ' || cursor_peek(cursor) == '\t') cursor_step(cursor);
}

/* To the end of the line, which stays. */
static inline void cursor_skip_line(Cursor *cursor) {
    while (cursor_peek(cursor) != '\n' && cursor_peek(cursor) != '\0') cursor_step(cursor);
}

/* Text between brackets, braces and quotes, over lines, as it stands: what lists and tables are kept as. Stands behind
 * the last bracket then. `round`: ( and ) are brackets too. NULL: *error. */
const char *cursor_brackets(Cursor *cursor, bool round, const ConfigFile *file, Error *error);

/* Text of one line in quotes, the backslashes between double quotes resolved. Stands behind the closing quote.
 * NULL: *error. */
const char *cursor_quoted(Cursor *cursor, const ConfigFile *file, Error *error);
