/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a sweep as a table for a terminal, as Markdown, CSV and JSON, from its rows alone, and as a page. */
#include "search/sweep/sweep.h"

#include "base/escape.h"
#include "base/json.h"
#include "base/memory_stream.h"
#include "base/text/page.h"
#include "base/text/prose.h"
#include "base/text/table.h"

#include <stdlib.h>
#include <string.h>

enum { CELL_SIZE = 768, CELL_COLUMNS = 32 };

/* A sweep as it is written. */
typedef struct {
    const SweepGrid *grid;
    const SweepRow *rows;
    const SweepGoal *goal;
    const char **result; /* of each point: what stands in the last column in place of its own; NULL: nothing does */
    Arena arena;
    /* For people: */
    Prose first, last; /* what is swept, and what has come of it */
    Table table;
    bool is_priced;
    int64_t errors, *first_of; /* errors that differ, each with the first row that has it; 0: rows have their own */
} SweepView;

/* ---- what people see ---- */

/* Whether some row knows what its plan costs. */
static bool is_priced(const SweepGrid *grid, const SweepRow *rows) {
    for (int64_t i = 0; i < grid->points; i++)
        if (rows[i].has_plan && rows[i].cost_usd >= 0) return true;
    return false;
}

/* The next field that people see: it has a name, and a cost is known. */
static const Field *next_shown(const SweepView *view, int *place) {
    const Field *field = field_shown(sweep_fields(view->grid), ++*place);
    return field && field->rule == FIELD_OR_NULL && !view->is_priced ? next_shown(view, place) : field;
}

static void add_text(Table *table, const char *text) {
    char clean[CELL_SIZE];
    table_cell(table, "%s", clean_text(text, clean, sizeof clean));
}

/* What varies, which distinguishes points; the best plan; the result. */
static Table begin_table(SweepView *view) {
    const SweepGrid *grid = view->grid;
    const Field *field;
    Table table = table_new(&view->arena, "Every point of the grid with its best plan", NULL);
    for (int i = 0; i < grid->option_count; i++)
        if (grid->options[i].count > 1) table_column(&table, grid->options[i].option, false);
    for (int place = 0; (field = next_shown(view, &place)) != NULL;)
        table_column(&table, field->name, field->type != FIELD_TEXT);
    table_column(&table, "result", false);
    for (int c = 0; c < table.columns; c++) table_wrap(&table, c, CELL_COLUMNS);
    return table;
}

/* Every point a row. */
static void fill_table(SweepView *view) {
    const SweepGrid *grid = view->grid;
    const Field *field;
    Table *out = &view->table;
    view->is_priced = is_priced(grid, view->rows);
    *out = begin_table(view);
    for (int64_t point = 0; point < grid->points; point++) {
        const SweepRow *row = &view->rows[point];
        char result[CELL_SIZE], text[NUMBER_TEXT_SIZE];
        for (int i = 0; i < grid->option_count; i++)
            if (grid->options[i].count > 1) add_text(out, sweep_value(grid, point, i));
        for (int place = 0; (field = next_shown(view, &place)) != NULL;)
            add_text(out, row->has_plan ? field_words(field, row, text) : "");
        snprintf(result, sizeof result, "%s%s%s", point_state_words(row->state), row->message[0] ? ": " : "",
                 row->message);
        add_text(out, view->result[point] ? view->result[point] : result);
    }
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

/* "What fits: nodes=8 to nodes=128.", where one option varies, some points fit, and those in one run. */
static void add_reach(const SweepGrid *grid, const SweepRow *rows, Prose *to) {
    char from[128], until[128];
    int varied = 0;
    int64_t first = -1, last = -1, fit = 0;
    for (int i = 0; i < grid->option_count; i++) varied += grid->options[i].count > 1;
    for (int64_t i = 0; i < grid->points; i++) {
        if (rows[i].state == POINT_ERROR) return;
        if (!rows[i].has_plan) continue;
        if (first < 0) first = i;
        last = i;
        fit++;
    }
    if (varied != 1 || fit == 0 || fit == grid->points || last - first + 1 != fit) return;
    prose_add(to, " What fits: %s", sweep_point_text(grid, first, from, sizeof from));
    if (fit > 1) prose_add(to, " to %s", sweep_point_text(grid, last, until, sizeof until));
    prose_add(to, ".");
}

static void summary(const SweepView *view, Prose *to) {
    const SweepGrid *grid = view->grid;
    const SweepRow *rows = view->rows;
    static const char *const WORDS[POINT_STATES] = {"with a proven best plan", "where no plan fits", "not proven",
                                                    "with an invalid request"};
    char number[NUMBER_TEXT_SIZE];
    int64_t count[POINT_STATES] = {0};
    for (int64_t i = 0; i < grid->points; i++) count[rows[i].state]++;
    for (PointState state = 0; state < POINT_STATES; state++)
        if (count[state] > 0) prose_item(to, ", ", "%s %s", number_grouped(count[state], number), WORDS[state]);
    prose_add(to, ".");
    add_reach(grid, rows, to);
    if (!sweep_goal_is(view->goal)) return;
    prose_add(to, " ");
    sweep_goal_summary(grid, rows, view->goal, to);
}

/* Errors are long and often the same: the table has their numbers, and their lines stand below it. Which of the errors,
 * counted from 1 as they come, a row has; 0: none. */
static int64_t error_number(SweepView *view, int64_t row) {
    const SweepRow *rows = view->rows;
    if (rows[row].state != POINT_ERROR) return 0;
    for (int64_t e = 0; e < view->errors; e++)
        if (strcmp(rows[view->first_of[e]].message, rows[row].message) == 0) return e + 1;
    view->first_of[view->errors] = row;
    return ++view->errors;
}

/* The results of points in error are the numbers of their errors. False: memory is out. */
static bool number_errors(SweepView *view) {
    view->first_of = ARENA_NEW(&view->arena, int64_t, (size_t)view->grid->points);
    for (int64_t i = 0; view->first_of && i < view->grid->points; i++) {
        int64_t number = error_number(view, i);
        if (number > 0 && !(view->result[i] = arena_format(&view->arena, "error %lld", (long long)number)))
            return false;
    }
    return view->first_of != NULL;
}

static bool fill_for_people(SweepView *view, bool numbered) {
    if (numbered && !number_errors(view)) return false;
    fill_table(view);
    return !view->table.failed;
}

static bool write_text(const SweepView *view, TextOut out) {
    char start[NUMBER_TEXT_SIZE], clean[PROSE_SIZE];
    prose_write(out, "", "  ", view->first.text);
    fputc('\n', out.file);
    bool ok = table_write_text(&view->table, "  ", out);
    if (view->errors > 0) fputc('\n', out.file);
    for (int64_t e = 0; e < view->errors; e++) {
        snprintf(start, sizeof start, "  error %lld: ", (long long)e + 1);
        prose_write(out, start, "    ", clean_text(view->rows[view->first_of[e]].message, clean, sizeof clean));
    }
    fputc('\n', out.file);
    prose_write(out, "", "  ", view->last.text);
    return ok;
}

static bool write_markdown(const SweepView *view, FILE *out) {
    escape_write(ESCAPE_MARKDOWN, view->first.text, out);
    fputs("\n\n", out);
    bool ok = table_write_markdown(&view->table, out);
    fputc('\n', out);
    escape_write(ESCAPE_MARKDOWN, view->last.text, out);
    fputc('\n', out);
    return ok;
}

/* ---- CSV ---- */

static void add_csv_row(const SweepView *view, const SweepRow *row, Table *table) {
    const SweepGrid *grid = view->grid;
    table_cell(table, "%lld", (long long)row->point);
    for (int i = 0; i < grid->option_count; i++)
        if (grid->options[i].count > 1) table_cell(table, "%s", sweep_value(grid, row->point, i));
    table_cell(table, "%s", point_state_name(row->state));
    if (row->has_plan) fields_row(table, sweep_fields(grid), row);
    for (int column = 1; !row->has_plan && field_at_column(sweep_fields(grid), column); column++)
        table_cell(table, "%s", "");
    if (sweep_goal_is(view->goal)) table_cell(table, "%s", view->result[row->point] ? view->result[row->point] : "");
    table_cell(table, "%s", row->message);
}

static bool write_csv(SweepView *view, FILE *out) {
    Table table = table_new(&view->arena, NULL, ">point");
    /* A column of the plan may have the name of one that was requested. */
    for (int i = 0; i < view->grid->option_count; i++) {
        const SweepOption *varied = &view->grid->options[i];
        const char *name = varied->option;
        if (field_named(sweep_fields(view->grid), name)) name = arena_format(&view->arena, "asked_%s", name);
        if (varied->count > 1) table_column(&table, name ? name : "", false);
    }
    table_column(&table, "state", false);
    fields_begin(&table, sweep_fields(view->grid));
    if (sweep_goal_is(view->goal)) table_column(&table, "goal", false);
    table_column(&table, "message", false);
    for (int64_t i = 0; i < view->grid->points; i++) add_csv_row(view, &view->rows[i], &table);
    return table_write_csv(&table, out);
}

/* ---- JSON, and the page with it ---- */

/* The line that makes this sweep again as a page. Values are in quotes where a shell would see more in them than a
 * word. False: one has characters that no line should have, or the line is long. */
static bool command_of(const SweepGrid *grid, Prose *to) {
    static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,_=%+:/@-";
    enum { LONG = 1000 };
    prose_add(to, "shardopt sweep%s%s", grid->command ? " " : "", grid->command ? grid->command : "");
    for (int i = 0; i < grid->option_count; i++) {
        const SweepOption *option = &grid->options[i];
        bool plain = true;
        for (int v = 0; v < option->count; v++) {
            const char *value = option->values[v];
            plain = plain && value[strspn(value, PLAIN)] == '\0';
            for (const char *c = value; *c; c++)
                if (*c == '\'' || (unsigned char)*c < ' ' || (unsigned char)*c >= 0x7f) return false;
            if (strlen(value) > LONG || to->used > LONG || (option->count > 1 && strchr(value, ','))) return false;
        }
        prose_add(to, " --%s%s%s", option->option, option->values[0][0] ? " " : "", plain ? "" : "'");
        for (int v = 0; v < option->count; v++) prose_add(to, "%s%s", v > 0 ? "," : "", option->values[v]);
        prose_add(to, "%s", plain ? "" : "'");
    }
    prose_add(to, " --format html -o sweep.html");
    return true;
}

static void add_member(const char *key, const char *text, FILE *out) {
    fprintf(out, ",\"%s\":", key);
    json_print_text(out, text);
}

/* Of the whole sweep, on its first row: an array has no other place. */
static void write_words(const SweepView *view, FILE *out) {
    Prose lead = view->first, again = {0};
    if (lead.used > 0) lead.text[lead.used - 1] = '\0'; /* its colon */
    fputs(",\"words\":{\"lead\":", out);
    json_print_text(out, lead.text);
    add_member("summary", view->last.text, out);
    if (command_of(view->grid, &again)) add_member("again", again.text, out);
    fputc('}', out);
}

/* Where the report begins, the last member of a row: in texts a quote has a backslash. */
static size_t before_report(const SweepRow *row) {
    const char *at = strstr(row->line, ",\"report\":");
    return at ? (size_t)(at - row->line) : row->length - 1;
}

/* Each row as it was planned, and behind it what it is among the others. */
static bool write_json(SweepView *view, bool reports, FILE *out) {
    bool *front = ARENA_NEW(&view->arena, bool, (size_t)view->grid->points);
    int *same = ARENA_NEW(&view->arena, int, (size_t)view->grid->points);
    if (!front || !same) return false;
    sweep_front(view->grid, view->rows, front, same);
    fputs("[", out);
    for (int64_t i = 0; i < view->grid->points; i++) {
        const SweepRow *row = &view->rows[i];
        fputs(i ? ",\n" : "\n", out);
        fwrite(row->line, 1, reports ? row->length - 1 : before_report(row), out);
        if (view->result[i]) add_member("goal", view->result[i], out);
        if (front[i]) fputs(",\"front\":true", out);
        if (i == 0) write_words(view, out);
        fputc('}', out);
    }
    fputs("\n]\n", out);
    return true;
}

/* A report has 20 kB: a page of many points shows them without. */
enum { REPORTS_MAX = 300 };

static bool write_html(SweepView *view, FILE *out, Error *error) {
    char *text = NULL;
    size_t length = 0;
    FILE *memory = memory_stream_open(&text, &length);
    if (!memory) return false;
    bool ok = write_json(view, view->grid->points <= REPORTS_MAX, memory);
    ok = fclose(memory) == 0 && ok && text && page_write_text(text, out, error);
    free(text);
    return ok;
}

/* What each point that has a plan is under the goal. */
static bool compare_with_goal(SweepView *view) {
    SweepChoice choice;
    char words[GOAL_WORDS_SIZE], days[NUMBER_TEXT_SIZE];
    if (!sweep_goal_is(view->goal)) return true;
    sweep_choose(view->grid, view->rows, view->goal, &choice);
    for (int64_t i = 0; i < view->grid->points; i++) {
        const SweepRow *row = &view->rows[i];
        if (!row->has_plan) continue;
        bool open = row->state == POINT_NOT_PROVEN;
        sweep_goal_words(row, view->goal, &choice, words);
        duration_text(row->expected_seconds, days);
        view->result[i] = arena_format(&view->arena, "%s: %s%s", days, words, open ? " (not proven)" : "");
        if (!view->result[i]) return false;
    }
    return true;
}

bool sweep_write(const SweepGrid *grid, const SweepRow *rows, const SweepGoal *goal, SweepFormat format, TextOut out,
                 Error *error) {
    SweepView *view = calloc(1, sizeof *view);
    if (!view) return error_memory(error);
    *view = (SweepView){.grid = grid, .rows = rows, .goal = goal};
    view->result = ARENA_NEW(&view->arena, const char *, (size_t)grid->points);
    bool ok = view->result && compare_with_goal(view);
    if (ok) headline(grid, &view->first), summary(view, &view->last);
    if (format == SWEEP_TEXT || format == SWEEP_MARKDOWN) ok = ok && fill_for_people(view, format == SWEEP_TEXT);
    ok = ok && (format == SWEEP_JSON       ? write_json(view, true, out.file)
                : format == SWEEP_CSV      ? write_csv(view, out.file)
                : format == SWEEP_HTML     ? write_html(view, out.file, error)
                : format == SWEEP_MARKDOWN ? write_markdown(view, out.file)
                                           : write_text(view, out));
    arena_free(&view->arena);
    free(view);
    return (ok && !ferror(out.file)) || error_memory(error);
}
