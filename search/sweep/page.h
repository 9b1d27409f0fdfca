/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/sweep/page.h: a sweep as one page that loads nothing: its table, and pictures of it. */
#pragma once

#include "base/text/table.h"
#include "search/sweep/sweep.h"

typedef struct {
    const SweepGrid *grid;
    const SweepRow *rows;
    const Table *table;
    const char *lead, *summary; /* what is swept, and what has come of it */
    const char *const *notes;   /* errors that the table names by their number, from 1 on */
    int64_t note_count;
    const char *command; /* that writes the page again; NULL: it is not known */
} SweepPage;

/* False: memory is out. */
bool sweep_page_write(const SweepPage *page, FILE *out);

enum { SWEEP_LABEL_SIZE = 256 };

/* A panel of the page: one SVG. False: the sweep has nothing to show of it, and nothing was written. It draws the days
 * of the training against its dollars on demand, failures included: which points nothing beats in
 * both, among those that train the same (model, tokens, sequences). */
bool sweep_draw_cost(const SweepGrid *grid, const SweepRow *rows, const char *words, FILE *out);

/* front[point]: it has a plan and a price, and no point that trains the same takes at most as long for at most as much
 * (of equals the first). `same` is room for as many numbers as there are points: which points train the same. */
void sweep_front(const SweepGrid *grid, const SweepRow *rows, bool *front, int *same);
