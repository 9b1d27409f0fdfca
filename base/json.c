/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json.h"

#include "base/utf8.h"

#include <math.h>
#include <string.h>

/* The child whose name is the `length` bytes at `key`; cJSON itself wants a terminated name. */
static const cJSON *child_named(const cJSON *object, const char *key, size_t length) {
    if (!cJSON_IsObject(object)) return NULL;
    for (const cJSON *child = object->child; child; child = child->next)
        if (child->string && strncmp(child->string, key, length) == 0 && child->string[length] == '\0') return child;
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
