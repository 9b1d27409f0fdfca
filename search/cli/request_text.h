/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/request_text.h: a command line in one text, for programs that ask from the inside: benchmarks, tests. */
#pragma once

#include "search/cli/commands.h"
#include "search/cli/planning.h"

#include <string.h>

/* A command line of `shardopt`, in one text without quotes, resolved. Where it has no --for the layout is free, so that
 * there is one search. False: why is on stderr. */
static inline bool request_from_text(const char *text, Arena *arena, Request *out) {
    enum { WORDS_MAX = 64 };
    char *words[WORDS_MAX + 1] = {NULL}, *rest = NULL, *copy = arena_text(arena, text);
    int count = 0;
    Options options;
    Error error = {0};
    for (char *word = copy ? strtok_r(copy, " ", &rest) : NULL; word && count < WORDS_MAX;
         word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    bool read = options_parse(count, words, &COMMAND_PLAN, arena, &options, &error);
    if (read && !options.text[OPTION_FOR]) options.text[OPTION_FOR] = "any";
    if (read && request_from_options(&options, arena, out, &error)) return true;
    fprintf(stderr, "%s: %s: %s\n", text, error.where, error.text);
    return false;
}
