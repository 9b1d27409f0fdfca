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
#pragma once

#include "base/arena.h"
#include "base/text/terminal.h"

#include <stdint.h>

typedef struct {
    const char *name; /* the heading; NULL means that the column has none */
    bool right;       /* The cells are numbers: they are aligned to the right, and CSV does not quote them. */
    bool markdown;    /* The cells are Markdown already: table_write_markdown() does not escape them. */
    int wrap; /* In text, cells are broken at blanks into lines of at most this many characters; 0 means never. */
    int drop; /* In text on a narrow terminal, columns are left out in the order of this number; 0 means never. */
} TableColumn;

typedef struct TableRow {
    struct TableRow *next;
    const char **cell; /* one for each column */
} TableRow;

typedef struct {
    Arena *arena;        /* holds headings and cells */
    const char *caption; /* HTML shows it above the table. */
    TableColumn *column;
    int columns, column_room;
    int drops;   /* columns that may be left out */
    int gap;     /* In text, this many blanks are between two columns; table_new() sets 2. */
    int pending; /* cells of the last row that table_cell() has still to fill */
    int64_t rows;
    TableRow *first, *last;
    bool failed; /* Memory is out: cells are missing. */
} Table;

/* `headings` is a list with | between its items; an item that begins with > heads a column of numbers, as in
 * "plan|>step|>MFU". NULL means that there are no columns yet. The caption has to outlive the table. */
Table table_new(Arena *arena, const char *caption, const char *headings);

/* Adds a column, before any row; its heading has to outlive the table. */
void table_column(Table *table, const char *heading, bool right);

/* These set what TableColumn says of a column, which is counted from 0. Columns that may be left out go in the order of
 * the calls. */
void table_wrap(Table *table, int column, int columns);
void table_may_drop(Table *table, int column);
void table_is_markdown(Table *table, int column);

/* Adds a row: the same number of texts as columns, which are copied; NULL means an empty cell. */
void table_row(Table *table, const char *const *cells);

/* Adds a cell, row by row: it begins a row when the last one has all its cells. */
void table_cell(Table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- the forms ----
 * Each writes the heading and every row. False means that memory is out, and that nothing was written. */

/* Writes aligned text, which libsmartcols lays out: every line after `indent`, no blanks at the end of a line, the
 * heading strong where there is colour. On a terminal, columns that may be left out are left out until the table fits;
 * otherwise the table is as wide as its cells. A newline in a cell starts its next line; other control characters,
 * direction overrides and what is no UTF-8 become '?'. A table without rows is nothing. */
bool table_write_text(const Table *table, const char *indent, TextOut out);

/* Writes GitHub's Markdown, without the caption. */
bool table_write_markdown(const Table *table, FILE *out);

/* Writes RFC 4180 with lines that end with a newline alone; a text that a spreadsheet would take for a formula gets an
 * apostrophe in front. */
bool table_write_csv(const Table *table, FILE *out);
