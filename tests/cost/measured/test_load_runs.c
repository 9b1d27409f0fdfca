/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/util.h"
#include "cost/measured/run.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static bool parsed(const char *text, Arena *arena, RunTable *out, Error *error) {
    char *copy = arena_text(arena, text);
    cr_assert(copy);
    return run_table_parse("f.jsonl", copy, strlen(copy), arena, out, error);
}

#define REQUEST "\"request\":{\"model\":\"llama3.1-8b\",\"chip\":\"h100\",\"chips\":8,\"seq\":4096,\"sequences\":64"
#define LINE(more) "{" REQUEST "}," more "\"plan\":\"fsdp=8\",\"measured\":{\"step_seconds\":1}}"

/* Every figure has its member, and a role is no other role. */
Test(run, a_line_as_it_stands) {
    static const char TEXT[] =
        "\r\n{\"id\":\"one-1\",\"source\":\"page\",\"family\":\"one-v5.0\",\"framework\":\"Megatron\",\"release\":"
        "\"r1\","
        "\"model\":\"Llama\",\"guesses\":2,\"assumed\":\"x\",\"aside\":\"a\",\"flagged\":\"f\",\"mixture\":true,"
        "\"active_parameters\":8e9,\"said\":{\"dp\":\"8\"},\"note\":\"n\"," REQUEST
        ",\"node_gigabits\":400,\"precision\":\"fp8\",\"state\":\"gradients=bf16\",\"remat\":\"full:5\","
        "\"stack\":\"torch-fsdp\",\"capacity_factor\":1.25,\"sequence_parallel\":false,\"jax_mesh\":true},"
        "\"plan\":\"data=2 fsdp=3 sequence=5 tensor=7 pipeline=11 microbatches=13 microbatch_sequences=17 "
        "schedule=interleaved virtual_stages=4 zero_stage=1 regather=false folded_expert=16\","
        "\"measured\":{\"step_seconds\":12.5,\"step_factor\":1.06,\"memory_bytes\":4e10,\"memory_shows\":\"device\","
        "\"first_stage_layers\":0}}\r\n"
        "{\"request\":\"--model 70b --chip h100\",\"plan\":\"fsdp=8\",\"measured\":{\"failed\":true}}";
    Arena arena = {0};
    RunTable table;
    Error error = {0};
    cr_assert(parsed(TEXT, &arena, &table, &error), "%s: %s", error.where, error.text);
    cr_assert_eq(table.count, 2);
    const Run *one = &table.runs[0], *two = &table.runs[1];
    const RunRequest *request = &one->request;
    static const int64_t DEGREES[ROLE_COUNT] = {[ROLE_DATA] = 2,   [ROLE_FSDP] = 3,      [ROLE_SEQUENCE] = 5,
                                                [ROLE_TENSOR] = 7, [ROLE_PIPELINE] = 11, [ROLE_EXPERT] = 1};
    for (Role role = 0; role < ROLE_COUNT; role++)
        cr_expect_eq(one->degrees.of[role], DEGREES[role], "%s", role_name(role));
    cr_expect_eq(one->line, 2);
    cr_expect_str_eq(one->id, "one-1");
    cr_expect_str_eq(one->family, "one-v5.0");
    cr_expect_str_eq(one->model, "Llama");
    cr_expect(one->guesses == 2 && one->mixture && one->active_parameters == 8e9);
    cr_expect(request->chips == 8 && request->seq == 4096 && request->sequences == 64 && request->slices == 1);
    cr_expect(request->node_gigabits == 400 && request->capacity_factor == 1.25);
    cr_expect(!request->sequence_parallel && request->jax_mesh && !request->serial_ranks && !request->expert_overlap);
    cr_expect_eq(request->precision, PRECISION_FP8);
    cr_expect_eq(request->state.gradients, DTYPE_BF16);
    cr_expect(request->remat.layers == 5 && request->remat.state[ACTIVATION_QKV] == STATE_RECOMPUTED);
    cr_expect(one->knobs.microbatches == 13 && one->knobs.microbatch_sequences == 17);
    cr_expect(one->knobs.schedule == SCHEDULE_INTERLEAVED && one->knobs.virtual_stages == 4);
    cr_expect(one->knobs.zero_stage == 1 && !one->knobs.regather);
    cr_expect(one->knobs.methods.grid.expert == 16 && one->knobs.methods.grid.expert_tensor == 1);
    cr_expect_eq(one->measured.step_seconds, 12.5);
    cr_expect_eq(one->measured.step_factor, 1.06);
    cr_expect_eq(one->measured.memory_bytes, 4e10);
    cr_expect_eq(one->measured.memory_shows, MEMORY_SHOWN_DEVICE);
    cr_expect_eq(one->measured.first_stage_layers, 0);
    cr_expect_str_eq(two->id, "line 3", "a run without a name");
    cr_expect_str_eq(two->request.words, "--model 70b --chip h100");
    cr_expect(two->measured.failed && two->measured.first_stage_layers == -1 && two->measured.step_factor == 1);
    arena_free(&arena);
}

/* Adapters by rank and matrices; {} is all weights. */
Test(run, tuning) {
    static const struct {
        const char *tuning;
        double rank, stored;
        unsigned targets;
    } ROWS[] = {
        {"{}", 0, 0, 0},
        {"{\"rank\":8}", 8, 0, TARGETS_ALL},
        {"{\"rank\":16,\"targets\":\"q_proj,v_proj\"}", 16, 0, 1 << TARGET_QUERY | 1 << TARGET_VALUE},
        {"{\"rank\":64,\"targets\":\"attention\",\"stored\":\"nf4\"}", 64, TUNING_STORED_BYTES, TARGETS_ATTENTION}};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        char text[512];
        Arena arena = {0};
        RunTable table;
        Error error = {0};
        snprintf(text, sizeof text, "{" REQUEST ",\"tuning\":%s},\"plan\":\"\",\"measured\":{\"step_seconds\":1}}",
                 ROWS[i].tuning);
        cr_assert(parsed(text, &arena, &table, &error), "%s: %s", error.where, error.text);
        const Tuning *tuning = &table.runs[0].request.tuning;
        cr_expect(tuning->on && tuning->rank == ROWS[i].rank && tuning->targets == ROWS[i].targets, "%s",
                  ROWS[i].tuning);
        cr_expect_eq(tuning->stored_bytes, ROWS[i].stored, "%s", ROWS[i].tuning);
        cr_expect_eq(tuning->frozen, ROWS[i].rank > 0 ? FROZEN_ALL : 0u, "%s", ROWS[i].tuning);
        arena_free(&arena);
    }
}

/* Lines that are no runs, with the place and the reason. */
static const struct {
    const char *name, *text, *where, *part;
} WRONG[] = {
    {"empty", "", "f.jsonl", "there is no run"},
    {"only empty lines", "\n\r\n \n", "f.jsonl", "there is no run"},
    {"a table", "id\thardware\n", "f.jsonl", "python3 cost/measured/lab/convert.py"},
    {"no JSON", LINE("") "\n{\"id\":x}\n", "f.jsonl:2:7", ""},
    {"two objects", LINE("") LINE(""), "f.jsonl:1", ""},
    {"a key twice", "{\"id\":\"a\",\"id\":\"b\"}", "f.jsonl:1:11", ""},
    {"a list", "[1]", "f.jsonl:1:1", "give {\"request\""},
    {"no request", "{\"id\":\"a\",\"measured\":{}}", "f.jsonl:1:1", "request: give the options"},
    {"no model", "{\"request\":{\"chip\":\"h100\"}}", "f.jsonl:1:2", "has no model"},
    {"an unknown key", LINE("\"famly\":\"x\","), "f.jsonl:1:86", "did you mean family"},
    {"a number as text", "{" REQUEST ",\"vocab\":\"9\"}}", "f.jsonl:1:85", "give a number from 1"},
    {"half a chip", "{\"request\":{\"model\":\"m\",\"chip\":\"h\",\"chips\":1.5,\"seq\":1,\"sequences\":1}}",
     "f.jsonl:1:36", "give a whole number"},
    {"no chips", "{\"request\":{\"model\":\"m\",\"chip\":\"h\",\"chips\":0,\"seq\":1,\"sequences\":1}}", "f.jsonl:1:36",
     "give a number from 1"},
    {"a flag as a number", "{" REQUEST ",\"jax_mesh\":1}}", "f.jsonl:1:85", "give true or false"},
    {"no precision", "{" REQUEST ",\"precision\":\"fp7\"}}", "f.jsonl:1:85", "none of bf16, fp8"},
    {"no policy", "{" REQUEST ",\"remat\":\"fool\"}}", "f.jsonl:1:85", "did you mean full"},
    {"nobody's policy", "{" REQUEST ",\"remat\":\"auto\"}}", "f.jsonl:1:85", "give none, full or states"},
    {"no state", "{" REQUEST ",\"state\":\"gradients=bf17\"}}", "f.jsonl:1:85", "state: "},
    {"no matrix", "{" REQUEST ",\"tuning\":{\"rank\":8,\"targets\":\"x_proj\"}}}", "f.jsonl:1:104", "no matrix"},
    {"no configuration",
     "{\"request\":{\"model\":{\"layers\":1},\"chip\":\"h\",\"chips\":8,\"seq\":1,\"sequences\":1}}", "f.jsonl:1:13",
     "model: "},
    {"no role", "{" REQUEST "},\"plan\":\"tenor=8\",\"measured\":{}}", "f.jsonl:1:86", "no degree or knob"},
    {"no degree", "{" REQUEST "},\"plan\":\"tensor=0\",\"measured\":{}}", "f.jsonl:1:86", "plan: "},
    {"no word", "{" REQUEST "},\"plan\":\"TP8\",\"measured\":{}}", "f.jsonl:1:86", "is no fsdp=64"},
    {"nothing measured", "{" REQUEST "},\"plan\":\"fsdp=8\",\"measured\":{}}", "f.jsonl:1:102", "has no figure"},
    {"a share without its peak", "{" REQUEST "},\"plan\":\"fsdp=8\",\"measured\":{\"mfu\":0.4}}", "f.jsonl:1:102",
     "has no figure"},
    {"less than nothing", "{" REQUEST "},\"plan\":\"fsdp=8\",\"measured\":{\"step_seconds\":-1}}", "f.jsonl:1:114",
     "give a number from 1e-06"},
    {"an id twice", LINE("\"id\":\"a\",") "\n\n" LINE("\"id\":\"a\","), "f.jsonl:3:86", "that of line 1"},
};

Test(run, what_is_wrong) {
    for (size_t i = 0; i < COUNT_OF(WRONG); i++) {
        Arena arena = {0};
        RunTable table = {.count = 77};
        Error error = {0};
        cr_expect_not(parsed(WRONG[i].text, &arena, &table, &error), "%s", WRONG[i].name);
        cr_expect_eq(error.kind, ERROR_INPUT, "%s", WRONG[i].name);
        cr_expect(strncmp(error.where, WRONG[i].where, strlen(WRONG[i].where)) == 0, "%s: %s", WRONG[i].name,
                  error.where);
        cr_expect(strstr(error.text, WRONG[i].part), "%s: %s", WRONG[i].name, error.text);
        cr_expect_eq(table.count, 77, "%s: untouched", WRONG[i].name);
        arena_free(&arena);
    }
}

/* The files of the project: the counts that their description names. */
Test(run, files_of_the_project) {
    static const struct {
        const char *path;
        int64_t runs, memory;
    } TABLES[] = {{SHARDOPT_SOURCE_DATA "/cost/measured/data/train.jsonl", 798, 81},
                  {SHARDOPT_SOURCE_DATA "/cost/measured/data/partial.jsonl", 148, 13},
                  {SHARDOPT_SOURCE_DATA "/cost/measured/data/finetune.jsonl", 555, 254},
                  {SHARDOPT_SOURCE_DATA "/cost/measured/data/nanotron.jsonl", 1107, 1107},
                  {SHARDOPT_SOURCE_DATA "/cost/measured/data/nanotron-failed.jsonl", 1030, 0}};
    for (size_t i = 0; i < COUNT_OF(TABLES); i++) {
        Arena arena = {0};
        RunTable table;
        Error error = {0};
        cr_assert(run_table_read(TABLES[i].path, &arena, &table, &error), "%s: %s", error.where, error.text);
        int64_t memory = 0;
        for (int64_t r = 0; r < table.count; r++) memory += table.runs[r].measured.memory_bytes > 0;
        cr_expect_eq(table.count, TABLES[i].runs, "%s: %d", TABLES[i].path, (int)table.count);
        cr_expect_eq(memory, TABLES[i].memory, "%s: %d", TABLES[i].path, (int)memory);
        cr_expect_eq(strlen(table.sha256), 64);
        arena_free(&arena);
    }
}

/* The runs of a chip alone are those of the whole file that name it. */
Test(run, of_one_chip) {
    static const char PATH[] = SHARDOPT_SOURCE_DATA "/cost/measured/data/train.jsonl";
    Arena arena = {0};
    RunTable all, some;
    Error error = {0};
    int64_t next = 0;
    cr_assert(run_table_read(PATH, &arena, &all, &error) && run_table_read_chip(PATH, "h100", &arena, &some, &error));
    for (int64_t i = 0; i < all.count; i++) {
        if (strcmp(all.runs[i].request.chip, "h100") != 0) continue;
        cr_assert(next < some.count && strcmp(all.runs[i].id, some.runs[next++].id) == 0, "%s", all.runs[i].id);
    }
    cr_expect(next == some.count && next > 200, "%d", (int)next);
    arena_free(&arena);
}
