/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/serving/options/served.h"

#include "base/build.h"
#include "base/file.h"
#include "base/json.h"
#include "search/options/data_files.h"
#include "search/serving/measured/serving_replay.h"

#include <string.h>

/* What was given, and the two defaults that a later program may have otherwise. */
static void say(const Options *options, Served *out) {
    int count = 0;
    bool lengths = options->text[OPTION_LENGTHS] != NULL;
    for (int i = 0; i < OPTION_COUNT; i++) {
        const char *value = options->text[i];
        if (!SERVING_OPTIONS[i].is_input) continue;
        if (!value && i == OPTION_PROMPT && !lengths) value = "1024";
        if (!value && i == OPTION_ANSWER && !lengths) value = "256";
        if (value) out->said[count++] = (ServingSaid){option_name(i), SERVING_OPTIONS[i].key, value};
    }
    out->report.said = out->said;
    out->report.said_count = count;
}

bool serve(const Options *options, Arena *arena, Served *out, Error *error) {
    memset(out, 0, sizeof *out);
    ServingRequested *request = &out->request;
    if (!serving_question(options, arena, request, error) || !file_data_sha256(out->data_sha256, arena, error) ||
        !file_sha256(request->profile_path, out->profile_sha256, error) ||
        !serving_answer(&request->question, arena, &out->answer, error))
        return false;
    out->report = (ServingReport){.question = &request->question,
                                  .answer = &out->answer,
                                  .machine = request->machine.text,
                                  .model = request->model,
                                  .lengths = request->lengths,
                                  .profile = request->profile,
                                  .version = program_version(),
                                  .data_sha256 = out->data_sha256,
                                  .profile_sha256 = out->profile_sha256,
                                  .weights_said = request->weights_said,
                                  .engines_said = request->engines_said,
                                  .degree_chips = request->degree_chips,
                                  .top = request->top,
                                  .day = &request->day};
    if (request->day.count > 0) serving_day_plan(&request->question, &out->answer, &request->day);
    say(options, out);
    return served_add_nearest(out, arena, error) && served_add_published(out, arena, error);
}

void served_free(Served *served) { serving_answer_free(&served->answer); }

int served_code(const Served *served) {
    enum { DONE = 0, NOTHING = 3, CUT_SHORT = 4 };
    if (!served->answer.count.complete) return CUT_SHORT;
    return served->answer.front.count > 0 ? DONE : NOTHING;
}

bool serving_report_is(const cJSON *json) {
    const cJSON *command = json_at(json, "request.command");
    return cJSON_IsString(command) && strcmp(command->valuestring, "inference") == 0;
}

bool serving_options_of_report(const cJSON *report, const char *file, Options *out, Error *error) {
    const cJSON *options = json_at(report, "request.options");
    *out = (Options){.environment = out->environment};
    for (int i = 0; i < OPTION_COUNT; i++) out->where[i] = file;
    if (!cJSON_IsObject(options))
        return error_set(error, ERROR_INPUT, file, "request.options is missing; write the report again");
    for (const cJSON *one = options->child; one; one = one->next) {
        int at = option_named(SERVING_OPTIONS, one->string);
        if (at < 0 || !SERVING_OPTIONS[at].is_input || !cJSON_IsString(one))
            return error_set(error, ERROR_INPUT, file,
                             "request.options.%.40s is no option of `shardopt inference`; leave it out", one->string);
        out->text[at] = one->valuestring;
    }
    return true;
}

const ServingPoint *served_point(const Served *served, int64_t rank, const char *where, Error *error) {
    const ServingFront *front = &served->answer.front;
    if (rank >= 1 && rank <= front->count) return &front->points[rank - 1];
    error_set(error, ERROR_INPUT, where, "%lld is no rank of its front; give 1 to %d", (long long)rank, front->count);
    return NULL;
}

/* The nearest measured run of an answer, from the project's own table. */

static bool find(Served *served, const char *path, Arena *arena, ServingOutcome *outcome, Error *error) {
    ServingRuns runs;
    ServingReplay with = {.arena = arena};
    cJSON *profile = serving_profile_open(served->request.profile, arena, &with.where, error);
    with.profile = profile;
    bool ok = profile && serving_runs_read(path, served->request.question.chip.name, arena, &runs, error) &&
              serving_nearest(&with, &runs, &served->request.question, &served->answer.best, outcome, error);
    cJSON_Delete(profile);
    return ok;
}

bool served_add_nearest(Served *served, Arena *arena, Error *error) {
    Error missing = {0};
    ServingOutcome outcome;
    const char *folder = file_data_folder("cost/measured/data", arena, &missing);
    const char *path = folder ? arena_format(arena, "%s/serving.jsonl", folder) : NULL;
    bool measured = strcmp(served->request.profile, "ideal") != 0 && strcmp(served->request.profile, "book") != 0;
    if (!served->answer.has_best || served->answer.best.mode == SERVE_PREFILL || !measured) return true;
    if (error_of_machine(&missing)) return *error = missing, false;
    if (!path) return !folder || error_memory(error); /* an installation without the runs */
    if (!find(served, path, arena, &outcome, error)) return false;
    if (!outcome.run) return true;
    const ServingRun *run = outcome.run;
    served->report.nearest = (ServingNearest){.id = run->id,
                                              .source = run->family,
                                              .model = run->model,
                                              .engine = run->framework,
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
