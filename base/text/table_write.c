/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table as CSV, Markdown and HTML. */
#include "base/escape.h"
#include "base/text/table.h"

/* A number is not a formula, though it may begin with a minus. */
static void write_csv_cell(const char *text, bool number, FILE *out) {
    if (number)
        fputs(text, out);
    else
        escape_write(ESCAPE_CSV, text, out);
}

bool table_write_csv(const Table *table, FILE *out) {
    if (table->failed) return false;
    for (int c = 0; c < table->columns; c++) {
        if (c > 0) fputc(',', out);
        write_csv_cell(table->column[c].name ? table->column[c].name : "", false, out);
    }
    fputc('\n', out);
    for (const TableRow *row = table->first; row; row = row->next) {
        for (int c = 0; c < table->columns; c++) {
            if (c > 0) fputc(',', out);
            write_csv_cell(row->cell[c], table->column[c].right, out);
        }
        fputc('\n', out);
    }
    return true;
}

static void write_markdown_cell(const char *text, bool is_markdown, FILE *out) {
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
            write_markdown_cell(table->column[c].name, false, out);
        else
            fputs("| ", out);
    }
    fputs("|\n", out);
    for (int c = 0; c < table->columns; c++) fputs(table->column[c].right ? "|---:" : "|---", out);
    fputs("|\n", out);
    for (const TableRow *row = table->first; row; row = row->next) {
        for (int c = 0; c < table->columns; c++) write_markdown_cell(row->cell[c], table->column[c].markdown, out);
        fputs("|\n", out);
    }
    return true;
}

enum { MANY = 60 }; /* rows; of more of them paper has the first and the last 20 */

static const char *style_of(const TableColumn *column) { return column->right ? " class=\"n\"" : ""; }

static void write_html_head(const Table *table, FILE *out) {
    fputs("<thead><tr>", out);
    for (int c = 0; c < table->columns; c++) {
        fprintf(out, "<th scope=\"col\"%s>", style_of(&table->column[c]));
        escape_write(ESCAPE_HTML, table->column[c].name ? table->column[c].name : "", out);
        fputs("</th>", out);
    }
    fputs("</tr></thead>\n", out);
}

/* The first cell names its row. */
static void write_html_row(const Table *table, const TableRow *row, FILE *out) {
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
    write_html_head(table, out);
    fputs("<tbody>\n", out);
    for (const TableRow *row = table->first; row; row = row->next) write_html_row(table, row, out);
    fputs("</tbody>\n</table>\n</div>\n", out);
    return true;
}
