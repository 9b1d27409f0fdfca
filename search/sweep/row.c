/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A point's row: one line of JSON, written once by whoever plans the point, and read back for every table. */
#include "search/sweep/sweep.h"

#include "base/json.h"
#include "base/text/prose.h"
#include "base/util.h"
#include "search/answer/plan_words.h"
#include "search/answer/tie.h"
#include "search/report/plan_fields.h"

#include <stdlib.h>
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

#define REAL .type = FIELD_REAL
#define COST .type = FIELD_REAL, .rule = FIELD_OR_NULL
#define WHOLE .type = FIELD_WHOLE
#define TEXT .type = FIELD_TEXT

static const SweepField PLAN_ROW[] = {
    {"plan", TEXT, .name = "best plan"},
    {"machine", TEXT},
    {"chips", WHOLE},
    {"step_seconds", REAL, .name = "step", .unit = step_text},
    {"mfu", REAL, .name = "MFU", .unit = share_text},
    {"hbm_bytes", REAL, .name = "HBM", .unit = number_bytes},
    {"hbm_limit_bytes", REAL},
    {"tokens_per_second", REAL, .name = "tokens/s", .unit = number_short},
    {"chip_hours", REAL, .name = "chip-hours", .unit = number_short},
    {"cost_usd", COST, .name = "cost", .unit = usd_text},
    {"expected_seconds", REAL},
    {"expected_cost_usd", COST},
    {"reserved_cost_usd", COST},
    {"price_source", TEXT, .in_json_alone = true},
    {"reserved_price_source", TEXT, .in_json_alone = true},
    {0},
};

static const SweepField POINT_ROW[] = {
    {"plan", TEXT, .name = "best point"},
    {"engine", TEXT, .name = "engine"},
    {"chips", WHOLE},
    {"tokens_per_second_per_user", REAL, .name = "tokens/s/user", .unit = one_decimal},
    {"tokens_per_second_per_chip", REAL, .name = "tokens/s/chip", .unit = one_decimal},
    {"tokens_per_second", REAL},
    {"tpot_seconds", REAL, .name = "time per token", .unit = step_text},
    {"ttft_seconds", REAL, .name = "first token", .unit = step_text},
    {"cost_usd_per_million_output_tokens", COST, .name = "per million", .unit = usd_exactly},
    {0},
};

static const SweepField STEP_ROW[] = {
    {"plan", TEXT, .name = "best split"},
    {"trainer", TEXT, .name = "trainer"},
    {"rollout", TEXT, .name = "rollout"},
    {"chips", WHOLE},
    {"train_chips", WHOLE},
    {"rollout_chips", WHOLE},
    {"seconds", REAL, .name = "step", .unit = step_text},
    {"tokens_per_hour", REAL, .name = "tokens/h", .unit = number_short},
    {"usd", COST, .name = "cost a step", .unit = usd_exactly},
    {0},
};

const SweepField *sweep_fields(const SweepGrid *grid) {
    return !grid->command ? PLAN_ROW : strcmp(grid->command, "rl") == 0 ? STEP_ROW : POINT_ROW;
}

/* ---- writing ---- */

bool sweep_add_best(cJSON *to, const SweepField *fields, const Field *own, const void *record) {
    bool ok = to != NULL;
    for (; fields->key && ok; fields++) {
        const Field *field = field_named(own, fields->key);
        if (field) ok = field_add_json(to, fields->key, fields->rule, field, record);
    }
    return ok;
}

static bool add_price_source(cJSON *to, const char *key, const Figure *price, Arena *arena) {
    bool doubted = price->value > 0 && !price->verified && !text_has(price->source, "unverified");
    const char *source = arena_format(arena, "%s%s", doubted ? "unverified, " : "", price->source);
    return source && json_add_text(to, key, source);
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

bool sweep_answer_of_report(const Report *report, Arena *arena, PointAnswer *out, Error *error) {
    const SearchResult *result = &report->result;
    const Chip *chip = &report->request->question.chip;
    PointState state = search_left_open(result) ? POINT_NOT_PROVEN : result->plan_count > 0 ? POINT_OK : POINT_NO_PLAN;
    char message[2 * WORDS_SIZE];
    message_of(report, state, message, sizeof message);
    *out = (PointAnswer){.state = state, .message = arena_text(arena, message), .report = report_json(report, error)};
    if (!out->report) return false;
    if (!out->message) return error_memory(error);
    if (result->plan_count == 0) return true;
    PlanRecord record;
    plan_record(report->request, &result->plans[0], 1, &record);
    out->best = cJSON_CreateObject();
    return (sweep_add_best(out->best, PLAN_ROW, PLAN_FIELDS, &record) &&
            add_price_source(out->best, "price_source", &chip->usd_per_chip_hour, arena) &&
            add_price_source(out->best, "reserved_price_source", &chip->usd_per_chip_hour_reserved, arena)) ||
           error_memory(error);
}

void point_answer_free(PointAnswer *answer) {
    cJSON_Delete(answer->best);
    cJSON_Delete(answer->report);
    *answer = (PointAnswer){0};
}

PointAnswer sweep_answer_of_failure(const Error *failure, Arena *arena) {
    return (PointAnswer){.state = POINT_ERROR, .message = arena_format(arena, "%s: %s", failure->where, failure->text)};
}

static bool add_varies(cJSON *to, const SweepGrid *grid, int64_t point) {
    cJSON *varies = json_add_object(to, "varies");
    bool ok = varies != NULL;
    for (int i = 0; i < grid->option_count && ok; i++)
        if (grid->options[i].count > 1)
            ok = json_add_text(varies, grid->options[i].option, sweep_value(grid, point, i));
    return ok;
}

/* Takes `item`; NULL: null. */
static bool add_item(cJSON *to, const char *key, cJSON *item) {
    if (!item) return json_add_text(to, key, NULL);
    if (cJSON_AddItemToObject(to, key, item)) return true;
    cJSON_Delete(item);
    return false;
}

static bool add_priced_by(cJSON *row, const cJSON *report) {
    const cJSON *plan = cJSON_GetArrayItem(json_at(report, "plans"), 0);
    Prose text = {0};
    prose_add(&text, "%s, %s, %s, %s, ", json_text_at(plan, "launcher"), json_text_at(report, "program.profile"),
              json_text_at(report, "program.stack"), json_text_at(report, "search.certificate.space.offload"));
    return json_add_text(row, "priced_by", text.text);
}

/* Takes the tree, whose report is in the line. */
static bool keep(cJSON *json, SweepRow *out) {
    cJSON *report = cJSON_DetachItemFromObjectCaseSensitive(json, "report");
    bool ok = add_priced_by(json, report);
    cJSON_Delete(report);
    json_settle(json);
    out->json = json;
    return ok;
}

bool sweep_row_new(const SweepGrid *grid, int64_t point, PointAnswer *answer, SweepRow *out, Error *error) {
    cJSON *json = cJSON_CreateObject();
    *out = (SweepRow){.point = point, .state = answer->state};
    bool ok = json && json_add_whole(json, "point", point) && add_varies(json, grid, point) &&
              json_add_text(json, "state", point_state_name(answer->state)) &&
              json_add_text(json, "message", answer->message ? answer->message : "") &&
              json_add_text(json, "warning", answer->warning ? answer->warning : "");
    ok = add_item(json, "best", answer->best) && ok;
    ok = add_item(json, "report", answer->report) && ok;
    answer->best = answer->report = NULL;
    if (ok) out->line = json_to_line(json, &out->length);
    if (out->line && keep(json, out)) return true;
    if (!out->json) cJSON_Delete(json);
    sweep_rows_free(out, 1);
    return error_memory(error);
}

void sweep_rows_free(SweepRow *rows, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        cJSON_Delete(rows[i].json);
        free(rows[i].line);
        rows[i] = (SweepRow){0};
    }
}

bool sweep_has_plan(const SweepRow *row) { return json_at(row->json, "best") != NULL; }

const char *sweep_says(const SweepRow *row, const char *path) { return json_text_at(row->json, path); }

double sweep_figure(const SweepRow *row, const char *key) { return json_real_at(json_at(row->json, "best"), key, -1); }

/* ---- reading ---- */

static bool odd(const char *where, const char *key, Error *error) {
    return error_set(error, ERROR_INPUT, where, "%s is not as a sweep writes it; give the file as it was written", key);
}

static bool check_text(const cJSON *json, const char *key, const char *where, Error *error) {
    return cJSON_IsString(cJSON_GetObjectItemCaseSensitive(json, key)) || odd(where, key, error);
}

static bool check_varies(const SweepGrid *grid, int64_t point, const cJSON *json, const char *where, Error *error) {
    cJSON *expected = cJSON_CreateObject();
    bool made = expected && add_varies(expected, grid, point);
    bool same = made && cJSON_Compare(json_at(json, "varies"), json_at(expected, "varies"), true);
    cJSON_Delete(expected);
    if (!made) return error_memory(error);
    return same || error_set(error, ERROR_INPUT, where,
                             "varies does not match point %lld of the grid; give the file as it was written",
                             (long long)point);
}

static bool check_best(const SweepGrid *grid, const cJSON *best, const char *where, Error *error) {
    static const double MOST = 1e300;
    bool ok = true;
    for (const SweepField *field = sweep_fields(grid); field->key && ok; field++) {
        double real;
        int64_t whole;
        if (field->type == FIELD_TEXT)
            ok = check_text(best, field->key, where, error);
        else if (field->type == FIELD_WHOLE)
            ok = json_whole(best, field->key, 1, MACHINE_CHIPS_MAX, where, &whole, error);
        else if (field->rule == FIELD_OR_NULL)
            ok = json_real_or(best, field->key, 0, MOST, -1, where, &real, error);
        else
            ok = json_real(best, field->key, 0, MOST, where, &real, error);
    }
    return ok;
}

static bool read_state(const cJSON *json, const char *where, PointState *out, Error *error) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(json, "state");
    for (*out = 0; *out < POINT_STATES && cJSON_IsString(value); ++*out)
        if (strcmp(value->valuestring, point_state_name(*out)) == 0) return true;
    return odd(where, "state", error);
}

static bool check_row(const SweepGrid *grid, const cJSON *json, const char *where, SweepRow *out, Error *error) {
    if (!json_whole(json, "point", 0, grid->points - 1, where, &out->point, error) ||
        !check_varies(grid, out->point, json, where, error) || !read_state(json, where, &out->state, error) ||
        !check_text(json, "message", where, error) || !check_text(json, "warning", where, error))
        return false;
    const cJSON *best = cJSON_GetObjectItemCaseSensitive(json, "best");
    const cJSON *report = cJSON_GetObjectItemCaseSensitive(json, "report");
    if (out->state == POINT_ERROR ? !cJSON_IsNull(report) : !cJSON_IsObject(report)) return odd(where, "report", error);
    bool may = out->state == POINT_OK || out->state == POINT_NOT_PROVEN, must = out->state == POINT_OK;
    if (cJSON_IsNull(best) ? must : !cJSON_IsObject(best) || !may) return odd(where, "best", error);
    return cJSON_IsNull(best) || check_best(grid, best, where, error);
}

bool sweep_row_read(const SweepGrid *grid, const char *line, size_t length, const char *where, SweepRow *out,
                    Error *error) {
    *out = (SweepRow){0};
    cJSON *json = json_parse(line, length, where, error);
    if (!json || !check_row(grid, json, where, out, error)) return cJSON_Delete(json), false;
    out->line = malloc(length + 1);
    out->length = length;
    if (out->line) memcpy(out->line, line, length), out->line[length] = '\0';
    if (keep(json, out) && out->line) return true;
    sweep_rows_free(out, 1);
    return error_memory(error);
}
