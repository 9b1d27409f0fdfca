/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/request/knobs.h"

#include "base/number.h"
#include "base/util.h"

#include <stdio.h>
#include <string.h>

static int64_t microbatches(const Knobs *knobs) { return knobs->microbatches; }
static int64_t microbatch_sequences(const Knobs *knobs) { return knobs->microbatch_sequences; }
static int64_t schedule(const Knobs *knobs) { return (int64_t)knobs->schedule; }
static int64_t virtual_stages(const Knobs *knobs) { return knobs->virtual_stages; }
static int64_t zero_stage(const Knobs *knobs) { return knobs->zero_stage; }
static int64_t context(const Knobs *knobs) { return (int64_t)knobs->methods.context; }
static int64_t regather(const Knobs *knobs) { return knobs->regather; }

static int64_t stages(const Knobs *knobs) { return (int64_t)knobs->stages; }
static int64_t ulysses(const Knobs *knobs) { return max_whole(1, knobs->methods.ulysses); }
static int64_t sequence_parameters(const Knobs *knobs) { return knobs->methods.sequence_replicates; }
static int64_t tensor_overlap(const Knobs *knobs) { return knobs->methods.tensor_overlap; }
static int64_t offload_optimizer(const Knobs *knobs) { return knobs->offload_optimizer; }
static int64_t folded_expert(const Knobs *knobs) { return knobs->methods.grid.expert; }
static int64_t folded_expert_tensor(const Knobs *knobs) { return knobs->methods.grid.expert_tensor; }

static const char *stages_at(int64_t i) { return stage_split_name((StageSplit)i); }
static const char *parameters_at(int64_t i) { return i ? "replicated" : "sharded"; }
static const char *schedule_at(int64_t i) { return schedule_name((Schedule)i); }
static const char *context_at(int64_t i) { return context_method_name((ContextMethod)i); }
static const char *bool_at(int64_t i) { return i ? "true" : "false"; }

#define KNOB_MOST (INT64_C(1) << 31) /* of what has no limit of its own */

/* `name` NULL: a number from `least` to `most`. To make a knob one that can be asked for, add a line. */
static const struct {
    const char *word, *brief;
    int64_t (*of)(const Knobs *knobs);
    const char *(*name)(int64_t setting);
    int64_t count; /* names */
    int64_t least, most;
} WORDS[KNOB_WORDS_COUNT] = {
    {"microbatches", NULL, microbatches, NULL, 0, 1, KNOB_MOST},
    {"microbatch_sequences", NULL, microbatch_sequences, NULL, 0, 1, KNOB_MOST},
    {"schedule", NULL, schedule, schedule_at, SCHEDULE_COUNT, 0, 0},
    {"virtual_stages", NULL, virtual_stages, NULL, 0, 1, KNOB_MOST},
    {"zero_stage", "zero", zero_stage, NULL, 0, 0, 2},
    {"context_method", "context", context, context_at, CONTEXT_COUNT, 0, 0},
    {"regather", NULL, regather, bool_at, 2, 0, 0},
    {"stages", NULL, stages, stages_at, 2, 0, 0},
    {"ulysses", NULL, ulysses, NULL, 0, 1, KNOB_MOST},
    {"sequence_parameters", NULL, sequence_parameters, parameters_at, 2, 0, 0},
    {"tensor_overlap", "overlap", tensor_overlap, bool_at, 2, 0, 0},
    {"offload_optimizer", NULL, offload_optimizer, bool_at, 2, 0, 0},
    {"folded_expert", "folded", folded_expert, NULL, 0, 0, KNOB_MOST},
    {"folded_expert_tensor", "expert_tensor", folded_expert_tensor, NULL, 0, 0, KNOB_MOST},
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
    if (!WORDS[word].name) {
        Error wrong = {0};
        return number_whole(text, where, WORDS[word].least, WORDS[word].most, out, &wrong) ||
               error_set(error, wrong.kind, where, "%s: %s", WORDS[word].word, wrong.text);
    }
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
