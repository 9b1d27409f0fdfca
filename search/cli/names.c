/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/names.h"

#include "search/options/options.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static bool same_letters(const char *a, const char *b, size_t length) {
    for (size_t i = 0; i < length; i++) {
        char x = a[i] == '_' ? '-' : (char)tolower((unsigned char)a[i]);
        if (x != (b[i] == '_' ? '-' : (char)tolower((unsigned char)b[i]))) return false;
    }
    return true;
}

bool word_among(const char *words, const char *word, size_t length) {
    for (const char *at = words; *at && length > 0; at += strspn(at, " ")) {
        size_t own = strcspn(at, " ");
        if (own == length && same_letters(at, word, length)) return true;
        at += own;
    }
    return false;
}

static const NameRow *row_of(const char *kind, const char *name, size_t length) {
    for (int i = 0; i < NAME_ROW_COUNT; i++)
        if (strcmp(NAME_ROWS[i].kinds, kind) == 0 && word_among(NAME_ROWS[i].names, name, length)) return &NAME_ROWS[i];
    return NULL;
}

const NameRow *name_row(const char *kind, const char *name, size_t length) {
    const NameRow *row = row_of(kind, name, length);
    if (!row && strcmp(kind, "tune") == 0) row = row_of("plan", name, length);
    return row || strcmp(kind, "command") == 0 ? row : row_of("any", name, length);
}

const char *command_kind(const Command *command) {
    const CommandOption *table = command->options;
    return table == PLANNING_OPTIONS  ? "plan"
           : table == SERVING_OPTIONS ? "inference"
           : table == RL_OPTIONS      ? "rl"
                                      : "any";
}

int command_option(const Command *command, const char *name, size_t length) {
    for (int i = 0; i < command->option_count; i++)
        if (command_has_option(command, i) && strlen(command->options[i].name) == length &&
            same_letters(command->options[i].name, name, length))
            return i;
    return -1;
}

const char *value_meant(const char *option, const char *value, size_t length) {
    for (int i = 0; i < NAME_ROW_COUNT; i++) {
        const NameRow *row = &NAME_ROWS[i];
        size_t own = strcspn(row->meaning, " ");
        if (strcmp(row->kinds, "value") == 0 && strlen(option) == own && strncmp(row->meaning, option, own) == 0 &&
            word_among(row->names, value, length))
            return row->meaning + own + 1;
    }
    return NULL;
}
