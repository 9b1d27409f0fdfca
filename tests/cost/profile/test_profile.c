/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/file.h"
#include "base/json.h"
#include "base/util.h"
#include "cost/profile/profile_figure.h"
#include "mesh/chip_json.h"

#include <criterion/criterion.h>
#include <string.h>

static const Chip *chip_named(Arena *arena, const char *name) {
    Catalog catalog;
    Error error = {0};
    cr_assert(catalog_load(arena, &catalog, &error), "%s: %s", error.where, error.text);
    const Chip *chip = catalog_find(&catalog, name);
    cr_assert_not_null(chip, "%s", name);
    return chip;
}

/* The book's model: factors are 1 and summands are 0; critical communication is exposed, the rest may hide; tensor has
 * no overlap, and its chunks have no price there; dispatch hides whole where a schedule hides it. */
Test(profile, ideal_is_neutral) {
    Arena arena = {0};
    Error error = {0};
    Profile p;
    cr_assert(profile_load("ideal", NULL, chip_named(&arena, "v5p"), &arena, &p, &error), "%s: %s", error.where,
              error.text);
    const double ones[] = {p.matrix_efficiency,       p.fp8_efficiency,    p.grouped_efficiency, p.attention_efficiency,
                           p.attention_backward_rate, p.hbm_efficiency,    p.ici_efficiency,     p.nvlink_efficiency,
                           p.network_efficiency,      p.dcn_efficiency,    p.pcie_efficiency,    p.expert_imbalance,
                           p.tensor_exposed,          p.expert_exposed,    p.sequence_exposed,   p.pipeline_exposed,
                           p.ring_attention_exposed,  p.host_memory_share, p.tensor_overlapped};
    const double zeros[] = {p.matmul_traffic, p.elementwise_traffic, p.fsdp_exposed,          p.data_exposed,
                            p.layer_seconds,  p.microbatch_seconds,  p.step_overhead_seconds, p.likely_low,
                            p.likely_high,    p.expert_overlapped};
    for (size_t i = 0; i < COUNT_OF(ones); i++)
        cr_expect_eq(ones[i], 1.0, "figure %zu that multiplies is %g", i, ones[i]);
    for (size_t i = 0; i < COUNT_OF(zeros); i++) cr_expect_eq(zeros[i], 0.0, "figure %zu that adds is %g", i, zeros[i]);
    cr_expect_not(p.tile_padding);
    arena_free(&arena);
}

/* The chip's own entry comes first, else its parent's. Fractions of the dense peak and NVLink: docs/model.md,
 * "Profiles"; NVLink is NCCL's credit (20, 20.6 and 40.1 GB/s a link, its topo.h) times 0.95, rounded. */
Test(profile, default_is_the_chips) {
    static const struct {
        const char *chip, *name, *stack;
        double matrix, nvlink;
    } ROWS[] = {
        {"v4", "tpu-v4", "maxtext-tpu", 0.77, 1},
        {"v5e", "tpu-v5e", "maxtext-tpu", 0.95, 1},
        {"v5p", "tpu-v5p", "maxtext-tpu", 0.85, 1},
        {"v6e", "tpu-v6e", "maxtext-tpu", 0.70, 1},
        {"v7", "tpu-v7", "maxtext-tpu7x", 0.69, 1},
        {"a100-40g", "a100", "megatron-bridge-26", 0.79, 0.95 * 20 / 25},
        {"a100-80g", "a100", "megatron-bridge-26", 0.79, 0.95 * 20 / 25},
        {"h100", "h100", "megatron-bridge-26", 0.70, 0.95 * 20.6 / 25},
        {"h200", "h100", "megatron-bridge-26", 0.70, 0.95 * 20.6 / 25},
        {"b200", "b200", "megatron-bridge-26", 0.78, 0.95 * 40.1 / 50},
        {"gb200", "b200", "megatron-bridge-26.06", 0.78, 0.95 * 40.1 / 50},
        {"b300", "b300", "megatron-bridge-26", 0.84, 0.95 * 40.1 / 50},
        {"gb300", "b300", "megatron-bridge-26.06", 0.84, 0.95 * 40.1 / 50},
        {"h100-96g", "h100-96g", "megatron-bridge-26", 0.59, 0.95 * 20.6 / 25},
        {"mi300x", "mi300", "primus", 0.50, 48. / 64}, /* AMD's own measure of a link */
        {"mi355x", "mi300", "primus", 0.50, 48. / 64},
        {"gaudi2", "gaudi2", "gaudi", 0.64, 0.76},
        {"v3", "tpu-v3", "maxtext-tpu", 0.77, 1}, /* the parent's figures */
    };
    Arena arena = {0};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Profile profile = {0};
        Error error = {0};
        cr_expect(profile_load("default", NULL, chip_named(&arena, ROWS[i].chip), &arena, &profile, &error), "%s: %s",
                  error.where, error.text);
        cr_expect_str_eq(profile.name, ROWS[i].name);
        cr_expect_str_eq(profile.stack, ROWS[i].stack);
        /* a fit moves them, but not far from the figures that another fit to most of these runs found */
        cr_expect_float_eq(profile.matrix_efficiency, ROWS[i].matrix, 0.15 * ROWS[i].matrix, "%s: %g", ROWS[i].chip,
                           profile.matrix_efficiency);
        cr_expect_float_eq(profile.nvlink_efficiency, ROWS[i].nvlink, 0.1 * ROWS[i].nvlink, "%s: %g", ROWS[i].chip,
                           profile.nvlink_efficiency);
        cr_expect(profile.likely_low > 0 && profile.likely_low < 1 && profile.likely_high > 1, "%s: likely",
                  ROWS[i].chip);
    }
    static const struct {
        ScaleupKind kind;
        const char *name, *stack;
    } STRANGERS[] = {{SCALEUP_TORUS_2D, "tpu", "maxtext-tpu"},
                     {SCALEUP_TORUS_3D, "tpu", "maxtext-tpu"},
                     {SCALEUP_SWITCH, "gpu", "megatron-core"},
                     {SCALEUP_MESH, "gpu", "megatron-core"}};
    for (size_t i = 0; i < COUNT_OF(STRANGERS); i++) {
        Chip chip = {.name = "chip of tomorrow", .scaleup = STRANGERS[i].kind};
        Profile profile = {0};
        Error error = {0};
        cr_expect(profile_load("default", NULL, &chip, &arena, &profile, &error), "%s", error.text);
        cr_expect_str_eq(profile.name, STRANGERS[i].name);
        cr_expect_str_eq(profile.stack, STRANGERS[i].stack);
    }
    arena_free(&arena);
}

/* The arguments that --profile and --stack take, and the errors for others. */
Test(profile, arguments) {
    static const struct {
        const char *argument, *stack, *name, *software;
        const char *where, *text; /* of the error; NULL means none */
    } ROWS[] = {
        {"default", "", "h100", "megatron-bridge-26", NULL, NULL},
        {"DEFAULT", "megatron-core", "h100", "megatron-core", NULL, NULL},
        {"default", "Megatron_Core 0.15", "h100", "megatron-bridge-25-fused", NULL, NULL}, /* an alias */
        {"default", "maxtext-tpu", "h100", "maxtext-tpu", NULL, NULL},
        {"default", "as-is", "h100", "megatron-bridge-26", NULL, NULL}, /* no run distinguishes it from tuned */
        {"ideal", NULL, "ideal", "", NULL, NULL},
        {"ideal", "megatron-core", NULL, NULL, "--stack", "without stacks"},
        {"default", "megatron-cor", NULL, NULL, "--stack", "did you mean megatron-core"},
        {"default", "xyz", NULL, NULL, "--stack", "shardopt chips h100`, such as megatron-bridge-26"},
        {"defualt", NULL, NULL, NULL, "--profile", "did you mean default"},
        {"", NULL, NULL, NULL, "--profile", "is empty"},
        {"/no/such.json", NULL, NULL, NULL, "/no/such.json", ""},
    };
    Arena arena = {0};
    const Chip *chip = chip_named(&arena, "h100");
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Profile profile = {.name = "untouched"};
        Error error = {0};
        bool ok = profile_load(ROWS[i].argument, ROWS[i].stack, chip, &arena, &profile, &error);
        cr_expect_eq(ok, ROWS[i].where == NULL, "%s, %s: %s: %s", ROWS[i].argument, ROWS[i].stack, error.where,
                     error.text);
        if (ok) {
            cr_expect_str_eq(profile.name, ROWS[i].name);
            cr_expect_str_eq(profile.stack, ROWS[i].software);
        } else {
            cr_expect(strstr(error.where, ROWS[i].where) && strstr(error.text, ROWS[i].text), "%s: %s", error.where,
                      error.text);
            cr_expect_str_eq(profile.name, "untouched", "%s: written half", ROWS[i].argument);
        }
    }
    char **names;
    size_t count;
    Error error = {0};
    const char *folder = file_data_folder("cost/profiles", &arena, &error);
    cr_assert(folder && file_list(folder, ".json", &arena, &names, &count, &error));
    for (size_t i = 0; i < count; i++) {
        Profile profile;
        cr_expect(profile_load(arena_format(&arena, "%s/%s", folder, names[i]), NULL, chip, &arena, &profile, &error),
                  "%s: %s", error.where, error.text);
    }
    arena_free(&arena);
}

Test(profile, mesh_by_level) {
    Profile profile = {.ici_efficiency = 0.5,
                       .nvlink_efficiency = 0.25,
                       .network_efficiency = 0.25,
                       .network_factor = 0.5,
                       .dcn_efficiency = 0.75};
    Mesh mesh = {.axis_count = 4};
    for (int i = 0; i < 4; i++)
        mesh.axes[i] = (Axis){.level = (AxisLevel)i, .size = 2, .bytes_per_second = 8e9, .latency_seconds = 1e-6};
    Mesh scaled = profile_mesh(&profile, &mesh);
    static const double RATES[] = {[LEVEL_ICI] = 4e9, [LEVEL_NVLINK] = 2e9, [LEVEL_NETWORK] = 1e9, [LEVEL_DCN] = 6e9};
    for (int i = 0; i < 4; i++) {
        cr_expect_float_eq(scaled.axes[i].bytes_per_second, RATES[i], 1e-3);
        cr_expect_float_eq(scaled.axes[i].latency_seconds, 1e-6, 0);
    }
    cr_expect_float_eq(mesh.axes[0].bytes_per_second, 8e9, 0, "the catalog's mesh stays");
}

/* Matmul seconds are FLOPs / (bf16 peak x efficiency): with fp8 twice as fast at 0.7, the product is 0.7 x fp8 peak. */
Test(profile, fp8_takes_the_ratio_of_peaks) {
    Profile profile = {.matrix_efficiency = 0.8, .fp8_efficiency = 0.7, .attention_efficiency = 0.5};
    Chip chip = {.bf16_flops_per_second = {.value = 1e15}, .fp8_flops_per_second = {.value = 2e15}};
    Profile scaled = profile_in_precision(&profile, &chip, PRECISION_FP8);
    cr_expect_float_eq(scaled.linear_efficiency * 1e15, 0.7 * 2e15, 1);
    cr_expect_float_eq(scaled.attention_efficiency, 0.5, 0);
}

/* A profile with one change: `find` becomes `put` in ideal.json; the row has the resulting error. */
static const struct {
    const char *name, *find, *put, *text;
} BROKEN[] = {
    {"an unknown key", "\"matmul_traffic\"", "\"matmul_trafic\"", "matmul_trafic"},
    {"a figure without a source", "\"matrix_efficiency\": {\"value\": 1,\n    \"source\"",
     "\"matrix_efficiency\": {\"value\": 1,\n    \"why\"", "matrix_efficiency"},
    {"a bare number", "\"name\": \"ideal\",", "\"name\": \"ideal\", \"matrix_efficiency\": 1, ", ""},
    {"above the peak", "\"matrix_efficiency\": {\"value\": 1", "\"matrix_efficiency\": {\"value\": 1.01", "0.01 to 1"},
    {"a percentage for a share", "\"hbm_efficiency\": {\"value\": 1", "\"hbm_efficiency\": {\"value\": 93",
     "hbm_efficiency"},
    {"zero", "\"ici_efficiency\": {\"value\": 1", "\"ici_efficiency\": {\"value\": 0", "ici_efficiency"},
    {"negative", "\"step_seconds\": {\"value\": 0", "\"step_seconds\": {\"value\": -1", "step_seconds"},
    {"text for a number", "\"fsdp_exposed\": {\"value\": 0", "\"fsdp_exposed\": {\"value\": \"0\"", "fsdp_exposed"},
    {"a number for a flag", "\"tile_padding\": {\"value\": false", "\"tile_padding\": {\"value\": 0", "tile_padding"},
    {"half a likely range", "\"likely_low\": {\"value\": 0", "\"likely_low\": {\"value\": 0.9", "likely"},
    {"experts better than balanced", "\"expert_imbalance\": {\"value\": 1", "\"expert_imbalance\": {\"value\": 0.5",
     "expert_imbalance"},
    {"no name", "\"name\": \"ideal\"", "\"name\": \"\"", "empty"},
    {"a name too long", "\"name\": \"ideal\"",
     "\"name\": \"iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii\"", "name"},
    {"cut off", "\"likely_high\"", "", ""},
};

Test(profile, broken_ones) {
    Arena arena = {0};
    Error error = {0};
    char *text;
    size_t length;
    const char *folder = file_data_folder("cost/profiles", &arena, &error);
    cr_assert(folder &&
              file_read(arena_format(&arena, "%s/ideal.json", folder), 1 << 20, &arena, &text, &length, &error));
    for (size_t i = 0; i < COUNT_OF(BROKEN); i++) {
        const char *at = strstr(text, BROKEN[i].find);
        cr_assert_not_null(at, "%s: ideal.json has changed its form", BROKEN[i].name);
        char *changed =
            arena_format(&arena, "%.*s%s%s", (int)(at - text), text, BROKEN[i].put, at + strlen(BROKEN[i].find));
        Error wrong = {0};
        Profile profile = {.name = "untouched"};
        cJSON *json = json_parse(changed, strlen(changed), "p.json", &wrong);
        bool ok = json && profile_from_json(json, "p.json", &profile, &wrong);
        cJSON_Delete(json);
        cr_expect_not(ok, "%s: taken", BROKEN[i].name);
        cr_expect_eq(wrong.kind, ERROR_INPUT, "%s", BROKEN[i].name);
        cr_expect(strncmp(wrong.where, "p.json", 6) == 0 && strstr(wrong.text, BROKEN[i].text), "%s: %s: %s",
                  BROKEN[i].name, wrong.where, wrong.text);
        cr_expect_str_eq(profile.name, "untouched", "%s: written half", BROKEN[i].name);
    }
    static const char *const NO_OBJECTS[] = {"[]", "3", "null", "\"ideal\"", "{}"};
    for (size_t i = 0; i < COUNT_OF(NO_OBJECTS); i++) {
        Profile profile;
        cJSON *json = json_parse(NO_OBJECTS[i], strlen(NO_OBJECTS[i]), "p.json", &error);
        cr_expect_not(profile_from_json(json, "p.json", &profile, &error), "%s", NO_OBJECTS[i]);
        cJSON_Delete(json);
    }
    arena_free(&arena);
}
