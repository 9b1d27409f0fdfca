/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/number.h: numbers as people write them on a command line, and as a report prints them; exact counts. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Exact counts of plans in 128 bits. Every step that could exceed them is checked and reported. */
typedef unsigned __int128 Count;

enum { COUNT_TEXT_SIZE = 64 };

/* *out = a + b, a * b. Returns false, and leaves *out untouched, when the result needs more than 128 bits. */
bool count_add(Count a, Count b, Count *out);
bool count_multiply(Count a, Count b, Count *out);

/* Writes the decimal digits of `count` into `text` (at least COUNT_TEXT_SIZE bytes); with `grouped`, commas separate
 * thousands. Returns `text`. */
const char *count_text(Count count, bool grouped, char *text);

/* Reads a whole number from `low` to `high`: "16777216", "4Mi", "15T", "1.5k" (k M G T are powers of ten; Ki Mi Gi Ti
 * are powers of two). The reading is exact: "0.1k" is 100, "1.0001k" is an error. There is no sign, no hex, no blank,
 * and no exponent other than as in "1e6". A number that is out of range, overflows or is empty, trailing junk and NaN
 * give false, with `where` (the option's name) and what would be right in *error. */
bool number_whole(const char *text, const char *where, int64_t low, int64_t high, int64_t *out, Error *error);

/* The same of tokens in a sequence or a batch as the field writes them, in powers of two: "8k" is 8,192, "4M" and "4Mi"
 * and "4M tokens" are 4,194,304; 4000000 and 4e6 are themselves. Thousands that are within 1.6% of a power of two are
 * that power: "131k" is 131,072, "67M" is 2^26. */
bool number_tokens(const char *text, const char *where, int64_t low, int64_t high, int64_t *out, Error *error);

/* Reads a real number from `low` to `high` (finite), with the same suffixes. */
bool number_real(const char *text, const char *where, double low, double high, double *out, Error *error);

/* Reads a share from `low` to `high`: "0.1" and "10%" are the same. */
bool number_share(const char *text, const char *where, double low, double high, double *out, Error *error);

/* Reads seconds: "60", "60s", "1.5s"; they are > 0 and at most 1e9. */
bool number_seconds(const char *text, const char *where, double *out, Error *error);
/* The same, where m, h and d stand for minutes, hours and days too: "90", "40m", "3h", "2d". */
bool number_duration(const char *text, const char *where, double *out, Error *error);

/* Reads the rate of a host's network, bytes a second, from 100 Mbps to 100 Tbps: "100Gbps", "3.2 Tbps", "50GB/s", or
 * "8x400Gbps", so many of one rate; shorter than NUMBER_TEXT_SIZE. G and T alone are bits, as networks are sold. */
bool number_network(const char *text, const char *where, double *out, Error *error);

/* For reports, into `text` of at least NUMBER_TEXT_SIZE bytes, which is returned: 16,777,216 · "88.1 GB" (decimal) ·
 * "3.42 s", "12.1 ms", "35.4 us" · "$234 M", "55.7 M". */
enum { NUMBER_TEXT_SIZE = 48 };
const char *number_grouped(int64_t value, char *text);
const char *number_bytes(double bytes, char *text);
const char *number_time(double seconds, char *text);
const char *number_short(double value, char *text);
