/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/sweep/page.h: a sweep as one page that loads nothing: its table, and a picture of it. */
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
