/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/commands.h"

#include "base/util.h"
#include "models/config/model_json.h"

#include <string.h>

const Command *const COMMANDS[COMMAND_COUNT] = {
    &COMMAND_PLAN,     &COMMAND_EXPLAIN,   &COMMAND_EMIT,      &COMMAND_MODELS, &COMMAND_CHIPS,
    &COMMAND_VALIDATE, &COMMAND_CALIBRATE, &COMMAND_CHECK,     &COMMAND_LAYOUT, &COMMAND_DIFF,
    &COMMAND_SWEEP,    &COMMAND_MERGE,     &COMMAND_INFERENCE, &COMMAND_TRACE,  &COMMAND_BENCH};

/* Whether the zoo has it: a first word is often what to plan. */
static bool is_model(const char *name) {
    Arena arena = {0};
    Error unused = {0};
    Zoo zoo;
    bool is = zoo_load(&arena, &zoo, &unused) && zoo_find(&zoo, name);
    arena_free(&arena);
    return is;
}

const Command *command_named(const char *name, Error *error) {
    const char *names[COMMAND_COUNT];
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(COMMANDS[i]->name, name) == 0) return COMMANDS[i];
        names[i] = COMMANDS[i]->name;
    }
    if (is_model(name)) {
        error_set(error, ERROR_INPUT, name, "is a model, not a command; write shardopt --model %.80s", name);
        return NULL;
    }
    const char *nearest = name_nearest(name, names, COMMAND_COUNT);
    error_set(error, ERROR_INPUT, name, "is not a command; %s%s",
              nearest ? "did you mean " : "shardopt --help lists them", nearest ? nearest : "");
    return NULL;
}
