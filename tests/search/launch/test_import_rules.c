/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What readers of launch files have in common, rule by rule (search/launch/import.h). Values are divisions that a
 * reader can do in the head; sizes are those of published models. */
#include "base/util.h"
#include "search/launch/import.h"

#include <criterion/criterion.h>
#include <string.h>

static Arena ARENA;

static ConfigFile a_file(void) { return (ConfigFile){.name = "run.yml", .arena = &ARENA}; }

/* Llama 3.1 8B in its sizes, and Qwen3-30B-A3B, all of whose layers are mixtures, in a few. */
static const Model LLAMA = {.name = "llama",
                            .layers = 32,
                            .d_model = 4096,
                            .vocab = 128256,
                            .max_seq = 131072,
                            .kinds = {{.heads = 32, .kv_heads = 8, .d_ff = 14336}},
                            .kind_count = 1};
static const Model MIXED = {.name = "mixed",
                            .layers = 48,
                            .d_model = 2048,
                            .vocab = 151936,
                            .max_seq = 40960,
                            .kinds = {{.heads = 32, .kv_heads = 4, .d_ff = 6144},
                                      {.heads = 32, .kv_heads = 4, .d_ff_expert = 768, .experts = 128}},
                            .kind_count = 2};

/* How well sizes match: 1, and 2 more for the same vocabulary, 1 more for the same longest sequence. */
Test(import, sizes_of_a_model) {
    static const struct {
        const char *name;
        const Model *model;
        ImportedSizes said; /* layers, d_model, heads, kv_heads, d_ff, experts, vocab, max_seq */
        int expected;
    } rows[] = {
        {"all the same", &LLAMA, {32, 4096, 32, 8, 14336, 0, 128256, 131072}, 4},
        {"other length", &LLAMA, {32, 4096, 32, 8, 14336, 0, 128256, 8192}, 3},
        {"silent", &LLAMA, {32, 4096, 0, 0, 0, 0, 0, 0}, 1},
        {"silent but its length", &LLAMA, {32, 4096, 0, 0, 0, 0, 0, 131072}, 2},
        {"padded by 4,096 at most", &LLAMA, {32, 4096, 32, 8, 14336, 0, 132352, 131072}, 2},
        {"padded by more", &LLAMA, {32, 4096, 32, 8, 14336, 0, 132353, 131072}, 0},
        {"less by 4,096", &LLAMA, {32, 4096, 32, 8, 14336, 0, 124160, 131072}, 2},
        {"less by more", &LLAMA, {32, 4096, 32, 8, 14336, 0, 124159, 131072}, 0},
        {"a layer more", &LLAMA, {33, 4096, 32, 8, 14336, 0, 128256, 131072}, 0},
        {"wider", &LLAMA, {32, 5120, 32, 8, 14336, 0, 128256, 131072}, 0},
        {"other heads", &LLAMA, {32, 4096, 40, 8, 14336, 0, 128256, 131072}, 0},
        {"other KV heads", &LLAMA, {32, 4096, 32, 32, 14336, 0, 128256, 131072}, 0},
        {"other MLP", &LLAMA, {32, 4096, 32, 8, 11008, 0, 128256, 131072}, 0},
        {"experts where there are none", &LLAMA, {32, 4096, 32, 8, 14336, 8, 128256, 131072}, 0},
        {"MLP of the dense layers", &MIXED, {48, 2048, 32, 4, 6144, 128, 151936, 40960}, 4},
        {"MLP of an expert", &MIXED, {48, 2048, 32, 4, 768, 128, 151936, 40960}, 4},
        {"MLP of neither", &MIXED, {48, 2048, 32, 4, 1536, 128, 151936, 40960}, 0},
        {"no experts said", &MIXED, {48, 2048, 32, 4, 6144, 0, 151936, 40960}, 0},
        {"other experts", &MIXED, {48, 2048, 32, 4, 6144, 64, 151936, 40960}, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        cr_expect_eq(import_sizes_match(&rows[i].said, rows[i].model), rows[i].expected, "%s", rows[i].name);
    cr_expect(import_sizes_known(&(ImportedSizes){.layers = 1, .d_model = 1}));
    cr_expect_not(import_sizes_known(&(ImportedSizes){.layers = 1, .heads = 1}));
    cr_expect_not(import_sizes_known(&(ImportedSizes){.d_model = 1, .heads = 1}));
}

Test(import, heads_by_tensor) {
    static const struct {
        int64_t heads, kv_heads, tensor;
        bool copies, latent, ok;
    } rows[] = {
        {32, 8, 8, false, false, true},      {32, 8, 16, false, false, false}, {32, 8, 16, true, false, true},
        {32, 8, 64, true, false, false},     {36, 36, 8, true, false, false},  {36, 36, 12, false, false, true},
        {48, 6, 4, true, false, false},      {24, 6, 12, true, false, true},   {128, 1, 8, false, false, false},
        {128, 1, 8, true, false, true},      {128, 128, 8, false, true, true}, {128, 3, 8, false, true, true},
        {128, 128, 256, false, true, false}, {71, 1, 1, false, false, true},
    };
    static Request request;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ConfigFile file = a_file();
        Error error = {0};
        Model *model = &request.question.model;
        *model = LLAMA;
        model->kinds[0].heads = rows[i].heads;
        model->kinds[0].kv_heads = rows[i].kv_heads;
        model->kinds[0].attention = rows[i].latent ? ATTENTION_LATENT : ATTENTION_HEADS;
        bool ok = import_check_heads(&file, &request, "tp", rows[i].tensor, rows[i].copies, &error);
        cr_expect_eq(ok, rows[i].ok, "row %zu", i);
        cr_expect_eq(error.kind, ok ? ERROR_NONE : ERROR_INPUT, "row %zu", i);
        /* the second kind of layer counts as the first does */
        model->kinds[1] = model->kinds[0];
        model->kinds[0].heads = model->kinds[0].kv_heads = 2 * rows[i].tensor;
        model->kind_count = 2;
        error = (Error){0};
        cr_expect_eq(import_check_heads(&file, &request, "tp", rows[i].tensor, rows[i].copies, &error), rows[i].ok,
                     "row %zu, second", i);
    }
    arena_free(&ARENA);
}

Test(import, sequence_by_degrees) {
    static Request request;
    ConfigFile file = a_file();
    Error error = {0};
    request.question.work.seq = 8192;
    cr_expect(import_check_seq(&file, &request, "cp", 64, &error));
    cr_expect(import_check_seq(&file, &request, "cp", 8192, &error));
    cr_expect_not(import_check_seq(&file, &request, "cp", 48, &error));
    cr_expect(strstr(error.text, "8192 tokens is no multiple of 48"), "%s", error.text);
    arena_free(&ARENA);
}

/* 128 devices: what the other degrees leave. */
Test(import, degree_that_is_left) {
    static const struct {
        int64_t tensor, pipeline, data, left; /* left 0: refused */
    } rows[] = {{8, 4, 1, 4}, {8, 4, 4, 1}, {1, 1, 1, 128}, {8, 4, 8, 0}, {3, 1, 1, 0}, {128, 2, 1, 0}};
    static Request request;
    request.question.machine.mesh.devices = 128;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ConfigFile file = a_file();
        ImportedPlan plan = {0};
        Error error = {0};
        int64_t left = 0;
        for (int role = 0; role < ROLE_COUNT; role++) plan.degrees.of[role] = 1;
        plan.degrees.of[ROLE_TENSOR] = rows[i].tensor;
        plan.degrees.of[ROLE_PIPELINE] = rows[i].pipeline;
        plan.degrees.of[ROLE_DATA] = rows[i].data;
        cr_expect_eq(import_left_over(&file, &request, "dp", &plan, &left, &error), rows[i].left > 0, "row %zu", i);
        cr_expect_eq(left, rows[i].left, "row %zu", i);
    }
    /* a product beyond 2^63 is refused, not taken for what is left of it */
    ImportedPlan plan = {0};
    ConfigFile file = a_file();
    Error error = {0};
    int64_t left = 0;
    for (int role = 0; role < ROLE_COUNT; role++) plan.degrees.of[role] = INT64_C(1) << 32;
    cr_expect_not(import_left_over(&file, &request, "dp", &plan, &left, &error));
    arena_free(&ARENA);
}

/* Sequences of a step are replicas times microbatches times the sequences of one. */
Test(import, whole_microbatches) {
    static const struct {
        int64_t sequences, replicas, micro, microbatches; /* 0: refused */
    } rows[] = {{512, 16, 2, 16}, {512, 16, 32, 1}, {512, 16, 64, 0}, {520, 16, 1, 0}, {48, 16, 3, 1}, {48, 16, 2, 0}};
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        for (int asked = 0; asked < 2; asked++) {
            static Request request;
            ConfigFile file = a_file();
            ImportedPlan plan = {0};
            Error error = {0};
            for (int role = 0; role < ROLE_COUNT; role++) plan.degrees.of[role] = 1;
            plan.degrees.of[ROLE_DATA] = rows[i].replicas;
            request.requested.batch_origin = asked ? FROM_OPTION : FROM_DEFAULT;
            request.question.work.sequences = rows[i].sequences;
            /* the file says something else where the command line counts */
            int64_t said = asked ? 7 : rows[i].sequences;
            bool ok = import_batch(&file, &request, "batch", said, rows[i].micro, &plan, &error);
            cr_expect_eq(ok, rows[i].microbatches > 0, "row %zu: %s", i, error.text);
            cr_expect_eq(plan.sequences, rows[i].sequences, "row %zu", i);
            if (!ok) continue;
            cr_expect_eq(plan.knobs.microbatches, rows[i].microbatches, "row %zu", i);
            cr_expect_eq(plan.knobs.microbatch_sequences, rows[i].micro, "row %zu", i);
            cr_expect(import_says(&plan, KNOB_MICROBATCHES) && import_says(&plan, KNOB_MICROBATCH_SEQUENCES));
            cr_expect_not(import_says(&plan, KNOB_OFFLOAD_OPTIMIZER));
        }
    arena_free(&ARENA);
}

Test(import, widest_mixture) {
    static Request request;
    request.question.model = LLAMA;
    cr_expect_eq(import_experts(&request), 0);
    request.question.model = MIXED;
    cr_expect_eq(import_experts(&request), 128);
}
