/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt sweep inference`: options of `inference` take lists with commas, --require, whose values have commas of
 * their own, with semicolons; a row for each point, the first option of --help the slowest. */
#include "base/json.h"
#include "base/text/prose.h"
#include "base/text/table.h"
#include "search/cli/commands.h"
#include "search/cli/commands/serving_reports.h"
#include "search/cli/interrupt.h"

#include <string.h>

enum { POINTS_MAX = 10000, VALUES_MAX = 256 };

typedef struct {
    int option, count;
    const char *value[VALUES_MAX];
} List;

typedef struct {
    const CommandLine *line;
    List lists[SERVING_OPTION_COUNT];
    int list_count;
    int64_t points;
    int format;
} Grid;

static bool split(const CommandLine *line, int option, List *out, Error *error) {
    const char *between = option == SERVING_REQUIRE ? ";" : ",";
    char *rest = NULL, *copy = ARENA_NEW(line->arena, char, strlen(line->text[option]) + 1);
    if (!copy) return error_memory(error);
    strcpy(copy, line->text[option]);
    *out = (List){.option = option};
    for (char *word = strtok_r(copy, between, &rest); word; word = strtok_r(NULL, between, &rest)) {
        if (out->count == VALUES_MAX)
            return error_set(error, ERROR_INPUT, line->where[option], "has more than %d values; give fewer",
                             VALUES_MAX);
        out->value[out->count++] = word;
    }
    return out->count > 0 || error_set(error, ERROR_INPUT, line->where[option], "is empty; give a value");
}

static bool read_grid(const CommandLine *line, Grid *out, Error *error) {
    out->line = line;
    out->points = 1;
    for (int option = 0; option < SERVING_OPTION_COUNT; option++) {
        if (!line->text[option] || !SERVING_OPTIONS[option].asks) continue;
        if (!split(line, option, &out->lists[out->list_count], error)) return false;
        out->points *= out->lists[out->list_count++].count;
        if (out->points > POINTS_MAX)
            return error_set(error, ERROR_INPUT, "sweep", "has more than %d points; give fewer values", POINTS_MAX);
    }
    if (!line_choice(line, SERVING_FORMAT, &out->format, error)) return false;
    return out->format != SERVED_HTML ||
           error_set(error, ERROR_INPUT, "--format", "html is of one answer; give text, json, markdown or csv");
}

/* The words of one point, and what tells it from others: "model=8b nodes=2". */
static void point_words(const Grid *grid, int64_t point, const char *text[SERVING_OPTION_COUNT], Prose *name) {
    memcpy(text, grid->line->text, SERVING_OPTION_COUNT * sizeof *text);
    for (int i = grid->list_count - 1; i >= 0; i--) {
        const List *list = &grid->lists[i];
        text[list->option] = list->value[point % list->count];
        point /= list->count;
    }
    for (int i = 0; i < grid->list_count; i++)
        if (grid->lists[i].count > 1)
            prose_item(name, " ", "%s=%s", SERVING_OPTIONS[grid->lists[i].option].name, text[grid->lists[i].option]);
}

static void add_found(Table *table, const Served *served) {
    const ServingAnswer *answer = &served->answer;
    const ServingPoint *best = &answer->best;
    char way[POINT_TEXT_SIZE];
    double usd = point_usd_per_million(&served->asked.question, best, best->tokens_per_second);
    table_cell(table, "%s", point_notation(best, way));
    table_cell(table, "%s", point_engine(best));
    table_cell(table, "%.1f", best->per_user);
    table_cell(table, "%.1f", best->per_chip);
    table_cell(table, "%.2f", 1e3 * best->tpot_seconds);
    table_cell(table, "%.1f", 1e3 * best->ttft_seconds);
    if (usd >= 0)
        table_cell(table, "%.3f", usd);
    else
        table_cell(table, "%s", "");
    table_cell(table, "%s", answer->count.complete ? "proven" : "cut short");
}

static void add_none(Table *table, const char *what) {
    char clean[PROSE_NAME_SIZE];
    table_cell(table, "%s", clean_name(what, clean));
    for (int i = 0; i < 6; i++) table_cell(table, "%s", "");
    table_cell(table, "%s", "none");
}

static void add_json(cJSON *rows, const char *name, const Served *served, const Error *failure) {
    cJSON *row = json_add_object(rows, NULL);
    json_add_text(row, "point", name);
    if (failure->kind != ERROR_NONE)
        json_add_text(row, "error", failure->text);
    else
        cJSON_AddItemToObject(row, "report", serving_json(&served->report));
}

typedef struct {
    Table *table;
    cJSON *rows; /* NULL: not asked for */
    int failed;
    Error last; /* of what failed */
    bool cut_short;
} Rows;

static bool add_point(const Grid *grid, int64_t point, Rows *rows, Error *error) {
    Arena arena = {0};
    Error failure = {0};
    const char *text[SERVING_OPTION_COUNT];
    Prose name = {0};
    Served *served = ARENA_NEW(&arena, Served, 1);
    if (!served) return error_memory(error);
    point_words(grid, point, text, &name);
    bool ok = serve(&(ServingWords){text, grid->line->where, cli_world(), NULL}, &arena, served, &failure);
    if (failure.kind == ERROR_MEMORY) return error_memory(error);
    table_cell(rows->table, "%s", name.text[0] ? name.text : "-");
    if (!ok)
        add_none(rows->table, failure.text), rows->failed++, rows->last = failure;
    else if (!served->answer.has_best)
        add_none(rows->table,
                 served->answer.front.count > 0 ? "no point keeps the limits" : "nothing fits or keeps the limits");
    else
        add_found(rows->table, served);
    rows->cut_short |= ok && !served->answer.count.complete;
    if (rows->rows) add_json(rows->rows, name.text, served, &failure);
    served_free(served);
    arena_free(&arena);
    return true;
}

static bool write_rows(const Grid *grid, const Rows *rows, Streams streams, Error *error) {
    Draft draft;
    const char *path = grid->line->text[SERVING_FILE];
    if (!draft_open(&draft, error)) return false;
    bool ok = rows->rows                        ? json_print(draft.file, rows->rows)
              : grid->format == SERVED_MARKDOWN ? table_write_markdown(rows->table, draft.file)
              : grid->format == SERVED_CSV
                  ? table_write_csv(rows->table, draft.file)
                  : table_write_text(rows->table, "", (TextOut){draft.file, output_terminal(streams, path)});
    return draft_write(&draft, ok, streams.out, path, error);
}

static bool sweep(const CommandLine *line, Streams streams, int *code, Error *error) {
    Grid *grid = ARENA_NEW(line->arena, Grid, 1);
    Table table = table_new(line->arena, "Sweep",
                            "point|best|engine|>tokens/s/user|>tokens/s/chip|>ms per token|>ms to the first|>$ per "
                            "million|proof");
    table_wrap(&table, 1, 56);
    if (!grid) return error_memory(error);
    if (!read_grid(line, grid, error)) return false;
    Rows rows = {.table = &table, .rows = grid->format == SERVED_JSON ? cJSON_CreateArray() : NULL};
    bool ok = true;
    for (int64_t i = 0; i < grid->points && ok && !interrupt_came(NULL); i++) ok = add_point(grid, i, &rows, error);
    if (ok && rows.failed == grid->points) *error = rows.last, ok = false; /* what is wrong at every point */
    ok = ok && write_rows(grid, &rows, streams, error);
    cJSON_Delete(rows.rows);
    *code = rows.cut_short ? EXIT_LIMIT : EXIT_DONE;
    return ok;
}

int serving_sweep(int argc, char **argv, Streams streams, Error *error) {
    Arena arena = {0};
    CommandLine line;
    InterruptScope scope;
    int code = EXIT_DONE;
    interrupt_begin(&scope);
    bool ok = command_line_read(&COMMAND_INFERENCE, argc, argv, &arena, &line, error) &&
              (command_line_answered(&line, streams.out) || sweep(&line, streams, &code, error));
    if (ok && interrupt_came(NULL)) code = EXIT_INTERRUPTED;
    interrupt_end(&scope);
    arena_free(&arena);
    return ok ? code : exit_of_error(error);
}
