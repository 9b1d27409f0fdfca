/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The grid, what is searched at one of its points, and the first line of a file of rows. */
#include "search/sweep/sweep.h"

#include "base/json.h"
#include "base/memory_stream.h"
#include "base/number.h"
#include "base/util.h"
#include "search/answer/contradiction.h"
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

static bool read_option(const cJSON *values, const char *where, Arena *arena, SweepGrid *grid, Error *error) {
    int count = cJSON_IsArray(values) ? cJSON_GetArraySize(values) : 0;
    if (count < 1 || grid->option_count == SWEEP_OPTIONS_MAX || count > SWEEP_POINTS_MAX / grid->points)
        return error_set(error, ERROR_INPUT, where,
                         "grid.%.60s: is not a list of values; give the file as it was written", values->string);
    SweepOption *option = &grid->options[grid->option_count++];
    *option = (SweepOption){.option = arena_text(arena, values->string),
                            .values = ARENA_NEW(arena, const char *, (size_t)count)};
    if (!option->option || !option->values) return error_memory(error);
    const cJSON *value;
    cJSON_ArrayForEach(value, values) {
        if (!cJSON_IsString(value))
            return error_set(error, ERROR_INPUT, where,
                             "grid.%.60s: has a value that is not a text; give the file as it was "
                             "written",
                             values->string);
        option->values[option->count] = arena_text(arena, value->valuestring);
        if (!option->values[option->count++]) return error_memory(error);
    }
    grid->points *= count;
    return true;
}

static bool read_header(const cJSON *json, const char *where, Arena *arena, SweepHeader *out, Error *error) {
    char format[32], version[64];
    int64_t format_version, points;
    if (!json_text(json, "format", where, format, sizeof format, error)) return false;
    if (strcmp(format, FORMAT_NAME) != 0)
        return error_set(error, ERROR_INPUT, where, "format is \"%s\"; give a file written by `shardopt sweep`",
                         format);
    if (!json_whole(json, "format_version", 1, 1, where, &format_version, error) ||
        !json_text(json, "version", where, version, sizeof version, error) ||
        !json_text(json, "data_sha256", where, out->data_sha256, sizeof out->data_sha256, error) ||
        !json_text(json, "files_sha256", where, out->files_sha256, sizeof out->files_sha256, error) ||
        !json_whole(json, "shards", 1, SWEEP_POINTS_MAX, where, &out->shards, error) ||
        !json_whole(json, "shard", 1, out->shards, where, &out->shard, error) ||
        !json_whole(json, "points", 1, SWEEP_POINTS_MAX, where, &points, error))
        return false;
    out->version = arena_text(arena, version);
    if (!out->version) return error_memory(error);
    const cJSON *grid = json_at(json, "grid"), *values;
    if (!cJSON_IsObject(grid))
        return error_set(error, ERROR_INPUT, where, "grid is missing; give the file as it was written");
    out->grid.command = sweep_command(json_text_at(json, "command"));
    out->grid.points = 1;
    cJSON_ArrayForEach(values, grid) {
        if (!read_option(values, where, arena, &out->grid, error)) return false;
    }
    return points == out->grid.points ||
           error_set(error, ERROR_INPUT, where,
                     "points is %lld, but the grid has %lld; give the file as it was written", (long long)points,
                     (long long)out->grid.points);
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

/* ---- points whose spaces lie in each other ---- */

/* Options whose values are shares: the space grows with them, or it shrinks. */
static const struct {
    const char *option;
    bool grows;
} SHARES[] = {{"hbm-reserve", false}, {"max-idle", true}, {"batch-tolerance", true}};

/* Whether the space of `wide` has all that the space of `narrow` has: values of an option of the grid. */
static bool contains(const char *option, const char *wide, const char *narrow) {
    double a, b;
    for (size_t i = 0; i < COUNT_OF(SHARES); i++) {
        if (strcmp(option, SHARES[i].option) != 0) continue;
        if (!number_share(wide, option, 0, 1, &a, NULL) || !number_share(narrow, option, 0, 1, &b, NULL)) return false;
        return SHARES[i].grows ? a > b : a < b;
    }
    return false;
}

/* Whether a faster narrow point contradicts the wide one. */
static bool contradicts(const SweepRow *wide, const SweepRow *narrow) {
    bool proven = wide->state == POINT_OK || wide->state == POINT_NO_PLAN;
    if (!wide->json || !proven || !sweep_has_plan(narrow)) return false;
    if (!sweep_has_plan(wide)) return true;
    return sweep_figure(narrow, "tokens_per_second") > sweep_figure(wide, "tokens_per_second") * (1 + CONTRADICTION) &&
           strcmp(sweep_says(wide, "priced_by"), sweep_says(narrow, "priced_by")) == 0;
}

static bool pair_agrees(const SweepGrid *grid, const SweepRow *wide, const SweepRow *narrow, Error *error) {
    char a[120], b[120];
    if (!contradicts(wide, narrow)) return true;
    return error_set(error, ERROR_INTERNAL, "sweep",
                     "every plan of %s is one of %s, and the first is faster than the proven best of the second: this "
                     "is a defect",
                     sweep_point_text(grid, narrow->point, a, sizeof a),
                     sweep_point_text(grid, wide->point, b, sizeof b));
}

bool sweep_rows_agree(const SweepGrid *grid, const SweepRow *rows, Error *error) {
    if (grid->command) return true;
    int64_t step = grid->points; /* between values of an option, which turns slower than those behind it */
    for (int o = 0; o < grid->option_count; o++) {
        const SweepOption *option = &grid->options[o];
        step /= option->count;
        for (int wide = 0; wide < option->count; wide++)
            for (int narrow = 0; narrow < option->count; narrow++) {
                if (!contains(option->option, option->values[wide], option->values[narrow])) continue;
                for (int64_t i = 0; i < grid->points; i++)
                    if (i / step % option->count == wide &&
                        !pair_agrees(grid, &rows[i], &rows[i + (narrow - wide) * step], error))
                        return false;
            }
    }
    return true;
}
