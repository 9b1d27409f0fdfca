/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who borrows whose figures. */
#include "cost/serving/serving_profile.h"

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

/* GB200 has the dies of B200, and is fitted with them; an engine without rows of a chip has what all of its rows
 * have in common; and no engine is quicker than what divides and fits. */
Test(serving_profile, kin_lend_their_fit) {
    static const char *const CHIPS[] = {"h100", "h200", "b200", "gb200", "a100-80g", "mi300x"};
    Open open = {0};
    Error error = {0};
    cr_assert(catalog_load(&open.arena, &open.catalog, &error), "%s", error.text);
    open.json = serving_profile_open("default", &open.arena, &open.path, &error);
    cr_assert(open.json, "%s", error.text);
    ServingProfile rack = of(&open, "gb200", "tensorrt-llm"), node = of(&open, "b200", "tensorrt-llm");
    cr_expect_eq(rack.layer_seconds, node.layer_seconds);
    cr_expect_eq(rack.expert_extra, node.expert_extra);
    cr_expect_neq(rack.matmul_floor_seconds[ARITHMETIC_BF16], node.matmul_floor_seconds[ARITHMETIC_BF16]);
    ServingProfile borrowed = of(&open, "b200", "sglang"), other = of(&open, "a100-80g", "sglang");
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
    cJSON_Delete(open.json);
    arena_free(&open.arena);
}
