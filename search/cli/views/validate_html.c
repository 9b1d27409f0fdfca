/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The error table as one page. */
#include "base/text/html.h"
#include "search/cli/views/validate_view.h"

static void write_paragraph(FILE *out, const char *id, const char *title, const Prose *prose) {
    if (prose->used == 0) return;
    html_section_open(out, id, title);
    html_paragraph(out, prose->text);
    html_section_close(out);
}

static bool write_table(FILE *out, const char *id, const Table *table) {
    if (table->rows == 0) return true;
    html_section_open(out, id, table->caption);
    bool ok = table_write_html(table, out);
    html_section_close(out);
    return ok;
}

static void write_plot(FILE *out, const ValidateView *view, const Prose *headline) {
    html_section_open(out, "runs", "All runs");
    html_paragraph(out, headline->text);
    html_figure_open(out, "all runs");
    validate_draw_plot(out, view);
    html_figure_close(out);
    html_section_close(out);
}

static bool write_page(FILE *out, const ValidateView *view, const ValidateParts *parts) {
    static const char *const IDS[BY_COUNT] = {"by-1", "by-2", "by-3", "by-4", "by-5"};
    bool ok = true;
    html_open(out, "Predicted against measured training steps", NULL);
    write_plot(out, view, &parts->headline);
    for (ScoreBy by = 0; by < BY_COUNT; by++) ok = write_table(out, IDS[by], &parts->groups[by]) && ok;
    write_paragraph(out, "memory", "Memory", &parts->memory);
    write_paragraph(out, "order", "Order of plans", &parts->ranking);
    ok = write_table(out, "cells", &parts->cells) && ok;
    write_paragraph(out, "chances", "Chances of being the best", &parts->chances);
    ok = write_table(out, "worst", &parts->worst) && ok;
    ok = write_table(out, "every", &parts->every) && ok;
    ok = write_table(out, "skipped", &parts->skipped) && ok;
    html_close(out);
    return ok;
}

bool validate_write_html(TextOut out, const ValidateView *view, Error *error) {
    Arena arena = {0};
    const ValidateParts *parts = validate_parts(view, &arena, error);
    bool ok = parts && (write_page(out.file, view, parts) || error_memory(error));
    arena_free(&arena);
    return ok;
}
