/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/commands/validate_sets.h"

#include "base/json.h"
#include "base/memory_stream.h"
#include "base/util.h"
#include "cost/measured/prepared.h"
#include "search/cli/commands/asked_run.h"
#include "search/cli/commands/sets_answer.h"

#include <math.h>
#include <stdlib.h>

/* ---- the first line ---- */

static bool add_set(cJSON *to, const ProfileSet *set, Error *error) {
    char *text = NULL;
    size_t length = 0;
    FILE *stream = memory_stream_open(&text, &length);
    bool ok = stream && profile_set_write(stream, set);
    if (stream) ok = fclose(stream) == 0 && ok;
    cJSON *json = ok ? json_parse(text, length, set->name, error) : NULL;
    free(text);
    if (!json) return false;
    if (cJSON_AddItemToObject(to, "set", json)) return true;
    cJSON_Delete(json);
    return false;
}

static bool add_figures(cJSON *to) {
    int count;
    const ProfileFigure *figures = profile_figures(&count);
    cJSON *array = json_add_array(to, "figures");
    bool ok = array != NULL;
    for (int i = 0; ok && i < count; i++) {
        const ProfileFigure *figure = &figures[i];
        cJSON *one = json_add_object(array, NULL);
        ok = one && json_add_text(one, "key", figure->key) &&
             json_add_text(one, "owner", figure->owner == FIGURE_OF_CHIP ? "profiles" : "stacks") &&
             json_add_real(one, "low", figure->low) && json_add_real(one, "high", figure->high) &&
             json_add_real(one, "fit_low", figure->fit_low) && json_add_real(one, "fit_high", figure->fit_high) &&
             json_add_real(one, "sigma", figure->sigma);
    }
    return ok;
}

static bool add_run(cJSON *to, const PreparedRuns *runs, int64_t i, RankPlace place) {
    const Replay *replay = &runs->replays[i];
    const Run *run = replay->run;
    cJSON *one = json_add_object(to, NULL);
    if (!one || !json_add_text(one, "id", run->id)) return false;
    if (replay->skipped[0]) return json_add_text(one, "skipped", replay->skipped);
    const SetEntry *stack = replay->stack_entry;
    return json_add_text(one, "source", run->family) && json_add_text(one, "model", run->model) &&
           json_add_text(one, "chip", replay->chip_entry->name) &&
           json_add_text(one, "generation", prepared_generation(runs, i)) &&
           (!stack || json_add_text(one, "stack", stack->name)) &&
           json_add_text(one, "precision", precision_name(replay->precision)) &&
           json_add_whole(one, "chips", run->request.chips) &&
           json_add_real(one, "measured_seconds", replay->measured_seconds > 0 ? replay->measured_seconds : NAN) &&
           json_add_real(one, "tokens", (double)run->request.sequences * (double)run->request.seq) &&
           json_add_whole(one, "guesses", run->guesses) && json_add_bool(one, "flagged", run->flagged[0] != '\0') &&
           (!run->aside[0] || json_add_text(one, "aside", run->aside)) &&
           json_add_bool(one, "too_large", runs->too_large[i]) && json_add_whole(one, "group", place.group) &&
           json_add_whole(one, "plan", place.plan);
}

static bool add_runs(cJSON *to, const PreparedRuns *runs, Arena *arena, Error *error) {
    cJSON *array = json_add_array(to, "runs");
    Ranked *rows = ARENA_NEW(arena, Ranked, (size_t)runs->count);
    RankPlace *places = ARENA_NEW(arena, RankPlace, (size_t)runs->count);
    bool ok = array && rows && places;
    for (int64_t i = 0; ok && i < runs->count; i++) rows[i].run = runs->replays[i].run;
    ok = ok && rank_places(rows, runs->count, places, error);
    for (int64_t i = 0; ok && i < runs->count; i++) ok = add_run(array, runs, i, places[i]);
    return ok;
}

static bool describe(const ValidateOptions *options, const RunTable *table, const PreparedRuns *runs, Arena *arena,
                     FILE *out, Error *error) {
    cJSON *json = cJSON_CreateObject();
    bool ok = json && json_add_text(json, "file", options->path) && json_add_text(json, "sha256", table->sha256) &&
              add_set(json, runs->set, error) && add_figures(json) && add_runs(json, runs, arena, error) &&
              json_print_line(out, json);
    cJSON_Delete(json);
    return ok ? sets_flushed(out, error) : error->kind != ERROR_NONE ? false : error_memory(error);
}

/* ---- all others ---- */

typedef struct {
    PreparedRuns *runs;
    double *seconds;
} Pricing;

static bool print_seconds(FILE *out, const double *seconds, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        putc(i > 0 ? ',' : '[', out);
        sets_figure(out, seconds[i]);
    }
    fputs(count > 0 ? "]\n" : "[]\n", out);
    return true;
}

static bool answer(void *context, const cJSON *json, const char *where, FILE *out, Error *error) {
    const Pricing *pricing = context;
    Arena own = {0};
    ProfileSet set;
    bool ok = profile_set_from_json(json, where, &own, &set, error) &&
              prepared_seconds(pricing->runs, &set, where, pricing->seconds, error);
    arena_free(&own);
    return ok && print_seconds(out, pricing->seconds, pricing->runs->count);
}

bool validate_sets(const ValidateOptions *options, Arena *arena, Streams streams, Error *error) {
    RunTable table;
    PreparedRuns runs;
    ReplayData data;
    ProfileSet *set = ARENA_NEW(arena, ProfileSet, 1);
    if (!set) return error_memory(error);
    if (!run_table_read(options->path, arena, &table, error) || !replay_data_load(arena, &data, error) ||
        !profile_set_load(options->profile ? options->profile : "default", arena, set, error) ||
        !replay_names_known(&table, options->path, &data, set, error) ||
        !asked_runs_price(&table, options->path, arena, error) ||
        !prepared_runs(&table, &(PrepareWith){&data, set, options->threads}, arena, &runs, error) ||
        !describe(options, &table, &runs, arena, streams.out, error))
        return false;
    Pricing pricing = {&runs, ARENA_NEW(arena, double, (size_t)runs.count)};
    return pricing.seconds ? sets_answer(options->sets, streams.out, answer, &pricing, error) : error_memory(error);
}
