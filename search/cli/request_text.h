/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/request_text.h: a command line in one text, for programs that ask from the inside: benchmarks, tests. */
#pragma once

#include "search/cli/commands.h"
#include "search/cli/planning.h"

#include <string.h>

/* A command line of `shardopt`, in one text without quotes, resolved; `launchers` is --for where it has none, NULL the
 * usual launchers. False: why is on stderr. */
static inline bool request_from_line(const char *text, const char *launchers, Arena *arena, Request *out) {
    enum { WORDS_MAX = 64 };
    char *words[WORDS_MAX + 1] = {NULL}, *rest = NULL, *copy = arena_text(arena, text);
    int count = 0;
    Options options;
    Error error = {0};
    for (char *word = copy ? strtok_r(copy, " ", &rest) : NULL; word && count < WORDS_MAX;
         word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    bool read = options_parse(count, words, &COMMAND_PLAN, arena, &options, &error);
    if (read && !options.text[OPTION_FOR]) options.text[OPTION_FOR] = launchers;
    if (read && request_from_options(&options, arena, out, &error)) return true;
    fprintf(stderr, "%s: %s: %s\n", text, error.where, error.text);
    return false;
}

/* The same with a free layout where it has no --for, so that there is one search. */
static inline bool request_from_text(const char *text, Arena *arena, Request *out) {
    return request_from_line(text, "any", arena, out);
}
