/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/text/bars.h: what some wholes are made of (steps of seconds, HBM of bytes), a row each: the first in full, part
 * under part; the others by what each part has more or less than in the first; or all of them stacked. */
#pragma once

#include "base/text/svg.h"
#include "base/text/table.h"

enum { BAR_PARTS_MAX = 24, BAR_NAME_SIZE = 48, BAR_ROWS_MAX = 64, BAR_LABEL_SIZE = 320 };

typedef struct {
    char label[BAR_LABEL_SIZE]; /* "2  fsdp=256 tensor=2" */
    double of[BAR_PARTS_MAX], total;
    double limit;    /* where a stacked row has a stroke; 0: nowhere */
    const char *tip; /* of a stacked row, NULL: the names of its parts */
} BarRow;

typedef struct {
    char name[BAR_PARTS_MAX][BAR_NAME_SIZE]; /* "exposed fsdp" */
    Paint paint[BAR_PARTS_MAX];
    int parts;
    BarRow row[BAR_ROWS_MAX];
    int rows;
    SvgSay *say, *amount; /* ticks, and figures: seconds or bytes */
    const char *heading;  /* of the others and of stacked rows; NULL: a comparison with plan 1, and the title */
    double left;          /* of stacked rows: where bars begin, their names before them; 0: the names are above */
} Bars;

/* The part of this name, added where there is none yet; the last one takes what is too many. */
int bars_part(Bars *bars, const char *name, Paint paint);

/* The first row: each part where the ones above it end, so that the last ends at the total. It is
 * likely to lie from likely[0] to likely[1]; 0 there: nothing is said. */
void bars_draw_first(const Bars *bars, const char *id, const char *title, const char *words, const double likely[2],
                     FILE *out);

/* The others, one row each: to the right of the line what they have more of than the first, to the left what they have
 * less of; a line stands at the sum of both. Nothing where there is only one. */
void bars_draw_others(const Bars *bars, const char *id, const char *title, const char *words, FILE *out);

/* All rows, their parts side by side. */
void bars_draw_stacked(const Bars *bars, const char *id, const char *title, const char *words, double width, FILE *out);

/* The same as a table, a column for each part; `bars` outlives it. bars_list() adds the rows from `from` on to such a
 * table of the same parts. */
Table bars_table(const Bars *bars, Arena *arena, const char *caption, const char *heading);
void bars_list(const Bars *bars, int from, Table *table);
