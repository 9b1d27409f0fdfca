/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt diff` of two reports of `inference`. */
#include "base/json.h"
#include "base/text/html.h"
#include "base/text/prose.h"
#include "search/baseline/diff.h"
#include "search/cli/commands/kinds.h"

#include <math.h>
#include <string.h>

typedef struct {
    DiffRows asked, figures, step, memory; /* asked, and what was found */
    const char *best[2];                   /* the notations of the best points */
    bool different, failed;                /* failed: memory is out */
    Arena *arena;
} Sides;

static const char *rate_or_dash(double value, char *text) {
    if (!isfinite(value)) return "-";
    snprintf(text, NUMBER_TEXT_SIZE, "%.4g", value);
    return text;
}
static const char *count_or_dash(double value, char *text) {
    if (!isfinite(value)) return "-";
    snprintf(text, NUMBER_TEXT_SIZE, "%.0f", value);
    return text;
}
static const char *time_or_dash(double value, char *text) { return isfinite(value) ? step_text(value, text) : "-"; }
static const char *bytes_or_dash(double value, char *text) { return isfinite(value) ? number_bytes(value, text) : "-"; }

/* Figures of the best point. */
static const struct {
    const char *path, *name;
    DiffUnit *unit;
} FIGURES[] = {
    {"tpot_seconds", "time of a token", time_or_dash},
    {"ttft_seconds", "first token", time_or_dash},
    {"tokens_per_second_per_user", "tokens/s of a user", rate_or_dash},
    {"tokens_per_second_per_chip", "tokens/s of a chip", rate_or_dash},
    {"tokens_per_second", "tokens/s in all", rate_or_dash},
    {"cost_usd_per_million_output_tokens", "USD per million tokens", rate_or_dash},
    {"chips_used", "chips used", count_or_dash},
};

static double number_at(const cJSON *json, const char *path) {
    const cJSON *found = json ? json_at(json, path) : NULL;
    return cJSON_IsNumber(found) ? found->valuedouble : NAN;
}

static void add_change(Sides *sides, DiffRows *rows, const char *name, double a, double b, DiffUnit *unit) {
    if (isnan(a) && isnan(b)) return;
    bool whole = strcmp(name, "limit_bytes") == 0 || strcmp(name, "total_bytes") == 0;
    DiffRow row = {.key = name, .name = name, .x = a, .y = b, .is_whole = whole};
    if (!(a > 0 && b > 0)) row.change = "-";
    sides->failed |= !diff_add_number(rows, row, unit, sides->arena);
}

static void add_text(Sides *sides, const char *name, const char *a, const char *b) {
    char x[PROSE_NAME_SIZE], y[PROSE_NAME_SIZE];
    if (strcmp(a, b) == 0) return;
    const char *one = arena_text(sides->arena, clean_name(a, x)), *other = arena_text(sides->arena, clean_name(b, y));
    sides->failed |= !one || !other || !diff_add_text(&sides->asked, name, one, other, sides->arena);
}

static const char *text_at(const cJSON *json, const char *path) {
    const cJSON *found = json ? json_at(json, path) : NULL;
    return cJSON_IsString(found) ? found->valuestring : "-";
}

/* Options of either, in the order of the first. */
static void compare_options(Sides *sides, const cJSON *a, const cJSON *b) {
    for (const cJSON *one = a ? a->child : NULL; one; one = one->next)
        add_text(sides, one->string, cJSON_IsString(one) ? one->valuestring : "-", text_at(b, one->string));
    for (const cJSON *one = b ? b->child : NULL; one; one = one->next)
        if (!cJSON_GetObjectItemCaseSensitive(a, one->string))
            add_text(sides, one->string, "-", cJSON_IsString(one) ? one->valuestring : "-");
}

/* Terms of the step and rows of the memory of the last pool, which decodes. */
static void compare_parts(Sides *sides, DiffRows *rows, const cJSON *a, const cJSON *b, DiffUnit *unit) {
    for (const cJSON *one = a ? a->child : NULL; one; one = one->next) {
        double was = cJSON_IsNumber(one) ? one->valuedouble : NAN, now = number_at(b, one->string);
        if (was > 0 || now > 0) add_change(sides, rows, one->string, was, now, unit);
    }
}

static const cJSON *last_pool(const cJSON *point) {
    const cJSON *pools = point ? json_at(point, "pools") : NULL;
    return cJSON_GetArrayItem(pools, cJSON_GetArraySize(pools) - 1);
}

static void compare_all(Sides *sides, const cJSON *a, const cJSON *b) {
    static const char *const HEADERS[][2] = {{"program.version", "version of the program"},
                                             {"program.data_sha256", "data files"},
                                             {"program.profile_sha256", "serving profile"},
                                             {"search.proof", "proof"}};
    const cJSON *x = json_at(a, "best_point"), *y = json_at(b, "best_point");
    compare_options(sides, json_at(a, "request.options"), json_at(b, "request.options"));
    for (size_t i = 0; i < sizeof HEADERS / sizeof HEADERS[0]; i++)
        add_text(sides, HEADERS[i][1], text_at(a, HEADERS[i][0]), text_at(b, HEADERS[i][0]));
    add_text(sides, "best", text_at(x, "notation"), text_at(y, "notation"));
    add_text(sides, "engine of the best", text_at(x, "engine"), text_at(y, "engine"));
    for (size_t i = 0; i < sizeof FIGURES / sizeof FIGURES[0]; i++)
        add_change(sides, &sides->figures, FIGURES[i].name, number_at(x, FIGURES[i].path),
                   number_at(y, FIGURES[i].path), FIGURES[i].unit);
    add_change(sides, &sides->figures, "points of the front", cJSON_GetArraySize(json_at(a, "front")),
               cJSON_GetArraySize(json_at(b, "front")), count_or_dash);
    sides->best[0] = text_at(x, "notation"), sides->best[1] = text_at(y, "notation");
    x = last_pool(x), y = last_pool(y);
    if (x && y) {
        compare_parts(sides, &sides->step, json_at(x, "step.terms_seconds"), json_at(y, "step.terms_seconds"),
                      time_or_dash);
        compare_parts(sides, &sides->memory, json_at(x, "memory"), json_at(y, "memory"), bytes_or_dash);
    }
    sides->different = diff_rows_differ(&sides->asked) || diff_rows_differ(&sides->figures) ||
                       diff_rows_differ(&sides->step) || diff_rows_differ(&sides->memory);
}

static void add_rows(cJSON *json, const char *key, const DiffRows *rows) {
    cJSON *list = json_add_array(json, key);
    for (int i = 0; i < rows->count; i++) {
        cJSON *one = json_add_object(list, NULL);
        json_add_text(one, "name", rows->row[i].name);
        json_add_text(one, "a", rows->row[i].a);
        json_add_text(one, "b", rows->row[i].b);
    }
}

static bool write_json(const Sides *sides, FILE *out) {
    cJSON *json = cJSON_CreateObject();
    json_add_bool(json, "different", sides->different);
    add_rows(json, "request", &sides->asked);
    add_rows(json, "figures", &sides->figures);
    add_rows(json, "step", &sides->step);
    add_rows(json, "memory", &sides->memory);
    bool ok = json && json_print(out, json);
    cJSON_Delete(json);
    return ok;
}

static bool write_one(const Sides *sides, const char *title, const DiffRows *rows, bool markdown, TextOut out) {
    Table table = diff_table(rows, sides->arena);
    if (table.rows == 0) return !table.failed;
    fprintf(out.file, markdown ? "\n**%s**\n\n" : "\n%s\n", title);
    return markdown ? table_write_markdown(&table, out.file) : table_write_text(&table, "  ", out);
}

static bool write_page(const Sides *sides, const ReportFile files[2], FILE *out) {
    const char *a = sides->best[0], *b = sides->best[1];
    Prose line = {0};
    char clean[PROSE_SIZE];
    DiffBars step = {"step", "Where a step goes", a, b, &sides->step, svg_say_seconds, number_time},
             memory = {"memory", "What lies in HBM", a, b, &sides->memory, svg_say_bytes, number_bytes};
    html_open(out, "Two ways to serve, side by side", sides->different ? "A and B differ." : "A and B do not differ.");
    html_section_open(out, "moved", "What moved");
    prose_add(&line, "A is %s, B is %s.", files[0].name, files[1].name);
    html_paragraph(out, clean_text(line.text, clean, sizeof clean));
    bool ok = diff_page_table("The best point", diff_table(&sides->figures, sides->arena), out) &&
              diff_page_table("Asked and found", diff_table(&sides->asked, sides->arena), out);
    html_section_close(out);
    ok = ok && (!sides->different ||
                (diff_page_bars(&step, sides->arena, out) && diff_page_bars(&memory, sides->arena, out)));
    diff_page_again(files[0].name, files[1].name, out);
    html_close(out);
    return ok;
}

static bool write_sides(const Sides *sides, int format, TextOut out) {
    bool markdown = format == DIFF_MARKDOWN;
    if (format == DIFF_JSON) return write_json(sides, out.file);
    fputs(sides->different ? "A and B differ.\n" : "A and B do not differ.\n", out.file);
    return !sides->different || (write_one(sides, "Asked and found", &sides->asked, markdown, out) &&
                                 write_one(sides, "The best point", &sides->figures, markdown, out) &&
                                 write_one(sides, "Its step", &sides->step, markdown, out) &&
                                 write_one(sides, "Memory of a chip", &sides->memory, markdown, out));
}

bool serving_diff(const ReportFile files[2], const DiffChoice *choice, Arena *arena, Streams streams, bool *different,
                  Error *error) {
    Draft draft;
    Sides sides = {.arena = arena};
    compare_all(&sides, files[0].json, files[1].json);
    *different = sides.different;
    bool ok = !sides.failed || error_memory(error);
    if (ok && !choice->quiet && (ok = draft_open(&draft, error))) {
        TextOut out = {draft.file, output_terminal(streams, choice->path)};
        ok = choice->format == DIFF_HTML ? write_page(&sides, files, draft.file)
                                         : write_sides(&sides, choice->format, out);
        ok = draft_write(&draft, ok, streams.out, choice->path, error);
    }
    return ok;
}
