/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/options/data_files.h"
#include "base/data_index.h"
#include "base/file.h"
#include "base/json.h"
#include "base/util.h"
#include "cost/measured/validate.h"
#include "models/parameters.h"

#include <string.h>

const char *const DATA_FOLDERS[DATA_FOLDER_COUNT] = {"cost/optimizers", "cost/profiles", "mesh/catalog", "models/zoo"};

bool file_sha256(const char *path, char hex[SHA256_HEX_SIZE], Error *error) {
    Arena arena = {0}; /* a file is needed no longer than its digest takes */
    char *text;
    size_t length;
    bool ok = file_read(path, JSON_BYTES_MAX, &arena, &text, &length, error);
    if (ok) {
        Sha256 hash = sha256_start();
        sha256_add(&hash, text, length);
        sha256_hex(&hash, hex);
    }
    arena_free(&arena);
    return ok;
}

static bool add_line(Sha256 *all, const char *hex, const char *label, const char *name, Arena *arena, Error *error) {
    const char *line = arena_format(arena, "%s  %s/%s\n", hex, label, name);
    if (!line) return error_memory(error);
    sha256_add(all, line, strlen(line));
    return true;
}

static bool add_files(Sha256 *all, const char *folder, const char *label, Arena *arena, Error *error) {
    char **names, hex[SHA256_HEX_SIZE];
    size_t count;
    if (!file_list(folder, ".json", arena, &names, &count, error)) return false;
    for (size_t i = 0; i < count; i++) {
        const char *path = arena_format(arena, "%s/%s", folder, names[i]);
        if (!path) return error_memory(error);
        if (!file_sha256(path, hex, error) || !add_line(all, hex, label, names[i], arena, error)) return false;
    }
    return true;
}

bool file_data_sha256(char hex[SHA256_HEX_SIZE], Arena *arena, Error *error) {
    Sha256 all = sha256_start();
    DataIndex index[DATA_FOLDER_COUNT];
    if (!data_index_read_all(DATA_FOLDERS, DATA_FOLDER_COUNT, arena, index, error)) return false;
    for (size_t i = 0; i < DATA_FOLDER_COUNT; i++) {
        const char *label = DATA_FOLDERS[i];
        for (const IndexRow *row = index[i].rows; row < index[i].rows + index[i].count; row++)
            if (!add_line(&all, row->sha256, label, row->file, arena, error)) return false;
        if (index[i].count == 0 && !add_files(&all, index[i].folder, label, arena, error)) return false;
    }
    sha256_hex(&all, hex);
    return true;
}

bool data_file(const char *path, const char *folder, Arena *arena, DataFile *out, Error *error) {
    const char *root = file_data_folder(folder, arena, error);
    if (!root || !file_sha256(path, out->sha256, error)) return false;
    size_t length = strlen(root);
    bool inside = strncmp(path, root, length) == 0 && path[length] == '/';
    out->file = inside ? arena_format(arena, "%s%s", folder, path + length) : arena_text(arena, path);
    return out->file || error_memory(error);
}

bool data_files_name(Report *report, Arena *arena, Error *error) {
    const Request *request = report->request;
    DataFile *data = report->data;
    const char *profile = profile_path(request->requested.profile, arena, error);
    const char *optimizer = profile ? optimizer_path(request->requested.optimizer, "--optimizer", arena, error) : NULL;
    return optimizer &&
           (!request->question.model.path || /* a model that the caller gave as text has no file */
            data_file(request->question.model.path, "models/zoo", arena, &data[DATA_MODEL], error)) &&
           data_file(request->question.chip.path, "mesh/catalog", arena, &data[DATA_CHIP], error) &&
           data_file(profile, "cost/profiles", arena, &data[DATA_PROFILE], error) &&
           data_file(optimizer, "cost/optimizers", arena, &data[DATA_OPTIMIZER], error);
}

bool data_files_name_all(Report *report, Arena *arena, Error *error) {
    return file_data_sha256(report->data_sha256, arena, error) && data_files_name(report, arena, error);
}

/* 1, or where the request's precision has a higher peak than a run's, how much higher: as many FLOP/s more are no
 * claim. A plan in a lower peak is compared with what the run did: that it would take as long is one. */
static double peaks(const Question *question, Precision precision) {
    double own = precision_peak(&question->chip, question->precision);
    double other = precision_peak(&question->chip, precision);
    return own > 0 && other > 0 ? max_real(1, own / other) : 1;
}

/* Texts are the table's and the outcome's, which live in the arena as the report does. */
static bool describe(const Outcome *outcome, Report *report, Arena *arena, Error *error) {
    const Run *run = outcome->run;
    MeasuredRun *out = ARENA_NEW(arena, MeasuredRun, 1);
    if (!out) return error_memory(error);
    double measured = outcome_tokens_per_second_per_chip(outcome);
    *out =
        (MeasuredRun){.id = run->id,
                      .source = run->source,
                      .framework = run->framework,
                      .model = run->model,
                      .chip = outcome->chip,
                      .precision = precision_name(outcome->precision),
                      .plan = outcome->plan,
                      .chips = run->request.chips,
                      .seq = run->request.seq,
                      .measured = measured,
                      .flops_per_token = outcome->flops / ((double)run->request.seq * (double)run->request.sequences),
                      .predicted = measured * outcome->measured_seconds / outcome->prediction.seconds};
    out->flops_per_second = measured * out->flops_per_token * peaks(&report->request->question, outcome->precision);
    report->measured = out;
    return true;
}

bool measured_run_add(Report *report, Arena *arena, Error *error) {
    const Request *request = report->request;
    Error missing = {0};
    RunTable table;
    if (report->result.plan_count == 0 || strcmp(request->requested.profile, "default") != 0) return true;
    const char *folder = file_data_folder("cost/measured/data", arena, &missing);
    const char *path = folder ? arena_format(arena, "%s/train.jsonl", folder) : NULL;
    ReplayData *data = ARENA_NEW(arena, ReplayData, 1);
    ProfileSet *set = ARENA_NEW(arena, ProfileSet, 1);
    if (!data || !set) return error_memory(error);
    if (error_of_machine(&missing)) return *error = missing, false;
    if (!path) return !folder || error_memory(error); /* an installation without the runs */
    if (!run_table_read_chip(path, request->question.chip.name, arena, &table, error) ||
        !replay_data_names(arena, data, error) || !profile_set_default(arena, set, error))
        return false;
    Parameters parameters = model_parameters(&request->question.model);
    NearestAsk ask = {.chip = request->question.chip.name,
                      .model = request->question.model.name,
                      .active_parameters = (double)parameters.active,
                      .mixture = model_layers_with(&request->question.model, true) > 0,
                      .chips = (double)request->question.machine.mesh.chips,
                      .seq = (double)request->question.work.seq,
                      .precision = request->question.precision};
    const Outcome *nearest;
    if (!nearest_run_find(&(NearestFrom){&table, data, set}, &ask, arena, &nearest, error)) return false;
    return !nearest || describe(nearest, report, arena, error);
}
