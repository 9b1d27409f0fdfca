/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The error table as one page. No script, nothing fetched; names of the file are text and nothing else. */
#include "base/escape.h"
#include "search/cli/validate_view.h"

static void write_head(FILE *out) {
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
          "<title>shardopt validate</title>\n<style>\n"
          ":root{color-scheme:light dark}\n"
          "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;padding:0 1rem;max-width:72rem;color:#222;"
          "background:#fff}\n"
          "svg{max-width:100%;height:auto}\n.wide{overflow-x:auto}\n"
          "table{border-collapse:collapse;font-size:13px;margin:.5rem 0}\n"
          "th,td{padding:.2rem .6rem;text-align:left;vertical-align:top;border-bottom:1px solid #ddd}\n"
          ".n{text-align:right;font-variant-numeric:tabular-nums}\n"
          "@media (prefers-color-scheme:dark){body{color:#ddd;background:#16181c}th,td{border-color:#333}}\n"
          "</style>\n</head>\n<body>\n<main>\n<h1>Predicted against measured training steps</h1>\n",
          out);
}

static void write_paragraph(FILE *out, const char *title, const Prose *prose) {
    if (prose->used == 0) return;
    if (title) fprintf(out, "<h2>%s</h2>\n", title);
    fputs("<p>", out);
    escape_write(ESCAPE_HTML, prose->text, out);
    fputs("</p>\n", out);
}

static void write_table(FILE *out, const ValidateView *view, const ValidateTable *of) {
    if (of->rows == 0) return;
    fprintf(out, "<h2>%s</h2>\n<div class=\"wide\">\n<table>\n<thead><tr>", of->title);
    for (int c = 0; c < of->columns; c++)
        fprintf(out, "<th scope=\"col\"%s>%s</th>", of->right[c] ? " class=\"n\"" : "", of->heading[c]);
    fputs("</tr></thead>\n<tbody>\n", out);
    for (int64_t i = 0; i < of->rows; i++) {
        ValidateRow row = {0};
        of->row(view, of->of, i, &row);
        fputs("<tr>", out);
        for (int c = 0; c < of->columns; c++) {
            fputs(c == 0 ? "<th scope=\"row\">" : of->right[c] ? "<td class=\"n\">" : "<td>", out);
            escape_write(ESCAPE_HTML, row.cell[c], out);
            fputs(c == 0 ? "</th>" : "</td>", out);
        }
        fputs("</tr>\n", out);
    }
    fputs("</tbody>\n</table>\n</div>\n", out);
}

bool validate_write_html(FILE *out, const ValidateView *view, Error *error) {
    Prose headline = {0}, memory = {0}, ranking = {0};
    Arena arena = {0};
    ValidateTable worst, every, skipped;
    validate_headline(view, &headline);
    validate_memory(view, &memory);
    validate_ranking(view, &ranking);
    bool ok = (validate_worst(view, &arena, &worst) && validate_every(view, &arena, &every) &&
               validate_skipped(view, &arena, &skipped)) ||
              error_memory(error);
    if (ok) {
        write_head(out);
        write_paragraph(out, NULL, &headline);
        ok = validate_write_plot(out, view, error);
        for (ScoreBy by = 0; by < BY_COUNT; by++) {
            ValidateTable groups = validate_groups(view, by);
            write_table(out, view, &groups);
        }
        write_paragraph(out, "Memory", &memory);
        write_paragraph(out, "Order of plans", &ranking);
        write_table(out, view, &worst);
        write_table(out, view, &every);
        write_table(out, view, &skipped);
        fputs("</main>\n</body>\n</html>\n", out);
    }
    arena_free(&arena);
    return ok;
}
