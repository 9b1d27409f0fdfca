/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The error table as one page. */
#include "search/cli/views/validate_view.h"
#include "base/text/html.h"
#include "base/text/sheet.h"

static void write_paragraph(FILE *out, const char *id, const char *title, const Prose *prose) {
    if (prose->used == 0) return;
    html_section_open(out, id, title);
    html_paragraph(out, prose->text);
    html_section_close(out);
}

static bool write_table(FILE *out, const ValidateView *view, const ValidateTable *of, const char *id) {
    Arena arena = {0};
    if (of->rows == 0) return true;
    Sheet sheet = sheet_new(&arena, of->title, NULL);
    for (int c = 0; c < of->columns; c++) sheet_column(&sheet, of->heading[c], of->right[c]);
    for (int64_t i = 0; i < of->rows; i++) {
        ValidateRow row = {0};
        const char *cells[VALIDATE_CELLS_MAX];
        of->row(view, of->of, i, &row);
        for (int c = 0; c < of->columns; c++) cells[c] = row.cell[c];
        sheet_row(&sheet, cells);
    }
    html_section_open(out, id, of->title);
    sheet_write_html(&sheet, out);
    html_section_close(out);
    arena_free(&arena);
    return !sheet.failed;
}

static bool write_groups(FILE *out, const ValidateView *view) {
    static const char *const IDS[BY_COUNT] = {"by-1", "by-2", "by-3", "by-4", "by-5"};
    bool ok = true;
    for (ScoreBy by = 0; by < BY_COUNT; by++) {
        ValidateTable groups = validate_groups(view, by);
        ok = write_table(out, view, &groups, IDS[by]) && ok;
    }
    return ok;
}

bool validate_write_html(TextOut to, const ValidateView *view, Error *error) {
    FILE *out = to.file;
    Prose headline = {0}, memory = {0}, ranking = {0};
    Arena arena = {0};
    ValidateTable worst, every, skipped;
    validate_headline(view, &headline);
    validate_memory(view, &memory);
    validate_ranking(view, &ranking);
    bool ok = validate_worst(view, &arena, &worst) && validate_every(view, &arena, &every) &&
              validate_skipped(view, &arena, &skipped);
    if (ok) {
        html_open(out, "Predicted against measured training steps", NULL);
        html_section_open(out, "runs", "All runs");
        html_paragraph(out, headline.text);
        html_figure_open(out, "all runs");
        validate_draw_plot(out, view);
        html_figure_close(out);
        html_section_close(out);
        ok = write_groups(out, view);
        write_paragraph(out, "memory", "Memory", &memory);
        write_paragraph(out, "order", "Order of plans", &ranking);
        ok = write_table(out, view, &worst, "worst") && write_table(out, view, &every, "every") &&
             write_table(out, view, &skipped, "skipped") && ok;
        html_close(out);
    }
    arena_free(&arena);
    return ok || error_memory(error);
}
