/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt diff` of two reports of `inference`. */
#include "base/json.h"
#include "base/memory_stream.h"
#include "base/text/html.h"
#include "base/text/prose.h"
#include "base/text/table.h"
#include "search/baseline/diff_page.h"
#include "search/cli/commands/serving_reports.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A figure of the best point, and how it is read. */
typedef struct {
    const char *path, *name;
    enum { IS_TIME, IS_RATE, IS_BYTES, IS_COUNT } unit;
} BestFigure;

static const BestFigure FIGURES[] = {
    {"tpot_seconds", "time of a token", IS_TIME},
    {"ttft_seconds", "first token", IS_TIME},
    {"tokens_per_second_per_user", "tokens/s of a user", IS_RATE},
    {"tokens_per_second_per_chip", "tokens/s of a chip", IS_RATE},
    {"tokens_per_second", "tokens/s in all", IS_RATE},
    {"cost_usd_per_million_output_tokens", "USD per million tokens", IS_RATE},
    {"chips_used", "chips used", IS_COUNT},
};

typedef struct {
    Table asked, figures, step, memory;
    PartChange steps[PART_CHANGES_MAX], memories[PART_CHANGES_MAX]; /* sums, without their totals and limits */
    int step_count, memory_count;
    const char *best[2]; /* the notations of the best points */
    bool different;
} Tables;

static const char *value_text(double value, int unit, char text[NUMBER_TEXT_SIZE]) {
    if (!isfinite(value)) return "-";
    if (unit == IS_TIME) return step_text(value, text);
    if (unit == IS_BYTES) return number_bytes(value, text);
    snprintf(text, NUMBER_TEXT_SIZE, unit == IS_COUNT ? "%.0f" : "%.4g", value);
    return text;
}

static double number_at(const cJSON *json, const char *path) {
    const cJSON *found = json ? json_at(json, path) : NULL;
    return cJSON_IsNumber(found) ? found->valuedouble : NAN;
}

static void add_change(Tables *to, Table *table, const char *name, double a, double b, int unit) {
    char x[NUMBER_TEXT_SIZE], y[NUMBER_TEXT_SIZE], change[NUMBER_TEXT_SIZE];
    if (isnan(a) && isnan(b)) return;
    to->different |= !(a == b);
    table_cell(table, "%s", name);
    table_cell(table, "%s", value_text(a, unit, x));
    table_cell(table, "%s", value_text(b, unit, y));
    table_cell(table, "%s", a > 0 && b > 0 ? diff_change(a, b, change) : "-");
}

static void add_text(Tables *to, const char *name, const char *a, const char *b) {
    char x[PROSE_NAME_SIZE], y[PROSE_NAME_SIZE];
    if (strcmp(a, b) == 0) return;
    to->different = true;
    table_cell(&to->asked, "%s", name);
    table_cell(&to->asked, "%s", clean_name(a, x));
    table_cell(&to->asked, "%s", clean_name(b, y));
}

static const char *text_at(const cJSON *json, const char *path) {
    const cJSON *found = json ? json_at(json, path) : NULL;
    return cJSON_IsString(found) ? found->valuestring : "-";
}

/* Options of either, in the order of the first. */
static void compare_options(Tables *to, const cJSON *a, const cJSON *b) {
    for (const cJSON *one = a ? a->child : NULL; one; one = one->next)
        add_text(to, one->string, cJSON_IsString(one) ? one->valuestring : "-", text_at(b, one->string));
    for (const cJSON *one = b ? b->child : NULL; one; one = one->next)
        if (!cJSON_GetObjectItemCaseSensitive(a, one->string))
            add_text(to, one->string, "-", cJSON_IsString(one) ? one->valuestring : "-");
}

/* A part of a sum for the page. */
static void add_part(PartChange parts[PART_CHANGES_MAX], int *count, const char *name, double was, double now) {
    if (*count == PART_CHANGES_MAX || strcmp(name, "limit_bytes") == 0 || strcmp(name, "total_bytes") == 0) return;
    parts[(*count)++] = (PartChange){name, isnan(was) ? 0 : was, isnan(now) ? 0 : now};
}

/* Terms of the step and rows of the memory of the last pool, which decodes. */
static void compare_parts(Tables *to, Table *table, const cJSON *a, const cJSON *b, int unit) {
    bool time = unit == IS_TIME;
    for (const cJSON *one = a ? a->child : NULL; one; one = one->next) {
        double was = cJSON_IsNumber(one) ? one->valuedouble : NAN, now = number_at(b, one->string);
        if (!(was > 0 || now > 0)) continue;
        add_change(to, table, one->string, was, now, unit);
        add_part(time ? to->steps : to->memories, time ? &to->step_count : &to->memory_count, one->string, was, now);
    }
}

static const cJSON *last_pool(const cJSON *point) {
    const cJSON *pools = point ? json_at(point, "pools") : NULL;
    return cJSON_GetArrayItem(pools, cJSON_GetArraySize(pools) - 1);
}

static void compare_all(Tables *to, const cJSON *a, const cJSON *b) {
    static const char *const HEADERS[][2] = {{"program.version", "version of the program"},
                                             {"program.data_sha256", "data files"},
                                             {"program.profile_sha256", "serving profile"},
                                             {"search.proof", "proof"}};
    const cJSON *x = json_at(a, "best_point"), *y = json_at(b, "best_point");
    compare_options(to, json_at(a, "request.options"), json_at(b, "request.options"));
    for (size_t i = 0; i < sizeof HEADERS / sizeof HEADERS[0]; i++)
        add_text(to, HEADERS[i][1], text_at(a, HEADERS[i][0]), text_at(b, HEADERS[i][0]));
    add_text(to, "best", text_at(x, "notation"), text_at(y, "notation"));
    add_text(to, "engine of the best", text_at(x, "engine"), text_at(y, "engine"));
    for (size_t i = 0; i < sizeof FIGURES / sizeof FIGURES[0]; i++)
        add_change(to, &to->figures, FIGURES[i].name, number_at(x, FIGURES[i].path), number_at(y, FIGURES[i].path),
                   (int)FIGURES[i].unit);
    add_change(to, &to->figures, "points of the front", cJSON_GetArraySize(json_at(a, "front")),
               cJSON_GetArraySize(json_at(b, "front")), IS_COUNT);
    to->best[0] = text_at(x, "notation"), to->best[1] = text_at(y, "notation");
    x = last_pool(x), y = last_pool(y);
    if (!x || !y) return;
    compare_parts(to, &to->step, json_at(x, "step.terms_seconds"), json_at(y, "step.terms_seconds"), IS_TIME);
    compare_parts(to, &to->memory, json_at(x, "memory"), json_at(y, "memory"), IS_BYTES);
}

static void write_json_table(cJSON *json, const char *key, const Table *table) {
    cJSON *list = json_add_array(json, key);
    for (const TableRow *row = table->first; row; row = row->next) {
        cJSON *one = json_add_object(list, NULL);
        json_add_text(one, "name", row->cell[0]);
        json_add_text(one, "a", row->cell[1]);
        json_add_text(one, "b", row->cell[2]);
    }
}

static bool write_json(const Tables *tables, FILE *out) {
    cJSON *json = cJSON_CreateObject();
    json_add_bool(json, "different", tables->different);
    write_json_table(json, "request", &tables->asked);
    write_json_table(json, "figures", &tables->figures);
    write_json_table(json, "step", &tables->step);
    write_json_table(json, "memory", &tables->memory);
    bool ok = json && json_print(out, json);
    cJSON_Delete(json);
    return ok;
}

static bool write_one(const char *title, const Table *table, bool markdown, TextOut out) {
    if (table->rows == 0) return true;
    fprintf(out.file, markdown ? "\n**%s**\n\n" : "\n%s\n", title);
    return markdown ? table_write_markdown(table, out.file) : table_write_text(table, "  ", out);
}

static bool write_page(Tables *tables, const ReportFile files[2], FILE *out) {
    const char *const *best = tables->best;
    Prose line = {0};
    char clean[PROSE_SIZE];
    DiffBars step = {"step",        "Where a step goes", best[0],         best[1],
                     tables->steps, tables->step_count,  svg_say_seconds, number_time},
             memory = {"memory",         "What lies in HBM",   best[0],       best[1],
                       tables->memories, tables->memory_count, svg_say_bytes, number_bytes};
    html_open(out, "Two ways to serve, side by side", tables->different ? "A and B differ." : "A and B do not differ.");
    html_section_open(out, "moved", "What moved");
    prose_add(&line, "A is %s, B is %s.", files[0].name, files[1].name);
    html_paragraph(out, clean_text(line.text, clean, sizeof clean));
    bool ok = diff_page_table("The best point", tables->figures, out) &&
              diff_page_table("Asked and found", tables->asked, out);
    html_section_close(out);
    ok = ok && (!tables->different ||
                (diff_page_bars(&step, &tables->step, out) && diff_page_bars(&memory, &tables->memory, out)));
    diff_page_again(files[0].name, files[1].name, out);
    html_close(out);
    return ok;
}

static bool write_tables(const Tables *tables, int format, TextOut out) {
    bool markdown = format == DIFF_MARKDOWN;
    if (format == DIFF_JSON) return write_json(tables, out.file);
    fputs(tables->different ? "A and B differ.\n" : "A and B do not differ.\n", out.file);
    return !tables->different || (write_one("Asked and found", &tables->asked, markdown, out) &&
                                  write_one("The best point", &tables->figures, markdown, out) &&
                                  write_one("Its step", &tables->step, markdown, out) &&
                                  write_one("Memory of a chip", &tables->memory, markdown, out));
}

bool serving_diff(const ReportFile files[2], ServingDiffOut to, Streams streams, bool *different, Error *error) {
    Arena arena = {0};
    char *text = NULL;
    size_t length = 0;
    Tables tables = {.asked = table_new(&arena, NULL, "|A|B"),
                     .figures = table_new(&arena, NULL, "|>A|>B|>change"),
                     .step = table_new(&arena, NULL, "|>A|>B|>change"),
                     .memory = table_new(&arena, NULL, "|>A|>B|>change")};
    compare_all(&tables, files[0].json, files[1].json);
    *different = tables.different;
    FILE *memory = memory_stream_open(&text, &length);
    bool ok = memory && (to.format == DIFF_HTML
                             ? write_page(&tables, files, memory)
                             : write_tables(&tables, to.format, (TextOut){memory, output_terminal(streams, to.path)}));
    if (memory && fclose(memory) != 0) ok = false;
    if (!ok) error_memory(error);
    ok = ok && (to.quiet || output_write(streams.out, to.path, text, length, error));
    free(text);
    arena_free(&arena);
    return ok;
}
