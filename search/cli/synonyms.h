/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/synonyms.h: words that people type for options and commands, in ours. */
#pragma once

#include "search/cli/command.h"

/* The command that a word names where it is none of ours: "optimize" is plan, "list" models. NULL: none. */
const char *command_synonym(const char *word);

/* What is trained, or an engine, in one word: "dpo" is `plan --task=dpo`. NULL: the word is none. */
typedef struct {
    const char *word, *command, *option;
} Way;
const Way *way_named(const char *word);

/* A question: "how many ...", or one word of the shell's that holds several. And its words as those of a
 * command (*command), split at blanks, with what it wants as options; in the arena. NULL: memory is out. */
bool is_question(int argc, char **argv);
char **question_words(int *argc, char **argv, Arena *arena, char **command);

/* What a word that leads to no command is answered with, in a sentence: machines that are compared; `of_model`: --model
 * is given too. NULL: it is none. */
const char *command_meaning(const char *word, bool of_model);

/* Whether an option of an engine or a framework, "port", says nothing that is priced; *takes: it takes a value. */
bool word_is_passed_over(const char *name, bool *takes);

/* What a word that is no option may be after (--layers, --memory), in a sentence; NULL: nothing known. And the words
 * that stand for options of the command, into `names`: how many. */
const char *option_meaning(const Command *command, const char *word);
int option_synonyms(const Command *command, const char **names, int room);

/* Copies the words of a command line (argv[0] is not one) into the arena with those that are not the command's own
 * options in its words: --gpus 512 is --chips 512, --tp 8 a condition of --require, --json is --format json. What
 * nobody knows stays as it is. Conditions of several options become one --require, with the one that was given. A word
 * that an option had once leaves advice in the line. False: memory is out. */
bool synonyms_replace(CommandLine *line, int *argc, char ***argv, Error *error);
