/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/report/html/part_bars.h: what some wholes are made of (steps of seconds, HBM of bytes): the first of them in
 * full, part under part, and the others by what each part has more or less than in the first. Two panels. */
#pragma once

#include "base/text/svg.h"
#include "search/answer/plan_words.h"

enum { BAR_PARTS_MAX = 24, BAR_NAME_SIZE = 48, WHOLES_MAX = 10 };

typedef struct {
    char label[WORDS_SIZE]; /* "2  fsdp=256 tensor=2" */
    double of[BAR_PARTS_MAX], total;
} Whole;

typedef struct {
    char name[BAR_PARTS_MAX][BAR_NAME_SIZE]; /* "exposed fsdp" */
    Paint paint[BAR_PARTS_MAX];
    int parts;
    Whole whole[WHOLES_MAX];
    int wholes;
    SvgSay *say, *amount; /* ticks, and figures: seconds or bytes */
    const char *heading;  /* over the others; NULL: that they are beside plan 1 */
} PartBars;

/* Of a term of a step, by its name: "matmul"; PAINT_OTHER where there is none. */
Paint part_bars_term_paint(const char *term);

/* The part of this name, added where there is none yet; the last one takes what is too many. */
int part_bars_part(PartBars *bars, const char *name, Paint paint);

/* The first whole: each part where the ones above it end, so that the last ends at the total. It is
 * likely to lie from likely[0] to likely[1]; 0 there: nothing is said. */
void part_bars_draw_first(const PartBars *bars, const char *id, const char *title, const char *words,
                          const double likely[2], FILE *out);

/* The others, one row each: to the right of the line what they have more of than the first, to the left what they have
 * less of; a line stands at the sum of both. Nothing where there is only one. */
void part_bars_draw_others(const PartBars *bars, const char *id, const char *title, const char *words, FILE *out);
