/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options read one by one, with errors that name them. */
#include "base/number.h"
#include "base/util.h"
#include "search/options/machine_words.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

const char *words_where(const Words *words, Option option) {
    const char *where = words->options->where[option];
    if (given(words, option) && where) return where;
    where = arena_format(words->arena, "--%s", option_name(option));
    return where ? where : "options";
}

bool words_wrong(const Words *words, Option option, const char *format, ...) {
    char text[sizeof words->error->text];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    return error_set(words->error, ERROR_INPUT, words_where(words, option), "%s", text);
}

bool words_whole(const Words *words, Option option, int64_t low, int64_t high, int64_t *out) {
    const char *text = given(words, option);
    return !text || number_whole(text, words_where(words, option), low, high, out, words->error);
}

bool words_real(const Words *words, Option option, double low, double high, double *out) {
    const char *text = given(words, option);
    return !text || number_real(text, words_where(words, option), low, high, out, words->error);
}

bool words_sequences(const Words *words, int64_t devices, int64_t most, int64_t *out) {
    const char *text = given(words, OPTION_SEQUENCES), *each = text ? strstr(text, "/device") : NULL;
    if (!each || each[strlen("/device")]) return words_whole(words, OPTION_SEQUENCES, 1, most, out);
    double of_one = 0;
    const char *number = arena_format(words->arena, "%.*s", (int)(each - text), text);
    if (!number) return error_memory(words->error);
    if (!number_real(number, words_where(words, OPTION_SEQUENCES), 1e-9, (double)most / (double)devices, &of_one,
                     words->error))
        return false;
    *out = max_whole(1, (int64_t)(of_one * (double)devices + 0.5));
    return true;
}

bool words_share(const Words *words, Option option, double high, double *out) {
    const char *text = given(words, option);
    return !text || number_share(text, words_where(words, option), 0, high, out, words->error);
}

bool words_seconds(const Words *words, Option option, double *out) {
    const char *text = given(words, option);
    return !text || number_seconds(text, words_where(words, option), out, words->error);
}

/* The words of `values` as a person lists them: "text, json or markdown". */
static void list_values(const char *values, char *out, size_t size) {
    size_t used = 0;
    out[0] = '\0';
    while (*values && used + 1 < size) {
        size_t length = strcspn(values, " ");
        const char *next = values + length + (values[length] == ' ');
        const char *between = used == 0 ? "" : *next ? ", " : " or ";
        used += (size_t)snprintf(out + used, size - used, "%s%.*s", between, (int)length, values);
        values = next;
    }
}

bool choice_read(const char *text, const char *where, const char *values, int *out, Error *error) {
    char all[128], near[32] = "", one[32];
    int i = 0, distance = 3; /* of a slip */
    if (!text) return true;
    for (const char *word = values; *word; i++) {
        size_t length = strcspn(word, " ");
        if (strlen(text) == length && strncmp(word, text, length) == 0) return *out = i, true;
        snprintf(one, sizeof one, "%.*s", (int)length, word);
        int slips = name_distance(text, one);
        if (slips < distance && slips < (int)length) distance = slips, memcpy(near, one, sizeof near);
        word += length + (word[length] == ' ');
    }
    list_values(values, all, sizeof all);
    return error_set(error, ERROR_INPUT, where, "\"%.60s\" is not one of its values; %s%s%sgive %s", text,
                     near[0] ? "did you mean " : "", near, near[0] ? "? " : "", all);
}

bool words_choice(const Words *words, Option option, int *out) {
    const char *text = given(words, option);
    return !text || choice_read(text, words_where(words, option), PLANNING_OPTIONS[option].values, out, words->error);
}
