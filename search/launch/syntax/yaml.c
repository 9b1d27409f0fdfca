/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The YAML of launch files: `key: value`, tables by indentation (their keys joined by dots), lists in brackets or with
 * dashes, texts in quotes or behind | and >, comments. Anchors, aliases, tags, several documents and complex keys are
 * refused. */
#include "search/launch/syntax/cursor.h"

#include <string.h>

typedef struct {
    int64_t indent;
    const char *prefix; /* of its keys: "", "model." */
} Level;

typedef struct {
    Cursor cursor;
    ConfigFile *file;
    Error *error;
    Level levels[CONFIG_DEPTH_MAX];
    int depth;           /* levels that are open, the outermost at 0 */
    const char *opening; /* a key without a value: a table or a list may follow it, deeper */
    int64_t opening_indent, opening_line, opening_column;
} Yaml;

static bool wrong(Yaml *yaml, const char *what) {
    return config_wrong_at(yaml->file, yaml->cursor.line, cursor_column(&yaml->cursor), yaml->error, "%s", what);
}

static bool ends_value(const Cursor *cursor) {
    char c = cursor_peek(cursor);
    bool comment = c == '#' && cursor->at > cursor->line_start && (cursor->at[-1] == ' ' || cursor->at[-1] == '\t');
    return c == '\0' || c == '\n' || comment;
}

/* Nothing but a comment may stand behind a value. */
static bool end_line(Yaml *yaml) {
    cursor_skip_blanks(&yaml->cursor);
    char c = cursor_peek(&yaml->cursor);
    if (c == '#') cursor_skip_line(&yaml->cursor);
    c = cursor_peek(&yaml->cursor);
    if (c != '\n' && c != '\0') return wrong(yaml, "something stands behind the value; put it in quotes");
    cursor_step(&yaml->cursor);
    return true;
}

/* Lines that are empty, or deeper than `indent`: a text behind | or >, whose words nobody asks for. */
static void skip_deeper(Cursor *cursor, int64_t indent) {
    while (cursor_peek(cursor) != '\0') {
        Cursor ahead = *cursor;
        while (cursor_peek(&ahead) == ' ') cursor_step(&ahead);
        if (cursor_peek(&ahead) != '\n' && cursor_peek(&ahead) != '\0' && ahead.at - ahead.line_start <= indent) return;
        cursor_skip_line(&ahead);
        cursor_step(&ahead);
        *cursor = ahead;
    }
}

/* The value behind `key:`; NULL with *failed: it is wrong; NULL without: there is none on this line. */
static const char *read_value(Yaml *yaml, int64_t indent, bool *failed) {
    Cursor *cursor = &yaml->cursor;
    const char *value = NULL;
    *failed = false;
    cursor_skip_blanks(cursor);
    if (ends_value(cursor)) {
        *failed = !end_line(yaml);
        return NULL;
    }
    char c = cursor_peek(cursor);
    if (c == '&' || c == '*' || c == '!' || c == '@' || c == '`' || c == '%') {
        *failed = !wrong(yaml, "anchors, aliases and tags are not read; write the value out, or in quotes");
        return NULL;
    }
    if (c == '|' || c == '>') {
        cursor_skip_line(cursor);
        cursor_step(cursor);
        skip_deeper(cursor, indent);
        return "(text)";
    }
    if (c == '[' || c == '{') {
        value = cursor_brackets(cursor, false, yaml->file, yaml->error);
    } else if (c == '"' || c == '\'') {
        value = cursor_quoted(cursor, true, yaml->file, yaml->error);
    } else {
        const char *from = cursor->at;
        while (!ends_value(cursor)) cursor_step(cursor);
        const char *to = cursor->at;
        while (to > from && (to[-1] == ' ' || to[-1] == '\t')) to--;
        value = config_copy(yaml->file, from, (size_t)(to - from));
        if (!value) error_memory(yaml->error);
    }
    *failed = !value || !end_line(yaml);
    return *failed ? NULL : value;
}

/* A key that opened nothing has no value. */
static bool close_opening(Yaml *yaml) {
    const char *key = yaml->opening;
    yaml->opening = NULL;
    return !key || config_add(yaml->file, key, "", yaml->opening_line, yaml->opening_column, NULL, yaml->error);
}

/* The level that a line of this indentation belongs to. */
static bool find_level(Yaml *yaml, int64_t indent) {
    if (yaml->opening && indent > yaml->opening_indent) {
        if (yaml->depth + 1 == CONFIG_DEPTH_MAX) return wrong(yaml, "nests too deep; give a flat file");
        const char *prefix = arena_format(yaml->file->arena, "%s.", yaml->opening);
        if (!prefix) return error_memory(yaml->error);
        yaml->levels[++yaml->depth] = (Level){indent, prefix};
        yaml->opening = NULL;
        return true;
    }
    if (!close_opening(yaml)) return false;
    while (yaml->depth > 0 && yaml->levels[yaml->depth].indent > indent) yaml->depth--;
    return yaml->levels[yaml->depth].indent == indent ||
           wrong(yaml, "is indented like no line above; align it with its neighbours");
}

/* A list with dashes, kept as one text; the key that opened it is its key. */
static bool read_dashes(Yaml *yaml, int64_t indent) {
    const char *from = yaml->cursor.at, *key = yaml->opening;
    if (!key || indent < yaml->opening_indent) return wrong(yaml, "is an item of no list; give key: value");
    yaml->opening = NULL;
    cursor_skip_line(&yaml->cursor);
    cursor_step(&yaml->cursor);
    for (;;) {
        skip_deeper(&yaml->cursor, indent);
        Cursor ahead = yaml->cursor;
        while (cursor_peek(&ahead) == ' ') cursor_step(&ahead);
        if (cursor_peek(&ahead) != '-' || ahead.at - ahead.line_start != indent) break;
        cursor_skip_line(&ahead);
        cursor_step(&ahead);
        yaml->cursor = ahead;
    }
    const char *text = config_copy(yaml->file, from, (size_t)(yaml->cursor.at - from));
    if (!text) return error_memory(yaml->error);
    return config_add(yaml->file, key, text, yaml->opening_line, yaml->opening_column, NULL, yaml->error);
}

/* `key:` with a blank or the end of the line behind it; NULL: *error. */
static const char *read_key(Yaml *yaml) {
    Cursor *cursor = &yaml->cursor;
    char c = cursor_peek(cursor);
    const char *key, *from = cursor->at;
    if (c == '"' || c == '\'') {
        key = cursor_quoted(cursor, true, yaml->file, yaml->error);
        if (!key) return NULL;
    } else {
        if (strchr("?&*!|>[]{},%@`", c)) {
            wrong(yaml, "is no key; give lines like key: value");
            return NULL;
        }
        while (!(cursor_peek(cursor) == ':' && (cursor->at + 1 == cursor->end || strchr(" \t\r\n", cursor->at[1])))) {
            if (ends_value(cursor)) {
                wrong(yaml, "the line has no \"key: \"; give lines like key: value");
                return NULL;
            }
            cursor_step(cursor);
        }
        const char *to = cursor->at;
        while (to > from && (to[-1] == ' ' || to[-1] == '\t')) to--;
        key = config_copy(yaml->file, from, (size_t)(to - from));
        if (!key) error_memory(yaml->error);
        if (!key) return NULL;
    }
    cursor_skip_blanks(cursor);
    if (cursor_peek(cursor) != ':' || key[0] == '\0') {
        wrong(yaml, "a key has no ':' behind it; give lines like key: value");
        return NULL;
    }
    cursor_step(cursor);
    return key;
}

static bool read_line(Yaml *yaml) {
    Cursor *cursor = &yaml->cursor;
    while (cursor_peek(cursor) == ' ') cursor_step(cursor);
    int64_t indent = cursor->at - cursor->line_start, line = cursor->line, column = cursor_column(cursor);
    Cursor blank = *cursor;
    cursor_skip_blanks(&blank);
    if (cursor_peek(&blank) == '\n' || cursor_peek(&blank) == '\0' || cursor_peek(&blank) == '#') {
        cursor_skip_line(cursor);
        cursor_step(cursor);
        return true;
    }
    if (cursor_peek(cursor) == '\t') return wrong(yaml, "a tab cannot indent; use blanks");
    bool dash = cursor->end - cursor->at >= 1 && *cursor->at == '-' &&
                (cursor->end - cursor->at == 1 || strchr(" \t\r\n", cursor->at[1]));
    if (dash) return read_dashes(yaml, indent);
    if (!find_level(yaml, indent)) return false;
    const char *name = read_key(yaml);
    if (!name) return false;
    const char *key = arena_format(yaml->file->arena, "%s%s", yaml->levels[yaml->depth].prefix, name);
    if (!key) return error_memory(yaml->error);
    bool failed;
    const char *value = read_value(yaml, indent, &failed);
    if (failed) return false;
    if (value) return config_add(yaml->file, key, value, line, column, NULL, yaml->error);
    yaml->opening = key;
    yaml->opening_indent = indent;
    yaml->opening_line = line;
    yaml->opening_column = column;
    return true;
}

static bool starts_with(const Cursor *cursor, const char *text) {
    size_t length = strlen(text);
    return (size_t)(cursor->end - cursor->at) >= length && memcmp(cursor->at, text, length) == 0;
}

bool config_read_yaml(const char *text, size_t length, ConfigFile *file, Error *error) {
    Yaml yaml = {.cursor = cursor_start(text, length), .file = file, .error = error, .levels = {{0, ""}}};
    bool begun = false;
    if (!config_check_text(file, text, length, error)) return false;
    while (cursor_peek(&yaml.cursor) != '\0') {
        bool mark = starts_with(&yaml.cursor, "---");
        if (mark && begun) return wrong(&yaml, "a second document begins; give one");
        if (mark || starts_with(&yaml.cursor, "...")) {
            begun = true;
            cursor_skip_line(&yaml.cursor);
            cursor_step(&yaml.cursor);
            continue;
        }
        if (!read_line(&yaml)) return false;
        begun = begun || file->count > 0 || yaml.opening;
    }
    return close_opening(&yaml);
}
