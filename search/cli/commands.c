/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/commands.h"

#include "base/util.h"

#include <string.h>

const Command *const COMMANDS[COMMAND_COUNT] = {
    &COMMAND_PLAN,     &COMMAND_EXPLAIN,   &COMMAND_EMIT,     &COMMAND_MODELS, &COMMAND_CHIPS,
    &COMMAND_VALIDATE, &COMMAND_CALIBRATE, &COMMAND_CHECK,    &COMMAND_LAYOUT, &COMMAND_DIFF,
    &COMMAND_SWEEP,    &COMMAND_MERGE,     &COMMAND_INFERENCE};

const Command *command_named(const char *name, Error *error) {
    const char *names[COMMAND_COUNT];
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(COMMANDS[i]->name, name) == 0) return COMMANDS[i];
        names[i] = COMMANDS[i]->name;
    }
    const char *nearest = name_nearest(name, names, COMMAND_COUNT);
    error_set(error, ERROR_INPUT, name, "is not a command; %s%s",
              nearest ? "did you mean " : "shardopt --help lists them", nearest ? nearest : "");
    return NULL;
}
