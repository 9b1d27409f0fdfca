/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The constants of a Python module: lines NAME = value at its left margin, values in brackets over lines kept as texts. All
 * else is passed over, and nothing is run. */
#include "search/launch/syntax/cursor.h"

#include <ctype.h>
#include <string.h>

static bool is_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Up to a comment or the end of the line. */
static const char *read_bare(Cursor *cursor, const ConfigFile *file, Error *error) {
    const char *from = cursor->at;
    while (cursor_peek(cursor) != '\n' && cursor_peek(cursor) != '\0' && cursor_peek(cursor) != '#')
        cursor_step(cursor);
    const char *to = cursor->at;
    while (to > from && (to[-1] == ' ' || to[-1] == '\t')) to--;
    const char *value = config_copy(file, from, (size_t)(to - from));
    if (!value) error_memory(error);
    return value;
}

bool config_read_python(const char *text, size_t length, ConfigFile *file, Error *error) {
    Cursor cursor = cursor_start(text, length);
    if (!config_check_text(file, text, length, error)) return false;
    while (cursor_peek(&cursor) != '\0') {
        const char *name = cursor.at, *value;
        int64_t line = cursor.line;
        while (is_name(cursor_peek(&cursor))) cursor_step(&cursor);
        size_t of_name = (size_t)(cursor.at - name);
        bool assigns = of_name > 0 && cursor.end - cursor.at > 3 && memcmp(cursor.at, " = ", 3) == 0;
        if (assigns) {
            cursor.at += 3;
            char c = cursor_peek(&cursor);
            bool lines = cursor.end - cursor.at >= 3 && memcmp(cursor.at, "\"\"\"", 3) == 0;
            value = c == '(' || c == '[' || c == '{'    ? cursor_brackets(&cursor, true, file, error)
                    : !lines && (c == '"' || c == '\'') ? cursor_quoted(&cursor, file, error)
                                                        : read_bare(&cursor, file, error);
            const char *key = value ? config_copy(file, name, of_name) : NULL;
            if (!value) return false;
            if (!key) return error_memory(error);
            if (!config_add(file, key, value, line, 1, NULL, error)) return false;
        }
        cursor_skip_line(&cursor);
        cursor_step(&cursor);
    }
    return true;
}
