/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/util.h"

#include "search/answer/tie.h"
#include "search/cli/request_text.h"
#include "search/engine/search.h"
#include "search/launch/launcher.h"
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

/* EP is an axis of experts or a fold of them, which a plan with the axis has not: by hand, of each form. */
Test(request, either_form_of_expert_parallelism) {
    static const struct {
        const char *text;
        int64_t axis, fold;
        bool admits;
    } FORMS[] = {{"ep=8", 8, 0, true},  {"EP8", 1, 8, true},      {"ep=8", 1, 0, false}, {"ep=8", 4, 0, false},
                 {"ep=8", 1, 4, false}, {"ep<=4", 1, 0, true},    {"ep<=4", 4, 0, true}, {"ep<=4", 1, 8, false},
                 {"ep>=4", 1, 8, true}, {"ep>=4", 2, 0, false},   {"ep=1", 1, 0, true},  {"ep=1", 1, 2, false},
                 {"ep=1", 2, 0, false}, {"expert=8", 1, 8, false}};
    for (size_t i = 0; i < COUNT_OF(FORMS); i++) {
        Request *request = calloc(1, sizeof *request);
        Error error = {0};
        Degrees degrees = {{1, 1, 1, 1, 1, 1}};
        Knobs knobs = {.methods.grid.expert = FORMS[i].fold};
        degrees.of[ROLE_EXPERT] = FORMS[i].axis;
        cr_assert(requirements_parse(FORMS[i].text, "--require", request->space.requirements,
                                     &request->space.requirement_count, &error),
                  "%s", error.text);
        bool admits = request_admits(request, &degrees) && request_admits_knobs(request, &degrees, &knobs);
        cr_expect_eq(admits, FORMS[i].admits, "%s of %lld and %lld", FORMS[i].text, (long long)FORMS[i].axis,
                     (long long)FORMS[i].fold);
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
    cr_expect(request_admits_knobs(request, &(Degrees){{4, 1, 1, 1, 1, 1}}, &knobs));
    knobs.microbatches = 9;
    cr_expect_not(request_admits_knobs(request, &(Degrees){{4, 1, 1, 1, 1, 1}}, &knobs));
    knobs.microbatches = 1;
    knobs.regather = false;
    cr_expect_not(request_admits_knobs(request, &(Degrees){{4, 1, 1, 1, 1, 1}}, &knobs));
    knobs.regather = true;
    knobs.schedule = SCHEDULE_1F1B;
    cr_expect_not(request_admits_knobs(request, &(Degrees){{4, 1, 1, 1, 1, 1}}, &knobs));
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
    strcpy(request->requested.model, "405b");
    strcpy(request->question.chip.name, "tpu-v5p");
    strcpy(request->requested.profile, "ideal");
    request->question.work = (Work){.sequences = 2048, .seq = 8192};
    request->requested.batch_tokens = 16777000;
    request->requested.machine_request.pods = 1;
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

/* What may go to the host: who asks for what, what happens by default, and what is said of it. */

#define H100 "plan --model 8b --chip h100 --nodes 1 --batch 64Ki --seq 8192 --top 1 "

/* By default everything may, wherever the catalog knows the host's memory, whatever is required of it. */
Test(offload, settled) {
    static const struct {
        const char *name, *line;
        Offload offload;
        bool given;
    } ROWS[] = {
        {"PCIe", H100, OFFLOAD_ALL, false},
        {"auto is the default", H100 "--offload auto", OFFLOAD_ALL, false},
        {"asked for", H100 "--offload all", OFFLOAD_ALL, true},
        {"asked away", H100 "--offload none", OFFLOAD_NONE, true},
        {"one of both", H100 "--offload optimizer", OFFLOAD_OPTIMIZER, true},
        {"required", H100 "--require offload_optimizer=true", OFFLOAD_ALL, false},
        {"required to stay", H100 "--require offload_optimizer=false", OFFLOAD_ALL, false},
        {"a policy", H100 "--remat minimal_offloaded", OFFLOAD_ALL, false},
        {"a coherent link", "plan --model 8b --chip gb200 --chips 8 --batch 64Ki", OFFLOAD_ALL, false},
        {"a TPU", "plan --model 8b --chip v5e --slice 4x4 --batch 64Ki", OFFLOAD_ALL, false},
        {"a TPU, asked", "plan --model 8b --chip v5e --slice 4x4 --batch 64Ki --offload none", OFFLOAD_NONE, true},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Arena arena = {0};
        Request *request = ARENA_NEW(&arena, Request, 1);
        cr_assert(request_from_text(ROWS[i].line, &arena, request), "%s", ROWS[i].name);
        cr_expect_eq(request->question.offload, ROWS[i].offload, "%s: %s", ROWS[i].name,
                     offload_name(request->question.offload));
        cr_expect_eq(request->requested.offload, ROWS[i].given, "%s", ROWS[i].name);
        arena_free(&arena);
    }
}

/* Who updates the state on the host: Adam on the CPUs for launchers of GPUs, the chip for the others and for nobody. */
Test(offload, updates) {
    static const struct {
        const char *launchers;
        HostUpdate update;
    } ROWS[] = {{"megatron", HOST_UPDATE_ON_CPU},  {"torchtitan", HOST_UPDATE_ON_CPU},
                {"deepspeed", HOST_UPDATE_ON_CPU}, {"maxtext", HOST_UPDATE_STREAMS},
                {"jax", HOST_UPDATE_STREAMS},      {"jax,megatron", HOST_UPDATE_ON_CPU}};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        LauncherSet set;
        Error error = {0};
        cr_assert(launchers_parse(ROWS[i].launchers, "--for", &set, &error), "%s", error.text);
        cr_expect_eq(launchers_host_update(set), ROWS[i].update, "%s", ROWS[i].launchers);
    }
    cr_expect_eq(launchers_host_update(0), HOST_UPDATE_STREAMS);
}

typedef struct {
    Arena arena;
    Request *request;
    SearchResult result;
} Found;

static Found find_for(const char *line, const char *launchers) {
    Found found = {0};
    Error error = {0};
    found.request = ARENA_NEW(&found.arena, Request, 1);
    cr_assert(request_from_line(line, launchers, &found.arena, found.request), "%s", line);
    cr_assert(search_run(found.request, &found.arena, &found.result, &error), "%s: %s", line, error.text);
    return found;
}

static Found find(const char *line) { return find_for(line, "any"); }
static Found find_usual(const char *line) { return find_for(line, NULL); }

static double fastest(const Found *found) {
    return found->result.plan_count > 0 ? search_fastest(&found->result)->ranked_seconds : INFINITY;
}

/* 8b with AdamW is 14 bytes a parameter, 112 GB: eight H100 hold it, and one does not, though it holds the 2 bytes that
 * are left when its state is on the host. */
#define ONE "plan --model 8b --chip h100 --chips 1 --batch 64Ki --seq 8192 --top 1 "
Test(offload, the_host_is_searched_where_nothing_fits_without) {
    Found open = find(ONE), closed = find(ONE "--offload none"), brute = find(ONE "--brute-force");
    cr_expect_eq(closed.result.plan_count, 0);
    cr_assert_eq(open.result.plan_count, 1);
    cr_assert_eq(brute.result.plan_count, 1);
    cr_expect(open.result.plans[0].plan.knobs.offload_optimizer);
    cr_expect_eq(fastest(&open), fastest(&brute));
    Found *const ended[] = {&open, &closed, &brute};
    for (size_t i = 0; i < COUNT_OF(ended); i++) arena_free(&ended[i]->arena);
}

/* What may go to the host by default is the union of what --offload may allow: no value of it is faster, and one is as
 * fast. The first five lines forced weights to the host where launchers of fine-tuning had no plan that divides; the
 * next looked at the host only where nothing fits. */
Test(offload, nothing_narrower_is_faster) {
    static const char *const VALUES[] = {"none", "optimizer", "activations", "all", "parameters"};
    static const char *const LINES[] = {
        "plan --model 70b --chip h100 --nodes 1 --lora --sequences 4 --top 1",
        "plan --model 8b --chip h100 --nodes 1 --lora --sequences 12 --top 1",
        "plan --model 8b --chip h100 --nodes 1 --qlora --sequences 4 --top 1",
        "plan --model 8b --chip a100 --gpus 8 --lora --batch 8192 --seq 2048 --top 1",
        "plan --model 8b --chip 4090 --gpus 4 --qlora --sequences 2 --top 1",
        "plan --model 70b --chip h100 --nodes 2 --sequences 64 --top 1",
        "plan --model 70b --chip 4090 --gpus 8 --lora --top 1",
        "plan --model 8b --chip h100 --nodes 1 --sft --top 1",
        "plan --model 8b --chip v5e --slice 4x4 --batch 256Ki --top 1",
        "plan --model 8b --chip gh200 --nodes 4 --sequences 16 --seq 4096 --top 1",
    };
    for (size_t i = 0; i < COUNT_OF(LINES); i++) {
        Found open = find_usual(LINES[i]);
        double least = INFINITY;
        for (size_t k = 0; k < COUNT_OF(VALUES); k++) {
            char line[256];
            bool tunes = strstr(LINES[i], "lora") || strstr(LINES[i], "sft");
            if (strcmp(VALUES[k], "parameters") == 0 && !tunes) continue;
            snprintf(line, sizeof line, "%s --offload %s", LINES[i], VALUES[k]);
            Found narrow = find_usual(line);
            bool fallback = narrow.result.request->space.launchers == 0 && open.result.request->space.launchers != 0;
            if (!fallback) least = min_real(least, fastest(&narrow));
            arena_free(&narrow.arena);
        }
        cr_expect(fabs(fastest(&open) - least) <= 1e-12 * least, "%s: %.9g s, and %.9g s with some --offload", LINES[i],
                  fastest(&open), least);
        arena_free(&open.arena);
    }
}

/* Megatron-Bridge PR 3062: Qwen3 30B-A3B on 16 H100, TP2 PP2 EP4, all of the state on the host: 4.2 times as slow, and
 * 3.9 times with copies overlapped. Its batch is not published; its command has 8 sequences of 4,096. */
#define BRIDGE                                                                                                         \
    "plan --model qwen3-30b-a3b --chip h100 --nodes 2 --seq 4096 --sequences 8 --for megatron --top 1 --require "      \
    "tensor=2,pipeline=2,data=4,folded_expert=4,schedule=1f1b,offload_optimizer="
Test(offload, adam_on_the_cpus_as_measured) {
    Found here = find(BRIDGE "false"), there = find(BRIDGE "true");
    cr_assert_eq(here.result.plan_count, 1);
    cr_assert_eq(there.result.plan_count, 1);
    double slower = there.result.plans[0].ranked_seconds / here.result.plans[0].ranked_seconds;
    cr_expect(slower > 3.9 * 0.8 && slower < 4.2 * 1.2, "%.2f times", slower);
    arena_free(&here.arena), arena_free(&there.arena);
}
