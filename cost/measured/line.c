/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/measured/line.h"

#include "base/json.h"
#include "base/util.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_MAX = 1000000, WHERE_SIZE = 192 };

/* The column of a key: the first of its name that a colon follows. */
static size_t column_of(const Line *line, const char *key) {
    char quoted[64];
    int length = snprintf(quoted, sizeof quoted, "\"%.60s\"", key);
    for (const char *at = strstr(line->text, quoted); at; at = strstr(at + 1, quoted))
        if (at[length + (int)strspn(at + length, " \t")] == ':') return (size_t)(at - line->text) + 1;
    return 1;
}

bool line_wrong(const Line *line, const char *key, const char *format, ...) {
    char where[WHERE_SIZE], text[240];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    snprintf(where, sizeof where, "%.150s:%lld:%zu", line->path, (long long)line->number, column_of(line, key));
    return error_set(line->error, ERROR_INPUT, where, "%s: %s", key, text);
}

static bool read_key(const Line *line, const Key *key, const cJSON *value, void *to) {
    void *member = (char *)to + key->offset;
    switch (key->type) {
    case KEY_TEXT:
        if (!cJSON_IsString(value)) return line_wrong(line, key->key, "give a text");
        *(const char **)member = arena_text(line->arena, value->valuestring);
        return *(const char **)member || error_memory(line->error);
    case KEY_WHOLE:
    case KEY_REAL:
        if (!cJSON_IsNumber(value) || !(value->valuedouble >= key->low && value->valuedouble <= key->high))
            return line_wrong(line, key->key, "give a number from %g to %g", key->low, key->high);
        if (key->type == KEY_REAL) return *(double *)member = value->valuedouble, true;
        *(int64_t *)member = (int64_t)value->valuedouble;
        return (double)*(int64_t *)member == value->valuedouble || line_wrong(line, key->key, "give a whole number");
    case KEY_FLAG:
        if (!cJSON_IsBool(value)) return line_wrong(line, key->key, "give true or false");
        *(bool *)member = cJSON_IsTrue(value);
        return true;
    case KEY_OTHER:
        break;
    }
    return true;
}

bool line_keys(const Line *line, const cJSON *object, const Key *keys, size_t count, void *to) {
    const cJSON *item;
    cJSON_ArrayForEach(item, object) {
        const char *names[32];
        size_t i = 0;
        for (; i < count && strcmp(keys[i].key, item->string) != 0; i++) names[i] = keys[i].key;
        if (i < count) {
            if (!read_key(line, &keys[i], item, to)) return false;
            continue;
        }
        const char *nearest = name_nearest(item->string, names, count);
        return line_wrong(line, item->string, "is not known%s%s%s", nearest ? "; did you mean " : "",
                          nearest ? nearest : "", nearest ? "?" : "");
    }
    return true;
}

bool line_object(const Line *line, const cJSON *in, const char *key, const Key *keys, size_t count, void *to) {
    const cJSON *json = cJSON_GetObjectItemCaseSensitive(in, key);
    if (json && !cJSON_IsObject(json)) return line_wrong(line, key, "give an object: {\"%s\": ..}", keys[0].key);
    return !json || line_keys(line, json, keys, count, to);
}

const char *line_text(const Line *line, const cJSON *object, const char *key) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!value) return "";
    if (!cJSON_IsString(value)) line_wrong(line, key, "give a text");
    return cJSON_GetStringValue(value);
}

bool line_name(const Line *line, const cJSON *object, const char *key, const char *const *names, int count, int *out) {
    const char *text = line_text(line, object, key);
    char all[160] = "";
    if (!text) return false;
    for (int i = 0; i < count; i++) {
        if (!text[0] || strcmp(text, names[i]) == 0) return *out = i, true;
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? ", " : "", names[i]);
    }
    return line_wrong(line, key, "\"%.30s\" is none of %s", text, all);
}

bool line_label(const Line *line, const char **id, const char **family, const char *source) {
    if (!**id) *id = arena_format(line->arena, "line %lld", (long long)line->number);
    if (!*id) return error_memory(line->error);
    size_t length = strcspn(*id, "-");
    if (!**family) *family = (*id)[length] ? arena_format(line->arena, "%.*s", (int)length, *id) : source;
    return *family || error_memory(line->error);
}

void keys_clear(const Key *keys, size_t count, void *to) {
    for (size_t i = 0; i < count; i++)
        if (keys[i].type == KEY_TEXT) *(const char **)(void *)((char *)to + keys[i].offset) = "";
}

/* ---- a file ---- */

/* An error of the JSON alone, in the file. */
static bool at_line(const Line *line) {
    Error *error = line->error;
    char where[sizeof error->where];
    const char *column = strrchr(error->where, ':');
    snprintf(where, sizeof where, "%.90s:%lld%s", line->path, (long long)line->number, column ? column : "");
    memcpy(error->where, where, sizeof where);
    return false;
}

typedef struct {
    const char *id;
    Line line;
} Named;

/* Two runs of one id are one too many. */
static bool set_ids_apart(Named *order, int64_t count) {
    qsort(order, (size_t)count, sizeof *order, order_text);
    for (int64_t i = 1; i < count; i++) {
        const Line *a = &order[i - 1].line, *b = &order[i].line, *later = a->number > b->number ? a : b;
        if (strcmp(order[i - 1].id, order[i].id) != 0) continue;
        return line_wrong(later, "id", "is that of line %lld; give each run its own",
                          (long long)(a->number + b->number - later->number));
    }
    return true;
}

static bool read_line(const LineKind *kind, const Line *line, void *out) {
    cJSON *json = json_parse(line->text, line->length, "", line->error);
    if (!json) return at_line(line);
    bool ok = cJSON_IsObject(json)
                  ? kind->read(line, json, out)
                  : line_wrong(line, "a run", "give {\"request\": .., \"plan\": .., \"measured\": ..}");
    cJSON_Delete(json);
    return ok;
}

void *lines_read(const LineKind *kind, const LineFile *file, Arena *arena, int64_t *count, Error *error) {
    char *end = file->text + file->length;
    int64_t lines = 1, number = 0;
    for (char *at = file->text; at < end; at++) lines += *at == '\n';
    if (lines > LINES_MAX)
        return error_set(error, ERROR_INPUT, file->path, "more than 1,000,000 runs; split the file"), NULL;
    if (file->text[0] == '#' || file->text[strcspn(file->text, "\t\n{")] == '\t')
        return error_set(error, ERROR_INPUT, file->path, "is a table; convert it: python3 %s FILE.tsv >FILE.jsonl",
                         kind->converter),
               NULL;
    char *out = arena_alloc(arena, (size_t)lines, kind->size);
    Named *order = ARENA_NEW(arena, Named, (size_t)lines);
    if (!out || !order) return error_memory(error), NULL;
    *count = 0;
    for (char *at = file->text, *stop; at < end; at = stop + 1) {
        void *own = out + (size_t)*count * kind->size;
        stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop) stop = end;
        *stop = '\0';
        const Line line = {file->path, ++number, at, (size_t)(stop - at), arena, error};
        if (!at[strspn(at, " \t\r")] || (file->only && !strstr(at, file->only))) continue;
        if (!read_line(kind, &line, own)) return NULL;
        order[(*count)++] = (Named){*(const char **)(void *)((char *)own + kind->id), line};
    }
    if (*count == 0 && !file->only)
        return error_set(error, ERROR_INPUT, file->path, "there is no run; give one a line"), NULL;
    return set_ids_apart(order, *count) ? out : NULL;
}
