/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/escape.h"
#include "base/text/table.h"

/* A number is not a formula, though it may begin with a minus. */
static void write_cell(const char *text, bool number, FILE *out) {
    if (number)
        fputs(text, out);
    else
        escape_write(ESCAPE_CSV, text, out);
}

bool table_write_csv(const Table *table, FILE *out) {
    if (table->failed) return false;
    for (int c = 0; c < table->columns; c++) {
        if (c > 0) fputc(',', out);
        write_cell(table->column[c].name ? table->column[c].name : "", false, out);
    }
    fputc('\n', out);
    for (const TableRow *row = table->first; row; row = row->next) {
        for (int c = 0; c < table->columns; c++) {
            if (c > 0) fputc(',', out);
            write_cell(row->cell[c], table->column[c].right, out);
        }
        fputc('\n', out);
    }
    return true;
}
