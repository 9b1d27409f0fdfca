/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/commands/refitting.h"

#include "base/json.h"
#include "base/text/prose.h"
#include "cost/profile/profile_set.h"
#include "search/answer/plan_words.h"
#include "search/cli/interrupt.h"
#include "search/cli/planning.h"
#include "search/options/data_files.h"
#include "search/options/one_plan.h"

#include <string.h>

typedef struct {
    const RefitAsk *ask;
    Arena *arena;
    ProfileSet set;
    RefitInto into;
    const char *argument; /* the path as --profile takes it */
} RefitWork;

static bool write_set(const RefitWork *work, Error *error) {
    Draft draft;
    return draft_open(&draft, error) &&
           draft_write(&draft, profile_set_write(draft.file, &work->set), NULL, work->ask->path, error);
}

static SetEntry *entry_named(SetEntry *entries, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(entries[i].name, name) == 0) return &entries[i];
    return NULL;
}

/* The set that priced the report, and its entries. */
static bool load_set(RefitWork *work, Error *error) {
    const cJSON *json = work->ask->json;
    const char *file = cJSON_GetStringValue(json_at(json, "request.profile"));
    const char *profile = cJSON_GetStringValue(json_at(json, "program.profile"));
    const char *stack = cJSON_GetStringValue(json_at(json, "program.stack"));
    if (!profile) return error_set(error, ERROR_INPUT, work->ask->report, "does not say which profile priced it");
    if (!profile_set_load(file ? file : "default", work->arena, &work->set, error)) return false;
    work->into = (RefitInto){.set = &work->set, .source = work->ask->source};
    work->into.chip = entry_named(work->set.profiles, work->set.profile_count, profile);
    work->into.stack = stack ? entry_named(work->set.stacks, work->set.stack_count, stack) : NULL;
    if (!work->into.chip)
        return error_set(error, ERROR_INPUT, work->ask->report, "was priced with %.60s, which %.60s does not have",
                         profile, file ? file : "default");
    const char *path = work->ask->path;
    work->argument = strchr(path, '/') ? path : arena_format(work->arena, "./%s", path);
    return work->argument || error_memory(error);
}

/* The options of the report, with another profile where one is named. */
static bool options_of(const RefitAsk *ask, const char *profile, Arena *arena, Options *out, ReportPlan *plan,
                       Error *error) {
    Options given = {.environment = cli_environment()};
    given.text[OPTION_FROM] = ask->report;
    given.text[OPTION_RANK] = ask->rank;
    if (!options_of_report(ask->json, &given, arena, out, plan, error)) return false;
    if (profile) out->text[OPTION_PROFILE] = profile;
    if (profile) out->where[OPTION_PROFILE] = "--refit";
    out->text[OPTION_FROM] = out->text[OPTION_RANK] = NULL;
    return true;
}

bool refitting_price(const RefitAsk *ask, const char *profile, Arena *arena, Report **out, Error *error) {
    Options options;
    ReportPlan plan = {0};
    Report *report = *out = ARENA_NEW(arena, Report, 1);
    Request *request = ARENA_NEW(arena, Request, 1);
    if (!report || !request) return error_memory(error);
    if (!options_of(ask, profile, arena, &options, &plan, error) ||
        !request_from_options(&options, arena, request, error) || !one_plan_pin(&plan, ask->report, request, error) ||
        !one_plan_search(request, &plan, arena, &report->result, error))
        return false;
    if (report->result.plan_count == 0)
        return error_set(error, ERROR_INPUT, ask->report, "its plan does not fit by the profile that prices it now");
    report->request = report->result.request;
    return data_files_name_all(report, arena, error);
}

static bool terms_of(const Report *report, const char *where, PlanTerms *out, cJSON **json, Error *error) {
    *json = report_json(report, error);
    if (*json) json_settle(*json);
    return *json && plan_terms_read(*json, where, 1, out, error);
}

/* The words of --require that name a whole plan are those of `explain`: what wins is looked for without them. */
static bool search_again(const RefitWork *work, RefitAnswer *out, Error *error) {
    Options options;
    ReportPlan plan = {0};
    SearchResult *result = ARENA_NEW(work->arena, SearchResult, 1);
    Request *request = ARENA_NEW(work->arena, Request, 1);
    char label[WORDS_SIZE];
    if (!result || !request) return error_memory(error);
    if (!options_of(work->ask, work->argument, work->arena, &options, &plan, error)) return false;
    const char *required = options.text[OPTION_REQUIRE];
    if (required && strstr(required, "data=") && strstr(required, "pipeline=")) options.text[OPTION_REQUIRE] = NULL;
    if (!request_from_options(&options, work->arena, request, error)) return false;
    request->control.top = 1;
    request->control.variants = false;
    if (!search_run(request, work->arena, result, error)) return false;
    if (result->plan_count == 0) return true;
    out->best = arena_text(work->arena, plan_label(&result->plans[0], label));
    out->best_seconds = result->plans[0].estimate.time.seconds;
    return out->best || error_memory(error);
}

/* A step of the profile, and the plan priced with it. Terms keep texts of the document that they were read from, which
 * nobody reads after it is gone. */
static bool make_step(RefitWork *work, Report **report, PlanTerms *terms, RefitAnswer *out, Error *error) {
    cJSON *json = NULL;
    bool ok = work->ask->step(work->ask->context, &work->into, *report, terms, &out->refit, error) &&
              write_set(work, error) && refitting_price(work->ask, work->argument, work->arena, report, error) &&
              terms_of(*report, work->ask->report, terms, &json, error);
    cJSON_Delete(json);
    out->plan_seconds = terms->step;
    return ok;
}

bool refitting_run(const RefitAsk *ask, Arena *arena, RefitAnswer *out, Error *error) {
    RefitWork work = {.ask = ask, .arena = arena};
    Report *report;
    PlanTerms terms;
    cJSON *json = NULL;
    *out = (RefitAnswer){.path = ask->path};
    bool ok = load_set(&work, error) && refitting_price(ask, NULL, arena, &report, error) &&
              terms_of(report, ask->report, &terms, &json, error);
    cJSON_Delete(json);
    out->before_seconds = ok ? terms.step : 0;
    for (int i = 0; ok && i < ask->steps; i++) ok = make_step(&work, &report, &terms, out, error);
    return ok && search_again(&work, out, error);
}

/* ---- words ---- */

void refitting_write_text(const RefitAnswer *answer, double measured, TextOut out) {
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE];
    Prose prose = {0};
    prose_add(&prose, "%s is the profile with what was measured:", answer->path);
    for (int i = 0; i < answer->refit.count; i++) {
        const RefitChange *change = &answer->refit.changes[i];
        prose_add(&prose, "%s %s of %s %.4g (was %.4g%s)", i ? "," : "", change->figure->key, change->entry,
                  change->now, change->was, change->now != change->wanted ? ", at its limit" : "");
    }
    if (answer->refit.count == 0) prose_add(&prose, " nothing moved");
    prose_add(&prose, ". With it the plan takes %s, not %s", step_text(answer->plan_seconds, a),
              step_text(answer->before_seconds, b));
    if (measured > 0) prose_add(&prose, "; %s was measured", step_text(measured, a));
    prose_add(&prose, ".");
    if (answer->best && answer->best_seconds < 0.9999 * answer->plan_seconds)
        prose_add(&prose, " What now wins is %s: %s (%s).", answer->best, step_text(answer->best_seconds, a),
                  change_text(answer->best_seconds / answer->plan_seconds - 1, c));
    else if (answer->best)
        prose_add(&prose, " No other plan is faster with it.");
    fputc('\n', out.file);
    prose_write(out, "", "", prose.text);
}

bool refitting_add_json(const RefitAnswer *answer, cJSON *to) {
    cJSON *json = json_add_object(to, "refit"), *changes = json ? json_add_array(json, "figures") : NULL;
    bool ok = changes && json_add_text(json, "file", answer->path) &&
              json_add_real(json, "plan_seconds", answer->plan_seconds) &&
              json_add_real(json, "before_seconds", answer->before_seconds);
    for (int i = 0; ok && i < answer->refit.count; i++) {
        const RefitChange *change = &answer->refit.changes[i];
        cJSON *item = json_add_object(changes, NULL);
        ok = item && json_add_text(item, "figure", change->figure->key) && json_add_text(item, "of", change->entry) &&
             json_add_real(item, "was", change->was) && json_add_real(item, "now", change->now);
    }
    if (!ok || !answer->best) return ok;
    cJSON *best = json_add_object(json, "best");
    return best && json_add_text(best, "plan", answer->best) && json_add_real(best, "seconds", answer->best_seconds);
}
