/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `explain --from-config` as a person runs it: files of tests/data/import, written after published recipes. */
#include "base/json.h"
#include "base/util.h"
#include "tests/search/cli/shell.h"

#include <criterion/criterion.h>
#include <math.h>
#include <unistd.h>

#define CONFIGS SHARDOPT_TEST_DATA "/import/"

static char folder[FOLDER_SIZE];
static void begin(void) { folder_make(folder, "config"); }
static void end(void) { folder_drop(folder); }
TestSuite(from_config, .init = begin, .fini = end);

static void run_close(Run *done) {
    free(done->out);
    free(done->err);
}

static cJSON *report_of(const char *line) {
    Run done = run(folder, line);
    Error error = {0};
    cr_assert_eq(done.code, 0, "%s: %s", line, done.err);
    cJSON *json = json_parse(done.out, strlen(done.out), "report", &error);
    cr_assert(json, "%s: %s", line, error.text);
    run_close(&done);
    return json;
}

static double real_at(const cJSON *json, const char *path) {
    const cJSON *value = json_at(json, path);
    cr_assert(cJSON_IsNumber(value), "%s", path);
    return value->valuedouble;
}

static const cJSON *first_plan(const cJSON *report) {
    return cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(report, "plans"), 0);
}

/* The recipe of Llama 3.1 405B on two slices of v6e is a measured run too, which validate reads from a table in words of
 * its own: the same plan, the same prediction; and the measured step, 54.8 s, is in the likely range. */
Test(from_config, a_measured_run) {
    cJSON *report = report_of("$P explain --format json --chip v6e --slice 16x16 --slices 2 --from-config " CONFIGS
                              "maxtext_405b.yml");
    cJSON *runs = report_of("{ head -1 " SHARDOPT_SOURCE_DATA
                            "/cost/measured/data/train.tsv; grep ^tpurec-2xv6e256-llama31-405b " SHARDOPT_SOURCE_DATA
                            "/cost/measured/data/train.tsv; } > $D/one.tsv; $P validate --format json $D/one.tsv");
    const cJSON *step = cJSON_GetObjectItemCaseSensitive(first_plan(report), "step");
    const cJSON *measured = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(runs, "runs"), 0);
    double seconds = real_at(step, "seconds"), predicted = real_at(measured, "predicted_seconds");
    cr_expect_float_eq(seconds, predicted, 1e-9 * predicted, "%g, not %g", seconds, predicted);
    cr_expect(real_at(step, "likely_low_seconds") < 54.803 && real_at(step, "likely_high_seconds") > 54.803);
    cJSON_Delete(report);
    cJSON_Delete(runs);
}

/* Degrees worked out from each file by hand. */
static const struct {
    const char *file, *options, *notation;
    int64_t sequences;
} FILES[] = {
    {"maxtext_8b.sh", "--chip v6e --slice 16x16", "data=1 fsdp=256 sequence=1 tensor=1 expert=1 pipeline=1", 512},
    {"torchtitan_70b.toml", "--chip h100 --nodes 32", "data=1 fsdp=32 sequence=1 tensor=8 expert=1 pipeline=1", 512},
    {"torchtitan_405b_pp.toml", "--chip h100 --nodes 16", "data=1 fsdp=2 sequence=1 tensor=8 expert=1 pipeline=8", 32},
    {"megatron_70b.sh", "--chip h100", "data=16 fsdp=1 sequence=1 tensor=8 expert=1 pipeline=4", 256},
    {"deepspeed_zero3.json", "--chip h100 --nodes 16 --model llama2-13b --seq 4096",
     "data=1 fsdp=128 sequence=1 tensor=1 expert=1 pipeline=1", 512},
};

/* Its plan; and beside it what it lacks: the best is no slower, terms make up the difference. */
Test(from_config, files) {
    for (size_t i = 0; i < COUNT_OF(FILES); i++) {
        char line[512];
        snprintf(line, sizeof line, "$P explain -q --format json %s --from-config " CONFIGS "%s", FILES[i].options,
                 FILES[i].file);
        cJSON *report = report_of(line);
        const cJSON *plan = first_plan(report), *comparison = cJSON_GetObjectItemCaseSensitive(report, "why_not"),
                    *term;
        cr_expect_str_eq(json_at(plan, "notation")->valuestring, FILES[i].notation, "%s", FILES[i].file);
        cr_expect_eq((int64_t)real_at(plan, "batch.sequences"), FILES[i].sequences, "%s", FILES[i].file);
        cr_assert(cJSON_IsObject(comparison), "%s", FILES[i].file);
        bool lacks = strcmp(FILES[i].file, "torchtitan_405b_pp.toml") == 0; /* 405B and 16 microbatches on 128 GPUs */
        cr_expect_eq(real_at(comparison, "lacking_bytes") > 0, lacks, "%s", FILES[i].file);
        if (cJSON_IsFalse(json_at(comparison, "is_best"))) {
            double here = real_at(plan, "step.seconds"), best = real_at(comparison, "best.seconds"), lost = 0;
            cr_expect_float_eq(real_at(comparison, "behind"), here / best - 1, 1e-9, "%s", FILES[i].file);
            cJSON_ArrayForEach(term, json_at(comparison, "terms")) lost +=
                real_at(term, "seconds") - real_at(term, "best_seconds");
            cr_expect_float_eq(lost, here - best, 1e-9 * here, "%s", FILES[i].file);
        }
        cJSON_Delete(report);
    }
}

/* What is wrong, in one line, with exit 2 and nothing on stdout. */
static const struct {
    const char *line, *says;
} WRONG[] = {
    {"$P explain --from-config " CONFIGS "maxtext_405b.yml --chip v6e --slice 16x16", "dcn_*_parallelism"},
    {"$P explain --from-config " CONFIGS "torchtitan_70b.toml", "torchtitan runs on GPUs"},
    {"$P explain --from-config " CONFIGS "deepspeed_zero3.json --chip h100 --nodes 16", "say --model NAME"},
    {"$P explain --from-config " CONFIGS "maxtext_8b.sh --chip v6e --slice 16x16 --plan fsdp=256", "has two plans"},
    {"$P explain --config-format maxtext --chip v6e --slice 16x16 --plan fsdp=256 --model 8b",
     "belongs to --from-config"},
    {"$P explain --config-format axlearn --from-config " CONFIGS "maxtext_8b.sh", "--config-format"},
    {"$P explain --from-config $D/none.yml", "none.yml"},
    {"printf 'ici_fsdp_parallelism: 4\\n  x: y\\n' > $D/a.yml; $P explain --from-config $D/a.yml", "a.yml:2:4"},
    {"printf 'model_name: gpt-9\\nici_fsdp_parallelism: -1\\n' > $D/a.yml; $P explain --from-config $D/a.yml", "gpt-9"},
};

Test(from_config, what_is_wrong) {
    for (size_t i = 0; i < COUNT_OF(WRONG); i++) {
        Run done = run(folder, WRONG[i].line);
        cr_expect_eq(done.code, 2, "%s: %d", WRONG[i].line, done.code);
        cr_expect(strstr(done.err, WRONG[i].says), "%s: %s", WRONG[i].line, done.err);
        cr_expect_str_eq(done.out, "", "%s", WRONG[i].line);
        run_close(&done);
    }
}

/* As a gate: 12% and more behind what MaxText can launch. */
Test(from_config, checked) {
    static const char LINE[] =
        "$P check -q --chip v6e --slice 16x16 --from-config " CONFIGS "maxtext_8b.sh --within %s";
    static const struct {
        const char *within;
        int code;
    } ROWS[] = {{"5%", 1}, {"60%", 0}};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        char line[512];
        snprintf(line, sizeof line, LINE, ROWS[i].within);
        Run done = run(folder, line);
        cr_expect_eq(done.code, ROWS[i].code, "%s: %d: %s", line, done.code, done.err);
        run_close(&done);
    }
}

/* A report of it is a report: --from gives the same plan and step. */
Test(from_config, and_back_from_its_report) {
    cJSON *config =
        report_of("$P explain -q --chip v6e --slice 16x16 --format json -o $D/run.json --from-config " CONFIGS
                  "maxtext_8b.sh && cat $D/run.json");
    cJSON *report = report_of("$P explain --from $D/run.json --format json");
    double a = real_at(first_plan(config), "step.seconds"), b = real_at(first_plan(report), "step.seconds");
    cr_expect_float_eq(a, b, 0, "%.17g, not %.17g", b, a);
    cJSON_Delete(config);
    cJSON_Delete(report);
}
