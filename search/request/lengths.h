/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/request/lengths.h: how long samples of fine-tuning are, and how many tokens one of them computes. Pure.
 *
 * Samples are drawn at random, as a sampler does that does not group them by length. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    double *length; /* rising, tokens, 1 to `longest`: longer samples are cut there */
    double *share;  /* of samples up to this long; the last is 1 */
    int64_t count;
    double mean, longest;
    const char *left_out; /* rows of the file that could not be read, for a warning; NULL: none */
} Lengths;

/* Lines of a length, or of a length and a weight; or quantiles, "p50 400", between which lengths rise evenly. # begins
 * a comment. `most`: where samples are cut; 0: nowhere. In the arena. A row that is none of these is left out
 * (base/rows.h). False: *error names `where`. */
bool lengths_read(const char *text, const char *where, double most, Arena *arena, Lengths *out, Error *error);

/* The expected longest of so many samples, drawn with replacement. */
double lengths_longest_of(const Lengths *lengths, double samples);

typedef enum { PACKING_PACKED, PACKING_PADDED, PACKING_FREE } Packing; /* as --packing has them */

/* Who waits for whom: so many ranks compute `samples` at once, each, and wait for the slowest after so many. */
typedef struct {
    double ranks, samples, microbatches;
} TogetherComputed;

/* Tokens computed for a sample: its own where samples are packed; the longest of a microbatch where they are padded to
 * it; and what a step waits for the rank with the most. Sums of several even out as the root of their number. */
double lengths_computed(const Lengths *lengths, Packing packing, const TogetherComputed *together);
