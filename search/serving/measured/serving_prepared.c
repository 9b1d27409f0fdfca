/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/serving/measured/serving_prepared.h"

#include "base/json.h"
#include "base/locale.h"
#include "base/threads.h"
#include "base/util.h"

#include <omp.h>
#include <string.h>

/* A thread for so many runs: fewer are replayed sooner than threads meet. */
enum { RUNS_OF_THREAD = 16 };

/* To fit another figure, add a line. */
static const FittedFigure FIGURES[] = {
    {"kernel_extra", offsetof(ServingProfile, kernel_extra), 0.2, -0.4, 3, false},
    {"message_extra", offsetof(ServingProfile, message_extra), 0.4, -0.7, 6, false},
    {"expert_extra", offsetof(ServingProfile, expert_extra), 0.4, -0.7, 6, false},
    {"layer_seconds", offsetof(ServingProfile, layer_seconds), 7e-6, 0, 2e-4, false},
    {"step_seconds", offsetof(ServingProfile, step_seconds), 5e-4, 0, 2e-2, false},
    {"sequence_seconds", offsetof(ServingProfile, sequence_seconds), 1e-5, 0, 1e-3, false},
    {"prompt_extra", offsetof(ServingProfile, prompt_extra), 0.3, -0.5, 4, false},
    {"knee", offsetof(ServingProfile, knee), 0.15, 0, 1, false},
    {"first_token_seconds", offsetof(ServingProfile, first_token_seconds), 3e-2, 0, 0.1, true},
    {"burst", offsetof(ServingProfile, burst), 0.3, 0, 1, true},
};

const FittedFigure *fitted_figures(int *count) {
    *count = COUNT_OF(FIGURES);
    return FIGURES;
}

/* ---- cells ---- */

static bool entry_includes(const cJSON *names, const char *chip) {
    const cJSON *one;
    cJSON_ArrayForEach(one, names) {
        if (cJSON_IsString(one) && strcmp(one->valuestring, chip) == 0) return true;
    }
    return false;
}

/* The profile's entry that has figures or tables of this chip, or of the chip with which it is fitted; NULL: none. */
static const cJSON *entry_of(const cJSON *profile, const char *chip) {
    const cJSON *entry;
    cJSON_ArrayForEach(entry, json_at(profile, "chips")) {
        const cJSON *with = json_at(entry, "fit_with");
        if (!entry_includes(json_at(entry, "chips"), chip)) continue;
        return cJSON_IsString(with) ? entry_of(profile, with->valuestring) : entry;
    }
    return NULL;
}

/* TPUs have too few rows: physics alone. */
static bool find_cell(PreparedServing *to, const ServingRun *run, int *out, Error *error) {
    int engine = served_engine(run->engine);
    const ReplayPlace *place = served_place(to->with, run, engine, error);
    *out = -1;
    if (!place) return false;
    if (!chip_has_domains(&place->chip)) return true;
    const cJSON *entry = entry_of(to->with->profile, place->chip.name), *generation = json_at(entry, "generation");
    ServingCell cell = {engine, json_at(entry, "chips"), place->older,
                        cJSON_IsString(generation) ? generation->valuestring : NULL};
    int at = 0;
    while (at < to->cell_count &&
           (to->cells[at].engine != engine || to->cells[at].chips != cell.chips || to->cells[at].older != cell.older))
        at++;
    if (at == SERVING_CELLS_MAX) return true;
    if (at == to->cell_count) to->cells[to->cell_count++] = cell;
    *out = at;
    return true;
}

static bool find_cells(PreparedServing *to, Error *error) {
    for (int64_t i = 0; i < to->runs->count; i++) {
        to->fitted_with[i] = to->cell_of[i] = -1;
        if (to->outcomes[i].skipped[0]) continue;
        if (!find_cell(to, &to->runs->runs[i], &to->fitted_with[i], error)) return false;
        if (!to->outcomes[i].drafts_unknown) to->cell_of[i] = to->fitted_with[i];
    }
    return true;
}

/* ---- replays ---- */

/* Reads what replays share, so that threads find all of it. */
static bool read_shared(PreparedServing *to, Error *error) {
    for (int64_t i = 0; i < to->runs->count; i++) {
        const ServingRun *run = &to->runs->runs[i];
        int engine = served_engine(run->engine);
        if (run->not_replayed[0]) continue;
        const ReplayModel *model = served_model(to->with, run->model, true, error);
        if (!model || (model->known && engine >= 0 && !served_place(to->with, run, engine, error))) return false;
    }
    return true;
}

static bool replay_wanted(PreparedServing *to, const bool *wanted, Error *error) {
    int64_t wrong = to->runs->count; /* the first run that failed, whichever thread met it */
    for (int t = 1; t < to->threads; t++) {
        ServingQuestion *question = to->with[t].question;
        to->with[t] = to->with[0];
        to->with[t].question = question;
    }
#pragma omp parallel for schedule(dynamic, 4) num_threads(to->threads) if (to->threads > 1)
    for (int64_t i = 0; i < to->runs->count; i++) {
        IN_LOCALE_C; /* a thread of its own */
        Error own = {0};
        if (wanted && !wanted[i]) continue;
        if (serving_replay(&to->with[omp_get_thread_num()], &to->runs->runs[i], &to->outcomes[i], &own)) continue;
#pragma omp critical
        if (i < wrong) wrong = i, *error = own;
    }
    return wrong == to->runs->count;
}

bool serving_prepare(const ServingRuns *runs, const ServingReplay *first, int threads, PreparedServing *out,
                     Error *error) {
    size_t room = (size_t)runs->count + 1;
    Arena *arena = first->arena;
    *out = (PreparedServing){.runs = runs, .threads = 1};
    if (runs->count > RUNS_OF_THREAD)
        out->threads = (int)min_whole(threads_usable(threads), 1 + runs->count / RUNS_OF_THREAD);
    out->outcomes = ARENA_NEW(arena, ServingOutcome, room);
    out->cell_of = ARENA_NEW(arena, int, room);
    out->fitted_with = ARENA_NEW(arena, int, room);
    out->with = ARENA_NEW(arena, ServingReplay, (size_t)out->threads);
    if (!out->outcomes || !out->cell_of || !out->fitted_with || !out->with) return error_memory(error);
    out->with[0] = *first;
    for (int t = 0; t < out->threads; t++)
        if (!(out->with[t].question = ARENA_NEW(arena, ServingQuestion, 1))) return error_memory(error);
    return read_shared(out, error) && replay_wanted(out, NULL, error) && find_cells(out, error);
}

bool serving_prepared_replay(PreparedServing *prepared, const cJSON *profile, const char *where, const bool *wanted,
                             Error *error) {
    return served_places_use(prepared->with, profile, where, error) && read_shared(prepared, error) &&
           replay_wanted(prepared, wanted, error);
}
