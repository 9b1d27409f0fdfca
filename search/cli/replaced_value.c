/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What values mean as people type them. */
#include "base/number.h"
#include "base/util.h"
#include "search/cli/commands.h"
#include "search/cli/replaced.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

const char *replaced_value(Replaced *out, const char *option, const char *value, bool *ok) {
    int number = command_option(out->command, option, strlen(option));
    const char *ours = word_value(option, value, number >= 0 ? out->command->options[number].values : NULL);
    if (ours && strcmp(option, "format") == 0) return ours; /* nobody doubts "md" */
    if (ours) return *ok = replaced_advise(out, "%s is read as %s", value, ours), ours;
    int sizes[3], read = 0; /* of a slice the smallest size comes first */
    if (strcmp(option, "slice") == 0 && sscanf(value, "%3dx%3dx%3d%n", &sizes[0], &sizes[1], &sizes[2], &read) == 3 &&
        !value[read] && (sizes[0] | sizes[1] | sizes[2]) % 4 == 0) { /* of cubes of 4x4x4 */
        qsort(sizes, 3, sizeof *sizes, by_value);
        const char *sorted = arena_format(out->arena, "%dx%dx%d", sizes[0], sizes[1], sizes[2]);
        return *ok = sorted != NULL, sorted;
    }
    size_t digits = strspn(value, "0123456789."), end = strlen(value);
    if (digits == 0) return NULL;
    static const char *const TOKENS[] = {"-tokens", "tokens", "_tokens", "-tok", "tok"};
    bool counts = strcmp(option, "batch") == 0 || strcmp(option, "tokens") == 0 || strcmp(option, "samples") == 0;
    for (size_t i = 0; i < COUNT_OF(TOKENS) && counts && end == strlen(value); i++)
        if (end > strlen(TOKENS[i]) && strcasecmp(value + end - strlen(TOKENS[i]), TOKENS[i]) == 0)
            end -= strlen(TOKENS[i]);
    bool billions = counts && end == digits + 1 && toupper((unsigned char)value[digits]) == 'B';
    if (!counts || (end == strlen(value) && !billions)) return NULL;
    const char *meant = billions ? arena_format(out->arena, "%.*sG", (int)digits, value)
                                 : arena_format(out->arena, "%.*s", (int)end, value);
    return *ok = meant != NULL, meant;
}

const char *replaced_size(Replaced *out, const char *option, const char *value, bool *ok) {
    static const char *const SIZES[] = {"seq",    "batch",      "sequences",   "prompt",
                                        "answer", "max-length", "mean-length", "max-answer"};
    Error no_number = {0};
    int64_t tokens = 0;
    for (size_t i = 0; i < COUNT_OF(SIZES); i++) {
        if (strcmp(option, SIZES[i]) != 0 || !strpbrk(value, "kKmMgGt") ||
            !number_tokens(value, "", 1, (int64_t)1e15, &tokens, &no_number))
            continue;
        const char *meant = arena_format(out->arena, "%lld", (long long)tokens);
        return *ok = meant != NULL, meant;
    }
    return replaced_value(out, option, value, ok);
}

char *replaced_degrees(Replaced *out, const char *word) {
    char *plan = NULL, name[24];
    if (word_among("fsdp1 fsdp2 zero1 zero2 zero3", word)) return NULL; /* versions and stages */
    for (const char *at = word; *at;) {
        size_t letters = 0;
        while (isalpha((unsigned char)at[letters])) letters++;
        const char *number = at + letters + (at[letters] == '=' || at[letters] == '-');
        size_t digits = strspn(number, "0123456789");
        Meaning meaning;
        if (letters == 0 || letters >= sizeof name || digits == 0) return NULL;
        snprintf(name, sizeof name, "%.*s", (int)letters, at);
        Place place = {.command = strcmp(command_kind(out->command), "rl") == 0 ? COMMANDS[0] : out->command,
                       .value = "2"};
        if (!meaning_of(name, &place, &meaning) || !islower((unsigned char)*meaning.what) ||
            strpbrk(meaning.what, "=<> ") || word_among("pass switch note answer", meaning.what))
            return NULL;
        plan = arena_format(out->arena, "%s%s%s=%.*s", plan ? plan : "", plan ? " " : "", meaning.what, (int)digits,
                            number);
        if (!plan) return NULL;
        at = number + digits;
        at += strspn(at, "-_, ");
    }
    return plan;
}

bool value_is_answer_length(const Replaced *out, const char *option, const char *value) {
    double tokens;
    Error ignored = {0};
    size_t first = value ? strcspn(value, ",") : 0; /* of a list of `sweep inference` the first */
    char number[32];
    if (strcmp(option, "output") != 0 || first == 0 || first >= sizeof number) return false;
    snprintf(number, sizeof number, "%.*s", (int)first, value);
    return replaced_has(out, "answer") && number_real(number, "", 0, 1e18, &tokens, &ignored);
}

bool value_is_millions(const char *value) {
    size_t digits = strspn(value, "0123456789.");
    return digits > 0 && toupper((unsigned char)value[digits]) == 'M';
}

bool value_is_milliseconds(const char *value) {
    return value[strspn(value, "0123456789.")] == '\0' && strtod(value, NULL) >= 5;
}

bool value_is_batch_of_sequences(const Replaced *out, const char *option, const char *value) {
    long most = out->seq > 0 ? out->seq - 1 : 2047;
    return strcmp(option, "batch") == 0 && replaced_has(out, "sequences") &&
           value[strspn(value, "0123456789")] == '\0' && strlen(value) < 7 && atol(value) > 0 && atol(value) <= most;
}
