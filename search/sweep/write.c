/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a sweep as a table for a terminal, as Markdown, CSV and JSON, from its rows alone, and as a page. */
#include "search/sweep/sweep.h"

#include "base/escape.h"
#include "base/json.h"
#include "base/memory_stream.h"
#include "base/text/page.h"
#include "base/text/prose.h"
#include "base/text/table.h"
#include "search/options/request_line.h"

#include <stdlib.h>
#include <string.h>

enum { CELL_SIZE = 768, CELL_COLUMNS = 32 };

/* A sweep as it is written. */
typedef struct {
    const SweepGrid *grid;
    const SweepRow *rows;
    const SweepGoal *goal;
    const char **result; /* of each point: what it is under the goal, or the number of its error; NULL: neither */
    Arena arena;
    bool is_priced;
    Prose first, last; /* what is swept, and what has come of it */
} SweepView;

/* ---- the table: what varies, which distinguishes points; the figures of the best plan; the result ---- */

/* Whether some row knows what its plan costs. */
static bool is_priced(const SweepView *view, const SweepField *cost) {
    for (int64_t i = 0; i < view->grid->points; i++)
        if (sweep_figure(&view->rows[i], cost->key) >= 0) return true;
    return false;
}

/* The next field that a form has: CSV has all that are not of JSON alone, people those with a name, a cost where one is
 * known. NULL: there is none. */
static const SweepField *next_field(const SweepView *view, const SweepField *field, bool csv) {
    for (field = field ? field + 1 : sweep_fields(view->grid); field->key; field++)
        if (csv ? !field->in_json_alone : field->name && (field->rule == FIELD_ALWAYS || view->is_priced))
            return field;
    return NULL;
}

/* A column of a plan may have the name of an option: that of the option says so in CSV. */
static const char *option_heading(SweepView *view, const char *option, bool csv) {
    for (const SweepField *field = sweep_fields(view->grid); csv && field->key; field++)
        if (strcmp(field->key, option) == 0) return arena_format(&view->arena, "asked_%s", option);
    return option;
}

static Table begin_table(SweepView *view, bool csv) {
    const SweepGrid *grid = view->grid;
    const SweepField *field = NULL;
    Table table = table_new(&view->arena, "Every point of the grid with its best plan", NULL);
    if (csv) table_column(&table, "point", true);
    for (int i = 0; i < grid->option_count; i++) {
        if (grid->options[i].count == 1) continue;
        const char *heading = option_heading(view, grid->options[i].option, csv);
        table_column(&table, heading ? heading : "", false);
    }
    if (csv) table_column(&table, "state", false);
    while ((field = next_field(view, field, csv)) != NULL)
        table_column(&table, csv ? field->key : field->name, field->type != FIELD_TEXT);
    if (csv && sweep_goal_is(view->goal)) table_column(&table, "goal", false);
    table_column(&table, csv ? "message" : "result", false);
    for (int c = 0; c < table.columns; c++) table_wrap(&table, c, CELL_COLUMNS);
    return table;
}

static void add_text(Table *table, const char *text, bool csv) {
    char clean[CELL_SIZE];
    table_cell(table, "%s", csv ? text : clean_text(text, clean, sizeof clean));
}

/* People read figures in their units, other programs all their digits. */
static void add_figure(Table *table, const SweepField *field, const SweepRow *row, bool csv) {
    char text[NUMBER_TEXT_SIZE];
    const cJSON *value = json_at(json_at(row->json, "best"), field->key);
    if (!value || field->type == FIELD_TEXT)
        add_text(table, value ? value->valuestring : "", csv);
    else if (csv)
        table_cell(table, "%.17g", value->valuedouble);
    else
        add_text(table, field->unit ? field->unit(value->valuedouble, text) : "", csv);
}

static void add_row(const SweepView *view, int64_t point, bool csv, Table *table) {
    const SweepGrid *grid = view->grid;
    const SweepField *field = NULL;
    const SweepRow *row = &view->rows[point];
    const char *message = sweep_says(row, "message"), *result = view->result[point];
    char words[CELL_SIZE];
    if (csv) table_cell(table, "%lld", (long long)point);
    for (int i = 0; i < grid->option_count; i++)
        if (grid->options[i].count > 1) add_text(table, sweep_value(grid, point, i), csv);
    if (csv) add_text(table, point_state_name(row->state), csv);
    while ((field = next_field(view, field, csv)) != NULL) add_figure(table, field, row, csv);
    if (csv && sweep_goal_is(view->goal)) add_text(table, result ? result : "", csv);
    snprintf(words, sizeof words, "%s%s%s", point_state_words(row->state), message[0] ? ": " : "", message);
    add_text(table, csv ? message : result ? result : words, csv);
}

/* Every point a row. False: memory is out. */
static bool fill_table(SweepView *view, bool csv, Table *table) {
    for (const SweepField *field = sweep_fields(view->grid); field->key; field++)
        if (field->name && field->rule == FIELD_OR_NULL) view->is_priced = is_priced(view, field);
    *table = begin_table(view, csv);
    for (int64_t point = 0; point < view->grid->points; point++) add_row(view, point, csv, table);
    return !table->failed;
}

/* ---- what people see ---- */

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
        if (!sweep_has_plan(&rows[i])) continue;
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

/* Errors are long and often the same: the table has their numbers, counted from 1 as they come, and their lines stand
 * below it. first[e]: the first row with error e + 1. False: memory is out. */
static bool number_errors(SweepView *view, int64_t *first, int64_t *errors) {
    for (int64_t i = 0; i < view->grid->points; i++) {
        const char *message = sweep_says(&view->rows[i], "message");
        int64_t e = 0;
        if (view->rows[i].state != POINT_ERROR) continue;
        while (e < *errors && strcmp(sweep_says(&view->rows[first[e]], "message"), message) != 0) e++;
        if (e == *errors) first[(*errors)++] = i;
        if (!(view->result[i] = arena_format(&view->arena, "error %lld", (long long)e + 1))) return false;
    }
    return true;
}

static bool write_text(SweepView *view, TextOut out) {
    char start[NUMBER_TEXT_SIZE], clean[PROSE_SIZE];
    int64_t *first = ARENA_NEW(&view->arena, int64_t, (size_t)view->grid->points), errors = 0;
    Table table;
    if (!first || !number_errors(view, first, &errors) || !fill_table(view, false, &table)) return false;
    prose_write(out, "", "  ", view->first.text);
    fputc('\n', out.file);
    bool ok = table_write_text(&table, "  ", out);
    if (errors > 0) fputc('\n', out.file);
    for (int64_t e = 0; e < errors; e++) {
        snprintf(start, sizeof start, "  error %lld: ", (long long)e + 1);
        prose_write(out, start, "    ", clean_text(sweep_says(&view->rows[first[e]], "message"), clean, sizeof clean));
    }
    fputc('\n', out.file);
    prose_write(out, "", "  ", view->last.text);
    return ok;
}

static bool write_markdown(SweepView *view, FILE *out) {
    Table table;
    if (!fill_table(view, false, &table)) return false;
    escape_write(ESCAPE_MARKDOWN, view->first.text, out);
    fputs("\n\n", out);
    bool ok = table_write_markdown(&table, out);
    fputc('\n', out);
    escape_write(ESCAPE_MARKDOWN, view->last.text, out);
    fputc('\n', out);
    return ok;
}

static bool write_csv(SweepView *view, FILE *out) {
    Table table;
    return fill_table(view, true, &table) && table_write_csv(&table, out);
}

/* ---- JSON, and the page with it ---- */

/* The line that makes this sweep again as a page. False: a shell would not read it back, or it is long. */
static bool command_of(const SweepGrid *grid, Prose *to) {
    enum { LONG = 1000 };
    prose_add(to, "shardopt sweep%s%s", grid->command ? " " : "", grid->command ? grid->command : "");
    for (int i = 0; i < grid->option_count; i++) {
        const SweepOption *option = &grid->options[i];
        Prose list = {0};
        for (int v = 0; v < option->count; v++) {
            const char *value = option->values[v];
            size_t length = strlen(value);
            bool is_list = option->count > 1 && strchr(value, ',');
            if (is_list || length > LONG || list.used + length + 1 >= sizeof list.text) return false;
            prose_add(&list, "%s%s", v > 0 ? "," : "", value);
        }
        if (to->used > LONG || !request_line_add(to->text, sizeof to->text, option->option, list.text)) return false;
        to->used = strlen(to->text);
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
    const bool *front = sweep_front(view->grid, view->rows, &view->arena);
    if (!front) return false;
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
        if (!sweep_has_plan(row)) continue;
        bool open = row->state == POINT_NOT_PROVEN;
        sweep_goal_words(row, view->goal, &choice, words);
        duration_text(sweep_figure(row, "expected_seconds"), days);
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
    ok = ok && (format == SWEEP_JSON       ? write_json(view, true, out.file)
                : format == SWEEP_CSV      ? write_csv(view, out.file)
                : format == SWEEP_HTML     ? write_html(view, out.file, error)
                : format == SWEEP_MARKDOWN ? write_markdown(view, out.file)
                                           : write_text(view, out));
    arena_free(&view->arena);
    free(view);
    return (ok && !ferror(out.file)) || error_memory(error);
}
