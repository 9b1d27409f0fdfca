/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `emit` writes of a plan, `explain --from-config` reads back as the same plan with the same step. Plans are such as
 * their launcher does exactly: what it does otherwise, emit says itself (recomputation by layers, weights kept for
 * backward), and no configuration has it. */
#include "base/json.h"
#include "base/util.h"
#include "tests/cli/shell.h"

#include <criterion/criterion.h>
#include <math.h>
#include <unistd.h>

#define V6E "--chip v6e --slice 16x16"
#define V5P "--slice 8x8x8 --slices 2"
#define LONG "--slice 8x8x16"
#define H100 "--chip h100 --nodes 16"

static const struct {
    const char *format, *machine, *plan;
} ROWS[] = {
    {"maxtext", V6E, "--model 8b --batch 4Mi --seq 8192 --remat full --require regather=true"},
    {"maxtext", V6E, "--model 8b --batch 4Mi --seq 8192 --remat save_qkv_proj --require 'tensor=4 regather=true'"},
    {"maxtext", V5P, "--model 70b --batch 16Mi --seq 8192 --remat full --require 'tensor=8 regather=true'"},
    {"maxtext", LONG,
     "--model mixtral-8x22b --batch 16Mi --seq 4096 --remat minimal_with_context --require 'expert=8 regather=true'"},
    {"maxtext", LONG,
     "--model 70b --batch 8Mi --seq 32768 --remat full --require 'sequence=4 pipeline=1 regather=true'"},
    {"maxtext", V5P, "--model 70b --batch 16Mi --seq 8192 --remat full --require 'pipeline=4 regather=true'"},
    {"megatron", H100, "--model 70b --batch 4Mi --seq 8192 --remat full --require 'pipeline=4 tensor=4'"},
    {"megatron", H100, "--model 70b --batch 4Mi --seq 8192 --remat none --require 'pipeline=8 microbatch_sequences=1'"},
    {"megatron", H100, "--model 8b --batch 4Mi --seq 8192 --remat none"},
    {"megatron", H100, "--model mixtral-8x22b --batch 4Mi --seq 8192 --remat full"},
    {"megatron", H100, "--model 8b --batch 4Mi --seq 65536 --remat full --require sequence=4"},
    {"torchtitan", H100, "--model 70b --batch 4Mi --seq 8192 --remat full"},
    {"torchtitan", H100, "--model 8b --batch 4Mi --seq 8192 --remat none"},
    {"torchtitan", H100, "--model 70b --batch 4Mi --seq 8192 --remat full --require 'pipeline=4 tensor=8'"},
    {"torchtitan", H100, "--model 8b --batch 4Mi --seq 65536 --remat full --require sequence=4"},
    {"torchtitan", H100, "--model 70b --batch 4Mi --seq 8192 --remat full --require data=4"},
    {"deepspeed", H100, "--model llama2-13b --batch 4Mi --seq 4096 --remat full"},
    {"deepspeed", H100, "--model 8b --batch 2Mi --seq 8192 --remat full"},
    {"deepspeed", H100, "--model 8b --batch 4Mi --seq 8192 --remat full --require 'tensor=4 zero_stage=2'"},
    {"deepspeed", H100, "--model 70b --batch 4Mi --seq 8192 --remat full --require pipeline=8"},
    {"deepspeed", H100, "--model llama2-7b --batch 4Mi --seq 4096 --remat full --require sequence=4"},
};

static cJSON *report_at(const char *folder, const char *name) {
    char path[256];
    Error error = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    cJSON *json = json_read_file(path, &error);
    cr_assert(json, "%s: %s", path, error.text);
    return json;
}

static const cJSON *plan_of(const cJSON *report) {
    return cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(report, "plans"), 0);
}

Test(round_trip, emitted_and_read_back) {
    char folder[] = "/tmp/shardopt-round-XXXXXX", line[2048];
    cr_assert(mkdtemp(folder));
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        snprintf(line, sizeof line,
                 "$P plan -q %s %s --max-idle 0 --for %s --top 1 --format json -o $D/plan.json && "
                 "$P emit %s -q --from $D/plan.json -o $D/config && "
                 "$P explain -q %s --from-config $D/config --format json -o $D/back.json",
                 ROWS[i].machine, ROWS[i].plan, ROWS[i].format, ROWS[i].format, ROWS[i].machine);
        Run done = run(folder, line);
        cr_expect_eq(done.code, 0, "%s %s: %s", ROWS[i].format, ROWS[i].plan, done.err);
        if (done.code == 0) {
            cJSON *plan = report_at(folder, "plan.json"), *back = report_at(folder, "back.json");
            cr_expect_str_eq(json_at(plan_of(back), "notation")->valuestring,
                             json_at(plan_of(plan), "notation")->valuestring, "%s %s", ROWS[i].format, ROWS[i].plan);
            double before = json_at(plan_of(plan), "step.seconds")->valuedouble;
            double after = json_at(plan_of(back), "step.seconds")->valuedouble;
            cr_expect_float_eq(after, before, 1e-12 * before, "%s %s: %.17g, not %.17g", ROWS[i].format, ROWS[i].plan,
                               after, before);
            cJSON_Delete(plan);
            cJSON_Delete(back);
        }
        free(done.out);
        free(done.err);
    }
    snprintf(line, sizeof line, "rm -r %s", folder);
    cr_expect_eq(system(line), 0);
}
