/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sweep as a table for a terminal, as Markdown, as CSV and as JSON: from its rows alone; as a page with search/look. */
#include "search/sweep/sweep.h"

#include "base/escape.h"
#include "base/text/prose.h"
#include "base/text/table.h"
#include "base/util.h"
#include "search/sweep/page.h"

#include <stdlib.h>
#include <string.h>

enum { RESULT_COLUMNS = 8, CELLS_MAX = SWEEP_OPTIONS_MAX + RESULT_COLUMNS, CELL_SIZE = 768, CELL_COLUMNS = 32 };

const char *sweep_format_name(SweepFormat format) {
    static const char *const NAMES[SWEEP_FORMATS] = {"text", "json", "csv", "markdown", "html"};
    return NAMES[format];
}

/* ---- what text and Markdown share ---- */

typedef struct {
    TableColumn column[CELLS_MAX];
    int count;
    bool priced; /* some row knows what it costs */
} Columns;

static void add_column(Columns *columns, const char *name, bool right) {
    columns->column[columns->count++] = (TableColumn){name, right};
}

static void columns_of(const SweepGrid *grid, const SweepRow *rows, Columns *out) {
    *out = (Columns){0};
    for (int64_t i = 0; i < grid->points; i++) out->priced = out->priced || (rows[i].has_plan && rows[i].cost_usd >= 0);
    for (int i = 0; i < grid->option_count; i++)
        if (grid->options[i].count > 1) add_column(out, grid->options[i].option, false);
    add_column(out, "best plan", false);
    add_column(out, "step", true);
    add_column(out, "MFU", true);
    add_column(out, "HBM", true);
    add_column(out, "tokens/s", true);
    add_column(out, "chip-hours", true);
    if (out->priced) add_column(out, "cost", true);
    add_column(out, "result", false);
}

/* The cells of a row, harmless to a terminal. */
typedef struct {
    char cell[CELLS_MAX][CELL_SIZE];
} Cells;

static void fill_cells(const SweepGrid *grid, const SweepRow *row, bool priced, Cells *out) {
    char number[NUMBER_TEXT_SIZE];
    int c = 0;
    for (int i = 0; i < grid->option_count; i++)
        if (grid->options[i].count > 1) clean_text(sweep_value(grid, row->point, i), out->cell[c++], CELL_SIZE);
    for (int i = c; i < c + RESULT_COLUMNS; i++) out->cell[i][0] = '\0';
    if (row->has_plan) {
        clean_text(row->plan, out->cell[c], CELL_SIZE);
        step_text(row->step_seconds, out->cell[c + 1]);
        share_text(row->mfu, out->cell[c + 2]);
        number_bytes(row->hbm_bytes, out->cell[c + 3]);
        number_short(row->tokens_per_second, out->cell[c + 4]);
        number_short(row->chip_hours, out->cell[c + 5]);
        if (row->cost_usd >= 0) snprintf(out->cell[c + 6], CELL_SIZE, "$%s", number_short(row->cost_usd, number));
    }
    char result[CELL_SIZE];
    snprintf(result, sizeof result, "%s%s%s", point_state_words(row->state), row->message[0] ? ": " : "", row->message);
    clean_text(result, out->cell[c + 6 + priced], CELL_SIZE);
}

static void headline(const SweepGrid *grid, Prose *to) {
    char number[NUMBER_TEXT_SIZE], clean[PROSE_NAME_SIZE];
    bool first = true;
    prose_add(to, "%s point%s", number_grouped(grid->points, number), grid->points == 1 ? "" : "s");
    for (int i = 0; i < grid->option_count; i++) {
        if (grid->options[i].count > 1) continue;
        const char *value = grid->options[i].values[0];
        prose_add(to, "%s--%s%s%s", first ? " with " : " ", grid->options[i].option, value[0] ? " " : "",
                  clean_name(value, clean));
        first = false;
    }
    prose_add(to, ":");
}

static void summary(const SweepGrid *grid, const SweepRow *rows, Prose *to) {
    static const char *const WORDS[POINT_STATES] = {"with a proven best plan", "where no plan fits", "not proven",
                                                    "with an invalid request"};
    char number[NUMBER_TEXT_SIZE];
    int64_t count[POINT_STATES] = {0};
    for (int64_t i = 0; i < grid->points; i++) count[rows[i].state]++;
    for (PointState state = 0; state < POINT_STATES; state++)
        if (count[state] > 0) prose_item(to, ", ", "%s %s", number_grouped(count[state], number), WORDS[state]);
    prose_add(to, ".");
}

/* ---- text ---- */

/* Errors are long and often the same: the table has their numbers, and their lines stand below it. Which of the errors,
 * counted from 1 as they come, a row has; 0: none. */
static int64_t error_number(const SweepRow *rows, int64_t row, int64_t *errors, int64_t *first_of) {
    if (rows[row].state != POINT_ERROR) return 0;
    for (int64_t e = 0; e < *errors; e++)
        if (strcmp(rows[first_of[e]].message, rows[row].message) == 0) return e + 1;
    first_of[*errors] = row;
    return ++*errors;
}

static void write_errors(const SweepRow *rows, int64_t errors, const int64_t *first_of, TextOut out) {
    char start[NUMBER_TEXT_SIZE], clean[PROSE_SIZE];
    if (errors > 0) fputc('\n', out.file);
    for (int64_t e = 0; e < errors; e++) {
        snprintf(start, sizeof start, "  error %lld: ", (long long)e + 1);
        prose_write(out, start, "    ", clean_text(rows[first_of[e]].message, clean, sizeof clean));
    }
}

static bool write_text(const SweepGrid *grid, const SweepRow *rows, TextOut out, Error *error) {
    Columns columns;
    Prose first = {0}, last = {0};
    Cells *cells = calloc(1, sizeof *cells);
    columns_of(grid, rows, &columns);
    Table *table = cells ? table_new(columns.column, (size_t)columns.count) : NULL;
    int64_t errors = 0, *first_of = malloc((size_t)grid->points * sizeof *first_of);
    bool ok = table && first_of;
    for (int64_t i = 0; i < grid->points && ok; i++) {
        const char *cell[CELLS_MAX];
        fill_cells(grid, &rows[i], columns.priced, cells);
        int64_t number = error_number(rows, i, &errors, first_of);
        if (number > 0) snprintf(cells->cell[columns.count - 1], CELL_SIZE, "error %lld", (long long)number);
        for (int c = 0; c < columns.count; c++) {
            table_wrap(cells->cell[c], CELL_COLUMNS);
            cell[c] = cells->cell[c];
        }
        ok = table_row(table, cell);
    }
    headline(grid, &first);
    summary(grid, rows, &last);
    prose_write(out, "", "  ", first.text);
    fputc('\n', out.file);
    ok = ok && table_write(table, "  ", out);
    if (ok) write_errors(rows, errors, first_of, out);
    fputc('\n', out.file);
    prose_write(out, "", "  ", last.text);
    table_free(table);
    free(first_of);
    free(cells);
    return ok || error_memory(error);
}

/* ---- Markdown and HTML ---- */

static bool sheet_of(const SweepGrid *grid, const SweepRow *rows, Arena *arena, Sheet *out) {
    Columns columns;
    Cells *cells = calloc(1, sizeof *cells);
    *out = sheet_new(arena, "Every point of the grid with its best plan", NULL);
    if (!cells) return false;
    columns_of(grid, rows, &columns);
    for (int c = 0; c < columns.count; c++) sheet_column(out, columns.column[c].name, columns.column[c].right);
    for (int64_t i = 0; i < grid->points; i++) {
        const char *cell[CELLS_MAX];
        fill_cells(grid, &rows[i], columns.priced, cells);
        for (int c = 0; c < columns.count; c++) cell[c] = cells->cell[c];
        sheet_row(out, cell);
    }
    free(cells);
    return !out->failed;
}

static bool write_markdown(const SweepGrid *grid, const SweepRow *rows, FILE *out, Error *error) {
    Prose first = {0}, last = {0};
    Arena arena = {0};
    Sheet sheet;
    bool ok = sheet_of(grid, rows, &arena, &sheet);
    headline(grid, &first);
    summary(grid, rows, &last);
    if (ok) {
        escape_write(ESCAPE_MARKDOWN, first.text, out);
        fputs("\n\n", out);
        sheet_write_markdown(&sheet, out);
        fputc('\n', out);
        escape_write(ESCAPE_MARKDOWN, last.text, out);
        fputc('\n', out);
    }
    arena_free(&arena);
    return ok || error_memory(error);
}

static bool write_html(const SweepGrid *grid, const SweepRow *rows, FILE *out, Error *error) {
    Prose first = {0}, last = {0};
    Arena arena = {0};
    Sheet sheet;
    bool ok = sheet_of(grid, rows, &arena, &sheet);
    headline(grid, &first);
    summary(grid, rows, &last);
    if (first.used > 0) first.text[first.used - 1] = '\0'; /* its colon */
    if (ok) ok = sweep_page_write(grid, rows, &sheet, first.text, last.text, out);
    arena_free(&arena);
    return ok || error_memory(error);
}

/* ---- CSV ---- */

static void print_real(double value, FILE *out) { fprintf(out, ",%.17g", value); }

static void write_csv_row(const SweepGrid *grid, const SweepRow *row, FILE *out) {
    fprintf(out, "%lld", (long long)row->point);
    for (int i = 0; i < grid->option_count; i++) {
        if (grid->options[i].count == 1) continue;
        fputc(',', out);
        escape_write(ESCAPE_CSV, sweep_value(grid, row->point, i), out);
    }
    fprintf(out, ",%s", point_state_name(row->state));
    if (row->has_plan) {
        fputc(',', out);
        escape_write(ESCAPE_CSV, row->plan, out);
        fputc(',', out);
        escape_write(ESCAPE_CSV, row->machine, out);
        fprintf(out, ",%lld", (long long)row->chips);
        print_real(row->step_seconds, out);
        print_real(row->mfu, out);
        print_real(row->hbm_bytes, out);
        print_real(row->hbm_limit_bytes, out);
        print_real(row->tokens_per_second, out);
        print_real(row->chip_hours, out);
        if (row->cost_usd >= 0)
            print_real(row->cost_usd, out);
        else
            fputc(',', out);
    } else {
        fputs(",,,,,,,,,,", out);
    }
    fputc(',', out);
    escape_write(ESCAPE_CSV, row->message, out);
    fputc('\n', out);
}

static void write_csv(const SweepGrid *grid, const SweepRow *rows, FILE *out) {
    fputs("point", out);
    for (int i = 0; i < grid->option_count; i++) {
        if (grid->options[i].count == 1) continue;
        fputc(',', out);
        escape_write(ESCAPE_CSV, grid->options[i].option, out);
    }
    fputs(",state,plan,machine,chips,step_seconds,mfu,hbm_bytes,hbm_limit_bytes,tokens_per_second,chip_hours,cost_usd,"
          "message\n",
          out);
    for (int64_t i = 0; i < grid->points; i++) write_csv_row(grid, &rows[i], out);
}

/* ---- JSON ---- */

static void write_json(const SweepGrid *grid, const SweepRow *rows, FILE *out) {
    fputs("[", out);
    for (int64_t i = 0; i < grid->points; i++) {
        fputs(i ? ",\n" : "\n", out);
        fwrite(rows[i].line, 1, rows[i].length, out);
    }
    fputs("\n]\n", out);
}

bool sweep_write(const SweepGrid *grid, const SweepRow *rows, SweepFormat format, TextOut out, Error *error) {
    bool ok = true;
    switch (format) {
    case SWEEP_TEXT:
        ok = write_text(grid, rows, out, error);
        break;
    case SWEEP_MARKDOWN:
        ok = write_markdown(grid, rows, out.file, error);
        break;
    case SWEEP_HTML:
        ok = write_html(grid, rows, out.file, error);
        break;
    case SWEEP_CSV:
        write_csv(grid, rows, out.file);
        break;
    case SWEEP_JSON:
        write_json(grid, rows, out.file);
        break;
    case SWEEP_FORMATS:
        break;
    }
    return ok && (!ferror(out.file) || error_memory(error));
}
