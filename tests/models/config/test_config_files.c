/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whole files as the hubs have them, one at least for each model_type: keys that mean nothing here, odd spellings, old
 * and new forms, wrappers. Written for this test from public facts about the formats; no copies. */
#include "base/util.h"
#include "models/parameters.h"
#include "tests/models/zoo_fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(config_files, .init = zoo_setup, .fini = zoo_teardown);

#define CONFIGS SHARDOPT_TEST_DATA "/models/configs/"

/* `rows` of the vocabulary more than the zoo's model has. `rope`: "type theta factor share", and the theta of windowed
 * layers where it is another; NULL: the positions are not rotary. */
static const struct {
    const char *file, *type, *model;
    int64_t rows;
    int kinds;
    const char *rope, *left_out, *stored_as;
} ROWS[] = {
    {"llama3.1-8b", "llama", "llama3.1-8b", 0, 1, "llama3 500000 8 1", "", "bfloat16"},
    {"llama3.2-1b", "llama", "llama3.2-1b", 0, 1, "llama3 500000 32 1", "", "bfloat16"},
    {"mistral-7b", "mistral", "mistral-7b", 0, 1, "default 10000 1 1", "", "bfloat16"},
    {"mixtral-8x22b", "mixtral", "mixtral-8x22b", 0, 1, "default 1e+06 1 1", "", "bfloat16"},
    {"qwen2.5-0.5b", "qwen2", "qwen2.5-0.5b", 0, 1, "default 1e+06 1 1", "", "bfloat16"},
    {"qwen1.5-moe-a2.7b", "qwen2_moe", "qwen1.5-moe-a2.7b", 0, 1, "default 1e+06 1 1", "", "bfloat16"},
    {"qwen3-4b", "qwen3", "qwen3-4b", 0, 1, "default 1e+06 1 1", "", "bfloat16"},
    {"qwen3-30b-a3b", "qwen3_moe", "qwen3-30b-a3b", 0, 1, "default 1e+06 1 1", "", "bfloat16"},
    {"gemma-2b", "gemma", "gemma-2b", 0, 1, "default 10000 1 1", "", "bfloat16"},
    {"gemma2-27b", "gemma2", "gemma2-27b", 0, 2, "default 10000 1 1", "", "float32"},
    {"gemma3-1b", "gemma3_text", "gemma3-1b", 0, 2, "default 1e+06 1 1 10000", "", "bfloat16"},
    {"gemma3-27b", "gemma3", "gemma3-27b", 64, 2, "linear 1e+06 8 1 10000",
     "vision tower (its work on images; it is counted)", "bfloat16"},
    {"gemma3-27b-new", "gemma3", "gemma3-27b", 64, 2, "linear 1e+06 8 1 10000",
     "vision tower (its work on images; it is counted)", "bfloat16"},
    {"deepseek-v2-lite", "deepseek_v2", "deepseek-v2-lite", 0, 2, "yarn 10000 40 1", "", "bfloat16"},
    {"deepseek-v3", "deepseek_v3", "deepseek-v3", 0, 2, "yarn 10000 40 1", "1 layer for multi-token prediction",
     "bfloat16, quantized (fp8 e4m3)"},
    {"kimi-k2", "kimi_k2", "kimi-k2", 0, 2, "yarn 50000 32 1", "", "bfloat16, quantized (fp8 e4m3)"},
    {"gpt2-xl", "gpt2", "gpt2-xl", 0, 1, NULL, "", ""},
    {"gpt-neox-20b", "gpt_neox", "gpt-neox-20b", 0, 1, "default 10000 1 0.25", "", "float16"},
    {"bloom-176b", "bloom", "bloom-176b", 0, 1, NULL, "", ""},
    {"falcon-7b", "falcon", "falcon-7b", 0, 1, "default 10000 1 1", "", "bfloat16"},
    {"falcon-40b", "falcon", "falcon-40b", 0, 1, "default 10000 1 1", "", "bfloat16"},
    {"falcon-40b-old", "RefinedWeb", "falcon-40b", 0, 1, "default 10000 1 1", "", "bfloat16"},
    {"mpt-7b", "mpt", "mpt-7b", 0, 1, NULL, "", "bfloat16"},
    {"opt-66b", "opt", "opt-66b", 0, 1, NULL, "", "float16"},
    {"phi-2", "phi", "phi-2", 0, 1, "default 10000 1 0.4", "", "float16"},
    {"phi-3-mini", "phi3", "phi-3-mini", 0, 1, "longrope 10000 1 1", "", "bfloat16"},
    {"nemotron-4-340b", "nemotron", "nemotron-4-340b", 0, 1, "default 10000 1 0.5", "", "bfloat16"},
    {"olmo2-32b", "olmo2", "olmo2-32b", 0, 1, "default 500000 1 1", "", "float32"},
    {"dbrx", "dbrx", "dbrx", 0, 1, "default 500000 1 1", "", "bfloat16"},
    {"gpt-oss-120b", "gpt_oss", "gpt-oss-120b", 0, 2, "yarn 150000 32 1", "", "quantized (mxfp4)"},
    {"llama4-scout-17b-16e", "llama4", "llama4-scout-17b-16e", 0, 2, "llama3 500000 16 1",
     "vision tower (its work on images; it is counted)", "bfloat16"},
    {"llama4-maverick-17b-128e", "llama4", "llama4-maverick-17b-128e", 0, 3, "default 500000 1 1",
     "vision tower (its work on images; it is counted)", "bfloat16"},
    {"glm-4.5", "glm4_moe", "glm-4.5", 0, 2, "default 1e+06 1 0.5", "1 layer for multi-token prediction", "bfloat16"},
    {"glm-4.5-air", "glm4_moe", "glm-4.5-air", 0, 2, "default 1e+06 1 0.5", "1 layer for multi-token prediction",
     "bfloat16"},
    {"mistral3-wrapper", "mistral3", "mistral-large-2407", 0, 1, "default 1e+06 1 1",
     "vision tower (its work on images; it is counted)", "bfloat16"},
};

static void rope_words(const Rope *rope, char *text, size_t size) {
    int used = snprintf(text, size, "%s %g %g %g", rope->type, rope->theta, rope->factor, rope->share);
    if (rope->window_theta > 0) snprintf(text + used, size - (size_t)used, " %g", rope->window_theta);
}

/* The counts of counts.tsv, and where the zoo has the model too, the same layers. */
Test(config_files, are_read) {
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        char path[512], words[64] = "";
        snprintf(path, sizeof path, CONFIGS "%s.json", ROWS[i].file);
        Model model;
        Error error = {0};
        bool ok = model_load(path, &arena, &model, &error);
        cr_expect(ok, "%s: %s: %s", ROWS[i].file, error.where, error.text);
        const Model *known = zoo_find(&zoo, ROWS[i].model);
        cr_expect(known, "%s", ROWS[i].model);
        if (!ok || !known) continue;

        Parameters p = model_parameters(&model), q = model_parameters(known);
        int64_t more = ROWS[i].rows * model.d_model;
        cr_expect_eq(p.language, q.total + more, "%s: %lld", ROWS[i].file, (long long)p.language);
        cr_expect_eq(p.active - (p.total - p.language), q.active + more, "%s: %lld", ROWS[i].file, (long long)p.active);
        cr_expect_str_eq(model.model_type, ROWS[i].type, "%s", ROWS[i].file);
        cr_expect_eq(model.kind_count, ROWS[i].kinds, "%s: %d kinds", ROWS[i].file, model.kind_count);
        cr_expect_eq(model.positions, known->positions, "%s", ROWS[i].file);
        cr_expect_eq(model.max_seq >= known->training.seq, true, "%s", ROWS[i].file);
        cr_expect_eq(model.rope.theta > 0, ROWS[i].rope != NULL, "%s: theta %g", ROWS[i].file, model.rope.theta);
        if (ROWS[i].rope) rope_words(&model.rope, words, sizeof words);
        cr_expect_str_eq(words, ROWS[i].rope ? ROWS[i].rope : "", "%s", ROWS[i].file);
        cr_expect_str_eq(model.left_out, ROWS[i].left_out, "%s", ROWS[i].file);
        cr_expect_str_eq(model.stored_as, ROWS[i].stored_as, "%s", ROWS[i].file);
        for (int k = 0; k < model.kind_count && model.kind_count == known->kind_count; k++) {
            const LayerKind *a = &model.kinds[k], *b = &known->kinds[k];
            bool same = a->count == b->count && a->heads == b->heads && a->kv_heads == b->kv_heads &&
                        a->window == b->window && a->chunked == b->chunked && a->no_rope == b->no_rope &&
                        a->experts == b->experts && a->top_k == b->top_k && a->d_ff_shared == b->d_ff_shared;
            cr_expect(same, "%s: kind %d", ROWS[i].file, k); /* Phi-3's window of 262,144 is none */
        }
    }
}

/* What the kinds of the new types are, from the published descriptions. */
Test(config_files, kinds) {
    const struct {
        const char *file;
        int kind;
        int64_t count, window, experts, d_ff, d_ff_shared;
        bool chunked, no_rope;
    } rows[] = {
        {"gpt-oss-120b", 0, 18, 128, 128, 0, 0, false, false},
        {"gpt-oss-120b", 1, 18, 0, 128, 0, 0, false, false},
        {"llama4-scout-17b-16e", 0, 36, 8192, 16, 0, 8192, true, false},
        {"llama4-scout-17b-16e", 1, 12, 0, 16, 0, 8192, false, true},
        {"llama4-maverick-17b-128e", 0, 24, 8192, 0, 16384, 0, true, false},  /* layers 1, 3, 5 .. */
        {"llama4-maverick-17b-128e", 1, 12, 8192, 128, 0, 8192, true, false}, /* 2, 6, 10 .. */
        {"llama4-maverick-17b-128e", 2, 12, 0, 128, 0, 8192, false, true},    /* 4, 8, 12 .. */
        {"glm-4.5", 0, 3, 0, 0, 12288, 0, false, false},
        {"glm-4.5", 1, 89, 0, 160, 0, 1536, false, false},
        {"gemma2-27b", 0, 23, 4096, 0, 36864, 0, false, false}, /* every second of 46 */
        {"gemma2-27b", 1, 23, 0, 0, 36864, 0, false, false},
        {"gemma3-27b-new", 0, 52, 1024, 0, 21504, 0, false, false},
        {"gemma3-27b-new", 1, 10, 0, 0, 21504, 0, false, false},
        {"dbrx", 0, 40, 0, 16, 0, 0, false, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char path[512];
        snprintf(path, sizeof path, CONFIGS "%s.json", rows[i].file);
        Model model;
        Error error = {0};
        cr_assert(model_load(path, &arena, &model, &error), "%s: %s", error.where, error.text);
        cr_assert_lt(rows[i].kind, model.kind_count, "%s", rows[i].file);
        const LayerKind *kind = &model.kinds[rows[i].kind];
        cr_expect(kind->count == rows[i].count && kind->window == rows[i].window && kind->experts == rows[i].experts &&
                      kind->d_ff == rows[i].d_ff && kind->d_ff_shared == rows[i].d_ff_shared &&
                      kind->chunked == rows[i].chunked && kind->no_rope == rows[i].no_rope,
                  "%s: kind %d: %lld layers, window %lld", rows[i].file, rows[i].kind, (long long)kind->count,
                  (long long)kind->window);
    }
}
