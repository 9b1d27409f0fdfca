/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/commands/serving_sets.h"

#include "base/json.h"
#include "base/util.h"
#include "search/cli/commands/sets_answer.h"
#include "search/serving/measured/serving_prepared.h"
#include "search/serving/measured/serving_score.h"

#include <string.h>

/* ---- the first line ---- */

static bool add_copy(cJSON *to, const char *key, const cJSON *item) {
    return !item || cJSON_AddItemToObject(to, key, cJSON_Duplicate(item, true));
}

static bool add_names(cJSON *to) {
    int count;
    const FittedFigure *figures = fitted_figures(&count);
    cJSON *array = json_add_array(to, "figures"), *engines = json_add_array(to, "engines");
    bool ok = array && engines;
    for (int f = 0; ok && f < count; f++) {
        cJSON *one = json_add_object(array, NULL);
        ok = one && json_add_text(one, "key", figures[f].key) && json_add_real(one, "scale", figures[f].scale) &&
             json_add_real(one, "low", figures[f].low) && json_add_real(one, "high", figures[f].high) &&
             json_add_bool(one, "of_first_token", figures[f].of_first_token);
    }
    for (int engine = 0; ok && engine < engine_count(); engine++)
        ok = cJSON_AddItemToArray(engines, cJSON_CreateString(engine_at(engine)->name));
    return ok;
}

/* Of the cell's first run. */
static bool add_figures(cJSON *to, const char *key, PreparedServing *runs, int64_t run, Error *error) {
    int count;
    const FittedFigure *figures = fitted_figures(&count);
    const ServingRun *of = &runs->runs->runs[run];
    const ReplayPlace *place = served_place(runs->with, of, served_engine(of->engine), error);
    cJSON *array = place ? json_add_array(to, key) : NULL;
    bool ok = array != NULL;
    for (int f = 0; ok && f < count; f++) {
        double value = *(const double *)(const void *)((const char *)&place->profile + figures[f].offset);
        ok = cJSON_AddItemToArray(array, cJSON_CreateNumber(value));
    }
    return ok;
}

/* The chips of the entry; of a cell of all other chips its own. */
static bool add_chips(cJSON *to, const PreparedServing *runs, int cell) {
    if (runs->cells[cell].chips) return add_copy(to, "chips", runs->cells[cell].chips);
    cJSON *names = json_add_array(to, "other_chips");
    bool ok = names != NULL;
    for (int64_t i = 0; ok && i < runs->runs->count; i++) {
        const char *chip = runs->runs->runs[i].chip;
        const cJSON *name = names->child;
        while (name && strcmp(name->valuestring, chip) != 0) name = name->next;
        if (runs->fitted_with[i] == cell && !name) ok = cJSON_AddItemToArray(names, cJSON_CreateString(chip));
    }
    return ok;
}

static int64_t first_run(const PreparedServing *runs, int cell) {
    int64_t run = 0;
    while (runs->fitted_with[run] != cell) run++;
    return run;
}

/* The runs go on under the profile that they were prepared with. */
static bool add_cells(cJSON *to, PreparedServing *runs, Error *error) {
    const cJSON *profile = runs->with->profile;
    const char *where = runs->with->where;
    cJSON *array = json_add_array(to, "cells"), *unfitted = cJSON_Duplicate(profile, true);
    bool ok = array && unfitted;
    for (int c = 0; ok && c < runs->cell_count; c++) {
        const ServingCell *cell = &runs->cells[c];
        cJSON *one = json_add_object(array, NULL);
        ok = one && json_add_text(one, "engine", engine_at(cell->engine)->name) && add_chips(one, runs, c) &&
             add_copy(one, "versions", cell->older) &&
             (!cell->generation || json_add_text(one, "generation", cell->generation)) &&
             add_figures(one, "begun", runs, first_run(runs, c), error);
    }
    if (ok) cJSON_DeleteItemFromObjectCaseSensitive(unfitted, "fits");
    ok = ok && served_places_use(runs->with, unfitted, where, error);
    for (int c = 0; ok && c < runs->cell_count; c++)
        ok = add_figures(cJSON_GetArrayItem(array, c), "unfitted", runs, first_run(runs, c), error);
    ok = ok && served_places_use(runs->with, profile, where, error);
    cJSON_Delete(unfitted);
    return ok;
}

static bool add_measured(cJSON *to, const char *key, double value) {
    return !(value > 0) || json_add_real(to, key, value);
}

static bool add_run(cJSON *to, const PreparedServing *runs, int64_t i) {
    const ServingOutcome *outcome = &runs->outcomes[i];
    const ServingRun *run = outcome->run;
    const ServingFigures *measured = &outcome->measured;
    cJSON *one = json_add_object(to, NULL);
    if (!one || !json_add_text(one, "id", run->id) || !json_add_text(one, "group", run->group)) return false;
    if (outcome->skipped[0]) return json_add_text(one, "skipped", outcome->skipped);
    return json_add_text(one, "kind", served_kind(outcome)) && json_add_text(one, "engine", run->framework) &&
           json_add_text(one, "version", run->version) && json_add_text(one, "variant", run->variant) &&
           json_add_text(one, "source", run->family) && json_add_text(one, "chip", run->chip) &&
           json_add_text(one, "model", run->model) && json_add_text(one, "layout", outcome->layout) &&
           json_add_text(one, "mode", run->mode) && json_add_whole(one, "cell", runs->cell_of[i]) &&
           json_add_whole(one, "weights", run->weights) && json_add_whole(one, "chips", run->chips) &&
           json_add_real(one, "prompt", run->prompt) && json_add_real(one, "output", run->output) &&
           json_add_real(one, "concurrency", run->concurrency) && json_add_bool(one, "at_once", served_at_once(run)) &&
           json_add_bool(one, "drafts_unknown", outcome->drafts_unknown) &&
           add_measured(one, "tpot", measured->tpot_seconds) && add_measured(one, "ttft", measured->ttft_seconds) &&
           add_measured(one, "rate", measured->tokens_per_second);
}

static bool describe(const ValidateOptions *options, PreparedServing *runs, FILE *out, Error *error) {
    cJSON *json = cJSON_CreateObject(), *array;
    bool ok = json && json_add_text(json, "file", options->path) && add_copy(json, "profile", runs->with->profile) &&
              add_names(json) && add_cells(json, runs, error) && (array = json_add_array(json, "runs"));
    for (int64_t i = 0; ok && i < runs->runs->count; i++) ok = add_run(array, runs, i);
    ok = ok && json_print_line(out, json);
    cJSON_Delete(json);
    return ok ? sets_flushed(out, error) : error->kind != ERROR_NONE ? false : error_memory(error);
}

/* ---- all others ---- */

typedef struct {
    PreparedServing *runs;
    bool *wanted; /* by run */
} Answering;

/* All runs, or those of `rows`. */
static bool read_wanted(const Answering *to, const cJSON *json, const char *where, Error *error) {
    const cJSON *rows = json_at(json, "rows"), *row;
    int64_t count = to->runs->runs->count;
    for (int64_t i = 0; i < count; i++) to->wanted[i] = !rows;
    cJSON_ArrayForEach(row, rows) {
        if (!cJSON_IsNumber(row) || !(row->valuedouble >= 0) || !(row->valuedouble < (double)count))
            return error_set(error, ERROR_INPUT, where, "rows: give numbers of runs, from 0 to %lld",
                             (long long)count - 1);
        to->wanted[(int64_t)row->valuedouble] = true;
    }
    return true;
}

static void print_figure(const Answering *to, const char *key, size_t offset, FILE *out) {
    fprintf(out, "\"%s\":[", key);
    for (int64_t i = 0; i < to->runs->runs->count; i++) {
        const ServingOutcome *outcome = &to->runs->outcomes[i];
        double value = *(const double *)(const void *)((const char *)outcome + offset);
        if (i > 0) putc(',', out);
        sets_figure(out, to->wanted[i] && !outcome->skipped[0] ? value : 0);
    }
    putc(']', out);
}

static bool answer(void *context, const cJSON *json, const char *where, FILE *out, Error *error) {
    static const struct {
        const char *key;
        size_t offset;
    } FIGURES[] = {
        {"tpot", offsetof(ServingOutcome, predicted.tpot_seconds)},
        {"ttft", offsetof(ServingOutcome, predicted.ttft_seconds)},
        {"rate", offsetof(ServingOutcome, predicted.tokens_per_second)},
        {"resident", offsetof(ServingOutcome, resident)},
    };
    const Answering *to = context;
    if (!read_wanted(to, json, where, error) || !serving_prepared_replay(to->runs, json, where, to->wanted, error))
        return false;
    for (size_t f = 0; f < COUNT_OF(FIGURES); f++) {
        putc(f > 0 ? ',' : '{', out);
        print_figure(to, FIGURES[f].key, FIGURES[f].offset, out);
    }
    fputs("}\n", out);
    return true;
}

bool serving_sets(const ValidateOptions *options, Arena *arena, Streams streams, Error *error) {
    ServingRuns runs;
    ServingReplay with = {.arena = arena};
    PreparedServing *prepared = ARENA_NEW(arena, PreparedServing, 1);
    if (!prepared) return error_memory(error);
    cJSON *profile = serving_profile_open(options->profile ? options->profile : "default", arena, &with.where, error);
    with.profile = profile;
    Answering answering = {.runs = prepared};
    bool ok = profile && serving_runs_load(options->path, options->facts, arena, &runs, error) &&
              serving_prepare(&runs, &with, options->threads, prepared, error);
    if (ok && !(answering.wanted = ARENA_NEW(arena, bool, (size_t)runs.count + 1))) ok = error_memory(error);
    ok = ok && describe(options, prepared, streams.out, error) &&
         sets_answer(options->sets, streams.out, answer, &answering, error);
    cJSON_Delete(profile);
    return ok;
}
