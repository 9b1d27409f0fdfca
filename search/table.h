/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/table.h: a table of text for a report, through libsmartcols: never as wide as a terminal happens to be, no
 * trailing blanks. Cells are ASCII: libsmartcols escapes what the locale cannot print. A newline in a cell starts its
 * next line. */
#ifndef SHARDOPT_SEARCH_TABLE_H
#define SHARDOPT_SEARCH_TABLE_H

#include "base/error.h"

#include <stddef.h>
#include <stdio.h>

typedef struct {
    const char *name;
    bool right; /* numbers stand on the right */
} TableColumn;

typedef struct Table Table;

/* NULL: memory is out. The caller frees. */
Table *table_new(const TableColumn *columns, size_t count);
/* As many cells as columns; NULL is empty. False: memory is out. */
bool table_row(Table *table, const char *const *cells);
/* Writes the table, every line behind `indent`. False: memory is out. */
bool table_write(Table *table, const char *indent, FILE *out);
void table_free(Table *table);

/* Breaks `text` at blanks into lines of at most `columns` where it can: for a cell that may be long. In place. */
void table_wrap(char *text, int columns);

#endif
