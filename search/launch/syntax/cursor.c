/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/syntax/cursor.h"

static const char *unclosed(const Cursor *from, const char *what, const ConfigFile *file, Error *error) {
    config_wrong_at(file, from->line, cursor_column(from), error, "%s is never closed", what);
    return NULL;
}

const char *cursor_brackets(Cursor *cursor, bool round, const ConfigFile *file, Error *error) {
    const Cursor from = *cursor;
    char closing[CONFIG_DEPTH_MAX], quote = '\0';
    int depth = 0;
    do {
        char c = cursor_peek(cursor);
        if (c == '\0') return unclosed(&from, "the list", file, error);
        if (quote) {
            if (c == '\\' && quote == '"') cursor_step(cursor);
            if (c == quote) quote = '\0';
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '#') {
            cursor_skip_line(cursor);
            continue;
        } else if (c == '[' || c == '{' || (c == '(' && round)) {
            if (depth == CONFIG_DEPTH_MAX) {
                config_wrong_at(file, cursor->line, cursor_column(cursor), error, "nests deeper than %d lists",
                                CONFIG_DEPTH_MAX);
                return NULL;
            }
            closing[depth++] = c == '[' ? ']' : c == '{' ? '}' : ')';
        } else if (c == ']' || c == '}' || (c == ')' && round)) {
            if (closing[--depth] != c) {
                config_wrong_at(file, cursor->line, cursor_column(cursor), error, "'%c' closes nothing; expected '%c'",
                                c, closing[depth]);
                return NULL;
            }
        }
        cursor_step(cursor);
    } while (depth > 0);
    const char *copy = config_copy(file, from.at, (size_t)(cursor->at - from.at));
    if (!copy) error_memory(error);
    return copy;
}

const char *cursor_quoted(Cursor *cursor, const ConfigFile *file, Error *error) {
    const Cursor from = *cursor;
    char quote = cursor_peek(cursor);
    size_t used = 0;
    for (cursor_step(cursor);; cursor_step(cursor)) {
        char c = cursor_peek(cursor);
        if (c == '\0' || c == '\n') return unclosed(&from, "the text in quotes", file, error);
        if (c == '\\' && quote == '"') {
            cursor_step(cursor);
            if (cursor_peek(cursor) == '\n' || cursor_peek(cursor) == '\0')
                return unclosed(&from, "the text in quotes", file, error);
        } else if (c == quote) {
            cursor_step(cursor);
            break;
        }
        used++;
    }
    /* once more, now that its length is known */
    char *text = arena_alloc(file->arena, used + 1, 1);
    if (!text) {
        error_memory(error);
        return NULL;
    }
    const char *last = cursor->at - 1;
    size_t length = 0;
    for (const char *at = from.at + 1; at < last; at++) {
        if (quote == '"' && *at == '\\') {
            at++;
            text[length++] = *at == 'n' ? '\n' : *at == 't' ? '\t' : *at;
        } else {
            text[length++] = *at;
        }
    }
    text[length] = '\0';
    return text;
}
