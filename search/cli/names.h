/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/names.h: the words of a command line as those of its command's own options. Names of other programs
 * stand in names.tsv, which says how rows are written: nothing else is known, and nothing is guessed. */
#pragma once

#include "search/cli/command.h"

/* A row of names.tsv, made of it by cmake/Names.cmake; a cell that is not there is NULL. */
typedef struct {
    const char *kinds, *meaning, *names, *note;
} NameRow;
extern const NameRow NAME_ROWS[];
extern const int NAME_ROW_COUNT;

/* The row of a kind ("plan", "tune", "inference", "rl", "command"), else of "any", that has the name, of `length`
 * letters; NULL: none. */
const NameRow *name_row(const char *kind, const char *name, size_t length);
/* Which kind of rows a command has; "any" where it has those alone. */
const char *command_kind(const Command *command);
/* The number of the command's option of that name, '_' as '-' and case ignored; below 0: it has none. */
int command_option(const Command *command, const char *name, size_t length);
/* Of an option's value a synonym, in our words; NULL: there is none. */
const char *value_meant(const char *option, const char *value, size_t length);
/* True if the word is among words with blanks between them, '_' as '-' and case ignored. */
bool word_among(const char *words, const char *word, size_t length);

/* Copies the words of a command line (argv[0] is the command's) into the line's arena, each option as "--own=value",
 * each [MODEL] and [NxCHIP] as an option, degrees as one --require, or the plan of `explain`. False: a word is
 * wrong, or memory is out. */
bool words_read(CommandLine *line, int *argc, char ***argv, Error *error);
/* True if the line of `plan` says what is fine-tuned. */
bool words_tune(int argc, char **argv);

/* True if a word is a chip, "8xH200" or "v5p-128": then its options, an absent one is "". */
typedef struct {
    char chip[64], chips[16], slice[64];
    bool hosts; /* that many hosts: "2xdgx-h100" */
} TypedMachine;
bool word_is_machine(const char *word, TypedMachine *out);

/* Says what to type in place of an option that the command does not have; always false. */
bool option_unknown(const Command *command, const char *word, Error *error);
/* True if the option is near nothing that is known. */
bool option_is_far(const Command *command, const char *word);
/* Refuses words without an option, a sentence with the line of its own that is sure; always false. `argv` is the line
 * from its first word that is no command, `at` the word; `command` NULL: no command is named. */
bool word_stray(const Command *command, int argc, char **argv, const char *at, Error *error);
