/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two reports side by side, as text and as Markdown: the same tables. */
#include "base/escape.h"
#include "base/text/table.h"
#include "base/util.h"
#include "search/baseline/diff.h"

#include <math.h>
#include <string.h>

const char *diff_format_name(DiffFormat format) {
    static const char *const NAMES[DIFF_FORMATS] = {"text", "json", "markdown"};
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

enum { COLUMNS_MAX = 6, CELL_SIZE = 512, CELL_COLUMNS = 34 };

typedef struct {
    TextOut out;
    bool markdown;
    Arena arena; /* of the tables */
    bool ok;     /* false: memory is out */
} Writer;

static Table begin_table(Writer *writer, const char *headings) {
    Table table = table_new(&writer->arena, NULL, headings);
    for (int c = 0; c < table.columns; c++) table_wrap(&table, c, CELL_COLUMNS);
    return table;
}

static void add_row(Table *table, const char *const *cells) {
    char own[COLUMNS_MAX][CELL_SIZE];
    const char *shown[COLUMNS_MAX];
    for (int c = 0; c < table->columns; c++) shown[c] = clean_text(cells[c], own[c], CELL_SIZE);
    table_row(table, shown);
}

static void write_table(Writer *writer, const char *title, const Table *table) {
    fprintf(writer->out.file, writer->markdown ? "\n**%s**\n\n" : "\n%s\n", title);
    bool ok =
        writer->markdown ? table_write_markdown(table, writer->out.file) : table_write_text(table, "  ", writer->out);
    writer->ok = writer->ok && ok;
}

static void write_texts(Writer *writer, const char *title, const DiffText *list, int count) {
    if (count == 0) return;
    Table table = begin_table(writer, "|A|B");
    for (int i = 0; i < count; i++)
        add_row(&table,
                (const char *const[]){list[i].name, list[i].a[0] ? list[i].a : "-", list[i].b[0] ? list[i].b : "-"});
    write_table(writer, title, &table);
}

static const char NUMBERS[] = "|>A|>B|>change";

static void write_figures(Writer *writer, const Diff *diff) {
    Table table = begin_table(writer, NUMBERS);
    for (int i = 0; i < diff->figure_count; i++) {
        const DiffFigure *figure = &diff->figures[i];
        char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], change[NUMBER_TEXT_SIZE];
        add_row(&table, (const char *const[]){figure->words, figure->unit(figure->a, a), figure->unit(figure->b, b),
                                              diff_change(figure->a, figure->b, change)});
    }
    write_table(writer, "Best plan", &table);
}

/* The parts of a sum; what is nothing in both is left out. */
static void write_parts(Writer *writer, const char *title, const PartChange *parts, int count, double whole,
                        const char *(*unit)(double value, char *text)) {
    Table table = begin_table(writer, NUMBERS);
    for (int i = 0; i < count; i++) {
        char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], size[NUMBER_TEXT_SIZE], change[NUMBER_TEXT_SIZE + 1] = "none";
        double moved = parts[i].now - parts[i].was;
        if (fabs(parts[i].was) < 1e-9 * whole && fabs(parts[i].now) < 1e-9 * whole) continue;
        if (fabs(moved) >= 1e-9 * whole)
            snprintf(change, sizeof change, "%c%s", moved > 0 ? '+' : '-', unit(fabs(moved), size));
        add_row(&table, (const char *const[]){parts[i].name, unit(parts[i].was, a), unit(parts[i].now, b), change});
    }
    write_table(writer, title, &table);
}

static const char *rank_text(int rank, char *text) {
    if (rank == 0) return "-";
    snprintf(text, NUMBER_TEXT_SIZE, "%d", rank);
    return text;
}

static void write_plans(Writer *writer, const Diff *diff) {
    if (diff->plans_count == 0) return;
    Table table = begin_table(writer, "plan|>in A|>in B|>step A|>step B|>change");
    for (int i = 0; i < diff->plans_count; i++) {
        const DiffPlan *plan = &diff->plans[i];
        char in_a[NUMBER_TEXT_SIZE], in_b[NUMBER_TEXT_SIZE], a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE],
            change[NUMBER_TEXT_SIZE];
        PlanMove move = diff_plan_move(diff, plan);
        add_row(&table,
                (const char *const[]){plan->label, rank_text(plan->rank_a, in_a), rank_text(plan->rank_b, in_b),
                                      plan->rank_a ? step_text(plan->seconds_a, a) : "-",
                                      plan->rank_b ? step_text(plan->seconds_b, b) : "-",
                                      move == PLAN_IN_BOTH ? diff_change(plan->seconds_a, plan->seconds_b, change)
                                      : move == PLAN_NEW   ? "new"
                                      : move == PLAN_GONE  ? "gone"
                                                           : "not listed"});
    }
    write_table(writer, "Plans, by rank", &table);
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
        write_texts(&writer, "Asked", diff->request, diff->request_count);
        if (diff->both) {
            write_figures(&writer, diff);
            write_texts(&writer, "Settings of the best plan", diff->plan, diff->plan_count);
            write_parts(&writer, "Its step", diff->step, diff->step_count, diff->b.best.seconds, number_time);
            write_parts(&writer, "Its HBM", diff->memory, diff->memory_count, diff->b.best.hbm_bytes, number_bytes);
        }
        write_plans(&writer, diff);
        write_texts(&writer, "Search", diff->search, diff->search_count);
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
                                     : diff_write_text(diff, out, error);
}
