/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/util.h"
#include "search/request/request.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* Conditions and the degrees {tensor, expert, sequence, fsdp, data, pipeline} that they admit or not. */
static const struct {
    const char *text;
    Degrees degrees;
    bool admits;
} ROWS[] = {
    {"tensor=4", {{4, 1, 1, 1, 1, 1}}, true},
    {"tensor=4", {{8, 1, 1, 1, 1, 1}}, false},
    {"tensor<=4", {{2, 1, 1, 1, 1, 1}}, true},
    {"tensor<=4", {{8, 1, 1, 1, 1, 1}}, false},
    {"pipeline>=2", {{1, 1, 1, 1, 1, 2}}, true},
    {"pipeline>=2", {{1, 1, 1, 1, 1, 1}}, false},
    {"tensor=4 pipeline<=8", {{4, 1, 1, 1, 1, 8}}, true},
    {"tensor=4,pipeline<=8", {{4, 1, 1, 1, 1, 16}}, false},
    {"  fsdp >= 1Ki ,, data = 2 ", {{1, 1, 1, 1024, 2, 1}}, true},
    {"fsdp>=2 fsdp<=8", {{1, 1, 1, 16, 1, 1}}, false},
    {"expert=8", {{1, 8, 1, 1, 1, 1}}, true},
    {"sequence=2147483648", {{1, 1, 2, 1, 1, 1}}, false},
};

Test(request, admits) {
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Request *request = calloc(1, sizeof *request);
        Error error = {0};
        cr_expect(requirements_parse(ROWS[i].text, "--require", request->space.requirements,
                                     &request->space.requirement_count, &error),
                  "%s: %s", ROWS[i].text, error.text);
        cr_expect_eq(request_admits(request, &ROWS[i].degrees), ROWS[i].admits, "%s", ROWS[i].text);
        free(request);
    }
}

Test(request, nothing_required_admits_all) {
    Request *request = calloc(1, sizeof *request);
    cr_expect(request_admits(request, &(Degrees){{2, 3, 5, 7, 11, 13}}));
    free(request);
}

/* What is printed is read back as the same. */
Test(request, text_round_trip) {
    Request *request = calloc(1, sizeof *request), *again = calloc(1, sizeof *again);
    char text[REQUIREMENTS_TEXT_SIZE];
    Error error = {0};
    cr_assert(requirements_parse("tensor=4, pipeline<=8  data>=2147483648", "--require", request->space.requirements,
                                 &request->space.requirement_count, &error));
    cr_expect_str_eq(requirements_text(request, text), "tensor=4 pipeline<=8 data>=2147483648");
    cr_assert(
        requirements_parse(text, "--require", again->space.requirements, &again->space.requirement_count, &error));
    cr_expect_eq(again->space.requirement_count, 3);
    cr_expect_eq(again->space.requirements[2].op, REQUIRE_AT_LEAST);
    free(request);
    free(again);
}

static const char *const HOSTILE[] = {
    "",
    " ",
    ",,,",
    "=",
    "=4",
    "tensor",
    "tensor=",
    "tensor<",
    "tensor<4",
    "tensor>4",
    "tensor==4",
    "tensor=<4",
    "tensor<=<=4",
    "tensor=0",
    "tensor=-1",
    "tensor=4.5",
    "tensor=1e99",
    "tensor=99999999999999999999",
    "tensor=2147483649",
    "tensor=4 pipeline",
    "tensor=4;pipeline=2",
    "TENSOR=4",
    "tq=4",
    "tensor 4",
    "tensor=4=4",
    "tensor= =4",
    "tensor=%n%s",
    "\xff=4",
    "tensor=4\n",
    "tensor=4 tensor=8",
    "tensor>=8 tensor<=4",
    "tensorrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr=4",
    "tensor=00000000000000000000000000000000000000000000000000000000004",
    "zero_stage=one",
    "zero_stage=0 zero=1",
    "schedule=1F1B",
    "schedule<=1f1b",
    "schedule=1f1b schedule=none",
    "regather=maybe",
    "microbatches=-1",
    "microbatches>=8 microbatches<=4",
    "data=1 data=1 data=1 data=1 data=1 data=1 data=1 data=1 data=1 data=1 data=1 data=1 data=1 data=1 data=1 data=1 "
    "data=1 data=1 data=1 data=1 data=1 data=1 data=1 data=1 data=1 data=1 data=1 data=1 data=1 data=1 data=1 data=1 "
    "data=1",
};

Test(request, hostile_conditions) {
    for (size_t i = 0; i < COUNT_OF(HOSTILE); i++) {
        Requirement list[REQUIREMENTS_MAX];
        int count = 0;
        Error error = {0};
        cr_expect_not(requirements_parse(HOSTILE[i], "--require", list, &count, &error), "%s: taken", HOSTILE[i]);
        cr_expect(error.kind == ERROR_INPUT && strcmp(error.where, "--require") == 0 && error.text[0], "%s: %s",
                  HOSTILE[i], error.text);
        cr_expect_leq(count, (int)REQUIREMENTS_MAX);
    }
    char *huge = malloc((1 << 20) + 1);
    memset(huge, 't', 1 << 20);
    huge[1 << 20] = '\0';
    Requirement list[REQUIREMENTS_MAX];
    int count = 0;
    Error error = {0};
    cr_expect_not(requirements_parse(huge, "--require", list, &count, &error));
    free(huge);
}

/* Knobs by the names that reports give them, and their short ones. */
Test(request, knobs) {
    Request *request = calloc(1, sizeof *request);
    char text[REQUIREMENTS_TEXT_SIZE];
    Error error = {0};
    Knobs knobs = {.microbatches = 8,
                   .microbatch_sequences = 2,
                   .schedule = SCHEDULE_INTERLEAVED,
                   .virtual_stages = 4,
                   .zero_stage = 1,
                   .regather = true};
    cr_assert(requirements_parse("tensor=4 microbatches<=8 schedule=interleaved zero=1 regather=true", "--require",
                                 request->space.requirements, &request->space.requirement_count, &error),
              "%s", error.text);
    cr_expect_str_eq(requirements_text(request, text),
                     "tensor=4 microbatches<=8 schedule=interleaved zero_stage=1 regather=true");
    cr_expect(request_admits(request, &(Degrees){{4, 1, 1, 1, 1, 1}}));
    cr_expect_not(request_admits(request, &(Degrees){{8, 1, 1, 1, 1, 1}}));
    cr_expect(request_admits_knobs(request, &knobs));
    knobs.microbatches = 9;
    cr_expect_not(request_admits_knobs(request, &knobs));
    knobs.microbatches = 1;
    knobs.regather = false;
    cr_expect_not(request_admits_knobs(request, &knobs));
    knobs.regather = true;
    knobs.schedule = SCHEDULE_1F1B;
    cr_expect_not(request_admits_knobs(request, &knobs));
    free(request);
}

Test(request, setting_points_into_the_request) {
    Request *request = calloc(1, sizeof *request);
    request->question.work = (Work){.sequences = 3, .seq = 5};
    request->question.hbm_reserve = 0.08;
    request->question.chip.bf16_flops_per_second.value = 1e15;
    request->question.chip.fp8_flops_per_second.value = 2e15;
    CostContext setting = request_cost_context(request);
    cr_expect_eq(setting.model, &request->question.model);
    cr_expect_eq(setting.chip, &request->question.chip);
    cr_expect_eq(setting.profile, &request->question.profile);
    cr_expect_eq(setting.work.sequences * setting.work.seq, 15);
    cr_expect_float_eq(setting.hbm_reserve, 0.08, 0);
    cr_expect_float_eq(setting.precision_flops_per_second, 1e15, 0);
    request->question.precision = PRECISION_FP8;
    cr_expect_float_eq(request_cost_context(request).precision_flops_per_second, 2e15, 0);
    free(request);
}

/* The options that make the request again; what was not asked is left out, but for defaults. */
Test(request, json) {
    Request *request = calloc(1, sizeof *request);
    strcpy(request->asked.model, "405b");
    strcpy(request->question.chip.name, "tpu-v5p");
    strcpy(request->asked.profile, "ideal");
    request->question.work = (Work){.sequences = 2048, .seq = 8192};
    request->asked.requested_batch_tokens = 16777000;
    request->control.top = 5;
    Error error = {0};
    cr_assert(requirements_parse("tensor=4", "--require", request->space.requirements,
                                 &request->space.requirement_count, &error));
    cJSON *json = cJSON_CreateObject();
    cr_assert(request_add_json(request, "maxtext,jax", json));
    static const struct {
        const char *key, *text;
    } TEXTS[] = {{"model", "405b"},      {"chip", "tpu-v5p"},     {"profile", "ideal"},
                 {"for", "maxtext,jax"}, {"require", "tensor=4"}, {"padding", "none"},
                 {"objective", "time"},  {"precision", "bf16"},   {"optimizer", "adamw"}};
    for (size_t i = 0; i < COUNT_OF(TEXTS); i++) {
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(json, TEXTS[i].key);
        cr_expect(cJSON_IsString(value) && strcmp(value->valuestring, TEXTS[i].text) == 0, "%s", TEXTS[i].key);
    }
    char *text = cJSON_PrintUnformatted(json);
    cr_expect(strstr(text, "\"pods\":1,") && strstr(text, "\"batch\":16777000,") && strstr(text, "\"seq\":8192,"), "%s",
              text);
    cr_expect_null(strstr(text, "time_limit"));
    free(text);
    cJSON_Delete(json);
    free(request);
}
