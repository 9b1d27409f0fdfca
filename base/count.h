/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/count.h: exact counts of plans in 128 bits. Every step that could exceed them is checked and reported. */
#pragma once

#include <stdbool.h>

typedef unsigned __int128 Count;

enum { COUNT_TEXT_SIZE = 64 };

/* *out = a + b, a * b. Returns false, and leaves *out untouched, when the result needs more than 128 bits. */
bool count_add(Count a, Count b, Count *out);
bool count_multiply(Count a, Count b, Count *out);

/* Writes the decimal digits of `count` into `text` (at least COUNT_TEXT_SIZE bytes); with `grouped`, commas separate
 * thousands. Returns `text`. */
const char *count_text(Count count, bool grouped, char *text);
