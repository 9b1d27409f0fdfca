/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The error table for a terminal, and for README files. */
#include "base/escape.h"
#include "search/cli/views/validate_view.h"
#include "base/text/table.h"

#include <string.h>

/* ---- text ---- */

enum { CELL_COLUMNS = 32 };

static bool text_table(TextOut out, const ValidateView *view, const ValidateTable *of, Error *error) {
    if (of->rows == 0) return true;
    TableColumn columns[VALIDATE_CELLS_MAX];
    for (int c = 0; c < of->columns; c++) columns[c] = (TableColumn){of->heading[c], of->right[c]};
    Table *table = table_new(columns, (size_t)of->columns);
    bool ok = table != NULL;
    for (int64_t i = 0; i < of->rows && ok; i++) {
        ValidateRow row = {0};
        const char *cells[VALIDATE_CELLS_MAX];
        of->row(view, of->of, i, &row);
        for (int c = 0; c < of->columns; c++) {
            char clean[VALIDATE_CELL_SIZE];
            clean_text(row.cell[c], clean, sizeof clean);
            memcpy(row.cell[c], clean, sizeof clean);
            if (c > 0) table_wrap(row.cell[c], CELL_COLUMNS);
            cells[c] = row.cell[c];
        }
        ok = table_row(table, cells);
    }
    fprintf(out.file, "\n%s\n", of->title);
    ok = ok && table_write(table, "  ", out);
    table_free(table);
    return ok || error_memory(error);
}

static void text_paragraph(TextOut out, const char *title, const Prose *prose) {
    if (prose->used == 0) return;
    fprintf(out.file, "\n%s\n", title);
    prose_write(out, "  ", "  ", prose->text);
}

bool validate_write_text(TextOut out, const ValidateView *view, Error *error) {
    Prose headline = {0}, memory = {0}, ranking = {0};
    Arena arena = {0};
    ValidateTable worst, every, skipped;
    validate_headline(view, &headline);
    validate_memory(view, &memory);
    validate_ranking(view, &ranking);
    prose_write(out, "", "", headline.text);
    bool ok = validate_worst(view, &arena, &worst) && validate_every(view, &arena, &every) &&
              validate_skipped(view, &arena, &skipped);
    if (!ok) error_memory(error);
    for (ScoreBy by = 0; by < BY_COUNT && ok; by++) {
        ValidateTable groups = validate_groups(view, by);
        ok = text_table(out, view, &groups, error);
    }
    ok = ok && text_table(out, view, &worst, error);
    text_paragraph(out, "Memory", &memory);
    text_paragraph(out, "Order of plans", &ranking);
    ok = ok && (!view->verbose || text_table(out, view, &every, error)) && text_table(out, view, &skipped, error);
    arena_free(&arena);
    return ok;
}

/* ---- Markdown ---- */

static void markdown_table(FILE *out, const ValidateView *view, const ValidateTable *of, int columns) {
    for (int c = 0; c < columns; c++) fprintf(out, "| %s ", of->heading[c]);
    fprintf(out, "|\n");
    for (int c = 0; c < columns; c++) fprintf(out, "|%s", of->right[c] ? "---:" : "---");
    fprintf(out, "|\n");
    for (int64_t i = 0; i < of->rows; i++) {
        ValidateRow row = {0};
        of->row(view, of->of, i, &row);
        for (int c = 0; c < columns; c++) {
            fprintf(out, "| ");
            escape_write(ESCAPE_MARKDOWN, row.cell[c], out);
            fprintf(out, " ");
        }
        fprintf(out, "|\n");
    }
}

static void markdown_paragraph(FILE *out, const char *title, const Prose *prose) {
    if (prose->used == 0) return;
    if (title) fprintf(out, "\n**%s.** ", title);
    escape_write(ESCAPE_MARKDOWN, prose->text, out);
    fprintf(out, "\n");
}

bool validate_write_markdown(TextOut out, const ValidateView *view, Error *error) {
    static const ScoreBy SHOWN[] = {BY_SOURCE, BY_CHIP, BY_FRAMEWORK, BY_KIND};
    Prose headline = {0}, memory = {0}, ranking = {0};
    Arena arena = {0};
    ValidateTable worst, skipped;
    validate_headline(view, &headline);
    validate_memory(view, &memory);
    validate_ranking(view, &ranking);
    bool ok = (validate_worst(view, &arena, &worst) && validate_skipped(view, &arena, &skipped)) || error_memory(error);
    if (ok) {
        markdown_paragraph(out.file, NULL, &headline);
        for (size_t i = 0; i < sizeof SHOWN / sizeof SHOWN[0]; i++) {
            ValidateTable groups = validate_groups(view, SHOWN[i]);
            if (groups.rows == 0) continue;
            fprintf(out.file, "\n");
            markdown_table(out.file, view, &groups, groups.columns);
        }
        markdown_paragraph(out.file, "Memory", &memory);
        markdown_paragraph(out.file, "Order of plans", &ranking);
        if (worst.rows > 0) {
            fprintf(out.file, "\nThe worst:\n\n");
            markdown_table(out.file, view, &worst, worst.columns);
        }
        if (skipped.rows > 0) {
            fprintf(out.file, "\n<details><summary>Not replayed: %lld</summary>\n\n", (long long)skipped.rows);
            markdown_table(out.file, view, &skipped, skipped.columns);
            fprintf(out.file, "\n</details>\n");
        }
    }
    arena_free(&arena);
    return ok;
}
