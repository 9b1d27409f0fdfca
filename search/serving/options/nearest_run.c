/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The nearest measured run of an answer, from the project's own table. */
#include "base/file.h"
#include "search/serving/measured/serving_nearest.h"
#include "search/serving/options/served.h"

#include <string.h>

static bool find(Served *served, const char *path, Arena *arena, ServingOutcome *outcome, Error *error) {
    ServingRuns runs;
    ServingReplay with = {.arena = arena};
    cJSON *profile = serving_profile_open(served->asked.profile, arena, &with.where, error);
    with.profile = profile;
    bool ok = profile && serving_runs_load(path, NULL, arena, &runs, error) &&
              serving_nearest(&with, &runs, &served->asked.question, &served->answer.best, outcome, error);
    cJSON_Delete(profile);
    return ok;
}

bool served_add_nearest(Served *served, Arena *arena, Error *error) {
    Error missing = {0};
    ServingOutcome outcome;
    const char *folder = file_data_folder("cost/measured/data", arena, &missing);
    const char *path = folder ? arena_format(arena, "%s/serving.tsv", folder) : NULL;
    bool measured = strcmp(served->asked.profile, "ideal") != 0 && strcmp(served->asked.profile, "book") != 0;
    if (!served->answer.has_best || served->answer.best.mode == SERVE_PREFILL || !measured) return true;
    if (error_of_machine(&missing)) return *error = missing, false;
    if (!path) return !folder || error_memory(error); /* an installation without the runs */
    if (!find(served, path, arena, &outcome, error)) return false;
    if (!outcome.run) return true;
    const ServingRun *run = outcome.run;
    served->report.nearest = (ServingNearest){.id = run->id,
                                              .source = run->source,
                                              .model = run->model,
                                              .engine = run->engine,
                                              .layout = arena_text(arena, outcome.layout),
                                              .chips = run->chips,
                                              .prompt = run->prompt,
                                              .output = run->output,
                                              .concurrency = run->concurrency,
                                              .tpot_seconds = run->tpot_seconds,
                                              .predicted_seconds = outcome.predicted.tpot_seconds,
                                              .rate = run->tokens_per_second,
                                              .predicted_rate = outcome.predicted.tokens_per_second,
                                              .drafts_unknown = outcome.drafts_unknown};
    return true;
}
