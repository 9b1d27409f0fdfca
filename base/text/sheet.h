/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/text/sheet.h: a table of text before anybody knows in which form it will be read. Cells are plain text: the
 * writers escape them. */
#ifndef SHARDOPT_BASE_TEXT_SHEET_H
#define SHARDOPT_BASE_TEXT_SHEET_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdio.h>

enum { SHEET_COLUMNS_MAX = 80 };

typedef struct SheetRow {
    struct SheetRow *next;
    const char **cell; /* of each column */
} SheetRow;

typedef struct {
    Arena *arena;
    const char *caption;
    const char *heading[SHEET_COLUMNS_MAX];
    bool right[SHEET_COLUMNS_MAX]; /* numbers stand on the right */
    int columns, rows;
    SheetRow *first, *last;
    bool failed; /* memory is out: rows are missing */
} Sheet;

/* Headings with | between; one that begins with > stands on the right: "plan|>step|>MFU"; NULL: none yet. The caption
 * outlives the sheet. */
Sheet sheet_new(Arena *arena, const char *caption, const char *headings);

/* One more column, before any row; its heading outlives the sheet. */
void sheet_column(Sheet *sheet, const char *heading, bool right);

/* As many texts as columns, copied; NULL is empty. */
void sheet_row(Sheet *sheet, const char *const *cells);

void sheet_write_html(const Sheet *sheet, FILE *out);
void sheet_write_markdown(const Sheet *sheet, FILE *out); /* without the caption */

#endif
