/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/options/measured_run.h"

#include "base/file.h"
#include "cost/measured/nearest.h"
#include "models/parameters.h"

#include <string.h>

/* Texts are the table's and the outcome's, which live in the arena as the report does. */
static bool describe(const Outcome *outcome, Report *report, Arena *arena, Error *error) {
    const Run *run = outcome->run;
    MeasuredRun *out = ARENA_NEW(arena, MeasuredRun, 1);
    char *framework = arena_text(arena, outcome->framework);
    if (!out || !framework) return error_memory(error);
    double measured = outcome_tokens_per_second_per_chip(outcome);
    *out = (MeasuredRun){.id = run->id,
                         .source = run->source,
                         .framework = framework,
                         .model = run->model,
                         .chip = outcome->chip,
                         .precision = precision_name(outcome->precision),
                         .plan = outcome->plan,
                         .chips = run->chips,
                         .seq = run->seq,
                         .measured = measured,
                         .flops_per_token = outcome->flops / ((double)run->seq * (double)run->global_batch),
                         .predicted = measured * outcome->measured_seconds / outcome->prediction.seconds};
    report->measured = out;
    return true;
}

bool measured_run_add(Report *report, Arena *arena, Error *error) {
    const Request *request = report->request;
    Error missing = {0};
    RunTable table;
    Validation validation;
    if (report->result.plan_count == 0 || strcmp(request->asked.profile, "default") != 0) return true;
    const char *folder = file_data_folder("cost/measured/data", arena, &missing);
    const char *path = folder ? arena_format(arena, "%s/train.tsv", folder) : NULL;
    ReplayData *data = ARENA_NEW(arena, ReplayData, 1);
    ProfileSet *set = ARENA_NEW(arena, ProfileSet, 1);
    if (!data || !set) return error_memory(error);
    if (error_of_machine(&missing)) return *error = missing, false;
    if (!path) return !folder || error_memory(error); /* an installation without the runs */
    if (!run_table_read(path, arena, &table, error) || !replay_data_load(arena, data, error) ||
        !profile_set_default(arena, set, error))
        return false;
    const RunFilter filter = {.chips = {request->question.chip.name}, .chip_count = 1};
    if (!validate_runs(&table, &filter, &(ReplayWith){data, set, request->control.threads}, arena, &validation, error))
        return false;
    Parameters parameters = model_parameters(&request->question.model);
    NearestAsk ask = {.model = request->question.model.name,
                      .active_parameters = (double)parameters.active,
                      .mixture = model_layers_with(&request->question.model, true) > 0,
                      .chips = (double)request->question.machine.mesh.chips,
                      .seq = (double)request->question.work.seq,
                      .precision = request->question.precision};
    const Outcome *nearest = nearest_run(validation.outcomes, validation.count, &ask);
    return !nearest || describe(nearest, report, arena, error);
}
