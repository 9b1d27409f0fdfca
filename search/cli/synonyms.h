/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/synonyms.h: words that people type for options and commands, in ours. */
#pragma once

#include "search/cli/command.h"

/* Whether a line of `plan` says what is tuned; that, or anything else of a training (its batch, its length); how a plan
 * is divided. */
typedef enum { WORDS_TUNE, WORDS_TRAIN, WORDS_DIVIDE, WORDS_MACHINE } WordsOf;
bool words_say(int argc, char **argv, WordsOf what);

/* Whether a line of serving has a load in the field's words and no machine of a size, which it wants then. */
bool words_need_machines(const Command *serving, int argc, char **argv);

/* A question: "how many ...", or one word of the shell's that holds several. And its words as those of a
 * command (*command), split at blanks, with what it wants as options; in the arena. NULL: memory is out. */
bool is_question(int argc, char **argv);
char **question_words(int *argc, char **argv, Arena *arena, char **command);

/* What to type for a word that is no option of the command, in a sentence. NULL: memory is out. */
const char *unknown_answer(const Command *command, const char *word, Arena *arena);

/* Prints the words that nobody knows in one line. */
void unknown_print(const Unknown *unknown, FILE *err);

/* Copies the words of a command line (argv[0] is not one) into the arena with those that are not the command's own
 * options in its words: --gpus 512 is --chips 512, --tp 8 a condition of --require, --json is --format json. What
 * nobody knows stays as it is. Conditions of several options become one --require, with the one that was given. A word
 * that an option had once leaves advice in the line. False: memory is out. */
bool synonyms_replace(CommandLine *line, int *argc, char ***argv, Error *error);
