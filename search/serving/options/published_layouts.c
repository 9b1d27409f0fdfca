/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Layouts that others have published for the model and the chip, priced for the load that is requested. */
#include "base/file.h"
#include "base/util.h"
#include "search/serving/measured/serving_replay.h"
#include "search/serving/options/served.h"

#include <math.h>
#include <string.h>

static const double CLIENTS_STEP = 1.2; /* numbers of requests in flight that are tried */

/* Whether a list with commas has the name. */
static bool lists(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == length && strncmp(at, name, length) == 0) return true;
    return false;
}

static bool is_asked(const ServingQuestion *question, const ServingRun *run) {
    int engine = engine_named(run->engine);
    bool taken = engine >= 0 && (question->any_engine || question->engines >> engine & 1);
    return taken && strcmp(run->model, question->model.name) == 0 && lists(run->chip, question->chip.name);
}

/* The load of the question, in place of the one of the source. */
static ServingRun run_of(const ServingQuestion *question, const ServingRun *published) {
    ServingRun run = *published;
    run.chip = question->chip.name;
    run.weights = 1 + (int)question->weights[0];
    run.cache = 1 + (int)question->caches[0];
    run.prompt = question->request.prompt;
    run.output = question->request.output;
    return run;
}

static void keep(const ServingOutcome *outcome, const Served *served, double concurrency, ServingPublished *best) {
    const ServingAnswer *answer = &served->answer;
    const ServingFigures *figures = &outcome->predicted;
    double factor = answer->with_margin ? max_real(1, answer->likely_factor) : 1;
    double per_chip = figures->tokens_per_second / (double)best->chips;
    if (figures->tpot_seconds > answer->tpot_goal_seconds / factor) return;
    if (figures->ttft_seconds > answer->ttft_goal_seconds / factor || !(per_chip > best->per_chip)) return;
    best->per_chip = per_chip;
    best->tpot_seconds = figures->tpot_seconds;
    best->ttft_seconds = figures->ttft_seconds;
    best->concurrency = concurrency;
}

/* The most that it serves within the limits, over numbers of requests in flight. */
static bool price(ServingReplay *with, const Served *served, const ServingRun *published, ServingPublished *out,
                  Error *error) {
    const ServingQuestion *question = &served->request.question;
    ServingRun run = run_of(question, published);
    double high = question->concurrency > 0 ? (double)question->concurrency : 1 << 15;
    for (double clients = question->concurrency > 0 ? high : 1; clients <= high;
         clients = ceil(clients * CLIENTS_STEP)) {
        ServingOutcome outcome;
        run.concurrency = clients;
        if (!serving_replay(with, &run, &outcome, error)) return false;
        if (outcome.skipped[0]) return true;
        keep(&outcome, served, clients, out);
    }
    return true;
}

static void say_pool(const RunWorker *worker, char *text, size_t size) {
    char data[40] = "", expert[40] = "";
    if (worker->attention_data > 1)
        snprintf(data, sizeof data, "attention_data=%lld", (long long)worker->attention_data);
    if (worker->tensor > 1) snprintf(data, sizeof data, "tensor=%lld", (long long)worker->tensor);
    if (worker->expert > 1) snprintf(expert, sizeof expert, " expert=%lld", (long long)worker->expert);
    snprintf(text, size, "%lld x %s%s", (long long)worker->workers, data, expert);
}

static bool add(Served *served, ServingReplay *with, const ServingRun *run, Arena *arena, Error *error) {
    char prompts[128], decode[128];
    ServingReport *report = &served->report;
    if (report->published_count == SERVING_PUBLISHED_MAX) return true;
    ServingPublished *one = &report->published[report->published_count++];
    say_pool(&run->prefill, prompts, sizeof prompts);
    say_pool(&run->decode, decode, sizeof decode);
    *one = (ServingPublished){.id = run->id, .source = run->family, .chips = run->chips};
    one->engine = engine_at(engine_named(run->engine))->title;
    one->layout = arena_format(arena, "%s + %s", prompts, decode);
    if (!one->layout) return error_memory(error);
    one->fits = run->chips <= served->request.question.machine.mesh.chips;
    return !one->fits || price(with, served, run, one, error);
}

static bool add_all(Served *served, const char *path, Arena *arena, Error *error) {
    ServingRuns runs;
    ServingReplay with = {.arena = arena};
    cJSON *profile = serving_profile_open(served->request.profile, arena, &with.where, error);
    with.profile = profile;
    bool ok = profile && serving_runs_read(path, NULL, arena, &runs, error);
    for (int64_t i = 0; ok && i < runs.count; i++)
        if (is_asked(&served->request.question, &runs.runs[i])) ok = add(served, &with, &runs.runs[i], arena, error);
    cJSON_Delete(profile);
    return ok;
}

bool served_add_published(Served *served, Arena *arena, Error *error) {
    Error missing = {0};
    const ServingQuestion *question = &served->request.question;
    const char *folder = file_data_folder("cost/serving/published", arena, &missing);
    const char *path = folder ? arena_format(arena, "%s/layouts.jsonl", folder) : NULL;
    bool two = question->modes >> SERVE_DISAGGREGATED & 1 && question->requirement_count == 0;
    bool other_load = question->speculation.drafts > 0 || question->request.cached > 0 || question->rate > 0;
    if (error_of_machine(&missing)) return *error = missing, false;
    if (folder && !path) return error_memory(error);
    if (!served->answer.has_best || !two || other_load || !path) return true;
    return add_all(served, path, arena, error);
}
