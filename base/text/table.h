/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/text/table.h: a table of text for a report, through libsmartcols, without trailing blanks. On a terminal (page.h) columns
 * that may go are left out until it fits; else it is as wide as it is. Cells are ASCII: libsmartcols escapes what the locale cannot print. A newline in a cell starts its
 * next line. */
#ifndef SHARDOPT_BASE_TEXT_TABLE_H
#define SHARDOPT_BASE_TEXT_TABLE_H

#include "base/text/terminal.h"

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
/* On a terminal that is too narrow this column goes; those that are named first go first. */
void table_may_drop(Table *table, size_t column);
/* Writes the table, every line behind `indent`. False: memory is out. */
bool table_write(Table *table, const char *indent, TextOut out);
void table_free(Table *table);

/* Breaks `text` at blanks into lines of at most `columns` where it can: for a cell that may be long. In place. */
void table_wrap(char *text, int columns);

#endif
