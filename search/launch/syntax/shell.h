/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/syntax/shell.h: the commands of a shell's script as lists of words, with variables, arrays, defaults
 * and sums put in as far as the file alone says what they are. Nothing is run. What stands behind a condition that
 * cannot be decided is read as if its first branch were taken, and marked; behind && and || of such a test what has a
 * value keeps it; loops are read once; `case` is not read. Internal to words.c. */
#pragma once

#include "search/launch/syntax/config_file.h"

enum { SHELL_INLINES_MAX = 8, SHELL_WORDS_MAX = 16384, SHELL_VARIABLES_MAX = 1024 };

typedef struct {
    const char *text;     /* what nobody knows stays as it is written: "$SIZE" */
    int64_t line, column; /* where the word begins in the file; in a variable's value: of that value */
    bool guarded;
    bool quoted; /* in part at least */
} ShellWord;

typedef struct {
    ShellWord *items;
    int64_t count, room;
} ShellWords;

/* NAME=value: one word; NAME=(a b): several. */
typedef struct {
    const char *name;
    ShellWords words;
    bool array;
} ShellVariable;

typedef struct {
    ShellWords *commands; /* each at least one word, assignments and conditions left out */
    int64_t command_count;
    ShellVariable *variables;
    int64_t variable_count;
    bool has_case;           /* there are some, which were not read */
    const char *inline_text; /* the first one behind <<; NULL: none */
    struct {
        const char *text;
        int64_t behind;           /* commands that were read before it */
    } inlines[SHELL_INLINES_MAX]; /* the first of them, in their order */
    int inline_count;
} ShellScript;

/* `text` is checked (config_check_text). Everything lives in the arena of `file`. */
bool shell_read(const char *text, size_t length, const ConfigFile *file, ShellScript *out, Error *error);

bool shell_add(ShellWords *words, ShellWord word, const ConfigFile *file, Error *error);
