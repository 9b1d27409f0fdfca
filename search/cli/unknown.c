/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words that are refused, and what to type: the nearest name of the command's options, of other commands', of
 * names.tsv. What is proposed is never run. */
#include "base/util.h"
#include "search/cli/commands.h"
#include "search/cli/names.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How far a name may be for a slip of letters: one in three, and never all. */
static int slips_of(size_t length) { return length < 3 ? 0 : length < 4 ? 1 : (int)(length + 1) / 3; }

static const char *name_of(const char *word, size_t *length) {
    const char *name = word + strspn(word, "-");
    *length = strcspn(name, "=");
    return name;
}

typedef struct {
    char name[64];
    int distance;
} Near;

/* "no-tensor" and "disable-x" say the opposite of what is near them. */
static bool is_negative(const char *name) { return strncmp(name, "no-", 3) == 0 || strncmp(name, "disable-", 8) == 0; }

static void look(Near *near, const char *name, const char *candidate, size_t length) {
    char text[sizeof near->name];
    if (length >= sizeof text || is_negative(name) != is_negative(candidate)) return;
    snprintf(text, sizeof text, "%.*s", (int)length, candidate);
    int distance = name_distance(name, text);
    if (distance >= near->distance || distance > slips_of(strlen(name)) || distance >= (int)strlen(name)) return;
    near->distance = distance;
    snprintf(near->name, sizeof near->name, "%s", text);
}

static Near near_own(const Command *command, const char *name) {
    Near near = {.distance = INT_MAX};
    for (int i = 0; i < command->option_count; i++)
        if (command_has_option(command, i))
            look(&near, name, command->options[i].name, strlen(command->options[i].name));
    look(&near, name, "help", 4);
    return near;
}

static Near near_alias(const Command *command, const char *name) {
    Near near = {.distance = INT_MAX};
    const char *kind = command_kind(command);
    for (int i = 0; i < NAME_ROW_COUNT; i++) {
        const NameRow *row = &NAME_ROWS[i];
        bool mine = strcmp(row->kinds, kind) == 0 ||
                    (strcmp(row->kinds, "any") == 0 && row->meaning[0] == '-' &&
                     command_option(command, row->meaning + 2, strcspn(row->meaning + 2, " ")) >= 0);
        for (const char *at = mine ? row->names : ""; *at; at += strspn(at, " ")) {
            size_t length = strcspn(at, " ");
            look(&near, name, at, length);
            at += length;
        }
    }
    return near;
}

/* The other command that has an option of exactly this name; NULL: none. */
static const Command *other_with(const Command *command, const char *name, size_t length) {
    for (int pass = 0; pass < 2; pass++) /* first those that answer questions */
        for (int i = 0; i < COMMAND_COUNT; i++) {
            bool answers = word_among("plan inference rl sweep explain", COMMANDS[i]->name, strlen(COMMANDS[i]->name));
            if (COMMANDS[i] != command && answers == (pass == 0) && command_option(COMMANDS[i], name, length) >= 0)
                return COMMANDS[i];
        }
    return NULL;
}

bool option_is_far(const Command *command, const char *word) {
    size_t length;
    char name[64];
    const char *start = name_of(word, &length);
    snprintf(name, sizeof name, "%.*s", (int)min_whole((int64_t)length, 63), start);
    return near_own(command, name).distance == INT_MAX && near_alias(command, name).distance == INT_MAX &&
           !other_with(command, start, length);
}

bool option_unknown(const Command *command, const char *word, Error *error) {
    size_t length;
    char name[64], where[64];
    const char *start = name_of(word, &length);
    snprintf(name, sizeof name, "%.*s", (int)min_whole((int64_t)length, 63), start);
    snprintf(where, sizeof where, "%.*s", (int)min_whole((int64_t)(length + (size_t)(start - word)), 63), word);
    bool spelled = start - word != 2 && length > 1 &&
                   (command_option(command, start, length) >= 0 || name_row(command_kind(command), start, length));
    if (spelled) return error_set(error, ERROR_INPUT, where, "is not an option; did you mean --%s", name);
    Near own = near_own(command, name);
    const Command *other = other_with(command, start, length);
    if (other && own.distance > 1)
        return error_set(error, ERROR_INPUT, where, "is not an option of %s; it is --%s of `shardopt %s`",
                         command->name, name, other->name);
    static const char *const KINDS[] = {"plan", "inference", "rl"}; /* kinds of rows, which are commands too */
    for (size_t i = 0; i < COUNT_OF(KINDS) && own.distance > 1; i++) {
        const NameRow *row = strcmp(command_kind(command), KINDS[i]) != 0 ? name_row(KINDS[i], start, length) : NULL;
        if (row && row->meaning[0] != 'n')
            return error_set(error, ERROR_INPUT, where, "is not an option of %s; it is one of `shardopt %s`",
                             command->name, KINDS[i]);
    }
    Near alias = near_alias(command, name);
    const Near *near = alias.distance < own.distance ? &alias : &own;
    if (near->distance < INT_MAX)
        return error_set(error, ERROR_INPUT, where, "is not an option; did you mean --%s", near->name);
    return error_set(error, ERROR_INPUT, where, "is not an option; `shardopt %s --help` lists them", command->name);
}
