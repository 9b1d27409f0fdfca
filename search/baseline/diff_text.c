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
    FILE *out;
    Terminal terminal;
    bool markdown;
    Table *table; /* text: what is being filled */
    int columns;
    bool ok;
} Sheet;

static void sheet_start(Sheet *sheet, const char *title, const TableColumn *columns, int count) {
    sheet->columns = count;
    if (!sheet->markdown) {
        fprintf(sheet->out, "\n%s\n", title);
        sheet->table = table_new(columns, (size_t)count);
        sheet->ok = sheet->ok && sheet->table;
        return;
    }
    fprintf(sheet->out, "\n**%s**\n\n", title);
    for (int c = 0; c < count; c++) fprintf(sheet->out, "| %s ", columns[c].name);
    fputs("|\n", sheet->out);
    for (int c = 0; c < count; c++) fputs(columns[c].right ? "|---:" : "|---", sheet->out);
    fputs("|\n", sheet->out);
}

static void sheet_row(Sheet *sheet, const char *const *cells) {
    char own[COLUMNS_MAX][CELL_SIZE];
    const char *shown[COLUMNS_MAX];
    for (int c = 0; c < sheet->columns; c++) {
        shown[c] = clean_text(cells[c], own[c], CELL_SIZE);
        if (!sheet->markdown) table_wrap(own[c], CELL_COLUMNS);
    }
    if (!sheet->markdown) {
        sheet->ok = sheet->ok && table_row(sheet->table, shown);
        return;
    }
    for (int c = 0; c < sheet->columns; c++) {
        fputs("| ", sheet->out);
        escape_write(ESCAPE_MARKDOWN, shown[c], sheet->out);
        fputc(' ', sheet->out);
    }
    fputs("|\n", sheet->out);
}

static void sheet_end(Sheet *sheet) {
    if (sheet->markdown) return;
    sheet->ok = sheet->ok && table_write(sheet->table, "  ", (TextOut){sheet->out, sheet->terminal});
    table_free(sheet->table);
    sheet->table = NULL;
}

static void write_texts(Sheet *sheet, const char *title, const DiffText *list, int count) {
    static const TableColumn COLUMNS[] = {{"", false}, {"A", false}, {"B", false}};
    if (count == 0) return;
    sheet_start(sheet, title, COLUMNS, 3);
    for (int i = 0; i < count; i++)
        sheet_row(sheet,
                  (const char *const[]){list[i].name, list[i].a[0] ? list[i].a : "-", list[i].b[0] ? list[i].b : "-"});
    sheet_end(sheet);
}

static const TableColumn NUMBERS[] = {{"", false}, {"A", true}, {"B", true}, {"change", true}};

static void write_figures(Sheet *sheet, const Diff *diff) {
    sheet_start(sheet, "Best plan", NUMBERS, 4);
    for (int i = 0; i < diff->figure_count; i++) {
        const DiffFigure *figure = &diff->figures[i];
        char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], change[NUMBER_TEXT_SIZE];
        sheet_row(sheet, (const char *const[]){figure->words, figure->unit(figure->a, a), figure->unit(figure->b, b),
                                               diff_change(figure->a, figure->b, change)});
    }
    sheet_end(sheet);
}

/* The parts of a sum; what is nothing in both is left out. */
static void write_parts(Sheet *sheet, const char *title, const PartChange *parts, int count, double whole,
                        const char *(*unit)(double value, char *text)) {
    sheet_start(sheet, title, NUMBERS, 4);
    for (int i = 0; i < count; i++) {
        char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], size[NUMBER_TEXT_SIZE], change[NUMBER_TEXT_SIZE + 1] = "none";
        double moved = parts[i].now - parts[i].was;
        if (fabs(parts[i].was) < 1e-9 * whole && fabs(parts[i].now) < 1e-9 * whole) continue;
        if (fabs(moved) >= 1e-9 * whole)
            snprintf(change, sizeof change, "%c%s", moved > 0 ? '+' : '-', unit(fabs(moved), size));
        sheet_row(sheet, (const char *const[]){parts[i].name, unit(parts[i].was, a), unit(parts[i].now, b), change});
    }
    sheet_end(sheet);
}

static const char *rank_text(int rank, char *text) {
    if (rank == 0) return "-";
    snprintf(text, NUMBER_TEXT_SIZE, "%d", rank);
    return text;
}

static void write_plans(Sheet *sheet, const Diff *diff) {
    static const TableColumn COLUMNS[] = {{"plan", false},  {"in A", true},   {"in B", true},
                                          {"step A", true}, {"step B", true}, {"change", true}};
    if (diff->plans_count == 0) return;
    sheet_start(sheet, "Plans, by rank", COLUMNS, 6);
    for (int i = 0; i < diff->plans_count; i++) {
        const DiffPlan *plan = &diff->plans[i];
        char in_a[NUMBER_TEXT_SIZE], in_b[NUMBER_TEXT_SIZE], a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE],
            change[NUMBER_TEXT_SIZE];
        PlanMove move = diff_plan_move(diff, plan);
        sheet_row(sheet,
                  (const char *const[]){plan->label, rank_text(plan->rank_a, in_a), rank_text(plan->rank_b, in_b),
                                        plan->rank_a ? step_text(plan->seconds_a, a) : "-",
                                        plan->rank_b ? step_text(plan->seconds_b, b) : "-",
                                        move == PLAN_IN_BOTH ? diff_change(plan->seconds_a, plan->seconds_b, change)
                                        : move == PLAN_NEW   ? "new"
                                        : move == PLAN_GONE  ? "gone"
                                                             : "not listed"});
    }
    sheet_end(sheet);
}

static void write_line(const Sheet *sheet, const char *heading, const char *text) {
    char clean[PROSE_SIZE];
    if (!sheet->markdown) {
        prose_write((TextOut){sheet->out, sheet->terminal}, heading, "   ", clean_text(text, clean, sizeof clean));
        return;
    }
    fputs(heading, sheet->out);
    escape_write(ESCAPE_MARKDOWN, text, sheet->out);
    fputs("\n\n", sheet->out);
}

static bool write_sheets(const Diff *diff, bool markdown, TextOut out, Error *error) {
    Sheet sheet = {.out = out.file, .terminal = out.terminal, .markdown = markdown, .ok = true};
    Prose line = {0};
    prose_add(&line, "%s: %s", diff->a_file, diff->a_words);
    write_line(&sheet, "A  ", line.text);
    line = (Prose){0};
    prose_add(&line, "%s: %s", diff->b_file, diff->b_words);
    write_line(&sheet, "B  ", line.text);
    diff_headline(diff, &line);
    write_line(&sheet, "", line.text);
    line = (Prose){0};
    for (int i = 0; i < diff->cause_count; i++) prose_item(&line, "; ", "%s", diff->causes[i].text);
    if (line.used > 0) write_line(&sheet, "Because: ", line.text);
    if (diff->different) {
        write_texts(&sheet, "Asked", diff->request, diff->request_count);
        if (diff->both) {
            write_figures(&sheet, diff);
            write_texts(&sheet, "Settings of the best plan", diff->plan, diff->plan_count);
            write_parts(&sheet, "Its step", diff->step, diff->step_count, diff->b.best.seconds, number_time);
            write_parts(&sheet, "Its HBM", diff->memory, diff->memory_count, diff->b.best.hbm_bytes, number_bytes);
        }
        write_plans(&sheet, diff);
        write_texts(&sheet, "Search", diff->search, diff->search_count);
    }
    table_free(sheet.table);
    return (sheet.ok && !ferror(out.file)) || error_memory(error);
}

bool diff_write_text(const Diff *diff, TextOut out, Error *error) { return write_sheets(diff, false, out, error); }

bool diff_write_markdown(const Diff *diff, FILE *out, Error *error) {
    return write_sheets(diff, true, (TextOut){.file = out}, error);
}

bool diff_write(const Diff *diff, DiffFormat format, TextOut out, Error *error) {
    return format == DIFF_JSON       ? diff_write_json(diff, out.file, error)
           : format == DIFF_MARKDOWN ? diff_write_markdown(diff, out.file, error)
                                     : diff_write_text(diff, out, error);
}
