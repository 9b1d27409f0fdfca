/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/escape.h"
#include "base/text/table.h"

enum { MANY = 60 }; /* rows; of more of them paper has the first and the last 20 */

static const char *style_of(const TableColumn *column) { return column->right ? " class=\"n\"" : ""; }

static void write_head(const Table *table, FILE *out) {
    fputs("<thead><tr>", out);
    for (int c = 0; c < table->columns; c++) {
        fprintf(out, "<th scope=\"col\"%s>", style_of(&table->column[c]));
        escape_write(ESCAPE_HTML, table->column[c].name ? table->column[c].name : "", out);
        fputs("</th>", out);
    }
    fputs("</tr></thead>\n", out);
}

/* The first cell names its row. */
static void write_row(const Table *table, const TableRow *row, FILE *out) {
    fputs("<tr>", out);
    for (int c = 0; c < table->columns; c++) {
        fprintf(out, c == 0 ? "<th scope=\"row\"%s>" : "<td%s>", style_of(&table->column[c]));
        escape_write(ESCAPE_HTML, row->cell[c], out);
        fputs(c == 0 ? "</th>" : "</td>", out);
    }
    fputs("</tr>\n", out);
}

bool table_write_html(const Table *table, FILE *out) {
    if (table->failed) return false;
    fputs("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Table: ", out);
    escape_write(ESCAPE_HTML, table->caption ? table->caption : "", out);
    fprintf(out, "\">\n<table%s>\n<caption>", table->rows > MANY ? " class=\"many\"" : "");
    escape_write(ESCAPE_HTML, table->caption ? table->caption : "", out);
    fputs("</caption>\n", out);
    write_head(table, out);
    fputs("<tbody>\n", out);
    for (const TableRow *row = table->first; row; row = row->next) write_row(table, row, out);
    fputs("</tbody>\n</table>\n</div>\n", out);
    return true;
}
