/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The public door: what shardopt.h promises, by the rooms behind it. Nothing here is shared between two calls, so that
 * callers may search side by side. */
#include "search/shardopt.h"
#include "search/answer/tie.h"

#include "base/build.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/locale.h"
#include "base/memory_stream.h"
#include "base/util.h"
#include "search/engine/proof/certificate.h"
#include "search/launch/launcher.h"
#include "search/options/data_files.h"
#include "search/options/options.h"
#include "search/report/around.h"
#include "search/report/plan_fields.h"
#include "search/report/report.h"
#include "search/report/text/markdown.h"
#include "search/shardopt_inside.h"

#include <stdlib.h>
#include <string.h>

struct shardopt_request {
    char *text[OPTION_COUNT]; /* NULL means not set */
    char *model_name, *model_json;
    size_t model_length;
};

struct shardopt_report {
    Arena arena;
    Request request;
    Report report;
    shardopt_hooks hooks;
    int code;
};

const char *shardopt_version(void) { return program_version(); }

void shardopt_free(char *text) { free(text); }

/* ---- a request ---- */

shardopt_request *shardopt_request_new(void) { return calloc(1, sizeof(shardopt_request)); }

void shardopt_request_free(shardopt_request *request) {
    if (!request) return;
    for (int i = 0; i < OPTION_COUNT; i++) free(request->text[i]);
    free(request->model_name);
    free(request->model_json);
    free(request);
}

/* Options of a request: the inputs of `shardopt plan`, and the two that say how the search is run. */
static bool is_settable(Option option) {
    return option_is_input(option) || option == OPTION_THREADS || option == OPTION_CERTIFICATE ||
           option == OPTION_SENSITIVITY;
}

static bool find_option(const char *name, Option *out, Error *error) {
    const char *names[OPTION_COUNT];
    size_t count = 0;
    for (Option option = 0; option < OPTION_COUNT; option++) {
        if (!option_name(option) || !is_settable(option)) continue;
        if (strcmp(option_name(option), name) == 0) return *out = option, true;
        names[count++] = option_name(option);
    }
    const char *nearest = name_nearest(name, names, count);
    return error_set(error, ERROR_INPUT, name, "is no option of a request; %s%s",
                     nearest ? "did you mean " : "`shardopt plan --help` lists them", nearest ? nearest : "");
}

int shardopt_request_set(shardopt_request *request, const char *option, const char *value, shardopt_error *error) {
    Error own = {0};
    Option at = OPTION_COUNT;
    if (!find_option(option, &at, &own)) return inside_fail(&own, error);
    if (!inside_replace(&request->text[at], value, value ? strlen(value) : 0)) return inside_fail_memory(error);
    return inside_fail(&own, error);
}

int shardopt_request_set_model_json(shardopt_request *request, const char *name, const char *json, size_t length,
                                    shardopt_error *error) {
    if (!inside_replace(&request->model_name, name, strlen(name)) ||
        !inside_replace(&request->model_json, json, length))
        return inside_fail_memory(error);
    request->model_length = length;
    return inside_fail(&(Error){0}, error);
}

/* ---- a search ---- */

static bool hook_interrupted(void *of) {
    const shardopt_report *report = of;
    return report->hooks.interrupted && report->hooks.interrupted(report->hooks.context);
}

static void hook_progress(void *of, const SearchProgress *progress) {
    const shardopt_report *report = of;
    if (report->hooks.progress && progress->stage == SEARCH_OPENING)
        report->hooks.progress(report->hooks.context, progress->found ? progress->best_seconds : 0,
                               progress->bound_seconds);
}

/* The request resolved: data loaded, defaults filled in. `json` is the model's tree, which outlives the call. */
static bool resolve(const shardopt_request *from, const cJSON *json, shardopt_report *to, Error *error) {
    Options options = {.environment = {to, clock_hook, hook_interrupted, hook_progress}, .model_json = json};
    for (Option option = 0; option < OPTION_COUNT; option++) {
        options.where[option] = option_name(option);
        if (!from->text[option]) continue;
        options.text[option] = arena_text(&to->arena, from->text[option]); /* the report outlives the request */
        if (!options.text[option]) return error_memory(error);
    }
    if (json) {
        options.text[OPTION_MODEL] = arena_text(&to->arena, from->model_name);
        if (!options.text[OPTION_MODEL]) return error_memory(error);
    }
    if (!request_from_options(&options, &to->arena, &to->request, error)) return false;
    to->request.control.keep_search_log = from->text[OPTION_CERTIFICATE] != NULL;
    return true;
}

/* What the program adds to a plan, when it does: the chance of being the fastest counts the measured run. */
static bool take_stage(void *of, Report *report, ReportStage stage, Error *error) {
    shardopt_report *made = of;
    return stage != STAGE_PLAN ||
           (data_files_name_all(report, &made->arena, error) && measured_run_add(report, &made->arena, error));
}

static int code_of_result(const SearchResult *result) {
    if (result->interrupted) return SHARDOPT_INTERRUPTED;
    if (search_left_open(result)) return SHARDOPT_LIMIT;
    return result->plan_count > 0 ? SHARDOPT_DONE : SHARDOPT_NO_PLAN;
}

int shardopt_search(const shardopt_request *request, const shardopt_hooks *hooks, shardopt_report **report,
                    shardopt_error *error) {
    IN_LOCALE_C;
    Error own = {0};
    cJSON *json = NULL;
    shardopt_report *made = calloc(1, sizeof *made);
    *report = NULL;
    if (!made) return inside_fail_memory(error);
    if (hooks) made->hooks = *hooks;
    bool ok = !request->model_json ||
              (json = json_parse(request->model_json, request->model_length, request->model_name, &own)) != NULL;
    ok = ok && resolve(request, json, made, &own) &&
         report_make_for(&made->request, &(ReportReader){.made = take_stage, .context = made}, &made->arena,
                         &made->report, &own);
    cJSON_Delete(json);
    if (!ok) {
        shardopt_report_free(made);
        return inside_fail(&own, error);
    }
    inside_fail(&own, error);
    *report = made;
    return made->code = code_of_result(&made->report.result);
}

void shardopt_report_free(shardopt_report *report) {
    if (!report) return;
    arena_free(&report->arena);
    free(report);
}

/* ---- a report ---- */

static const RankedPlan *ranked_at(const shardopt_report *report, int rank) {
    const SearchResult *result = &report->report.result;
    return rank >= 1 && rank <= result->plan_count ? &result->plans[rank - 1] : NULL;
}

int shardopt_report_plan_count(const shardopt_report *report) { return report->report.result.plan_count; }

/* The members of shardopt_plan that are figures, each by its key. */
#define MEMBER(key, member)                                                                                            \
    { key, offsetof(shardopt_plan, member) }
static const struct {
    const char *key;
    size_t at;
} MEMBERS[] = {MEMBER("axes.data", data),
               MEMBER("axes.fsdp", fsdp),
               MEMBER("axes.sequence", sequence),
               MEMBER("axes.tensor", tensor),
               MEMBER("axes.expert", expert),
               MEMBER("axes.pipeline", pipeline),
               MEMBER("chips_used", chips_used),
               MEMBER("batch.sequences", sequences),
               MEMBER("step.seconds", seconds),
               MEMBER("step.lower_seconds", lower_seconds),
               MEMBER("step.upper_seconds", upper_seconds),
               MEMBER("step.likely_low_seconds", likely_low_seconds),
               MEMBER("step.likely_high_seconds", likely_high_seconds),
               MEMBER("mfu", mfu),
               MEMBER("tokens_per_second", tokens_per_second),
               MEMBER("memory.total_bytes", hbm_bytes),
               MEMBER("memory.limit_bytes", hbm_limit_bytes)};

bool shardopt_report_plan(const shardopt_report *report, int rank, shardopt_plan *plan) {
    IN_LOCALE_C;
    const RankedPlan *ranked = ranked_at(report, rank);
    PlanRecord record;
    if (!ranked) return false;
    plan_record(&report->request, ranked, rank, &record);
    *plan = (shardopt_plan){0};
    for (size_t i = 0; i < COUNT_OF(MEMBERS); i++) {
        const Field *field = field_named(PLAN_FIELDS, MEMBERS[i].key);
        void *member = (char *)plan + MEMBERS[i].at;
        double value = field_is_known(field, &record) ? field_number(field, &record) : 0;
        if (field->type == FIELD_WHOLE)
            *(int64_t *)member = (int64_t)value;
        else
            *(double *)member = value;
    }
    snprintf(plan->notation, sizeof plan->notation, "%s", record.notation);
    snprintf(plan->machine, sizeof plan->machine, "%s", record.machine);
    snprintf(plan->launchers, sizeof plan->launchers, "%s", record.launchers);
    return true;
}

bool shardopt_report_figure(const shardopt_report *report, int rank, const char *key, double *value) {
    IN_LOCALE_C;
    const RankedPlan *ranked = ranked_at(report, rank);
    const Field *field = field_named(PLAN_FIELDS, key);
    PlanRecord record;
    if (!ranked || !field || field->type == FIELD_TEXT) return false;
    plan_record(&report->request, ranked, rank, &record);
    *value = field_number(field, &record);
    return field_is_known(field, &record);
}

bool shardopt_plan_figure(int index, const char **key, const char **meaning) {
    if (index < 0 || !PLAN_FIELDS[index].key) return false;
    *key = PLAN_FIELDS[index].key;
    while (PLAN_FIELDS[index].meaning && PLAN_FIELDS[index].meaning[0] == '=') index--;
    *meaning = PLAN_FIELDS[index].meaning;
    return true;
}

bool shardopt_report_term(const shardopt_report *report, int rank, int index, const char **name, double *seconds) {
    const RankedPlan *ranked = ranked_at(report, rank);
    Term terms[TERMS_MAX];
    if (!ranked || index < 0 || index >= step_terms(&ranked->estimate, &ranked->plan.degrees, terms)) return false;
    *name = terms[index].name;
    *seconds = terms[index].seconds;
    return true;
}

void shardopt_report_proof(const shardopt_report *report, shardopt_proof *proof) {
    const SearchResult *result = &report->report.result;
    const Certificate *certificate = &result->certificate;
    *proof = (shardopt_proof){.plans_covered = (double)certificate->plans_covered,
                              .plans_evaluated = (double)certificate->plans_evaluated,
                              .gap = certificate->gap,
                              .best_bound_seconds = certificate->best_bound_seconds,
                              .search_seconds = result->seconds};
}

/* ---- writing ---- */

/* With what is around the search, which is searched once. */
static bool look_around(shardopt_report *report, Error *error) {
    Report *of = &report->report;
    return of->around || report_make_around(of, (AroundProgress){NULL, NULL}, &report->arena, error);
}
static bool write_page(shardopt_report *report, FILE *out, Error *error) {
    return look_around(report, error) && report_write_html(&report->report, out, error);
}

static bool write_certificate(shardopt_report *report, FILE *out, Error *error) {
    const Report *from = &report->report;
    if (!from->result.search_log)
        return error_set(error, ERROR_INPUT, "certificate",
                         "was not kept; set the option \"certificate\" before the search");
    return certificate_write(&(SearchRecord){from->request, &from->result, from->data_sha256}, out, error);
}

static bool write_text(shardopt_report *report, FILE *out, Error *error) {
    return report_write_text(&report->report, (TextOut){.file = out}, error);
}
static bool write_json(shardopt_report *report, FILE *out, Error *error) {
    return look_around(report, error) && report_write_json(&report->report, false, out, error);
}
static bool write_markdown(shardopt_report *report, FILE *out, Error *error) {
    return report_write_markdown(&report->report, out, error);
}
static bool write_csv(shardopt_report *report, FILE *out, Error *error) {
    return report_write_csv(&report->report, out, error);
}

static bool write_as(shardopt_report *report, const char *format, FILE *out, Error *error) {
    static const struct {
        const char *name;
        bool (*write)(shardopt_report *report, FILE *out, Error *error);
    } FORMATS[] = {{"text", write_text}, {"json", write_json}, {"markdown", write_markdown},
                   {"html", write_page}, {"csv", write_csv},   {"certificate", write_certificate}};
    for (size_t i = 0; i < COUNT_OF(FORMATS); i++)
        if (strcmp(FORMATS[i].name, format) == 0) return FORMATS[i].write(report, out, error);
    return error_set(error, ERROR_INPUT, "format",
                     "\"%.40s\" is no format; give text, json, markdown, html, csv or certificate", format);
}

int shardopt_report_write(shardopt_report *report, const char *format, char **text, size_t *length,
                          shardopt_error *error) {
    IN_LOCALE_C;
    Error own = {0};
    size_t size = 0;
    *text = NULL;
    FILE *memory = memory_stream_open(text, &size);
    if (!memory) return inside_fail_memory(error);
    bool ok = write_as(report, format, memory, &own);
    if (fclose(memory) != 0 && ok) ok = error_memory(&own);
    if (length) *length = size;
    if (ok) return inside_fail(&own, error);
    free(*text);
    *text = NULL;
    return inside_fail(&own, error);
}
