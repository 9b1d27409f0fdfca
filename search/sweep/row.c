/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A point's row: one line of JSON, written once by whoever plans the point, and read back for every table. */
#include "search/sweep/sweep.h"

#include "base/json.h"
#include "base/text/prose.h"
#include "base/util.h"
#include "search/answer/plan_words.h"
#include "search/answer/tie.h"
#include "search/report/plan_fields.h"

#include <string.h>

/* Of a million tokens, or of a step. */
static const char *usd_exactly(double value, char *text) {
    snprintf(text, NUMBER_TEXT_SIZE, "$%.3f", value);
    return text;
}

static const char *one_decimal(double value, char *text) {
    snprintf(text, NUMBER_TEXT_SIZE, "%.1f", value);
    return text;
}

#define AT(member) .at = offsetof(SweepRow, member)
#define REAL(member) .type = FIELD_REAL, AT(member)
#define WHOLE(member) .type = FIELD_WHOLE, AT(member)
#define TEXT(member) .type = FIELD_TEXT, AT(member)
#define OR_NULL .rule = FIELD_OR_NULL
#define SAY(place, words, text) .shown = (place), .name = (words), .unit = (text)

static const Field PLAN_ROW[] = {
    {"plan", TEXT(plan), .column = 1, SAY(1, "best plan", NULL)},
    {"machine", TEXT(machine), .column = 2},
    {"chips", WHOLE(chips), .column = 3},
    {"step_seconds", REAL(step_seconds), .column = 4, SAY(2, "step", step_text)},
    {"mfu", REAL(mfu), .column = 5, SAY(3, "MFU", share_text)},
    {"hbm_bytes", REAL(hbm_bytes), .column = 6, SAY(4, "HBM", number_bytes)},
    {"hbm_limit_bytes", REAL(hbm_limit_bytes), .column = 7},
    {"tokens_per_second", REAL(tokens_per_second), .column = 8, SAY(5, "tokens/s", number_short)},
    {"chip_hours", REAL(chip_hours), .column = 9, SAY(6, "chip-hours", number_short)},
    {"cost_usd", REAL(cost_usd), OR_NULL, .column = 10, SAY(7, "cost", usd_text)},
    {"expected_seconds", REAL(expected_seconds), .column = 11},
    {"expected_cost_usd", REAL(expected_usd), OR_NULL, .column = 12},
    {"reserved_cost_usd", REAL(reserved_usd), OR_NULL, .column = 13},
    {"price_source", TEXT(price_source)},
    {"reserved_price_source", TEXT(reserved_source)},
    {0},
};

static const Field POINT_ROW[] = {
    {"plan", TEXT(plan), .column = 1, SAY(1, "best point", NULL)},
    {"engine", TEXT(engine), .column = 2, SAY(2, "engine", NULL)},
    {"chips", WHOLE(chips), .column = 3},
    {"tokens_per_second_per_user", REAL(tokens_per_second_per_user), .column = 4, SAY(3, "tokens/s/user", one_decimal)},
    {"tokens_per_second_per_chip", REAL(tokens_per_second_per_chip), .column = 5, SAY(4, "tokens/s/chip", one_decimal)},
    {"tokens_per_second", REAL(tokens_per_second), .column = 6},
    {"tpot_seconds", REAL(tpot_seconds), .column = 7, SAY(5, "time per token", step_text)},
    {"ttft_seconds", REAL(ttft_seconds), .column = 8, SAY(6, "first token", step_text)},
    {"cost_usd_per_million_output_tokens", REAL(cost_usd), OR_NULL, .column = 9, SAY(7, "per million", usd_exactly)},
    {0},
};

static const Field STEP_ROW[] = {
    {"plan", TEXT(plan), .column = 1, SAY(1, "best split", NULL)},
    {"trainer", TEXT(trainer), .column = 2, SAY(2, "trainer", NULL)},
    {"rollout", TEXT(rollout), .column = 3, SAY(3, "rollout", NULL)},
    {"chips", WHOLE(chips), .column = 4},
    {"train_chips", WHOLE(train_chips), .column = 5},
    {"rollout_chips", WHOLE(rollout_chips), .column = 6},
    {"seconds", REAL(step_seconds), .column = 7, SAY(4, "step", step_text)},
    {"tokens_per_hour", REAL(tokens_per_hour), .column = 8, SAY(5, "tokens/h", number_short)},
    {"usd", REAL(cost_usd), OR_NULL, .column = 9, SAY(6, "cost a step", usd_exactly)},
    {0},
};

const Field *sweep_fields(const SweepGrid *grid) {
    return !grid->command ? PLAN_ROW : strcmp(grid->command, "rl") == 0 ? STEP_ROW : POINT_ROW;
}

/* ---- writing ---- */

static const char *price_source(const Figure *price, Arena *arena) {
    bool doubted = price->value > 0 && !price->verified && !text_has(price->source, "unverified");
    return arena_format(arena, "%s%s", doubted ? "unverified, " : "", price->source);
}

/* What a table says with the plan, or instead of one. */
static void message_of(const Report *report, PointState state, char *text, size_t size) {
    const SearchResult *result = &report->result;
    char label[WORDS_SIZE], chips[NUMBER_TEXT_SIZE];
    text[0] = '\0';
    if (state == POINT_NOT_PROVEN && result->plan_count > 0)
        snprintf(text, size, "at most %.2g%% slower than the best", 100 * search_gap(result));
    else if (state == POINT_NOT_PROVEN)
        snprintf(text, size, "no plan was found before the limit");
    else if (state == POINT_NO_PLAN && report->nearest_count > 0)
        snprintf(text, size, "nearest: %s, %s chips, %s", report->nearest[0].machine.text,
                 number_grouped(report->nearest[0].machine.mesh.chips, chips), plan_label(&report->nearest[0], label));
}

static bool add_best(cJSON *to, const SweepGrid *grid, const SweepRow *row) {
    if (!row->has_plan) return json_add_text(to, "best", NULL);
    cJSON *json = json_add_object(to, "best");
    const Field *next = sweep_fields(grid);
    return fields_add_json(json, &next, NULL, row);
}

bool sweep_row_write(const SweepGrid *grid, const SweepRow *row, cJSON *report, SweepText *out, Error *error) {
    cJSON *json = cJSON_CreateObject(), *tree = report ? report : cJSON_CreateNull();
    bool ok = json && tree && json_add_whole(json, "point", row->point);
    cJSON *varies = ok ? json_add_object(json, "varies") : NULL;
    ok = varies != NULL;
    for (int i = 0; i < grid->option_count && ok; i++)
        if (grid->options[i].count > 1)
            ok = json_add_text(varies, grid->options[i].option, sweep_value(grid, row->point, i));
    ok = ok && json_add_text(json, "state", point_state_name(row->state)) &&
         json_add_text(json, "message", row->message) && json_add_text(json, "warning", row->warning) &&
         add_best(json, grid, row);
    if (!ok || !cJSON_AddItemToObject(json, "report", tree)) {
        cJSON_Delete(tree);
        cJSON_Delete(json);
        return error_memory(error);
    }
    out->text = sweep_line(json, &out->length);
    return out->text || error_memory(error);
}

static bool write_report(const SweepGrid *grid, const SweepRow *row, const Report *report, SweepText *out,
                         Error *error) {
    cJSON *tree = report_json(report, error);
    return tree && sweep_row_write(grid, row, tree, out, error);
}

/* Writes the row of a plan. */
static bool write_best(const SweepGrid *grid, const Report *report, SweepRow *row, SweepText *out, Error *error) {
    Arena arena = {0};
    PlanRecord record;
    const Chip *chip = &report->request->question.chip;
    plan_record(report->request, &report->result.plans[0], 1, &record);
    fields_fill(PLAN_ROW, row, PLAN_FIELDS, &record);
    row->has_plan = true;
    row->price_source = price_source(&chip->usd_per_chip_hour, &arena);
    row->reserved_source = price_source(&chip->usd_per_chip_hour_reserved, &arena);
    bool ok =
        row->price_source && row->reserved_source ? write_report(grid, row, report, out, error) : error_memory(error);
    arena_free(&arena);
    return ok;
}

bool sweep_row_of_report(const SweepGrid *grid, int64_t point, const Report *report, const char *warning,
                         SweepText *row, Error *error) {
    const SearchResult *result = &report->result;
    PointState state = search_left_open(result) ? POINT_NOT_PROVEN : result->plan_count > 0 ? POINT_OK : POINT_NO_PLAN;
    char message[2 * WORDS_SIZE];
    message_of(report, state, message, sizeof message);
    SweepRow start = {.point = point, .state = state, .message = message, .warning = warning};
    return result->plan_count > 0 ? write_best(grid, report, &start, row, error)
                                  : write_report(grid, &start, report, row, error);
}

bool sweep_row_of_failure(const SweepGrid *grid, int64_t point, const Error *failure, SweepText *row, Error *error) {
    char message[sizeof failure->where + sizeof failure->text + 2];
    snprintf(message, sizeof message, "%s: %s", failure->where, failure->text);
    const SweepRow start = {.point = point, .state = POINT_ERROR, .message = message, .warning = ""};
    return sweep_row_write(grid, &start, NULL, row, error);
}

/* ---- reading ---- */

static bool odd(const char *where, const char *key, Error *error) {
    return error_set(error, ERROR_INPUT, where, "%s is not as a sweep writes it; give the file as it was written", key);
}

/* A text of any length, in the arena. */
static bool read_text(const cJSON *json, const char *key, const char *where, Arena *arena, const char **out,
                      Error *error) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(json, key);
    if (!cJSON_IsString(value)) return odd(where, key, error);
    *out = arena_text(arena, value->valuestring);
    return *out || error_memory(error);
}

static bool read_varies(const SweepGrid *grid, int64_t point, const cJSON *json, const char *where, Error *error) {
    const cJSON *value = json_at(json, "varies");
    if (!cJSON_IsObject(value)) return odd(where, "varies", error);
    value = value->child;
    for (int i = 0; i < grid->option_count; i++) {
        if (grid->options[i].count == 1) continue;
        if (!cJSON_IsString(value) || strcmp(value->string, grid->options[i].option) != 0 ||
            strcmp(value->valuestring, sweep_value(grid, point, i)) != 0)
            return error_set(error, ERROR_INPUT, where,
                             "varies does not match point %lld of the grid; give the file "
                             "as it was written",
                             (long long)point);
        value = value->next;
    }
    return !value || odd(where, "varies", error);
}

static bool read_best(const SweepGrid *grid, const cJSON *best, const char *where, Arena *arena, SweepRow *out,
                      Error *error) {
    static const double MOST = 1e300;
    bool ok = true;
    for (const Field *field = sweep_fields(grid); field->key && ok; field++) {
        void *to = (char *)out + field->at;
        if (field->type == FIELD_TEXT)
            ok = read_text(best, field->key, where, arena, to, error);
        else if (field->type == FIELD_WHOLE)
            ok = json_whole(best, field->key, 1, MACHINE_CHIPS_MAX, where, to, error);
        else if (field->rule == FIELD_OR_NULL)
            ok = json_real_or(best, field->key, 0, MOST, -1, where, to, error);
        else
            ok = json_real(best, field->key, 0, MOST, where, to, error);
    }
    return ok;
}

static bool read_priced_by(const cJSON *report, Arena *arena, SweepRow *out, Error *error) {
    const cJSON *plan = cJSON_GetArrayItem(json_at(report, "plans"), 0);
    const cJSON *words[] = {json_at(plan, "launcher"), json_at(report, "program.profile"),
                            json_at(report, "program.stack"), json_at(report, "search.certificate.space.offload")};
    Prose text = {0};
    for (size_t i = 0; i < COUNT_OF(words); i++)
        prose_add(&text, "%s, ", cJSON_IsString(words[i]) ? words[i]->valuestring : "");
    out->priced_by = arena_text(arena, text.text);
    return out->priced_by || error_memory(error);
}

static bool read_state(const cJSON *json, const char *where, PointState *out, Error *error) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(json, "state");
    for (*out = 0; *out < POINT_STATES && cJSON_IsString(value); ++*out)
        if (strcmp(value->valuestring, point_state_name(*out)) == 0) return true;
    return odd(where, "state", error);
}

static bool read_row(const SweepGrid *grid, const cJSON *json, const char *where, Arena *arena, SweepRow *out,
                     Error *error) {
    if (!json_whole(json, "point", 0, grid->points - 1, where, &out->point, error) ||
        !read_varies(grid, out->point, json, where, error) || !read_state(json, where, &out->state, error) ||
        !read_text(json, "message", where, arena, &out->message, error) ||
        !read_text(json, "warning", where, arena, &out->warning, error))
        return false;
    const cJSON *best = cJSON_GetObjectItemCaseSensitive(json, "best");
    const cJSON *report = cJSON_GetObjectItemCaseSensitive(json, "report");
    if (out->state == POINT_ERROR ? !cJSON_IsNull(report) : !cJSON_IsObject(report)) return odd(where, "report", error);
    out->has_plan = cJSON_IsObject(best);
    bool may = out->state == POINT_OK || out->state == POINT_NOT_PROVEN;
    if ((!out->has_plan && !cJSON_IsNull(best)) || (out->has_plan && !may) ||
        (!out->has_plan && out->state == POINT_OK))
        return odd(where, "best", error);
    return !out->has_plan ||
           (read_best(grid, best, where, arena, out, error) && read_priced_by(report, arena, out, error));
}

bool sweep_row_read(const SweepGrid *grid, SweepLine line, Arena *arena, SweepRow *out, Error *error) {
    memset(out, 0, sizeof *out);
    cJSON *json = json_parse(line.text, line.length, line.where, error);
    bool ok = json && read_row(grid, json, line.where, arena, out, error);
    cJSON_Delete(json);
    if (!ok) return false;
    char *copy = ARENA_NEW(arena, char, line.length + 1);
    if (!copy) return error_memory(error);
    memcpy(copy, line.text, line.length);
    out->line = copy;
    out->length = line.length;
    return true;
}
