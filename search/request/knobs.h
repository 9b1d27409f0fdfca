/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/request/knobs.h: the knobs of a plan by the names that reports give them, so that people can ask for one: in
 * --require, in `explain --plan`, and from a report. */
#ifndef SHARDOPT_SEARCH_REQUEST_KNOBS_H
#define SHARDOPT_SEARCH_REQUEST_KNOBS_H

#include "base/error.h"
#include "cost/plan/plan.h"

enum { KNOB_WORDS_COUNT = 14 };

/* "microbatches"; `word` is 0 .. KNOB_WORDS_COUNT - 1. */
const char *knob_word(int word);

/* Whether its settings are names; else they are numbers. */
bool knob_word_named(int word);

/* The knob of that name, or of its short one ("zero", "context"); -1: there is none. */
int knob_word_find(const char *name);

/* Its setting as a number: itself, or the index of its name. */
int64_t knob_word_of(int word, const Knobs *knobs);

/* The setting that `text` names, as knob_word_of() returns it: a number from 0 to 2^31, a name, true or false. */
bool knob_word_parse(int word, const char *text, const char *where, int64_t *out, Error *error);

enum { KNOB_TEXT_SIZE = 24 };
/* The way back: "8", "1f1b", "true". */
const char *knob_word_text(int word, int64_t setting, char text[KNOB_TEXT_SIZE]);

#endif
