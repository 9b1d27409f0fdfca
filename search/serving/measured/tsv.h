/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/serving/measured/tsv.h: tab-separated values, row by row, cut in place.
 *
 * A cell that begins with a quotation mark ends at the next one that stands alone; two of them mean one; a tab or an
 * end of line inside is read as a blank. In other cells a quotation mark is a character like any other. Lines end in
 * LF or CR LF, the last one need not; a byte order mark at the beginning and empty lines are skipped. Bytes that are
 * not UTF-8, control characters and cells of more than TSV_CELL_MAX bytes are errors. */
#pragma once

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

enum { TSV_CELL_MAX = 64 << 10, TSV_COLUMNS_MAX = 512 };

typedef struct {
    char *text;           /* NUL-terminated, inside the reader's bytes; blanks around it are removed */
    int64_t line, column; /* where it begins, from 1; columns count characters */
} TsvCell;

typedef struct {
    const char *where; /* the file, for errors */
    char *at, *end;    /* the rest of the text; *end is a NUL that belongs to the buffer */
    int64_t line, column;
    TsvCell cells[TSV_COLUMNS_MAX]; /* of the last row */
    int count;
} TsvReader;

/* `text` has a NUL at [length], and the reader writes to it. */
TsvReader tsv_start(const char *where, char *text, size_t length);

typedef enum { TSV_ROW, TSV_END, TSV_ERROR } TsvResult;
TsvResult tsv_next(TsvReader *reader, Error *error);
