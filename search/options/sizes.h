/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/options/sizes.h: sizes that do not go together, or that somebody hardly means. */
#pragma once

#include "search/options/options.h"

/* Whether every two sizes that are multiplied later stay below 2^62. */
bool sizes_check(const Options *options, const Question *question, Error *error);

/* The error of a batch below one sequence, which most often counts sequences; always false. */
bool batch_below_one(const Options *options, int64_t batch, int64_t seq, Error *error);

/* Adds to the error of a machine whose chip nobody named that it is the default; always false. */
bool default_chip_named(const Chip *chip, Error *error);

/* What is said of a length or a batch that was typed in thousands, where powers of two are usual: "8k is 8,000; 8,192
 * is 8Ki". NULL: nothing. `text` is what was typed. */
enum { SIZE_WORDS_SIZE = 128 };
const char *size_in_thousands(const char *text, char words[SIZE_WORDS_SIZE]);
