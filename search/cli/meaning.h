/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/meaning.h: what names that people type mean, by their parts: "num_gpus" and "gpu-count" are one row of
 * meanings.tsv, which says how rows are written. */
#pragma once

#include "search/cli/command.h"

/* A row: its kind, and its cells; NULL where there is none. Made of meanings.tsv by cmake/Words.cmake. */
typedef struct {
    const char *cell[5];
} WordRow;
extern const WordRow WORD_ROWS[];
extern const int WORD_ROW_COUNT;
extern const char *const WORD_PARTS[]; /* of names, sorted */
extern const int WORD_PART_COUNT;

/* Where a name stands, which its meaning depends on. */
typedef struct {
    const Command *command;
    const char *value; /* in the word, or the next word; NULL: there is none */
    bool is_chip;      /* the value is a chip's name, whatever it looks like: 4090 */
    bool tuned;        /* the line says what is tuned */
} Place;

typedef struct {
    const char *what;  /* "--chips", "tensor", "pass": as in meanings.tsv */
    const char *where; /* "": anywhere */
    const char *said;  /* NULL: nothing */
    int own;           /* the command's own option of this name; below 0: it is of a row */
    bool any;          /* the row takes names with parts that it does not have */
} Meaning;

/* What the name before any '=' is, most parts first, ties by order. False: nobody knows. */
bool meaning_of(const char *name, const Place *place, Meaning *out);
/* The command's option of this name, whatever parts it between its words; below 0: none. */
int meaning_own(const Command *command, const char *name);
/* Of which kind of command a name's parts are alone, "serving" or "rl": rows "of"; NULL: of none. */
const char *meaning_kind(const char *name);
bool meaning_is(const Meaning *meaning, const char *what);
/* The word with unknown parts as known ones that they are a slip of, into `out`. False: there is no slip. */
bool meaning_of_slip(const char *name, char *out, size_t size);
/* What the name is nearest to: of the rows whose parts it all has, though it has others. NULL: none. */
const char *meaning_near(const char *name, const Command *command);

/* The row of a kind with that word as its first cell, after `from`; NULL: none. "adamw*" is any word that begins so. */
const WordRow *word_row(const char *kind, const char *word);
/* Whether a word is one of those that a row of this kind has. */
bool word_says(const char *kind, const char *of, const char *word);
/* Of an option a value as it is ours, of those that it takes (NULL: any); NULL: it is no other. */
const char *word_value(const char *option, const char *value, const char *values);
/* Whether the word is among words between blanks, case ignored. */
bool word_among(const char *words, const char *word);
/* The same where a star ends what a word may begin with. */
bool word_like(const char *patterns, const char *word);
/* What kind of command it is: serving, rl or training; "": none of them. */
const char *command_kind(const Command *command);
/* The number of the command's option of exactly this name; below 0: it has none. */
int command_option(const Command *command, const char *name, size_t length);
