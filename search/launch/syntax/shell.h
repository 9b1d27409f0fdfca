/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/syntax/shell.h: the commands of a shell's script as lists of words, with variables, arrays, defaults
 * and sums put in as far as the file alone says what they are. Nothing is run. What stands behind a condition that
 * cannot be decided is read as if its first branch were taken, and marked; behind && and || of such a test what has a
 * value keeps it; loops are read once; `case` is not read. Internal to words.c. */
#pragma once

#include "search/launch/syntax/config_file.h"
#include "search/launch/syntax/cursor.h"

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

/* shell_word.c: how a word of a shell's script is put together from pieces: quotes, backslashes, and what a $ stands
 * for. */

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
