/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/escape.h"
#include "base/text/table.h"

static void write_cell(const char *text, bool is_markdown, FILE *out) {
    fputs("| ", out);
    if (is_markdown)
        fputs(text, out);
    else
        escape_write(ESCAPE_MARKDOWN, text, out);
    fputc(' ', out);
}

bool table_write_markdown(const Table *table, FILE *out) {
    if (table->failed) return false;
    for (int c = 0; c < table->columns; c++) {
        if (table->column[c].name)
            write_cell(table->column[c].name, false, out);
        else
            fputs("| ", out);
    }
    fputs("|\n", out);
    for (int c = 0; c < table->columns; c++) fputs(table->column[c].right ? "|---:" : "|---", out);
    fputs("|\n", out);
    for (const TableRow *row = table->first; row; row = row->next) {
        for (int c = 0; c < table->columns; c++) write_cell(row->cell[c], table->column[c].markdown, out);
        fputs("|\n", out);
    }
    return true;
}
