/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/replaced.h"

#include "base/util.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int replaced_option(const Command *command, const char *name, size_t length) {
    for (int i = 0; i < command->option_count; i++)
        if (command_has_option(command, i) && strlen(command->options[i].name) == length &&
            strncmp(command->options[i].name, name, length) == 0)
            return i;
    return -1;
}

const Synonym *replaced_synonym(const Command *command, const char *word) {
    if (strncmp(word, "--", 2) != 0) return NULL;
    const char *name = word + 2;
    size_t length = strcspn(name, "=");
    if (replaced_option(command, name, length) >= 0) return NULL;
    for (size_t i = 0; i < (size_t)SYNONYM_COUNT; i++) {
        const Synonym *synonym = &SYNONYMS[i];
        const char *needs = synonym->condition ? "require" : synonym->option;
        if (strlen(synonym->word) == length && strncmp(synonym->word, name, length) == 0 &&
            replaced_option(command, needs, strlen(needs)) >= 0)
            return synonym;
    }
    return NULL;
}

const Catalog *replaced_catalog(Replaced *out) {
    Error unread = {0};
    if (!out->read && !catalog_load(out->arena, &out->catalog, &unread)) out->catalog.count = 0;
    out->read = true;
    return &out->catalog;
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

/* Words whose value decides what they are. */
const char *const HOST_SIZES[HOST_SIZE_COUNT] = {"--gpus-per-node", "--nproc-per-node", "--devices",
                                                 "--n-gpus-per-node", "--ntasks-per-node"};
const char *const METHODS[METHOD_COUNT] = {"--method", "--peft", "--finetuning-type", "--rlhf-type", "--adapter"};
static const char *const READ_BY_VALUE[] = {
    "--zero-stage", "--slo", "--tokens-per-second", "--network",          "--train-gpus",       "--fsdp", "--config",
    "--vllm-mode",  "--sla", "--target-throughput", "--total-throughput", "--output-throughput"};

bool replaced_is_serving(const Command *command) {
    return replaced_option(command, "kv-dtype", 8) >= 0 && replaced_option(command, "lag", 3) < 0;
}

static bool is_known(const Command *command, const char *word) {
    return replaced_option(command, word + 2, strcspn(word + 2, "=")) >= 0 || replaced_synonym(command, word) ||
           replaced_is_any(word, HOST_SIZES, HOST_SIZE_COUNT) || replaced_is_any(word, METHODS, METHOD_COUNT) ||
           replaced_is_any(word, READ_BY_VALUE, COUNT_OF(READ_BY_VALUE));
}

bool replaced_known(const Command *command, const char *name) {
    char word[96];
    return snprintf(word, sizeof word, "--%s", name) < (int)sizeof word && is_known(command, word);
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

bool replaced_add(Replaced *out, const char *format, ...) {
    va_list values;
    va_start(values, format);
    char *text = format_in(out->arena, format, values);
    va_end(values);
    return out->any = true, text && replaced_keep(out, text);
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
