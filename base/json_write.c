/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json.h"

#include "base/utf8.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REAL_SIZE = 32 };

/* Writes 17 significant digits, which hold every bit of a double, with a point whatever the locale writes. A number
 * that is not finite becomes null. */
static const char *real_text(double value, char *text) {
    if (!isfinite(value)) return "null";
    snprintf(text, REAL_SIZE, "%.17g", value);
    char *point = strpbrk(text, ",");
    if (point) *point = '.';
    return text;
}

/* Hands `item`, new or NULL, over to `to`; an item that cannot be attached is freed. */
static cJSON *attach(cJSON *to, const char *key, cJSON *item) {
    if (!item) return NULL;
    if (key ? cJSON_AddItemToObject(to, key, item) : cJSON_AddItemToArray(to, item)) return item;
    cJSON_Delete(item);
    return NULL;
}

bool json_add_real(cJSON *to, const char *key, double value) {
    char text[REAL_SIZE];
    return attach(to, key, isfinite(value) ? cJSON_CreateRaw(real_text(value, text)) : cJSON_CreateNull());
}

bool json_add_whole(cJSON *to, const char *key, int64_t value) {
    char text[REAL_SIZE];
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
    putc('"', out);
    while (left > 0) {
        size_t size = utf8_size(text, left);
        const char *name = memchr(SHORT, text[0], sizeof SHORT - 1);
        if (size == 0)
            fputs("\xEF\xBF\xBD", out);
        else if (name)
            fprintf(out, "\\%c", NAMES[name - SHORT]);
        else if ((unsigned char)text[0] < 0x20 || text[0] == 0x7F)
            fprintf(out, "\\u%04x", (unsigned)text[0]);
        else
            fwrite(text, 1, size, out);
        text += size ? size : 1;
        left -= size ? size : 1;
    }
    putc('"', out);
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
    putc('\n', out);
    for (int i = 0; i < level; i++) fputs("  ", out);
}

static void print_value(FILE *out, const cJSON *json, int level) {
    bool is_object = cJSON_IsObject(json);
    char text[REAL_SIZE];
    if (is_object || cJSON_IsArray(json)) {
        putc(is_object ? '{' : '[', out);
        for (const cJSON *child = json->child; child; child = child->next) {
            if (child != json->child) putc(',', out);
            print_break(out, level + 1);
            if (is_object) {
                json_print_text(out, child->string ? child->string : "");
                fputs(": ", out);
            }
            print_value(out, child, level + 1);
        }
        if (json->child) print_break(out, level);
        putc(is_object ? '}' : ']', out);
    } else if (cJSON_IsString(json)) {
        json_print_text(out, json->valuestring ? json->valuestring : "");
    } else if (cJSON_IsRaw(json)) {
        fputs(json->valuestring ? json->valuestring : "null", out);
    } else if (cJSON_IsNumber(json)) {
        fputs(real_text(json->valuedouble, text), out);
    } else {
        fputs(cJSON_IsTrue(json) ? "true" : cJSON_IsFalse(json) ? "false" : "null", out);
    }
}

bool json_print(FILE *out, const cJSON *json) {
    print_value(out, json, 0);
    putc('\n', out);
    return fflush(out) == 0 && !ferror(out);
}
