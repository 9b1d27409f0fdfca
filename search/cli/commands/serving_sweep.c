/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt sweep inference`: options of `inference` take lists with commas, --require, whose values have commas of
 * their own, with semicolons; a row for each point, the first option of --help the slowest. */
#include "base/json.h"
#include "base/text/prose.h"
#include "base/text/table.h"
#include "search/cli/commands.h"
#include "search/cli/commands/kinds.h"
#include "search/cli/interrupt.h"
#include "search/cli/planning.h"
#include "search/cli/sweep/grid.h"

#include <string.h>

static void add_found(Table *table, const Served *served) {
    const ServingAnswer *answer = &served->answer;
    const ServingPoint *best = &answer->best;
    char way[POINT_TEXT_SIZE];
    double usd = point_usd_per_million(&served->request.question, best, best->tokens_per_second);
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
    Options base;
    OutputChoice choice;
    SweepGrid grid;
    Table table;
    cJSON *rows; /* NULL: not asked for */
    int64_t failed;
    Error last; /* of what failed */
    bool cut_short;
} ServingSweep;

static bool add_point(ServingSweep *sweep, int64_t point, Error *error) {
    Arena arena = {0};
    Error failure = {0};
    Options options;
    char name[PROSE_SIZE];
    Table *table = &sweep->table;
    Served *served = ARENA_NEW(&arena, Served, 1);
    if (!served) return error_memory(error);
    sweep_point_options(SERVING_OPTIONS, &sweep->base, &sweep->grid, point, &options);
    sweep_point_text(&sweep->grid, point, name, sizeof name);
    bool ok = serve(&options, &arena, served, &failure);
    if (failure.kind == ERROR_MEMORY) return error_memory(error);
    table_cell(table, "%s", name[0] ? name : "-");
    if (!ok)
        add_none(table, failure.text), sweep->failed++, sweep->last = failure;
    else if (!served->answer.has_best)
        add_none(table,
                 served->answer.front.count > 0 ? "no point keeps the limits" : "nothing fits or keeps the limits");
    else
        add_found(table, served);
    sweep->cut_short |= ok && !served->answer.count.complete;
    if (sweep->rows) add_json(sweep->rows, name, served, &failure);
    served_free(served);
    arena_free(&arena);
    return true;
}

static bool write_rows(const ServingSweep *sweep, Streams streams, Error *error) {
    Draft draft;
    const OutputChoice *choice = &sweep->choice;
    if (!draft_open(&draft, error)) return false;
    bool ok = sweep->rows                         ? json_print(draft.file, sweep->rows)
              : choice->format == FORMAT_MARKDOWN ? table_write_markdown(&sweep->table, draft.file)
              : choice->format == FORMAT_CSV
                  ? table_write_csv(&sweep->table, draft.file)
                  : table_write_text(&sweep->table, "", planning_text_out(draft.file, choice, streams));
    return draft_write(&draft, ok, streams.out, choice->path, error);
}

static bool sweep_all(const CommandLine *line, Streams streams, int *code, Error *error) {
    ServingSweep *sweep = ARENA_NEW(line->arena, ServingSweep, 1);
    if (!sweep) return error_memory(error);
    options_of_line(line, &sweep->base);
    if (!output_from_options(&sweep->base, &sweep->choice, error) ||
        !sweep_grid_from_options(SERVING_OPTIONS, &sweep->base, line->arena, &sweep->grid, error))
        return false;
    if (sweep->choice.format == FORMAT_HTML)
        return error_set(error, ERROR_INPUT, "--format", "html is of one answer; give text, json, markdown or csv");
    sweep->table = table_new(line->arena, "Sweep",
                             "point|best|engine|>tokens/s/user|>tokens/s/chip|>ms per token|>ms to the first|>$ per "
                             "million|proof");
    table_wrap(&sweep->table, 1, 56);
    sweep->rows = sweep->choice.format == FORMAT_JSON ? cJSON_CreateArray() : NULL;
    bool ok = true;
    for (int64_t i = 0; i < sweep->grid.points && ok && !interrupt_came(NULL); i++) ok = add_point(sweep, i, error);
    if (ok && sweep->failed == sweep->grid.points) *error = sweep->last, ok = false; /* wrong at every point */
    ok = ok && write_rows(sweep, streams, error);
    cJSON_Delete(sweep->rows);
    *code = sweep->cut_short ? EXIT_LIMIT : EXIT_DONE;
    return ok;
}

int serving_sweep(int argc, char **argv, Streams streams, Error *error) {
    Arena arena = {0};
    CommandLine line;
    InterruptScope scope;
    int code = EXIT_DONE;
    interrupt_begin(&scope);
    bool ok = command_line_read(&COMMAND_INFERENCE, argc, argv, &arena, &line, error) &&
              (command_line_answered(&line, streams.out) || sweep_all(&line, streams, &code, error));
    if (ok && interrupt_came(NULL)) code = EXIT_INTERRUPTED;
    interrupt_end(&scope);
    arena_free(&arena);
    return ok ? code : exit_of_error(error);
}
