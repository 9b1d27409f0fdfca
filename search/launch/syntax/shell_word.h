/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/syntax/shell_word.h: how a word of a shell's script is put together from pieces: quotes, backslashes,
 * and what a $ stands for. Internal to shell.c. */
#pragma once

#include "search/launch/syntax/cursor.h"
#include "search/launch/syntax/shell.h"

/* What && or || in front says of a statement. */
typedef enum { LIST_TAKEN, LIST_SKIPPED, LIST_GUARDED } ShellList;

/* How the last statement that ran has ended. */
typedef enum { ENDED_AS_COMMAND, ENDED_TRUE, ENDED_FALSE, ENDED_UNKNOWN } ShellEnded;

/* One `if` that is open. */
typedef struct {
    bool skips;   /* the branch that is open is not taken */
    bool settled; /* a branch was taken: no other is */
    bool guarded; /* nobody knows whether it is taken */
} ConditionBranch;

typedef struct {
    Cursor cursor;
    const ConfigFile *file;
    ShellScript *script;
    Error *error;
    int64_t words, commands_room;
    size_t bytes; /* of all words so far: what a variable of variables can grow to is bounded */
    ConditionBranch branches[CONFIG_DEPTH_MAX];
    int branch_count, cases;
    ShellList list; /* of the statement that is read */
    ShellEnded ended;
    int64_t led; /* words of the statement that are keywords and NAME=value, from the first on */
    bool listed; /* the statement has an array, NAME=( ... ) */
    /* the word that is being put together */
    char *word;
    size_t used, room;
    ShellWord next;
    int64_t line, column; /* where the piece that is read begins */
    bool open;
    ShellWords *into;
    bool vanished;     /* "$@" or an empty array stood between quotes: no word at all */
    bool assigns;      /* it is NAME=value, in which nothing that is put in ends a word */
    const char *until; /* the word that ends the text behind <<, which begins with the next line; NULL means none */
    size_t until_length;
} Shell;

/* An error where the cursor stands. Always false. */
bool shell_wrong(Shell *shell, const char *what);

/* One character of a word, or what it stands for. */
bool shell_piece(Shell *shell);

/* The word ends, where there is one: it joins those that are read. shell_drop(): it does not. */
bool shell_end_word(Shell *shell);
void shell_drop(Shell *shell);

/* NULL means there is none. */
ShellVariable *shell_variable(const ShellScript *script, const char *name, size_t length);
