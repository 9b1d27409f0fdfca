/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The grid, what is searched at one of its points, and the first line of a file of rows. */
#include "search/sweep/sweep.h"

#include "base/json.h"
#include "base/util.h"
#include "search/answer/doubts.h"
#include "search/report/side_searches.h"

#include <stdlib.h>
#include <string.h>

static const char FORMAT_NAME[] = "shardopt sweep";

const char *sweep_command(const char *name) {
    static const char *const NAMES[] = {"inference", "rl"};
    for (size_t i = 0; i < COUNT_OF(NAMES); i++)
        if (name && strcmp(NAMES[i], name) == 0) return NAMES[i];
    return NULL;
}

const char *sweep_value(const SweepGrid *grid, int64_t point, int option) {
    for (int later = grid->option_count - 1; later > option; later--) point /= grid->options[later].count;
    return grid->options[option].values[point % grid->options[option].count];
}

char *sweep_point_text(const SweepGrid *grid, int64_t point, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < grid->option_count && used < size; i++)
        if (grid->options[i].count > 1)
            used += (size_t)snprintf(text + used, size - used, "%s%s=%s", used ? " " : "", grid->options[i].option,
                                     sweep_value(grid, point, i));
    return text;
}

const char *point_state_name(PointState state) {
    static const char *const NAMES[POINT_STATES] = {"ok", "no_plan", "not_proven", "error"};
    return NAMES[state];
}

const char *point_state_words(PointState state) {
    static const char *const WORDS[POINT_STATES] = {"ok", "no plan fits", "not proven", "error"};
    return WORDS[state];
}

bool sweep_search(const Request *request, Arena *arena, Report *report, Error *error) {
    memset(report, 0, sizeof *report);
    report->request = report->requested = request;
    if (!search_run(request, arena, &report->result, error)) return false;
    const SearchResult *result = &report->result;
    report->request = result->request;
    if (!plans_doubt(report->request, report->result.plans, result->plan_count, 0, error)) return false;
    if (result->plan_count > 0 || result->certificate.proof != PROOF_OPTIMAL) return true;
    double limit = report->request->control.time_limit_seconds;
    report->seconds_left = limit > 0 ? max_real(0, limit - result->seconds) : -1;
    Request *scratch = ARENA_NEW(arena, Request, 1);
    if (!scratch) return error_memory(error);
    /* Where memory is what lacks, the nearest are larger machines: the alternatives would not be shown. */
    bool divides = result->shortfall.known || result->certificate.plans_pruned[PRUNED_INDIVISIBLE] == 0;
    return (divides || report_make_alternatives(report, scratch, error)) && report_make_nearest(report, scratch, error);
}

/* ---- the header ---- */

static bool add_header(cJSON *to, const SweepHeader *header) {
    const SweepGrid *grid = &header->grid;
    bool ok = json_add_text(to, "format", FORMAT_NAME) && json_add_whole(to, "format_version", 1) &&
              json_add_text(to, "version", header->version) && json_add_text(to, "data_sha256", header->data_sha256) &&
              json_add_text(to, "files_sha256", header->files_sha256) && json_add_whole(to, "points", grid->points) &&
              json_add_whole(to, "shard", header->shard) && json_add_whole(to, "shards", header->shards);
    if (ok && grid->command) ok = json_add_text(to, "command", grid->command);
    cJSON *json = ok ? json_add_object(to, "grid") : NULL;
    ok = json != NULL;
    for (int i = 0; i < grid->option_count && ok; i++) {
        cJSON *values = json_add_array(json, grid->options[i].option);
        for (int v = 0; v < grid->options[i].count && ok; v++)
            ok = json_add_text(values, NULL, grid->options[i].values[v]);
    }
    return ok;
}

char *sweep_header_line(const SweepHeader *header, Arena *arena) {
    cJSON *json = cJSON_CreateObject();
    size_t length;
    char *text = json && add_header(json, header) ? json_to_line(json, &length) : NULL;
    char *line = text ? arena_text(arena, text) : NULL;
    free(text);
    cJSON_Delete(json);
    return line;
}

static bool read_option(const cJSON *values, Arena *arena, SweepGrid *grid) {
    int count = cJSON_GetArraySize(values);
    if (count < 1 || grid->option_count == SWEEP_OPTIONS_MAX || count > SWEEP_POINTS_MAX / grid->points) return false;
    SweepOption *option = &grid->options[grid->option_count++];
    *option = (SweepOption){.option = arena_text(arena, values->string),
                            .values = ARENA_NEW(arena, const char *, (size_t)count)};
    const cJSON *value;
    cJSON_ArrayForEach(value, values) {
        if (!option->option || !option->values || !cJSON_IsString(value)) return false;
        option->values[option->count++] = arena_text(arena, value->valuestring);
    }
    grid->points *= count;
    return true;
}

/* What is missing or of another type is found where the header is written again. */
static bool read_header(const cJSON *json, const char *where, Arena *arena, SweepHeader *out, Error *error) {
    char format[32];
    int64_t format_version;
    const cJSON *grid = json_at(json, "grid"), *values;
    if (!cJSON_IsObject(grid)) grid = NULL;
    if (!json_text(json, "format", where, format, sizeof format, error)) return false;
    if (strcmp(format, FORMAT_NAME) != 0)
        return error_set(error, ERROR_INPUT, where, "format is \"%s\"; give a file written by `shardopt sweep`",
                         format);
    if (!json_whole(json, "format_version", 1, 1, where, &format_version, error) ||
        !json_text(json, "data_sha256", where, out->data_sha256, sizeof out->data_sha256, error) ||
        !json_text(json, "files_sha256", where, out->files_sha256, sizeof out->files_sha256, error) ||
        !json_whole(json, "shards", 1, SWEEP_POINTS_MAX, where, &out->shards, error) ||
        !json_whole(json, "shard", 1, out->shards, where, &out->shard, error))
        return false;
    out->version = arena_text(arena, json_text_at(json, "version"));
    out->grid = (SweepGrid){.command = sweep_command(json_text_at(json, "command")), .points = 1};
    cJSON_ArrayForEach(values, grid) {
        if (!read_option(values, arena, &out->grid))
            return error_set(error, ERROR_INPUT, where,
                             "grid.%.60s: is not a list of texts; give the file as it was written", values->string);
    }
    return out->version || error_memory(error);
}

bool sweep_header_read(const char *line, size_t length, const char *where, Arena *arena, SweepHeader *out,
                       Error *error) {
    memset(out, 0, sizeof *out);
    cJSON *json = json_parse(line, length, where, error);
    bool ok = json && read_header(json, where, arena, out, error);
    cJSON_Delete(json);
    if (!ok) return false;
    const char *same = sweep_header_line(out, arena);
    if (!same) return error_memory(error);
    return (strlen(same) == length && memcmp(same, line, length) == 0) ||
           error_set(error, ERROR_INPUT, where,
                     "is not as `shardopt sweep` writes it; give the file as it was written");
}
