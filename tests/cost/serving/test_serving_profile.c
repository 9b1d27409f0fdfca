/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who borrows whose figures. */
#include "cost/serving/serving_profile.h"

#include "base/util.h"
#include "cost/serving/worker.h"
#include "mesh/chip_json.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const char *const ENGINES[] = {"vllm", "sglang", "tensorrt-llm", NULL};

typedef struct {
    Arena arena;
    Catalog catalog;
    cJSON *json;
    const char *path;
} Open;

static ServingProfile of(Open *open, const char *chip, const char *engine) {
    ServingProfile profile;
    Error error = {0};
    const Chip *found = catalog_find(&open->catalog, chip);
    cr_assert(found, "%s", chip);
    cr_assert(serving_profile_from_json(open->json, open->path, found, engine, &profile, &error), "%s", error.text);
    return profile;
}

static Open opened(void) {
    Open open = {0};
    Error error = {0};
    cr_assert(catalog_load(&open.arena, &open.catalog, &error), "%s", error.text);
    open.json = serving_profile_open("default", &open.arena, &open.path, &error);
    cr_assert(open.json, "%s", error.text);
    return open;
}

static void close_it(Open *open) {
    cJSON_Delete(open->json);
    arena_free(&open->arena);
}

/* GB200 has the dies of B200, and is fitted with them; an engine without rows of a chip has what all of its rows
 * have in common; and no engine is quicker than what divides and fits. */
Test(serving_profile, kin_lend_their_fit) {
    static const char *const CHIPS[] = {"h100", "h200", "b200", "gb200", "a100-80g", "mi300x"};
    Open open = opened();
    ServingProfile rack = of(&open, "gb200", "tensorrt-llm"), node = of(&open, "b200", "tensorrt-llm");
    cr_expect_eq(rack.layer_seconds, node.layer_seconds);
    cr_expect_eq(rack.expert_extra, node.expert_extra);
    cr_expect_neq(rack.matmul_floor_seconds[ARITHMETIC_BF16], node.matmul_floor_seconds[ARITHMETIC_BF16]);
    ServingProfile borrowed = of(&open, "mi300x", "sglang"), other = of(&open, "a100-80g", "sglang");
    cr_expect_eq(borrowed.first_token_seconds, other.first_token_seconds);
    cr_expect_gt(borrowed.first_token_seconds, 0);
    for (size_t c = 0; c < sizeof CHIPS / sizeof CHIPS[0]; c++) {
        ServingProfile none = of(&open, CHIPS[c], NULL);
        for (int e = 0; ENGINES[e]; e++) {
            ServingProfile one = of(&open, CHIPS[c], ENGINES[e]);
            cr_expect_leq(none.kernel_extra, one.kernel_extra, "%s %s", CHIPS[c], ENGINES[e]);
            cr_expect_leq(none.message_extra, one.message_extra, "%s %s", CHIPS[c], ENGINES[e]);
            cr_expect_leq(none.expert_extra, one.expert_extra, "%s %s", CHIPS[c], ENGINES[e]);
            cr_expect_leq(none.layer_seconds, one.layer_seconds, "%s %s", CHIPS[c], ENGINES[e]);
            cr_expect_leq(none.step_seconds, one.step_seconds, "%s %s", CHIPS[c], ENGINES[e]);
            cr_expect_leq(none.sequence_seconds, one.sequence_seconds, "%s %s", CHIPS[c], ENGINES[e]);
            cr_expect_leq(none.knee, one.knee, "%s %s", CHIPS[c], ENGINES[e]);
            for (int bits = 0; bits < EXPERT_KINDS; bits++) {
                cr_expect_geq(none.expert_flops_share[bits], one.expert_flops_share[bits], "%s %s", CHIPS[c],
                              ENGINES[e]);
                cr_expect_leq(none.expert_token_bytes[bits], one.expert_token_bytes[bits], "%s %s", CHIPS[c],
                              ENGINES[e]);
            }
        }
    }
    close_it(&open);
}

/* vLLM's and SGLang's own rules by the name and the memory of a GPU, as their sources have them. */
Test(serving_profile, limits_that_an_engine_starts_with) {
    static const struct {
        const char *chip, *engine;
        double sequences, tokens;
    } ROWS[] = {
        {"h100", "vllm", 1024, 8192},       {"a100-80g", "vllm", 256, 2048},    {"l4", "vllm", 256, 2048},
        {"b200", "vllm", 1024, 16384},      {"h20", "vllm", 1024, 8192},        {"h200", "sglang", 2048, 8192},
        {"a100-80g", "sglang", 2048, 8192}, {"a100-40g", "sglang", 2048, 4096}, {"b200", "sglang", 2048, 16384}};
    Open open = opened();
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        ServingProfile one = of(&open, ROWS[i].chip, ROWS[i].engine);
        cr_expect_eq(one.start_sequences, ROWS[i].sequences, "%s %s", ROWS[i].chip, ROWS[i].engine);
        cr_expect_eq(one.start_tokens, ROWS[i].tokens, "%s %s", ROWS[i].chip, ROWS[i].engine);
    }
    close_it(&open);
}

/* Versions are told by how they begin, of their own engine alone; what is fitted to them lies over the engine's. */
Test(serving_profile, older_versions_have_figures_of_their_own) {
    static const struct {
        const char *engine, *version;
        bool older;
    } ROWS[] = {
        {"tensorrt-llm", "0.14.0 + triton", true}, {"tensorrt-llm", "0.9.0", true}, {"tensorrt-llm", "0.20", false},
        {"tensorrt-llm", "1.0.0rc3", false},       {"tensorrt-llm", "", false},     {"vllm", "0.9.1", false}};
    Open open = opened();
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++)
        cr_expect_eq(serving_older_versions(open.json, ROWS[i].engine, ROWS[i].version) != NULL, ROWS[i].older, "%s %s",
                     ROWS[i].engine, ROWS[i].version);
    const cJSON *versions = serving_older_versions(open.json, "tensorrt-llm", "0.14.0"), *fit;
    ServingProfile newer = of(&open, "h100", "tensorrt-llm"), older = newer;
    Error error = {0};
    int found = 0;
    cr_assert(
        serving_profile_use_older(open.json, open.path, catalog_find(&open.catalog, "h100"), versions, &older, &error));
    cJSON_ArrayForEach(fit, cJSON_GetObjectItem(open.json, "fits")) {
        const cJSON *figure = cJSON_GetObjectItem(cJSON_GetObjectItem(fit, "figures"), "kernel_extra");
        const cJSON *value = cJSON_GetObjectItem(figure, "value");
        bool h100 = strcmp(cJSON_GetObjectItem(fit, "chips")->child->valuestring, "h100") == 0;
        if (!h100 || !cJSON_GetObjectItem(fit, "versions")) continue;
        found++;
        cr_expect_eq(older.kernel_extra, value->valuedouble);
        cr_expect_neq(newer.kernel_extra, value->valuedouble);
    }
    cr_expect_eq(found, 1);
    close_it(&open);
}

/* Chips with fp4 too: MI355X was refused, since nobody lent it figures of fp4. */
Test(serving_profile, every_chip_that_is_planned_with_is_served_on) {
    Open open = opened();
    for (int c = 0; c < open.catalog.count; c++) {
        const Chip *chip = &open.catalog.chips[c];
        if (chip->hbm_bytes_per_second.value > 0) of(&open, chip->name, NULL);
    }
    close_it(&open);
}

/* What was measured on MI300X is its own, the rest is H100's, and that is said. Times of all_reduce on eight are
 * rccl-tests' (microsoft/mscclpp pull 736; crickett-hpe/hpc-ai-envs pull 30). */
Test(serving_profile, figures_of_its_own_and_borrowed_ones) {
    static const struct {
        double bytes, seconds;
    } PUBLISHED[] = {{1024, 5.39e-6}, {65536, 8.77e-6}, {262144, 11.68e-6}, {8388608, 91.10e-6}};
    Open open = opened();
    ServingProfile amd = of(&open, "mi300x", "vllm"), lender = of(&open, "h100", "vllm");
    ServingProfile v6e = of(&open, "v6e", "vllm"), v5e = of(&open, "v5e", "vllm");
    cr_expect_str_eq(amd.borrowed, "H100");
    cr_expect_str_eq(lender.borrowed, "");
    cr_expect_str_eq(v6e.borrowed, "");
    cr_expect_str_eq(v5e.borrowed, "v6e");
    cr_expect_eq(amd.attention_floor_seconds, lender.attention_floor_seconds);
    cr_expect_float_eq(amd.matmul_flops_share[ARITHMETIC_FP8], 0.45, 1e-9);
    cr_assert_eq(amd.table_count, 3);
    cr_expect_eq(amd.tables[2].ranks, 8);
    for (size_t i = 0; i < sizeof PUBLISHED / sizeof PUBLISHED[0]; i++)
        cr_expect_float_eq(table_seconds(&amd.tables[2], PUBLISHED[i].bytes), PUBLISHED[i].seconds, 1e-9);
    close_it(&open);
}

/* What ends in .json is a file, however short its name; other words are looked up. */
Test(serving_profile, files_and_names) {
    static const struct {
        const char *argument, *says;
    } ROWS[] = {{"n.json", "cannot be opened"},
                {"none/here", "cannot be opened"},
                {".json", "there is no serving profile"},
                {"none", "there is no serving profile"},
                {"", "is empty"}};
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        Arena arena = {0};
        Error error = {0};
        const char *path;
        cr_expect_null(serving_profile_open(ROWS[i].argument, &arena, &path, &error), "%s", ROWS[i].argument);
        cr_expect(strstr(error.text, ROWS[i].says), "%s: %s", ROWS[i].argument, error.text);
        arena_free(&arena);
    }
}

/* Whether the ideal profile with another value of a figure is read. */
static bool reads_with(Open *open, cJSON *figure, double value) {
    ServingProfile profile;
    Error error = {0};
    const Chip *chip = catalog_find(&open->catalog, "b200");
    double was = figure->valuedouble;
    cJSON_SetNumberValue(figure, value);
    bool ok = serving_profile_from_json(open->json, open->path, chip, NULL, &profile, &error);
    cJSON_SetNumberValue(figure, was);
    return ok;
}

/* What a figure may be follows from what it is: a kernel that does nothing takes less than 10 ms, a share is no more
 * than all and no less than a hundredth, an engine may take a tenth of the kernels' time or eleven times it. The first
 * ending that fits counts; both ends are taken, and nothing beyond them. */
Test(serving_profile, ranges_of_figures) {
    static const struct {
        const char *ending;
        double low, high;
    } KINDS[] = {
        {"_floor_seconds", 0, 0.01},
        {"activations_share", 0, 4},
        {"draft_share", 0, 100},
        {"pipeline_share", 0.1, 1},
        {"_share", 0.01, 1},
        {"_extra", -0.9, 10},
        {"first_token_seconds", 0, 10},
        {"index_key_seconds", 0, 1e-6},
        {"sparse_launch_seconds", 0, 0.1},
        {"_seconds", 0, 1},
        {"sparse_heads", 1, 1024},
        {"routing_skew", 0, 10},
        {"balanced_skew", 0, 10},
        {"two_batches", 0, 1},
        {"token_bytes", 0, 1000},
        {"start_sequences", 1, 1e6},
        {"start_tokens", 1, 1e6},
        {"dispatch_bytes", 0.5, 4},
        {"overlap", 0, 1},
        {"unquantised_bytes", 0, 4},
        {"memory_fraction", 0.1, 1},
        {"driver_memory", 0, 1},
        {"workspace_bytes", 0, 1e11},
        {"page_tokens", 1, 65536},
        {"prefill_load", 0.01, 1},
        {"queue", 0, 1},
        {"knee", 0, 1},
        {"burst", 0, 1},
        {"likely_factor", 1, 10},
    };
    Open open = opened();
    Error error = {0};
    cJSON *figure;
    int count = 0;
    cJSON_Delete(open.json);
    open.json = serving_profile_open("ideal", &open.arena, &open.path, &error);
    cr_assert(open.json, "%s", error.text);
    cJSON_ArrayForEach(figure, cJSON_GetObjectItem(open.json, "figures")) {
        char key[64];
        size_t k = 0;
        /* "matmul_hbm_share_bf16": the arithmetic behind it makes no other kind */
        snprintf(key, sizeof key, "%s", figure->string);
        char *arithmetic = strstr(key, "_bf16") ? strstr(key, "_bf16") : strstr(key, "_fp");
        if (!arithmetic) arithmetic = strstr(key, "_narrow");
        if (arithmetic) *arithmetic = '\0';
        while (k < COUNT_OF(KINDS) && (strlen(key) < strlen(KINDS[k].ending) ||
                                       strcmp(key + strlen(key) - strlen(KINDS[k].ending), KINDS[k].ending) != 0))
            k++;
        cr_assert_lt(k, COUNT_OF(KINDS), "%s", key);
        cJSON *value = cJSON_GetObjectItem(figure, "value");
        double beyond = 0.02 * (KINDS[k].high - KINDS[k].low);
        cr_expect(reads_with(&open, value, KINDS[k].low) && reads_with(&open, value, KINDS[k].high), "%s", key);
        cr_expect_not(reads_with(&open, value, KINDS[k].low - 1e-3), "%s: low", key);
        cr_expect_not(reads_with(&open, value, KINDS[k].high + beyond), "%s: high", key);
        count++;
    }
    cr_expect_eq(count, 69, "%d figures", count);
    close_it(&open);
}

/* A cache in bf16 has the first of two shares, one in fp8 the second. */
Test(serving_profile, shares_of_caches) {
    static const char *const KEYS[] = {"attention_hbm_share_bf16", "attention_hbm_share_fp8", "latent_hbm_share_bf16",
                                       "latent_hbm_share_fp8"};
    Open open = opened();
    Error error = {0};
    cJSON_Delete(open.json);
    open.json = serving_profile_open("ideal", &open.arena, &open.path, &error);
    cr_assert(open.json, "%s", error.text);
    for (int i = 0; i < 4; i++) {
        cJSON *figure = cJSON_GetObjectItem(cJSON_GetObjectItem(open.json, "figures"), KEYS[i]);
        cJSON_SetNumberValue(cJSON_GetObjectItem(figure, "value"), 0.1 + 0.2 * i);
    }
    ServingProfile profile = of(&open, "b200", NULL);
    for (int i = 0; i < 2; i++) {
        cr_expect_eq(profile.attention_hbm_share[i], 0.1 + 0.2 * i);
        cr_expect_eq(profile.latent_hbm_share[i], 0.1 + 0.2 * (i + 2));
    }
    close_it(&open);
}
