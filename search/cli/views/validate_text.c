/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The error table for a terminal, and for README files. */
#include "base/escape.h"
#include "base/util.h"
#include "search/cli/views/validate_view.h"

/* ---- text ---- */

static bool text_table(TextOut out, const Table *table) {
    if (table->rows == 0) return true;
    fprintf(out.file, "\n%s\n", table->caption);
    return table_write_text(table, "  ", out);
}

static void text_paragraph(TextOut out, const char *title, const Prose *prose) {
    if (prose->used == 0) return;
    fprintf(out.file, "\n%s\n", title);
    prose_write(out, "  ", "  ", prose->text);
}

static bool write_text(TextOut out, const ValidateParts *parts, bool verbose) {
    bool ok = true;
    prose_write(out, "", "", parts->headline.text);
    for (ScoreBy by = 0; by < BY_COUNT; by++) ok = text_table(out, &parts->groups[by]) && ok;
    ok = text_table(out, &parts->worst) && ok;
    text_paragraph(out, "Memory", &parts->memory);
    ok = text_table(out, &parts->memory_by_stack) && ok;
    text_paragraph(out, "Order of plans", &parts->ranking);
    ok = text_table(out, &parts->cells) && ok;
    text_paragraph(out, "Chances of being the best", &parts->chances);
    if (verbose) ok = ok && text_table(out, &parts->every) && text_table(out, &parts->memory_runs);
    return ok && text_table(out, &parts->skipped);
}

bool validate_write_text(TextOut out, const ValidateView *view, Error *error) {
    Arena arena = {0};
    const ValidateParts *parts = validate_parts(view, &arena, error);
    bool ok = parts && (write_text(out, parts, view->verbose) || error_memory(error));
    arena_free(&arena);
    return ok;
}

/* ---- Markdown ---- */

static void markdown_paragraph(FILE *out, const char *title, const Prose *prose) {
    if (prose->used == 0) return;
    if (title) fprintf(out, "\n**%s.** ", title);
    escape_write(ESCAPE_MARKDOWN, prose->text, out);
    fprintf(out, "\n");
}

static bool write_markdown(FILE *out, const ValidateParts *parts) {
    static const ScoreBy SHOWN[] = {BY_SOURCE, BY_CHIP, BY_FRAMEWORK, BY_KIND};
    bool ok = true;
    markdown_paragraph(out, NULL, &parts->headline);
    for (size_t i = 0; i < COUNT_OF(SHOWN); i++) {
        const Table *groups = &parts->groups[SHOWN[i]];
        if (groups->rows == 0) continue;
        fprintf(out, "\n");
        ok = table_write_markdown(groups, out) && ok;
    }
    markdown_paragraph(out, "Memory", &parts->memory);
    if (parts->memory_by_stack.rows > 0) {
        fprintf(out, "\n");
        ok = table_write_markdown(&parts->memory_by_stack, out) && ok;
    }
    markdown_paragraph(out, "Order of plans", &parts->ranking);
    if (parts->cells.rows > 0) {
        fprintf(out, "\n");
        ok = table_write_markdown(&parts->cells, out) && ok;
    }
    markdown_paragraph(out, "Chances of being the best", &parts->chances);
    if (parts->worst.rows > 0) {
        fprintf(out, "\nThe worst:\n\n");
        ok = table_write_markdown(&parts->worst, out) && ok;
    }
    if (parts->skipped.rows > 0) {
        fprintf(out, "\n<details><summary>Not replayed: %lld</summary>\n\n", (long long)parts->skipped_runs);
        ok = table_write_markdown(&parts->skipped, out) && ok;
        fprintf(out, "\n</details>\n");
    }
    return ok;
}

bool validate_write_markdown(TextOut out, const ValidateView *view, Error *error) {
    Arena arena = {0};
    const ValidateParts *parts = validate_parts(view, &arena, error);
    bool ok = parts && (write_markdown(out.file, parts) || error_memory(error));
    arena_free(&arena);
    return ok;
}
