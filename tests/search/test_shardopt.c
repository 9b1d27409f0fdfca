/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The library as a caller has it: requests of options, reports read and written, two searches side by side, an
 * interrupt, and errors that say where, what and what instead. What reports say is the program's own, told by its
 * command line. */
#include "base/file.h"
#include "base/json.h"
#include "base/util.h"
#include "search/shardopt.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void set(shardopt_request *request, const char *option, const char *value) {
    shardopt_error error;
    cr_assert_eq(shardopt_request_set(request, option, value, &error), SHARDOPT_DONE, "%s: %s", error.where,
                 error.text);
}

static shardopt_request *request_of(const char *const *words, int count) {
    shardopt_request *request = shardopt_request_new();
    cr_assert_not_null(request);
    for (int i = 0; i + 1 < count; i += 2) set(request, words[i], words[i + 1]);
    return request;
}

static const char *const SMALL[] = {"model", "8b", "chip", "v5e", "slice", "4x4", "batch", "256Ki"};

static char *written(shardopt_report *report, const char *format) {
    char *text;
    size_t length;
    shardopt_error error;
    cr_assert_eq(shardopt_report_write(report, format, &text, &length, &error), SHARDOPT_DONE, "%s", error.text);
    cr_assert_eq(strlen(text), length);
    return text;
}

/* What the program prints for the same request. */
static char *printed(const char *format) {
    char *words[] = {"shardopt", "--model",  "8b",           "--chip", "v5e",           "--slice", "4x4", "--batch",
                     "256Ki",    "--format", (char *)format, "-v",     "--sensitivity", "fast",    NULL};
    char *text;
    cr_assert_eq(shardopt_call(14, words, &text, NULL), SHARDOPT_DONE);
    return text;
}

Test(shardopt, writes_what_the_program_prints) {
    static const char *const FAST[] = {"model", "8b",    "chip",  "v5e",         "slice",
                                       "4x4",   "batch", "256Ki", "sensitivity", "fast"};
    shardopt_request *request = request_of(FAST, COUNT_OF(FAST));
    shardopt_report *report;
    shardopt_error error;
    cr_assert_eq(shardopt_search(request, NULL, &report, &error), SHARDOPT_DONE, "%s: %s", error.where, error.text);
    shardopt_request_free(request); /* a report lives without its request */
    static const char *const FORMATS[] = {"text", "json", "markdown", "csv"};
    for (size_t i = 0; i < COUNT_OF(FORMATS); i++) {
        char *ours = written(report, FORMATS[i]), *theirs = printed(FORMATS[i]);
        cr_expect_str_eq(ours, theirs, "%s", FORMATS[i]);
        shardopt_free(ours);
        shardopt_free(theirs);
    }
    shardopt_report_free(report);
}

Test(shardopt, plans_and_terms_are_those_of_the_json) {
    shardopt_request *request = request_of(SMALL, COUNT_OF(SMALL));
    shardopt_report *report;
    shardopt_proof proof;
    Error error = {0};
    cr_assert_eq(shardopt_search(request, NULL, &report, NULL), SHARDOPT_DONE);
    char *text = written(report, "json");
    cJSON *json = json_parse(text, strlen(text), "report", &error);
    cr_assert_not_null(json);
    const cJSON *plans = cJSON_GetObjectItem(json, "plans"), *item;
    int rank = 0;
    cJSON_ArrayForEach(item, plans) {
        shardopt_plan plan;
        double sum = 0, seconds;
        const char *name;
        cr_assert(shardopt_report_plan(report, ++rank, &plan));
        cr_expect_str_eq(plan.notation, cJSON_GetObjectItem(item, "notation")->valuestring);
        cr_expect_eq(plan.fsdp, (int64_t)json_at(item, "axes.fsdp")->valuedouble);
        cr_expect_eq(plan.seconds, json_at(item, "step.seconds")->valuedouble);
        cr_expect_eq(plan.likely_high_seconds, json_at(item, "step.likely_high_seconds")->valuedouble);
        cr_expect_eq(plan.mfu, json_at(item, "mfu")->valuedouble);
        cr_expect_eq(plan.hbm_bytes, json_at(item, "memory.total_bytes")->valuedouble);
        cr_expect(plan.tokens_per_second * plan.seconds > 0.999999 * 262144 &&
                  plan.tokens_per_second * plan.seconds < 1.000001 * 262144);
        const char *key, *meaning;
        int figures = 0;
        for (int i = 0; shardopt_plan_figure(i, &key, &meaning); i++) {
            double value;
            const cJSON *at = json_at(item, key);
            bool is_number = cJSON_IsNumber(at) || cJSON_IsBool(at);
            cr_expect_eq(shardopt_report_figure(report, rank, key, &value), is_number, "%s", key);
            if (!cJSON_IsNumber(at)) continue;
            cr_expect_eq(value, at->valuedouble, "%s", key);
            figures++;
        }
        cr_expect_geq(figures, 50);
        for (int i = 0; shardopt_report_term(report, rank, i, &name, &seconds); i++) sum += seconds;
        cr_expect_float_eq(sum, plan.seconds, 1e-9 * plan.seconds);
    }
    cr_expect_eq(rank, shardopt_report_plan_count(report));
    cr_expect_geq(rank, 2, "rows that differ in kind");
    cr_expect_not(shardopt_report_plan(report, 0, &(shardopt_plan){0}));
    cr_expect_not(shardopt_report_plan(report, rank + 1, &(shardopt_plan){0}));
    shardopt_report_proof(report, &proof);
    cr_expect_eq(proof.gap, 0);
    cr_expect_eq(proof.plans_covered, json_at(json, "search.plans_covered")->valuedouble);
    cJSON_Delete(json);
    shardopt_free(text);
    shardopt_report_free(report);
    shardopt_request_free(request);
}

/* ---- two searches in two threads ---- */

typedef struct {
    const char *model;
    char *text;
} Job;

static void *run_job(void *of) {
    Job *job = of;
    const char *words[] = {"model", job->model, "chip", "v5e", "slice", "4x4", "batch", "256Ki", "threads", "2"};
    shardopt_request *request = request_of(words, COUNT_OF(words));
    shardopt_report *report;
    if (shardopt_search(request, NULL, &report, NULL) == SHARDOPT_DONE || report) job->text = written(report, "json");
    shardopt_report_free(report);
    shardopt_request_free(request);
    return NULL;
}

Test(shardopt, two_searches_side_by_side_give_what_each_gives_alone) {
    Job alone[2] = {{"8b", NULL}, {"gemma2-2b", NULL}}, together[4];
    pthread_t threads[4];
    for (int i = 0; i < 2; i++) run_job(&alone[i]);
    for (int i = 0; i < 4; i++) {
        together[i] = (Job){alone[i % 2].model, NULL};
        cr_assert_eq(pthread_create(&threads[i], NULL, run_job, &together[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        cr_assert(together[i].text && alone[i % 2].text);
        cr_expect_str_eq(together[i].text, alone[i % 2].text, "%s", together[i].model);
        shardopt_free(together[i].text);
    }
    for (int i = 0; i < 2; i++) shardopt_free(alone[i].text);
}

/* ---- interrupt and progress ---- */

typedef struct {
    int asked, told, limit;
} Watch;

static bool watch_interrupts(void *context) {
    Watch *watch = context;
    return __atomic_add_fetch(&watch->asked, 1, __ATOMIC_RELAXED) > watch->limit;
}

static void watch_progress(void *context, double best_seconds, double bound_seconds) {
    Watch *watch = context;
    cr_expect(best_seconds >= 0 && bound_seconds >= 0);
    watch->told++;
}

Test(shardopt, an_interrupt_ends_with_a_gap) {
    const char *words[] = {"model", "70b", "chip", "h100", "nodes", "64", "batch", "4Mi", "seq", "8192"};
    shardopt_request *request = request_of(words, COUNT_OF(words));
    shardopt_report *report;
    Watch watch = {.limit = 0};
    shardopt_hooks hooks = {&watch, watch_interrupts, watch_progress};
    cr_expect_eq(shardopt_search(request, &hooks, &report, NULL), SHARDOPT_INTERRUPTED);
    cr_expect(watch.asked > 0);
    cr_assert_not_null(report);
    shardopt_proof proof;
    shardopt_report_proof(report, &proof);
    cr_expect(shardopt_report_plan_count(report) == 0 || proof.gap > 0);
    shardopt_report_free(report);
    watch = (Watch){.limit = 1 << 30};
    cr_expect_eq(shardopt_search(request, &hooks, &report, NULL), SHARDOPT_DONE);
    cr_expect(watch.told > 0);
    shardopt_report_free(report);
    shardopt_request_free(request);
}

/* ---- models of the caller ---- */

Test(shardopt, a_model_as_text) {
    Arena arena = {0};
    Error failure = {0};
    shardopt_error error;
    char *text;
    size_t length;
    cr_assert(
        file_read(SHARDOPT_TEST_DATA "/models/configs/llama.json", 1 << 20, &arena, &text, &length, &failure) ||
            file_read(SHARDOPT_SOURCE_DATA "/models/zoo/llama3.1-8b.json", 1 << 20, &arena, &text, &length, &failure),
        "%s", failure.text);
    shardopt_request *request = request_of(SMALL + 2, COUNT_OF(SMALL) - 2);
    shardopt_report *report;
    cr_assert_eq(shardopt_request_set_model_json(request, "mine", text, length, &error), SHARDOPT_DONE);
    cr_expect_eq(shardopt_search(request, NULL, &report, &error), SHARDOPT_DONE, "%s: %s", error.where, error.text);
    cr_expect(report && shardopt_report_plan_count(report) > 0);
    shardopt_report_free(report);
    cr_assert_eq(shardopt_request_set_model_json(request, "mine", "{\"model_type\": \n 7x}", 21, &error),
                 SHARDOPT_DONE);
    cr_expect_eq(shardopt_search(request, NULL, &report, &error), SHARDOPT_INPUT);
    cr_expect_str_eq(error.where, "mine:2:3", "%s", error.where);
    cr_expect_null(report);
    shardopt_request_free(request);
    arena_free(&arena);
}

/* ---- errors ---- */

Test(shardopt, errors_say_where_what_and_what_instead) {
    shardopt_error error;
    shardopt_report *report;
    shardopt_request *request = shardopt_request_new();
    cr_expect_eq(shardopt_request_set(request, "modle", "8b", &error), SHARDOPT_INPUT);
    cr_expect_str_eq(error.where, "modle");
    cr_expect(strstr(error.text, "did you mean model"), "%s", error.text);
    cr_expect_eq(shardopt_request_set(request, "output", "x", &error), SHARDOPT_INPUT, "no request writes files");
    cr_expect_eq(shardopt_search(request, NULL, &report, &error), SHARDOPT_INPUT);
    cr_expect(strstr(error.text, "is missing"), "%s", error.text);
    set(request, "model", "8b");
    set(request, "slice", "3x5");
    cr_expect_eq(shardopt_search(request, NULL, &report, &error), SHARDOPT_INPUT);
    cr_expect_str_eq(error.where, "slice");
    set(request, "slice", NULL); /* taken back */
    set(request, "chip", "v5e");
    set(request, "slice", "2x2");
    set(request, "model", "405b");
    cr_expect_eq(shardopt_search(request, NULL, &report, &error), SHARDOPT_NO_PLAN);
    cr_expect_eq(error.code, SHARDOPT_DONE);
    cr_assert_not_null(report);
    cr_expect_eq(shardopt_report_plan_count(report), 0);
    char *text;
    cr_expect_eq(shardopt_report_write(report, "pdf", &text, NULL, &error), SHARDOPT_INPUT);
    cr_expect_null(text);
    cr_expect_eq(shardopt_report_write(report, "certificate", &text, NULL, &error), SHARDOPT_INPUT);
    shardopt_report_free(report);
    shardopt_request_free(request);
}
