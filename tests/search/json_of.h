/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tests/search/json_of.h: what a command line of the program answers as JSON, in memory, and its figures by path. */
#pragma once

#include "base/json.h"
#include "search/shardopt.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The result of "inference --model 8b ...", words between blanks; what is wrong fails the test. To be freed with
 * shardopt_free(). */
static inline char *text_of(const char *line) {
    char copy[1100], *words[64], *rest = NULL, *text, *messages;
    int count = 0;
    snprintf(copy, sizeof copy, "shardopt %s", line);
    for (char *word = strtok_r(copy, " ", &rest); word && count < 63; word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    words[count] = NULL;
    int code = shardopt_call(count, words, &text, &messages);
    cr_assert(code == SHARDOPT_DONE && text, "%s: %d: %s", line, code, messages ? messages : "");
    shardopt_free(messages);
    return text;
}

/* The same with --format json, as a tree. */
static inline cJSON *json_of(const char *line) {
    char with_format[1024];
    Error error = {0};
    snprintf(with_format, sizeof with_format, "%s --format json", line);
    char *text = text_of(with_format);
    cJSON *json = json_parse(text, strlen(text), "json", &error);
    cr_assert_not_null(json, "%s: %s", line, error.text);
    shardopt_free(text);
    return json;
}

static inline double real_at(const cJSON *json, const char *path) {
    const cJSON *item = json_at(json, path);
    cr_assert(cJSON_IsNumber(item), "%s is no number", path);
    return item->valuedouble;
}

static inline const char *words_at(const cJSON *json, const char *path) {
    const char *text = cJSON_GetStringValue(json_at(json, path));
    cr_assert_not_null(text, "%s is no text", path);
    return text;
}

/* All numbers below an object or an array, added up. */
static inline double sum_of(const cJSON *json) {
    double sum = cJSON_IsNumber(json) ? json->valuedouble : 0;
    for (const cJSON *item = json ? json->child : NULL; item; item = item->next) sum += sum_of(item);
    return sum;
}

static inline bool near_to(double a, double b) { return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b)); }
#define EXPECT_NEAR(a, b, ...) cr_expect(near_to(a, b), __VA_ARGS__)
