/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/replaced.h"

#include "base/util.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

const Catalog *replaced_catalog(Replaced *out) {
    Error unread = {0};
    if (!out->read && !catalog_load(out->arena, &out->catalog, &unread)) out->catalog.count = 0;
    out->read = true;
    return &out->catalog;
}

const Zoo *replaced_zoo(Replaced *out) {
    Error unread = {0};
    if (!out->zoo_is_read && !zoo_names(out->arena, &out->zoo, &unread)) out->zoo.count = 0;
    out->zoo_is_read = true;
    return &out->zoo;
}

bool replaced_is(const char *word, const char *name) {
    size_t length = strlen(name);
    return strncmp(word, name, length) == 0 && (word[length] == '\0' || word[length] == '=');
}

bool replaced_is_any(const char *word, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (replaced_is(word, names[i])) return true;
    return false;
}

const char *const REST_ROLES[REST_COUNT] = {"data", "pipeline", "sequence", "tensor"};

bool replaced_has(const Replaced *out, const char *option) {
    return command_option(out->command, option, strlen(option)) >= 0;
}

bool replaced_meaning(Replaced *out, const char *word, const char *next, Meaning *meaning) {
    const char *inside = strchr(word, '=');
    Place place = {out->command, inside ? inside + 1 : next, false, out->tuned};
    place.is_chip = place.value && place.value[0] != '-' && replaced_is_chip(out, place.value);
    return meaning_of(word + strspn(word, "-"), &place, meaning);
}

/* Whether a chip is called so: rtx4090 is no 4,090 of anything. */
bool replaced_is_chip(Replaced *out, const char *name) { return catalog_find(replaced_catalog(out), name); }

/* The text that printf writes, in the arena; NULL: memory is out. */
static char *format_in(Arena *arena, const char *format, va_list values) {
    va_list again;
    va_copy(again, values);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = length < 0 ? NULL : arena_alloc(arena, (size_t)length + 1, 1);
    if (text) vsnprintf(text, (size_t)length + 1, format, values);
    return text;
}

bool replaced_keep(Replaced *out, char *word) {
    if (out->count == out->room) return false;
    out->words[out->count++] = word;
    return true;
}

char *replaced_tag(Replaced *out, const char *word) {
    char *name = arena_text(out->arena, word);
    for (char *at = name && !strchr(name, '/') ? name : NULL; at && (at = strchr(at, ':'));) *at = '-';
    return name;
}

const char *replaced_option(const Replaced *out, const char *option) {
    for (int i = 1; i < out->count; i++) {
        const char *word = out->words[i];
        if (!replaced_is(word, option)) continue;
        return word[strlen(option)] == '=' ? word + strlen(option) + 1 : i + 1 < out->count ? out->words[i + 1] : "";
    }
    return NULL;
}

bool replaced_put(Replaced *out, const char *option, char *word) {
    for (int i = 1; i < out->count; i++) {
        if (!replaced_is(out->words[i], option)) continue;
        int own = 1 + !strchr(out->words[i], '='), kept = word != NULL;
        if (kept) out->words[i] = word;
        memmove(out->words + i + kept, out->words + i + own, (size_t)(out->count - i - own) * sizeof *out->words);
        out->count -= own - kept;
        break;
    }
    return out->any = true;
}

/* Whether other words of the line said so too: "sft" and --finetuning_type full, "128 H100" and an instance of them. */
static bool is_said(Replaced *out, const char *text) {
    const char *equals = strchr(text, '='), *before;
    char name[32];
    for (int i = 1; i < out->count; i++)
        if (strcasecmp(out->words[i], text) == 0) return true;
    if (!equals || (size_t)(equals - text) >= sizeof name) return false;
    snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    if (!(before = replaced_option(out, name))) return false;
    if (strcasecmp(before, equals + 1) == 0) return true;
    if (strcmp(equals + 1, "16") == 0 && word_among("--lora --qlora", name)) return true; /* it has a rank */
    if (strcmp(name, "--chip") != 0) return false;
    const Chip *old = catalog_find(replaced_catalog(out), before),
               *new = catalog_find(replaced_catalog(out), equals + 1);
    return old && old == new;
}

bool replaced_add(Replaced *out, const char *format, ...) {
    va_list values;
    va_start(values, format);
    char *text = format_in(out->arena, format, values);
    va_end(values);
    out->any = true;
    if (!text || is_said(out, text)) return text != NULL;
    const char *rank = strncmp(text, "--lora=", 7) == 0 ? replaced_option(out, "--lora") : NULL;
    const char *mode = strncmp(text, "--mode=", 7) == 0 ? replaced_option(out, "--mode") : NULL;
    if (rank && (!*rank || strcmp(rank, "16") == 0)) return replaced_put(out, "--lora", text);
    if (mode) return replaced_put(out, "--mode", (char *)"--mode=disaggregated"); /* prefill and decode */
    return replaced_keep(out, text);
}

bool replaced_advise(Replaced *out, const char *format, ...) {
    va_list values;
    va_start(values, format);
    char *text = format_in(out->arena, format, values);
    va_end(values);
    if (text && out->advice) text = arena_format(out->arena, "%s; %s", out->advice, text);
    out->any = true;
    out->advice = text ? text : out->advice;
    return text != NULL;
}

bool replaced_leave(Replaced *out, const char **list, const char *name) {
    *list = arena_format(out->arena, "%s%s%s", *list ? *list : "", *list ? ", " : "", name);
    return out->any = out->after_pass = true, *list != NULL;
}

bool replaced_condition(Replaced *out, const char *condition) {
    if (!condition) return false;
    out->conditions = out->conditions ? arena_format(out->arena, "%s %s", out->conditions, condition)
                                      : arena_text(out->arena, condition);
    return out->conditions != NULL;
}
