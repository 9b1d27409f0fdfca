/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The TOML of launch files: [tables] and dotted keys, texts in quotes, numbers, switches; lists and inline tables are
 * kept as texts. Lists of tables ([[...]]) and texts over several lines are refused.
 *
 * And the constants of a Python module: lines NAME = value at its left margin, values in brackets over lines kept as
 * texts. All else is passed over, and nothing is run. */
#include "search/launch/syntax/cursor.h"

#include <ctype.h>
#include <string.h>

typedef struct {
    Cursor cursor;
    ConfigFile *file;
    Error *error;
    const char *prefix; /* of the table that is open: "", "training." */
} Toml;

static bool wrong(Toml *toml, const char *what) {
    return config_wrong_at(toml->file, toml->cursor.line, cursor_column(&toml->cursor), toml->error, "%s", what);
}

static bool end_line(Toml *toml) {
    cursor_skip_blanks(&toml->cursor);
    if (cursor_peek(&toml->cursor) == '#') cursor_skip_line(&toml->cursor);
    char c = cursor_peek(&toml->cursor);
    if (c != '\n' && c != '\0') return wrong(toml, "something stands behind the value; one key = value a line");
    cursor_step(&toml->cursor);
    return true;
}

static bool is_bare(char c) { return isalnum((unsigned char)c) || c == '_' || c == '-'; }

/* a.b."c d", as a.b.c d; NULL: *error. */
static const char *read_key(Toml *toml) {
    Cursor *cursor = &toml->cursor;
    const char *key = "";
    for (int part = 0;; part++) {
        cursor_skip_blanks(cursor);
        char c = cursor_peek(cursor);
        const char *from = cursor->at, *word;
        if (c == '"' || c == '\'') {
            word = cursor_quoted(cursor, toml->file, toml->error);
            if (!word) return NULL;
        } else {
            while (is_bare(cursor_peek(cursor))) cursor_step(cursor);
            if (cursor->at == from || part == CONFIG_DEPTH_MAX) {
                wrong(toml, "is no key; give lines like key = value");
                return NULL;
            }
            word = config_copy(toml->file, from, (size_t)(cursor->at - from));
        }
        key = word ? arena_format(toml->file->arena, "%s%s%s", key, part > 0 ? "." : "", word) : NULL;
        if (!key) {
            error_memory(toml->error);
            return NULL;
        }
        cursor_skip_blanks(cursor);
        if (cursor_peek(cursor) != '.') return key;
        cursor_step(cursor);
    }
}

static bool read_table(Toml *toml) {
    cursor_step(&toml->cursor);
    if (cursor_peek(&toml->cursor) == '[')
        return wrong(toml, "a list of tables is not read; give tables like [training]");
    const char *name = read_key(toml);
    if (!name) return false;
    if (cursor_peek(&toml->cursor) != ']') return wrong(toml, "expected ']' behind the name of the table");
    cursor_step(&toml->cursor);
    toml->prefix = arena_format(toml->file->arena, "%s.", name);
    return toml->prefix ? end_line(toml) : error_memory(toml->error);
}

static const char *read_value(Toml *toml) {
    Cursor *cursor = &toml->cursor;
    cursor_skip_blanks(cursor);
    char c = cursor_peek(cursor);
    if (cursor->end - cursor->at >= 3 && (memcmp(cursor->at, "\"\"\"", 3) == 0 || memcmp(cursor->at, "'''", 3) == 0)) {
        wrong(toml, "a text over several lines is not read; write it in one");
        return NULL;
    }
    if (c == '"' || c == '\'') return cursor_quoted(cursor, toml->file, toml->error);
    if (c == '[' || c == '{') return cursor_brackets(cursor, false, toml->file, toml->error);
    const char *from = cursor->at;
    while (is_bare(cursor_peek(cursor)) || (cursor_peek(cursor) != '\0' && strchr("+.:", cursor_peek(cursor))))
        cursor_step(cursor);
    if (cursor->at == from) {
        wrong(toml, "the key has no value; give a number, true, false, a text in quotes or a list");
        return NULL;
    }
    const char *value = config_copy(toml->file, from, (size_t)(cursor->at - from));
    if (!value) error_memory(toml->error);
    return value;
}

static bool read_line(Toml *toml) {
    Cursor *cursor = &toml->cursor;
    cursor_skip_blanks(cursor);
    char c = cursor_peek(cursor);
    if (c == '\n' || c == '#' || c == '\0') return end_line(toml);
    if (c == '[') return read_table(toml);
    int64_t line = cursor->line, column = cursor_column(cursor);
    const char *name = read_key(toml);
    if (!name) return false;
    if (cursor_peek(cursor) != '=') return wrong(toml, "expected '=' behind the key; give lines like key = value");
    cursor_step(cursor);
    const char *value = read_value(toml);
    if (!value) return false;
    const char *key = arena_format(toml->file->arena, "%s%s", toml->prefix, name);
    if (!key) return error_memory(toml->error);
    return end_line(toml) && config_add(toml->file, key, value, line, column, NULL, toml->error);
}

bool config_read_toml(const char *text, size_t length, ConfigFile *file, Error *error) {
    Toml toml = {.cursor = cursor_start(text, length), .file = file, .error = error, .prefix = ""};
    if (!config_check_text(file, text, length, error)) return false;
    while (cursor_peek(&toml.cursor) != '\0')
        if (!read_line(&toml)) return false;
    return true;
}

/* ---- Python ---- */

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
