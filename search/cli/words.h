/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/words.h: the options of a command of few, read by popt: a table says which there are, a function of the
 * command takes each. (Those of what plans stand in options.h.) */
#ifndef SHARDOPT_SEARCH_CLI_WORDS_H
#define SHARDOPT_SEARCH_CLI_WORDS_H

#include "base/arena.h"
#include "base/error.h"

#include <stdio.h>

/* One option; its number is its place in the table, from 1: entry 0 is not used. */
typedef struct {
    const char *name;
    char letter;       /* 0: none */
    const char *takes; /* "FILE"; NULL: a flag */
    const char *help;
} Word;

typedef struct {
    const char *command; /* "layout" */
    const Word *words;
    int count; /* entry 0 included */
    /* Takes option `number` with its value, in the arena, "" of a flag; `where` is its name, "--format". */
    bool (*take)(int number, const char *value, const char *where, Arena *arena, void *out, Error *error);
} WordTable;

enum { WORDS_MAX = 32 };

/* Hands every option to take(), each once, and what is no option to *arguments, in the arena: *count of them. False:
 * *error says what is wrong, with the nearest option where there is none of that name. */
bool words_parse(const WordTable *table, int argc, char **argv, Arena *arena, void *out, const char ***arguments,
                 int *count, Error *error);

/* For commands of one file: the only argument, into *out. `missing`: what is said where there is none. */
bool words_one_file(const WordTable *table, const char *const *arguments, int count, const char *missing,
                    const char **out, Error *error);

/* A line for each option, its words in `columns`. */
void words_help(const WordTable *table, int columns, FILE *out);

#endif
