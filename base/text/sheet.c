/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text/sheet.h"

#include "base/escape.h"

#include <string.h>

void sheet_column(Sheet *sheet, const char *heading, bool right) {
    if (sheet->columns == SHEET_COLUMNS_MAX) return;
    sheet->right[sheet->columns] = right;
    sheet->heading[sheet->columns++] = heading;
}

Sheet sheet_new(Arena *arena, const char *caption, const char *headings) {
    Sheet sheet = {.arena = arena, .caption = caption};
    char *text = arena_text(arena, headings ? headings : "");
    sheet.failed = text == NULL;
    while (headings && text) {
        char *end = strchr(text, '|');
        if (end) *end = '\0';
        sheet_column(&sheet, text + (*text == '>'), *text == '>');
        text = end ? end + 1 : NULL;
    }
    return sheet;
}

void sheet_row(Sheet *sheet, const char *const *cells) {
    SheetRow *row = ARENA_NEW(sheet->arena, SheetRow, 1);
    if (row) row->cell = ARENA_NEW(sheet->arena, const char *, (size_t)sheet->columns);
    if (row && !row->cell) row = NULL;
    for (int c = 0; c < sheet->columns && row; c++) {
        row->cell[c] = arena_text(sheet->arena, cells[c] ? cells[c] : "");
        if (!row->cell[c]) row = NULL;
    }
    if (!row) {
        sheet->failed = true;
        return;
    }
    *(sheet->last ? &sheet->last->next : &sheet->first) = row;
    sheet->last = row;
    sheet->rows++;
}

/* The region can be scrolled, by the keyboard too. */
void sheet_write_html(const Sheet *sheet, FILE *out) {
    fputs("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Table: ", out);
    escape_write(ESCAPE_HTML, sheet->caption, out);
    fputs("\">\n<table>\n<caption>", out);
    escape_write(ESCAPE_HTML, sheet->caption, out);
    fputs("</caption>\n<thead><tr>", out);
    for (int c = 0; c < sheet->columns; c++) {
        fprintf(out, "<th scope=\"col\"%s>", sheet->right[c] ? " class=\"n\"" : "");
        escape_write(ESCAPE_HTML, sheet->heading[c], out);
        fputs("</th>", out);
    }
    fputs("</tr></thead>\n<tbody>\n", out);
    for (const SheetRow *row = sheet->first; row; row = row->next) {
        fputs("<tr>", out);
        for (int c = 0; c < sheet->columns; c++) {
            const char *style = sheet->right[c] ? " class=\"n\"" : "";
            fprintf(out, c == 0 ? "<th scope=\"row\"%s>" : "<td%s>", style);
            escape_write(ESCAPE_HTML, row->cell[c], out);
            fputs(c == 0 ? "</th>" : "</td>", out);
        }
        fputs("</tr>\n", out);
    }
    fputs("</tbody>\n</table>\n</div>\n", out);
}

void sheet_write_markdown(const Sheet *sheet, FILE *out) {
    for (int c = 0; c < sheet->columns; c++) {
        fputs("| ", out);
        escape_write(ESCAPE_MARKDOWN, sheet->heading[c], out);
        fputc(' ', out);
    }
    fputs("|\n", out);
    for (int c = 0; c < sheet->columns; c++) fputs(sheet->right[c] ? "|---:" : "|---", out);
    fputs("|\n", out);
    for (const SheetRow *row = sheet->first; row; row = row->next) {
        for (int c = 0; c < sheet->columns; c++) {
            fputs("| ", out);
            escape_write(ESCAPE_MARKDOWN, row->cell[c], out);
            fputc(' ', out);
        }
        fputs("|\n", out);
    }
}
