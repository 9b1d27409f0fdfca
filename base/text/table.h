/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/text/table.h: a table of text before anybody knows in which form it will be read, and the forms: text for a
 * terminal, Markdown, CSV and HTML. Cells are plain text: each writer escapes what its form would take for markup.
 *
 *     Arena arena = {0};
 *     Table table = table_new(&arena, "Plans", "plan|>step");
 *     table_row(&table, (const char *const[]){"fsdp=16", "1.25 s"});
 *     bool ok = table_write_text(&table, "  ", out);
 *     arena_free(&arena);
 *
 * A table is filled without asking whether memory is out: a table that could not take a cell is `failed`, and no writer
 * writes it. */
#ifndef SHARDOPT_BASE_TEXT_TABLE_H
#define SHARDOPT_BASE_TEXT_TABLE_H

#include "base/arena.h"
#include "base/text/terminal.h"

#include <stdint.h>

typedef struct {
    const char *name; /* the heading; NULL means that the column has none */
    bool right;       /* the cells are numbers: they stand on the right, and CSV takes them as they are */
    bool markdown;    /* the cells are Markdown already: table_write_markdown() does not escape them */
    int wrap;         /* text: cells are broken at blanks into lines of at most this many columns; 0: they are not */
    int drop;         /* text: the column is left out on a narrow terminal, after those with lower numbers; 0: never */
} TableColumn;

typedef struct TableRow {
    struct TableRow *next;
    const char **cell; /* one for each column */
} TableRow;

typedef struct {
    Arena *arena;        /* of headings and cells */
    const char *caption; /* what HTML says above the table */
    TableColumn *column;
    int columns, column_room;
    int drops;   /* columns that may be left out */
    int gap;     /* text: blanks between two columns; table_new() says 2 */
    int pending; /* cells of the last row that table_cell() has still to fill */
    int64_t rows;
    TableRow *first, *last;
    bool failed; /* memory is out: cells are missing */
} Table;

/* Headings with | between; one that begins with > is of numbers: "plan|>step|>MFU". NULL means that there are no
 * columns yet. The caption has to outlive the table. */
Table table_new(Arena *arena, const char *caption, const char *headings);

/* One more column, before any row; its heading has to outlive the table. */
void table_column(Table *table, const char *heading, bool right);

/* What a column is beside its heading (see TableColumn); `column` counts from 0. Columns that may be left out go in the
 * order in which they are named. */
void table_wrap(Table *table, int column, int columns);
void table_may_drop(Table *table, int column);
void table_is_markdown(Table *table, int column);

/* One more row: the same number of texts as columns, which are copied; NULL means an empty cell. */
void table_row(Table *table, const char *const *cells);

/* One more cell, row by row: it begins a row when the last one has all its cells. */
void table_cell(Table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- the forms ----
 * Each writes the heading and every row, and returns false, with nothing written, when memory is out. */

/* Aligned text, every line after `indent`, no blanks at the end of a line, the heading strong where there is colour.
 * On a terminal columns that may be left out are, until the table fits; else it is as wide as it is. A newline in a cell
 * starts its next line; control characters become '?'. A table without rows is nothing. */
bool table_write_text(const Table *table, const char *indent, TextOut out);

/* GitHub's Markdown, without the caption. */
bool table_write_markdown(const Table *table, FILE *out);

/* RFC 4180, lines ended by a newline alone; a text that a spreadsheet would take for a formula gets an apostrophe in
 * front. */
bool table_write_csv(const Table *table, FILE *out);

/* A <table> with its caption in a region of its own that scrolls, by the keyboard too. */
bool table_write_html(const Table *table, FILE *out);

#endif
