/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two reports side by side, as text and as Markdown: the same tables. */
#include "base/escape.h"
#include "base/text/table.h"
#include "base/util.h"
#include "search/baseline/diff_tables.h"

#include <math.h>
#include <string.h>

const char *diff_format_name(DiffFormat format) {
    static const char *const NAMES[DIFF_FORMATS] = {"text", "json", "markdown", "html"};
    return NAMES[format];
}

void diff_headline(const Diff *diff, Prose *out) {
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], change[NUMBER_TEXT_SIZE];
    *out = (Prose){0};
    if (!diff->different) {
        prose_add(out, "A and B do not differ.");
    } else if (diff->both) {
        const SnapshotPlan *x = &diff->a.best, *y = &diff->b.best;
        double per_a = x->tokens_per_second_per_chip, per_b = y->tokens_per_second_per_chip;
        prose_add(out, "The best plan's step: %s -> %s (%s)", step_text(x->seconds, a), step_text(y->seconds, b),
                  diff_change(x->seconds, y->seconds, change));
        if (per_a > 0 && per_b > 0 && diff->request_count > 0)
            prose_add(out, "; tokens per second per chip: %s", diff_change(per_a, per_b, change));
        prose_add(out, ".");
    } else {
        const char *none = diff->a.proven && diff->b.proven ? "no plan fits" : "no plan was found";
        prose_add(out, "A: %s. B: %s.", diff->a.plan_count ? "a plan fits" : none,
                  diff->b.plan_count ? "a plan fits" : none);
    }
}

/* ---- one table, two forms ---- */

typedef struct {
    TextOut out;
    bool markdown;
    Arena arena; /* of the tables */
    bool ok;     /* false: memory is out */
} Writer;

static void write_table(Writer *writer, const char *title, Table table) {
    if (table.rows == 0 && !table.failed) return;
    fprintf(writer->out.file, writer->markdown ? "\n**%s**\n\n" : "\n%s\n", title);
    bool ok =
        writer->markdown ? table_write_markdown(&table, writer->out.file) : table_write_text(&table, "  ", writer->out);
    writer->ok = writer->ok && ok;
}

static void write_line(const Writer *writer, const char *heading, const char *text) {
    char clean[PROSE_SIZE];
    if (!writer->markdown) {
        prose_write(writer->out, heading, "   ", clean_text(text, clean, sizeof clean));
        return;
    }
    fputs(heading, writer->out.file);
    escape_write(ESCAPE_MARKDOWN, text, writer->out.file);
    fputs("\n\n", writer->out.file);
}

static bool write_all(const Diff *diff, bool markdown, TextOut out, Error *error) {
    Writer writer = {.out = out, .markdown = markdown, .ok = true};
    Prose line = {0};
    prose_add(&line, "%s: %s", diff->a_file, diff->a_words);
    write_line(&writer, "A  ", line.text);
    line = (Prose){0};
    prose_add(&line, "%s: %s", diff->b_file, diff->b_words);
    write_line(&writer, "B  ", line.text);
    diff_headline(diff, &line);
    write_line(&writer, "", line.text);
    line = (Prose){0};
    for (int i = 0; i < diff->cause_count; i++) prose_item(&line, "; ", "%s", diff->causes[i].text);
    if (line.used > 0) write_line(&writer, "Because: ", line.text);
    if (diff->different) {
        Arena *arena = &writer.arena;
        write_table(&writer, "Asked", diff_texts_table(diff->request, diff->request_count, arena));
        if (diff->both) {
            write_table(&writer, "Best plan", diff_figures_table(diff, arena));
            write_table(&writer, "Settings of the best plan", diff_texts_table(diff->plan, diff->plan_count, arena));
            write_table(&writer, "Its step", diff_step_table(diff, arena));
            write_table(&writer, "Its HBM", diff_memory_table(diff, arena));
        }
        write_table(&writer, "Plans, by rank", diff_plans_table(diff, arena));
        write_table(&writer, "Search", diff_texts_table(diff->search, diff->search_count, arena));
    }
    arena_free(&writer.arena);
    return (writer.ok && !ferror(out.file)) || error_memory(error);
}

bool diff_write_text(const Diff *diff, TextOut out, Error *error) { return write_all(diff, false, out, error); }

bool diff_write_markdown(const Diff *diff, FILE *out, Error *error) {
    return write_all(diff, true, (TextOut){.file = out}, error);
}

bool diff_write(const Diff *diff, DiffFormat format, TextOut out, Error *error) {
    return format == DIFF_JSON       ? diff_write_json(diff, out.file, error)
           : format == DIFF_MARKDOWN ? diff_write_markdown(diff, out.file, error)
           : format == DIFF_HTML     ? diff_write_page(diff, out.file, error)
                                     : diff_write_text(diff, out, error);
}
