/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/baseline/diff_page.h: what pages of two answers are put together from, of plans and of serving. */
#pragma once

#include "base/text/svg.h"
#include "base/text/table.h"
#include "search/baseline/snapshot.h"

/* A sum of A and of B, part by part: seconds or bytes. */
typedef struct {
    const char *id, *heading; /* of its section */
    const char *a, *b;        /* what stands behind "A" and "B" above the bars; "": nothing */
    const PartChange *parts;
    int count;
    SvgSay *say, *amount; /* ticks, and figures */
} DiffBars;

/* A section that draws A in full, part under part, and beside it what each part has more or less of in B; `table` has
 * the same. No picture where a part is negative or the sum of one side is not positive. False: memory is out. */
bool diff_page_bars(const DiffBars *bars, Table *table, FILE *out);

/* A table under its title, whose first column is named for who hears it; nothing where it has no rows. False: memory is
 * out. */
bool diff_page_table(const char *title, Table table, FILE *out);

/* The line that writes the page again; nothing where a shell would not take the names as they are. */
void diff_page_again(const char *a, const char *b, FILE *out);
