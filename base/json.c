/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Typed reads of trees, and writing them. Trees are read in json_parse.c. */
#include "base/json.h"

#include "base/memory_stream.h"
#include "base/utf8.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The child whose name is the `length` bytes at `key`; cJSON itself wants a terminated name. */
static const cJSON *child_named(const cJSON *object, const char *key, size_t length) {
    if (!cJSON_IsObject(object)) return NULL;
    for (const cJSON *child = object->child; child; child = child->next)
        if (child->string && child->string[0] == key[0] && strncmp(child->string, key, length) == 0 &&
            child->string[length] == '\0')
            return child;
    return NULL;
}

const cJSON *json_at(const cJSON *object, const char *path) {
    for (;;) {
        size_t length = strcspn(path, ".");
        object = child_named(object, path, length);
        if (!object || path[length] == '\0') break;
        path += length + 1;
    }
    return cJSON_IsNull(object) ? NULL : object;
}

const char *json_text_at(const cJSON *object, const char *path) {
    const cJSON *value = json_at(object, path);
    return cJSON_IsString(value) ? value->valuestring : "";
}

double json_real_at(const cJSON *object, const char *path, double fallback) {
    const cJSON *value = json_at(object, path);
    return cJSON_IsNumber(value) ? value->valuedouble : fallback;
}

static bool missing(const char *path, const char *where, const char *expected, Error *error) {
    return error_set(error, ERROR_INPUT, where, "%s is missing; give %s", path, expected);
}

/* The kind of value that stands there instead, for errors. */
static const char *kind_of(const cJSON *value) {
    if (cJSON_IsString(value)) return "text";
    if (cJSON_IsNumber(value)) return "a number";
    if (cJSON_IsBool(value)) return "true or false";
    return cJSON_IsArray(value) ? "an array" : "an object";
}

static bool read_whole(const cJSON *value, const char *path, int64_t low, int64_t high, const char *where, int64_t *out,
                       Error *error) {
    if (!cJSON_IsNumber(value))
        return error_set(error, ERROR_INPUT, where, "%s is %s; give a whole number from %lld to %lld", path,
                         kind_of(value), (long long)low, (long long)high);
    double number = value->valuedouble;
    /* From 2^53 on, a double may stand for another whole number than the one that was written. */
    bool is_exact = fabs(number) < 9007199254740992.0;
    if (number != floor(number))
        return error_set(error, ERROR_INPUT, where, "%s is %.17g; give a whole number from %lld to %lld", path, number,
                         (long long)low, (long long)high);
    if (!is_exact || (int64_t)number < low || (int64_t)number > high)
        return error_set(error, ERROR_INPUT, where, "%s is %.17g; give a whole number from %lld to %lld%s", path,
                         number, (long long)low, (long long)high, is_exact ? "" : ", below 2^53");
    *out = (int64_t)number;
    return true;
}

bool json_whole(const cJSON *object, const char *path, int64_t low, int64_t high, const char *where, int64_t *out,
                Error *error) {
    const cJSON *value = json_at(object, path);
    return value ? read_whole(value, path, low, high, where, out, error)
                 : missing(path, where, "a whole number", error);
}

bool json_whole_or(const cJSON *object, const char *path, int64_t low, int64_t high, int64_t fallback,
                   const char *where, int64_t *out, Error *error) {
    const cJSON *value = json_at(object, path);
    if (value) return read_whole(value, path, low, high, where, out, error);
    *out = fallback;
    return true;
}

static bool read_real(const cJSON *value, const char *path, double low, double high, const char *where, double *out,
                      Error *error) {
    if (!cJSON_IsNumber(value))
        return error_set(error, ERROR_INPUT, where, "%s is %s; give a number from %.10g to %.10g", path, kind_of(value),
                         low, high);
    double number = value->valuedouble;
    if (!(number >= low && number <= high))
        return error_set(error, ERROR_INPUT, where, "%s is %.10g; give a number from %.10g to %.10g", path, number, low,
                         high);
    *out = number;
    return true;
}

bool json_real(const cJSON *object, const char *path, double low, double high, const char *where, double *out,
               Error *error) {
    const cJSON *value = json_at(object, path);
    return value ? read_real(value, path, low, high, where, out, error) : missing(path, where, "a number", error);
}

bool json_real_or(const cJSON *object, const char *path, double low, double high, double fallback, const char *where,
                  double *out, Error *error) {
    const cJSON *value = json_at(object, path);
    if (value) return read_real(value, path, low, high, where, out, error);
    *out = fallback;
    return true;
}

bool json_bool_or(const cJSON *object, const char *path, bool fallback, const char *where, bool *out, Error *error) {
    const cJSON *value = json_at(object, path);
    if (value && !cJSON_IsBool(value))
        return error_set(error, ERROR_INPUT, where, "%s is %s; give true or false", path, kind_of(value));
    *out = value ? cJSON_IsTrue(value) : fallback;
    return true;
}

static bool copy_text(const char *text, const char *path, const char *where, char *out, size_t size, Error *error) {
    size_t length = strlen(text);
    if (length >= size)
        return error_set(error, ERROR_INPUT, where, "%s has %zu bytes; give at most %zu", path, length, size - 1);
    memcpy(out, text, length + 1);
    return true;
}

static bool read_text(const cJSON *value, const char *path, const char *where, char *out, size_t size, Error *error) {
    if (!cJSON_IsString(value))
        return error_set(error, ERROR_INPUT, where, "%s is %s; give text", path, kind_of(value));
    return copy_text(value->valuestring, path, where, out, size, error);
}

static bool has_harm(const char *text) {
    size_t left = strlen(text);
    while (left > 0) {
        size_t size = utf8_size(text, left);
        if (size == 0 || utf8_is_harmful(text, size)) return true;
        text += size;
        left -= size;
    }
    return false;
}

/* json_parse() bounds the depth, and so this recursion. */
bool json_is_plain(const cJSON *json, const char *where, Error *error) {
    const cJSON *item;
    if (!json) return true;
    if ((json->string && has_harm(json->string)) || (cJSON_IsString(json) && has_harm(json->valuestring)))
        return error_set(error, ERROR_INPUT, where, "%.64s: has a control character; give plain text in one line",
                         json->string ? json->string : "a text");
    cJSON_ArrayForEach(item, json) if (!json_is_plain(item, where, error)) return false;
    return true;
}

bool json_text(const cJSON *object, const char *path, const char *where, char *out, size_t size, Error *error) {
    const cJSON *value = json_at(object, path);
    return value ? read_text(value, path, where, out, size, error) : missing(path, where, "text", error);
}

bool json_text_or(const cJSON *object, const char *path, const char *fallback, const char *where, char *out,
                  size_t size, Error *error) {
    const cJSON *value = json_at(object, path);
    return value ? read_text(value, path, where, out, size, error) : copy_text(fallback, path, where, out, size, error);
}

/* ---- writing ---- */

enum { REAL_SIZE = 32 };
static const int64_t EXACT = 1000000000000000; /* whole numbers below it are printed digit by digit */

/* Writes 17 significant digits, which hold every bit of a double, with a point whatever the locale writes. A number
 * that is not finite becomes null. */
static const char *real_text(double value, char *text) {
    if (!isfinite(value)) return "null";
    if (fabs(value) < (double)EXACT && value == (double)(int64_t)value && !(value == 0 && signbit(value))) {
        snprintf(text, REAL_SIZE, "%lld", (long long)value);
        return text;
    }
    snprintf(text, REAL_SIZE, "%.17g", value);
    char *point = strpbrk(text, ",");
    if (point) *point = '.';
    return text;
}

/* A mark in the type of a value that lacks something, since memory was out: it is never printed. */
enum { CUT = 1 << 12 };

/* Hands `item`, new or NULL, over to `to`; an item that cannot be attached is freed. */
static cJSON *attach(cJSON *to, const char *key, cJSON *item) {
    if (item && (key ? cJSON_AddItemToObject(to, key, item) : cJSON_AddItemToArray(to, item))) return item;
    cJSON_Delete(item);
    if (to) to->type |= CUT;
    return NULL;
}

static bool is_whole(const cJSON *json) {
    bool whole = !(json->type & CUT);
    for (const cJSON *child = json->child; child && whole; child = child->next) whole = is_whole(child);
    return whole;
}

bool json_add_real(cJSON *to, const char *key, double value) {
    return attach(to, key, isfinite(value) ? cJSON_CreateNumber(value) : cJSON_CreateNull());
}

bool json_add_whole(cJSON *to, const char *key, int64_t value) {
    char text[REAL_SIZE];
    if (value > -EXACT && value < EXACT) return attach(to, key, cJSON_CreateNumber((double)value));
    snprintf(text, sizeof text, "%lld", (long long)value);
    return attach(to, key, cJSON_CreateRaw(text));
}

bool json_add_count(cJSON *to, const char *key, Count value) {
    char text[COUNT_TEXT_SIZE];
    return attach(to, key, cJSON_CreateRaw(count_text(value, false, text)));
}

bool json_add_text(cJSON *to, const char *key, const char *value) {
    return attach(to, key, value ? cJSON_CreateString(value) : cJSON_CreateNull());
}

bool json_add_bool(cJSON *to, const char *key, bool value) { return attach(to, key, cJSON_CreateBool(value)); }

cJSON *json_add_object(cJSON *to, const char *key) { return attach(to, key, cJSON_CreateObject()); }

cJSON *json_add_array(cJSON *to, const char *key) { return attach(to, key, cJSON_CreateArray()); }

/* Writes quotes, backslashes and control characters as escapes; bytes that are not UTF-8 (a file name can hold them)
 * become U+FFFD, so that we print JSON whatever we were given. */
void json_print_text(FILE *out, const char *text) {
    static const char SHORT[] = "\"\\\b\f\n\r\t", NAMES[] = "\"\\bfnrt";
    size_t left = strlen(text);
    putc_unlocked('"', out);
    while (left > 0) {
        size_t size = 0; /* of what stands for itself */
        while (size < left && text[size] >= ' ' && text[size] < 0x7F && text[size] != '"' && text[size] != '\\') size++;
        bool plain = size > 0;
        if (!plain) size = utf8_size(text, left);
        const char *name = plain ? NULL : memchr(SHORT, text[0], sizeof SHORT - 1);
        if (size == 0)
            fputs_unlocked("\xEF\xBF\xBD", out);
        else if (name)
            fprintf(out, "\\%c", NAMES[name - SHORT]);
        else if (!plain && ((unsigned char)text[0] < 0x20 || text[0] == 0x7F))
            fprintf(out, "\\u%04x", (unsigned)text[0]);
        else
            fwrite_unlocked(text, 1, size, out);
        text += size ? size : 1;
        left -= size ? size : 1;
    }
    putc_unlocked('"', out);
}

/* A number as json_add_*() wrote it; strtod() wants the point of the caller's locale. */
static double real_of_text(const char *text) {
    char copy[COUNT_TEXT_SIZE + REAL_SIZE];
    snprintf(copy, sizeof copy, "%s", text);
    char *point = strchr(copy, '.');
    if (point) *point = localeconv()->decimal_point[0];
    return strtod(copy, NULL);
}

void json_settle(cJSON *json) {
    for (cJSON *item = json; item; item = item->next) {
        json_settle(item->child);
        if (!cJSON_IsRaw(item)) continue;
        double value = real_of_text(item->valuestring);
        cJSON_free(item->valuestring);
        item->valuestring = NULL;
        item->type = (item->type & ~0xFF) | cJSON_Number;
        cJSON_SetNumberHelper(item, value);
    }
}

static void print_break(FILE *out, int level) {
    if (level < 0) return; /* all on one line */
    static const char BLANKS[] = "                                ";
    putc_unlocked('\n', out);
    for (int left = 2 * level, now; left > 0; left -= now) {
        now = left < (int)sizeof BLANKS - 1 ? left : (int)sizeof BLANKS - 1;
        fwrite_unlocked(BLANKS, 1, (size_t)now, out);
    }
}

enum { ONE_LINE = -(1 << 20), NO_BLANKS = 2 * ONE_LINE }; /* in place of a level */

/* `tight`: what is alone in an object stands in its line. */
static void print_value(FILE *out, const cJSON *json, int level, bool tight) {
    bool lone = tight && json->child && !json->child->next && !json->child->child;
    if (lone) level = ONE_LINE;
    bool is_object = cJSON_IsObject(json);
    char text[REAL_SIZE];
    if (is_object || cJSON_IsArray(json)) {
        putc_unlocked(is_object ? '{' : '[', out);
        for (const cJSON *child = json->child; child; child = child->next) {
            if (child != json->child) putc_unlocked(',', out);
            print_break(out, level + 1);
            if (is_object) {
                json_print_text(out, child->string ? child->string : "");
                fputs_unlocked(level < ONE_LINE ? ":" : ": ", out);
            }
            print_value(out, child, level + 1, tight);
        }
        if (json->child) print_break(out, level);
        putc_unlocked(is_object ? '}' : ']', out);
    } else if (cJSON_IsString(json)) {
        json_print_text(out, json->valuestring ? json->valuestring : "");
    } else if (cJSON_IsRaw(json)) {
        fputs_unlocked(json->valuestring ? json->valuestring : "null", out);
    } else if (cJSON_IsNumber(json)) {
        fputs_unlocked(real_text(json->valuedouble, text), out);
    } else {
        fputs_unlocked(cJSON_IsTrue(json) ? "true" : cJSON_IsFalse(json) ? "false" : "null", out);
    }
}

bool json_print_line(FILE *out, const cJSON *json) {
    if (!json || !is_whole(json)) return false;
    print_value(out, json, ONE_LINE, false);
    putc_unlocked('\n', out);
    return !ferror(out);
}

char *json_to_line(const cJSON *json, size_t *length) {
    char *text = NULL;
    FILE *out = json && is_whole(json) ? memory_stream_open(&text, length) : NULL;
    if (!out) return NULL;
    print_value(out, json, NO_BLANKS, false);
    return fclose(out) == 0 ? text : NULL;
}

bool json_print(FILE *out, const cJSON *json) {
    if (!is_whole(json)) return false;
    print_value(out, json, 0, false);
    putc_unlocked('\n', out);
    return fflush(out) == 0 && !ferror(out);
}

/* What is behind `name.` in a path; "": the path ends with it; NULL: another name. */
static const char *path_behind(const char *path, const char *name) {
    size_t length = strlen(name);
    if (strncmp(path, name, length) != 0 || (path[length] != '.' && path[length] != '\0')) return NULL;
    return path + length + (path[length] == '.');
}

static void keep(cJSON *object, const char *const *paths, int most) {
    for (cJSON *child = object->child, *next; child; child = next) {
        const char *inside[JSON_PATHS_MAX + 1] = {NULL};
        int count = 0;
        bool whole = false, list = cJSON_IsArray(child);
        next = child->next;
        for (int i = 0; paths[i] && i < JSON_PATHS_MAX; i++) {
            const char *rest = path_behind(paths[i], child->string ? child->string : "");
            if (rest) inside[count++] = rest;
            whole = whole || (rest && !*rest);
        }
        if (count == 0) cJSON_Delete(cJSON_DetachItemViaPointer(object, child));
        while (list && count > 0 && cJSON_GetArraySize(child) > most) cJSON_DeleteItemFromArray(child, most);
        if (count == 0 || whole) continue;
        for (cJSON *entry = list ? child->child : child; entry; entry = list ? entry->next : NULL)
            keep(entry, inside, most);
    }
}

bool json_print_kept(FILE *out, cJSON *json, const char *const *paths, int most) {
    keep(json, paths, most);
    if (!is_whole(json)) return false;
    print_value(out, json, 0, true);
    putc('\n', out);
    return fflush(out) == 0 && !ferror(out);
}
