/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/knob_words.h"

#include "base/number.h"
#include "base/util.h"

#include <stdio.h>
#include <string.h>

static int64_t microbatches(const Knobs *knobs) { return knobs->microbatches; }
static int64_t microbatch_sequences(const Knobs *knobs) { return knobs->microbatch_sequences; }
static int64_t schedule(const Knobs *knobs) { return (int64_t)knobs->schedule; }
static int64_t virtual_stages(const Knobs *knobs) { return knobs->virtual_stages; }
static int64_t zero_stage(const Knobs *knobs) { return knobs->zero_stage; }
static int64_t context(const Knobs *knobs) { return (int64_t)knobs->context; }
static int64_t regather(const Knobs *knobs) { return knobs->regather; }

static const char *schedule_at(int64_t i) { return schedule_name((Schedule)i); }
static const char *context_at(int64_t i) { return context_method_name((ContextMethod)i); }
static const char *bool_at(int64_t i) { return i ? "true" : "false"; }

/* `name` NULL: a number. To make a knob one that can be asked for, add a line. */
static const struct {
    const char *word, *brief;
    int64_t (*of)(const Knobs *knobs);
    const char *(*name)(int64_t setting);
    int64_t count; /* names */
} WORDS[KNOB_WORDS_COUNT] = {
    {"microbatches", NULL, microbatches, NULL, 0},
    {"microbatch_sequences", NULL, microbatch_sequences, NULL, 0},
    {"schedule", NULL, schedule, schedule_at, SCHEDULE_COUNT},
    {"virtual_stages", NULL, virtual_stages, NULL, 0},
    {"zero_stage", "zero", zero_stage, NULL, 0},
    {"context_method", "context", context, context_at, CONTEXT_COUNT},
    {"regather", NULL, regather, bool_at, 2},
};

const char *knob_word(int word) { return WORDS[word].word; }

bool knob_word_named(int word) { return WORDS[word].name != NULL; }

int knob_word_find(const char *name) {
    for (int word = 0; word < KNOB_WORDS_COUNT; word++)
        if (strcmp(name, WORDS[word].word) == 0 || (WORDS[word].brief && strcmp(name, WORDS[word].brief) == 0))
            return word;
    return -1;
}

int64_t knob_word_of(int word, const Knobs *knobs) { return WORDS[word].of(knobs); }

bool knob_word_parse(int word, const char *text, const char *where, int64_t *out, Error *error) {
    char all[128] = "";
    if (!WORDS[word].name) return number_whole(text, where, 0, INT64_C(1) << 31, out, error);
    for (int64_t i = 0; i < WORDS[word].count; i++) {
        size_t length = strlen(all);
        *out = i;
        if (strcmp(text, WORDS[word].name(i)) == 0) return true;
        snprintf(all + length, sizeof all - length, "%s%s",
                 i == 0                      ? ""
                 : i + 1 < WORDS[word].count ? ", "
                                             : " or ",
                 WORDS[word].name(i));
    }
    return error_set(error, ERROR_INPUT, where, "%s \"%.24s\" does not exist; give %s", WORDS[word].word, text, all);
}

const char *knob_word_text(int word, int64_t setting, char text[KNOB_TEXT_SIZE]) {
    if (WORDS[word].name)
        snprintf(text, KNOB_TEXT_SIZE, "%s", WORDS[word].name(setting));
    else
        snprintf(text, KNOB_TEXT_SIZE, "%lld", (long long)setting);
    return text;
}
