/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who borrows whose figures. */
#include "cost/serving/serving_profile.h"

#include "cost/serving/worker.h"
#include "mesh/chip_json.h"

#include <criterion/criterion.h>
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
        }
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
