/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/syntax/config_file.h"

#include "base/json.h"
#include "base/number.h"
#include "base/text/prose.h"
#include "base/utf8.h"
#include "base/util.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { WHERE_SIZE = 192, WHAT_SIZE = 384 };

char *config_copy(const ConfigFile *file, const char *text, size_t length) {
    char *copy = arena_alloc(file->arena, length + 1, 1);
    if (!copy) return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

void *config_room(const ConfigFile *file, void *items, int64_t count, int64_t *room, size_t size) {
    if (count < *room) return items;
    *room = max_whole(16, 2 * *room);
    void *longer = arena_alloc(file->arena, (size_t)*room, size);
    if (longer && count > 0) memcpy(longer, items, (size_t)count * size);
    return longer;
}

bool config_wrong_at(const ConfigFile *file, int64_t line, int64_t column, Error *error, const char *format, ...) {
    char where[WHERE_SIZE], what[WHAT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    snprintf(where, sizeof where, "%.140s:%lld:%lld", file->name, (long long)line, (long long)column);
    return error_set(error, ERROR_INPUT, where, "%s", what);
}

static bool wrong_key(const ConfigFile *file, const ConfigEntry *entry, const char *key, Error *error,
                      const char *what) {
    char where[WHERE_SIZE];
    if (entry && entry->line > 0)
        snprintf(where, sizeof where, "%.80s:%lld:%lld: %.60s", file->name, (long long)entry->line,
                 (long long)entry->column, key);
    else
        snprintf(where, sizeof where, "%.100s: %.60s", file->name, key);
    return error_set(error, ERROR_INPUT, where, "%s", what);
}

bool config_wrong(const ConfigFile *file, const ConfigEntry *entry, const char *key, Error *error, const char *format,
                  ...) {
    char what[WHAT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return wrong_key(file, entry, key, error, what);
}

void config_skip_mark(const char **text, size_t *length) {
    if (*length >= 3 && memcmp(*text, "\xEF\xBB\xBF", 3) == 0) *text += 3, *length -= 3;
}

bool config_check_text(const ConfigFile *file, const char *text, size_t length, Error *error) {
    int64_t line = 1, column = 1;
    if (length > CONFIG_BYTES_MAX)
        return error_set(error, ERROR_INPUT, file->name, "is longer than %d bytes; give a launch configuration",
                         CONFIG_BYTES_MAX);
    for (size_t i = 0; i < length;) {
        size_t size = utf8_size(text + i, length - i);
        if (size == 0) return config_wrong_at(file, line, column, error, "is no UTF-8; save the file as UTF-8");
        unsigned char byte = (unsigned char)text[i];
        if (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r')
            return config_wrong_at(file, line, column, error, "has a control character (%d); give a text file", byte);
        column += (int64_t)size;
        if (byte == '\n') line++, column = 1;
        i += size;
    }
    return true;
}

static ConfigEntry *find(const ConfigFile *file, const char *key) {
    for (int64_t i = 0; i < file->count; i++)
        if (strcmp(file->entries[i].key, key) == 0) return &file->entries[i];
    return NULL;
}

bool config_add(ConfigFile *file, const char *key, const char *value, int64_t line, int64_t column, ConfigEntry **out,
                Error *error) {
    ConfigEntry *there = find(file, key);
    if (there && strcmp(there->value, value) == 0) {
        if (out) *out = there;
        return true;
    }
    if (there)
        return config_wrong_at(file, line, column, error,
                               "%.60s is \"%.40s\" here and \"%.40s\" in line %lld; keep one", key, value, there->value,
                               (long long)there->line);
    if (file->count == CONFIG_ENTRIES_MAX)
        return config_wrong_at(file, line, column, error, "is beyond %d keys; give a launch configuration",
                               CONFIG_ENTRIES_MAX);
    file->entries = config_room(file, file->entries, file->count, &file->room, sizeof *file->entries);
    if (!file->entries) return error_memory(error);
    ConfigEntry *entry = &file->entries[file->count++];
    *entry = (ConfigEntry){.key = key, .value = value, .line = line, .column = column};
    if (out) *out = entry;
    return true;
}

/* ---- taking ---- */

bool config_has(const ConfigFile *file, const char *key) { return find(file, key) != NULL; }

static bool is_nothing(const ConfigEntry *entry) {
    static const char *const NOTHING[] = {"", "null", "None", "~", "\"\""};
    if (entry->bare) return false;
    for (size_t i = 0; i < COUNT_OF(NOTHING); i++)
        if (strcmp(entry->value, NOTHING[i]) == 0) return true;
    return false;
}

const ConfigEntry *config_take(ConfigFile *file, const char *key) {
    ConfigEntry *entry = find(file, key);
    if (!entry) return NULL;
    entry->taken = true;
    return is_nothing(entry) ? NULL : entry;
}

const ConfigEntry *config_take_either(ConfigFile *file, const char *key, const char *other) {
    const ConfigEntry *entry = config_take(file, key), *second = config_take(file, other);
    return entry ? entry : second;
}

/* A number without the blanks and _ that YAML, TOML and Python allow between digits, and without ".0" behind it. */
static const char *plain_number(const char *text, char *out, size_t size) {
    size_t used = 0;
    for (const char *at = text; *at && used + 1 < size; at++)
        if (*at != '_') out[used++] = *at;
    out[used] = '\0';
    return out;
}

bool config_whole(ConfigFile *file, const char *key, int64_t low, int64_t high, int64_t fallback, int64_t *out,
                  Error *error) {
    const ConfigEntry *entry = config_take(file, key);
    char plain[72];
    Error wrong = {0};
    *out = fallback;
    if (!entry) return true;
    plain_number(entry->value, plain, sizeof plain);
    if (low < 0 && plain[0] == '-') { /* -1 means: what is left */
        if (strcmp(plain, "-1") != 0)
            return config_wrong(file, entry, key, error, "%.40s is no number of its kind; give -1, or 1 and more",
                                entry->value);
        *out = -1;
        return true;
    }
    if (number_whole(plain, key, low < 0 ? 1 : low, high, out, &wrong)) return true;
    *out = fallback;
    return wrong_key(file, entry, key, error, wrong.text);
}

bool config_real(ConfigFile *file, const char *key, double low, double high, double fallback, double *out,
                 Error *error) {
    const ConfigEntry *entry = config_take(file, key);
    char plain[72];
    Error wrong = {0};
    *out = fallback;
    if (!entry) return true;
    if (number_real(plain_number(entry->value, plain, sizeof plain), key, low, high, out, &wrong)) return true;
    *out = fallback;
    return wrong_key(file, entry, key, error, wrong.text);
}

bool config_flag(ConfigFile *file, const char *key, bool fallback, bool *out, Error *error) {
    const ConfigEntry *entry = config_take(file, key);
    *out = fallback;
    if (!entry) return true;
    *out = entry->bare || strcasecmp(entry->value, "true") == 0 || strcmp(entry->value, "1") == 0;
    if (*out || strcasecmp(entry->value, "false") == 0 || strcmp(entry->value, "0") == 0) return true;
    return config_wrong(file, entry, key, error, "\"%.40s\" is no switch; give true or false", entry->value);
}

const char *config_text(ConfigFile *file, const char *key, const char *fallback) {
    const ConfigEntry *entry = config_take(file, key);
    return entry ? entry->value : fallback;
}

bool config_number_text(ConfigFile *file, const char *key, const char **out, Error *error) {
    int64_t value;
    *out = NULL;
    if (!config_whole(file, key, 1, INT64_C(1) << 40, 0, &value, error)) return false;
    if (value == 0) return true;
    *out = arena_format(file->arena, "%lld", (long long)value);
    return *out || error_memory(error);
}

static bool is_between(char c) { return c == ',' || isspace((unsigned char)c); }

int config_list(const ConfigFile *file, const char *text, const char *out[], int most) {
    int count = 0;
    for (const char *at = text; *at;) {
        while (is_between(*at) || *at == '[' || *at == ']') at++;
        if (!*at) break;
        char quote = *at == '"' || *at == '\'' ? *at++ : '\0';
        size_t length = 0;
        while (at[length] && (quote ? at[length] != quote : !is_between(at[length]) && at[length] != ']')) length++;
        const char *item = config_copy(file, at, length);
        if (count < most && item) out[count] = item;
        count++;
        at += length + (quote && at[length] == quote);
    }
    return count;
}

/* ---- what else is said ---- */

void config_note(ConfigFile *file, const char *format, ...) {
    char text[WHAT_SIZE * 2];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (file->note_count == CONFIG_NOTES_MAX) {
        file->notes[CONFIG_NOTES_MAX - 1] = "more was assumed or left out than these warnings say";
        return;
    }
    const char *copy = arena_text(file->arena, text);
    if (copy) file->notes[file->note_count++] = copy;
}

void config_ignore(ConfigFile *file, const char *patterns) {
    while (*patterns) {
        char pattern[64];
        size_t length = strcspn(patterns, " ");
        snprintf(pattern, sizeof pattern, "%.*s", (int)min_whole((int64_t)length, 63), patterns);
        for (int64_t i = 0; i < file->count; i++)
            if (!file->entries[i].taken) file->entries[i].taken = fnmatch(pattern, file->entries[i].key, 0) == 0;
        patterns += length + (patterns[length] == ' ');
    }
}

void config_note_left(ConfigFile *file) {
    enum { NAMED_MAX = 12 };
    Prose left = {0};
    int64_t count = 0;
    for (int64_t i = 0; i < file->count; i++) {
        const ConfigEntry *entry = &file->entries[i];
        char name[PROSE_NAME_SIZE];
        if (entry->taken || ++count > NAMED_MAX) continue;
        clean_text(entry->key, name, sizeof name);
        prose_item(&left, ", ", "%.60s", name);
        if (entry->line > 0) prose_add(&left, " (line %lld)", (long long)entry->line);
    }
    if (count > NAMED_MAX) prose_add(&left, " and %lld more", (long long)(count - NAMED_MAX));
    if (count > 0) config_note(file, "not understood, and left out: %.600s", left.text);
}

/* ---- JSON: a document as keys joined by dots; lists are kept as texts ---- */

/* json_parse() bounds the depth (JSON_DEPTH_MAX), and so this recursion. */
static bool add_object(const cJSON *object, const char *prefix, ConfigFile *file, Error *error) {
    const cJSON *item;
    cJSON_ArrayForEach(item, object) {
        const char *key = arena_format(file->arena, "%s%s", prefix, item->string), *value;
        if (!key) return error_memory(error);
        if (cJSON_IsObject(item)) {
            const char *inside = arena_format(file->arena, "%s.", key);
            if (!inside) return error_memory(error);
            if (!add_object(item, inside, file, error)) return false;
            continue;
        }
        if (cJSON_IsString(item)) {
            value = arena_text(file->arena, item->valuestring);
        } else {
            char *text = cJSON_PrintUnformatted(item);
            value = text ? arena_text(file->arena, text) : NULL;
            cJSON_free(text);
        }
        if (!value) return error_memory(error);
        if (!config_add(file, key, value, 0, 0, NULL, error)) return false;
    }
    return true;
}

bool config_read_json(const char *text, size_t length, ConfigFile *file, Error *error) {
    if (length > CONFIG_BYTES_MAX) return config_check_text(file, text, length, error);
    cJSON *json = json_parse(text, length, file->name, error);
    bool ok = json && (cJSON_IsObject(json) || error_set(error, ERROR_INPUT, file->name, "is no object; give {...}")) &&
              add_object(json, "", file, error);
    cJSON_Delete(json);
    return ok;
}
