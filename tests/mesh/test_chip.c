/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks the catalog against the figures of the vendors (their sources are beside the figures in mesh/catalog), the
 * names people write, and broken files. */
#include "base/json.h"
#include "base/util.h"
#include "mesh/chip_json.h"
#include "mesh/mesh.h"
#include "search/cli/commands.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static Arena arena;
static Catalog catalog;

static void load(void) {
    Error error = {0};
    cr_assert(catalog_load(&arena, &catalog, &error), "%s: %s", error.where, error.text);
}
static void drop(void) { arena_free(&arena); }
TestSuite(chip, .init = load, .fini = drop);

/* Chips with fp4, and its peak over fp8's: vendors state twice, three times for Ultra. */
Test(chip, fp4) {
    static const struct {
        const char *name;
        double over_fp8;
    } FP4[] = {{"b200", 2},   {"gb200", 2},   {"b300", 3},      {"gb300", 3},       {"mi350x", 2},
               {"mi355x", 2}, {"rtx5090", 4}, {"dgx-spark", 2}, {"rtx-pro-6000", 2}};
    size_t with = 0;
    for (size_t i = 0; i < COUNT_OF(FP4); i++) {
        const Chip *chip = catalog_find(&catalog, FP4[i].name);
        cr_expect_float_eq(chip->fp4_flops_per_second.value, FP4[i].over_fp8 * chip->fp8_flops_per_second.value, 1e12,
                           "%s", FP4[i].name);
    }
    for (int i = 0; i < catalog.count; i++) with += catalog.chips[i].fp4_flops_per_second.value > 0;
    cr_expect_eq(with, COUNT_OF(FP4));
}

/* 0 means not known. HBM capacities of TPUs are GiB on the vendor's pages. */
static const struct {
    const char *name;
    double bf16, fp8, int8, hbm, hbm_rate, link;
    int64_t links, host;
    double out, pcie;
} ROWS[] = {
    {"tpu-v4", 2.75e14, 0, 2.75e14, 32.0 * (1 << 30), 1.23e12, 4.5e10, 6, 4, 6.25e9, 1.6e10},
    {"tpu-v5e", 1.97e14, 0, 3.94e14, 16.0 * (1 << 30), 8.2e11, 4.5e10, 4, 8, 3.125e9, 1.6e10},
    {"tpu-v5p", 4.59e14, 4.59e14, 9.18e14, 95.0 * (1 << 30), 2.765e12, 9e10, 6, 4, 6.25e9, 1.6e10},
    {"tpu-v6e", 9.18e14, 9.18e14, 1.836e15, 32.0 * (1 << 30), 1.64e12, 9e10, 4, 8, 1.25e10, 3.2e10},
    {"tpu-v7", 2.307e15, 4.614e15, 0, 192.0 * (1 << 30), 7.38e12, 9e10, 6, 4, 1.25e10, 3.2e10},
    {"a100-40g", 3.12e14, 0, 6.24e14, 4e10, 1.555e12, 2.5e10, 12, 8, 2.5e10, 2.5e10},
    {"a100-80g", 3.12e14, 0, 6.24e14, 8e10, 2.039e12, 2.5e10, 12, 8, 2.5e10, 2.5e10},
    {"h100", 9.89e14, 1.979e15, 1.979e15, 8e10, 3.35e12, 2.5e10, 18, 8, 5e10, 5.5e10},
    {"h200", 9.89e14, 1.979e15, 1.979e15, 1.41e11, 4.8e12, 2.5e10, 18, 8, 5e10, 5.5e10},
    {"b200", 2.25e15, 4.5e15, 4.5e15, 1.92e11, 8e12, 5e10, 18, 8, 5e10, 5.5e10},
    {"gb200", 2.5e15, 5e15, 5e15, 1.92e11, 8e12, 5e10, 18, 4, 5e10, 2e11},
    {"tpu-v3", 1.4e14, 0, 0, 32.0 * (1 << 30), 8.25e11, 1e11, 4, 8, 0, 1.6e10},
    {"tpu-v8i", 1.101e15, 8.808e15, 0, 3.09e11, 8.6e12, 0, 0, 0, 0, 0},
    {"tpu-v8t", 9.961e14, 5.9769e15, 9.961e14, 2.31e11, 6.4e12, 0, 0, 0, 0, 0},
    {"h100-96g", 9.89e14, 1.979e15, 1.979e15, 9.6e10, 2.4e12, 2.5e10, 18, 8, 5e10, 5.5e10},
    {"gh200", 9.89e14, 1.979e15, 1.979e15, 9.6e10, 4e12, 2.5e10, 18, 1, 2.5e10, 3.4e11},
    {"gh200-144g", 9.89e14, 1.979e15, 1.979e15, 1.44e11, 4.9e12, 2.5e10, 18, 1, 2.5e10, 3.4e11},
    {"gh200-4", 9.89e14, 1.979e15, 1.979e15, 9.6e10, 4e12, 2.5e10, 18, 4, 2.5e10, 3.4e11},
    {"a100-40g-4", 3.12e14, 0, 6.24e14, 4e10, 1.555e12, 2.5e10, 12, 4, 2.5e10, 2.5e10},
    {"polaris", 3.12e14, 0, 6.24e14, 4e10, 1.555e12, 2.5e10, 12, 4, 1.25e10, 2.5e10}, /* two NICs of 25 GB/s */
    {"a100-64g", 3.58e14, 0, 6.24e14, 64.0 * (1 << 30), 1.64e12, 2.5e10, 12, 4, 1.25e10, 2.5e10},
    {"h100-64g", 9.89e14, 1.979e15, 1.979e15, 6.4e10, 1.6e12, 2.5e10, 18, 4, 2.5e10, 5.5e10},
    {"summit", 1.25e14, 0, 0, 16.0 * (1 << 30), 9e11, 2.5e10, 4, 6, 4.17e9, 4e10},
    {"a40", 1.497e14, 0, 2.993e14, 48.0 * (1 << 30), 6.96e11, 2.4e10, 1, 8, 1.5625e9, 2.5e10},
    {"b300", 2.25e15, 4.5e15, 1.5e14, 2.88e11, 8e12, 5e10, 18, 8, 1e11, 5.5e10},
    {"gb300", 2.5e15, 5e15, 1.65e14, 2.88e11, 8e12, 5e10, 18, 4, 1e11, 2e11},
    {"mi300x", 1.307e15, 2.615e15, 2.615e15, 1.92e11, 5.3e12, 6.4e10, 7, 8, 5e10, 5e10},
    {"mi325x", 1.3e15, 2.6e15, 0, 2.56e11, 6e12, 6.4e10, 7, 8, 5e10, 5e10},
    {"mi350x", 2.3e15, 4.6e15, 0, 2.88e11, 8e12, 7.68e10, 7, 8, 5e10, 5e10},
    {"mi355x", 2.5e15, 5e15, 0, 2.88e11, 8e12, 7.68e10, 7, 8, 5e10, 5e10},
    {"trainium1", 1.9e14, 1.9e14, 3.8e14, 32.0 * (1 << 30), 8.8e11, 5.15e10, 4, 16, 6.25e9, 1.6e10},
    {"trainium2", 6.67e14, 1.299e15, 0, 96.0 * (1 << 30), 2.9e12, 1.28e11, 4, 16, 2.5e10, 3.2e10},
    {"inferentia2", 1.9e14, 1.9e14, 3.8e14, 32.0 * (1 << 30), 8.8e11, 5.15e10, 2, 12, 1.04e9, 1.6e10},
    /* docs.habana.ai: 21 ports of 200 Gb/s to seven peers, 3 out; Gaudi 2 the same at 100 Gb/s */
    {"gaudi2", 4.32e14, 8.65e14, 0, 9.6e10, 2.45e12, 1.25e10, 21, 8, 3.75e10, 2.5e10},
    {"gaudi3", 1.835e15, 1.835e15, 0, 1.28e11, 3.7e12, 2.5e10, 21, 8, 7.5e10, 5e10},
    /* boards and modules that people fine-tune on; 16 bits of V100 and T4 are fp16 */
    {"a100-pcie-40g", 3.12e14, 0, 6.24e14, 4e10, 1.555e12, 2.4e10, 1, 8, 3.125e9, 2.5e10},
    {"a100-pcie-80g", 3.12e14, 0, 6.24e14, 8e10, 1.935e12, 2.4e10, 1, 8, 3.125e9, 2.5e10},
    {"a10", 1.25e14, 0, 0, 24.0 * (1 << 30), 6e11, 1.2e10, 1, 8, 1.5625e9, 2.5e10}, /* 125: unverified */
    {"a10g", 7e13, 0, 0, 24.0 * (1 << 30), 6e11, 1.2e10, 1, 8, 1.5625e9, 2.5e10},
    {"a6000", 1.548e14, 0, 0, 48.0 * (1 << 30), 7.68e11, 2.4e10, 1, 8, 1.25e9, 2.5e10},
    {"a800", 3.12e14, 0, 6.24e14, 8e10, 2.039e12, 2.5e10, 8, 8, 2.5e10, 2.5e10},
    {"ascend-910b", 3.2e14, 0, 6.4e14, 64.0 * (1 << 30), 1.6e12, 2.8e10, 7, 8, 2.5e10, 2.5e10},
    {"dgx-spark", 1.25e14, 2.5e14, 0, 1.28e11, 2.73e11, 2.5e10, 1, 1, 2.5e10, 0},
    {"h100-nvl", 8.35e14, 1.67e15, 0, 9.4e10, 3.9e12, 4.8e10, 1, 8, 6.25e9, 5e10},
    {"h100-pcie", 7.56e14, 1.513e15, 1.513e15, 8e10, 2.048e12, 4.8e10, 1, 8, 6.25e9, 5e10},
    {"h20-141g", 1.48e14, 2.96e14, 2.96e14, 1.41e11, 4.8e12, 2.5e10, 18, 8, 5e10, 5e10},
    {"h20", 1.48e14, 2.96e14, 2.96e14, 9.6e10, 4e12, 2.5e10, 18, 8, 5e10, 5e10},
    {"h800", 9.89e14, 1.979e15, 1.979e15, 8e10, 3.35e12, 2.5e10, 8, 8, 5e10, 5e10},
    {"l4", 1.21e14, 2.42e14, 0, 24.0 * (1 << 30), 3e11, 1.2e10, 1, 8, 1.5625e9, 2.5e10},
    {"l40s", 3.62e14, 7.33e14, 0, 48.0 * (1 << 30), 8.64e11, 2.4e10, 1, 8, 3.125e9, 2.5e10},
    {"mi250x", 1.915e14, 0, 0, 64.0 * (1 << 30), 1.638e12, 5e10, 2, 8, 1.25e10, 2.5e10},
    {"mi300a", 9.806e14, 1.9612e15, 0, 1.28e11, 5.3e12, 6.4e10, 6, 4, 2.5e10, 0},
    {"rtx-pro-6000", 5.038e14, 1.0076e15, 0, 96.0 * (1 << 30), 1.792e12, 5e10, 1, 8, 3.125e9, 5e10},
    {"rtx3090", 7.1e13, 0, 0, 24.0 * (1 << 30), 9.362e11, 2e10, 1, 8, 1.25e9, 2.5e10},
    {"rtx4090", 1.652e14, 3.303e14, 0, 24.0 * (1 << 30), 1.008e12, 2e10, 1, 8, 1.25e9, 2.5e10},
    {"rtx5090", 2.095e14, 4.19e14, 0, 32.0 * (1 << 30), 1.792e12, 3.5e10, 1, 8, 1.25e9, 5e10},
    {"rtx6000-ada", 3.64e14, 7.28e14, 0, 48.0 * (1 << 30), 9.6e11, 2.4e10, 1, 8, 1.25e9, 2.5e10},
    {"t4", 6.5e13, 0, 1.3e14, 16.0 * (1 << 30), 3e11, 1.2e10, 1, 4, 1.5625e9, 1.2e10},
    {"v100-16g", 1.25e14, 0, 0, 16.0 * (1 << 30), 9e11, 2.5e10, 6, 8, 1.25e10, 1.2e10},
    {"v100-32g", 1.25e14, 0, 0, 32.0 * (1 << 30), 9e11, 2.5e10, 6, 8, 1.25e10, 1.2e10},
};

Test(chip, figures) {
    cr_expect_eq(catalog.count, (int)COUNT_OF(ROWS));
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        const Chip *chip = catalog_find(&catalog, ROWS[i].name);
        cr_assert_not_null(chip, "%s", ROWS[i].name);
        cr_expect_eq(chip->bf16_flops_per_second.value, ROWS[i].bf16, "%s", ROWS[i].name);
        cr_expect_eq(chip->fp8_flops_per_second.value, ROWS[i].fp8, "%s", ROWS[i].name);
        cr_expect_eq(chip->int8_ops_per_second.value, ROWS[i].int8, "%s", ROWS[i].name);
        cr_expect_eq(chip->hbm_bytes.value, ROWS[i].hbm, "%s", ROWS[i].name);
        cr_expect_eq(chip->hbm_bytes_per_second.value, ROWS[i].hbm_rate, "%s", ROWS[i].name);
        cr_expect_eq(chip->link_bytes_per_second.value, ROWS[i].link, "%s", ROWS[i].name);
        cr_expect_eq(chip->links_per_chip, ROWS[i].links, "%s", ROWS[i].name);
        cr_expect_eq(chip->chips_per_host, ROWS[i].host, "%s", ROWS[i].name);
        cr_expect_eq(chip->scaleout_bytes_per_second.value, ROWS[i].out, "%s", ROWS[i].name);
        cr_expect_eq(chip->pcie_bytes_per_second.value, ROWS[i].pcie, "%s", ROWS[i].name);
    }
}

Test(chip, unverified_is_said) {
    for (int i = 0; i < catalog.count; i++)
        for (int j = 0; j < CHIP_FIGURE_COUNT; j++) {
            const Figure *figure = (const Figure *)((const char *)&catalog.chips[i] + CHIP_FIGURES[j].offset);
            if (figure->source[0] == '\0') cr_expect_eq(figure->value, 0);
            if (strstr(figure->source, "unverified") || strstr(figure->source, "assumption"))
                cr_expect_not(figure->verified, "%s %s", catalog.chips[i].name, CHIP_FIGURES[j].key);
        }
}

static const struct {
    const char *written, *found; /* NULL means none */
} NAMES[] = {
    {"4090", "rtx4090"},
    {"RTX 4090", "rtx4090"},
    {"nvidia-l40s", "l40s"},
    {"l40s-48gb", "l40s"},
    {"a6000", "a6000"},
    {"h20-141g", "h20-141g"},
    {"h100-pcie", "h100-pcie"},
    {"a100-pcie-80g", "a100-pcie-80g"},
    {"910b", "ascend-910b"},
    {"v100", "v100-32g"},
    {"tpu-v5p", "tpu-v5p"},
    {"v5p", "tpu-v5p"},
    {"V5P", "tpu-v5p"},
    {"TPU v5p", "tpu-v5p"},
    {"tpu7x", "tpu-v7"},
    {"v7", "tpu-v7"},
    {"tpu_v7", "tpu-v7"},
    {"Ironwood", "tpu-v7"},
    {"h100", "h100"},
    {"H100-80GB", "h100"},
    {"h100 80g", "h100"},
    {"a100-40gb", "a100-40g"},
    {"a100", "a100-80g"},
    {"A100_80GB", "a100-80g"},
    {"v5litepod", "tpu-v5e"},
    {"gb200", "gb200"},
    {"trillium", "tpu-v6e"},
    {"H100-80GB-SXM", "h100"},
    {"NVIDIA H100 80GB HBM3", "h100"},
    {"h100-sxm4", "h100"},
    {"h100 tensor core gpu", "h100"},
    {"NVIDIA A100 80GB PCIe", "a100-pcie-80g"},
    {"a100-40gb-pcie", "a100-pcie-40g"},
    {"A100-SXM-80GB", "a100-80g"},
    {"a100 sxm 40gb", "a100-40g"},
    {"H200 141GB HBM3e", "h200"},
    {"b200-180gb", "b200"},
    {"Tesla V100-SXM2-16GB", "v100-16g"},
    {"V100-PCIE-16GB", NULL},
    {"h100-40gb", NULL},
    {"a100-sxm-64gb", "a100-64g"},
    {"80gb", NULL},
    {"NVIDIA GeForce RTX 4090", "rtx4090"},
    {"NVIDIA GeForce RTX 4090 Laptop GPU", NULL},
    {"AMD Instinct MI300X OAM", "mi300x"},
    {"H100 NVL 94GB", "h100-nvl"},
    {"h200-nvl", NULL},
    {"H20 141GB", "h20-141g"},
    {"l40s-80gb", NULL},
    {"NVIDIA GH200 480GB", "gh200"},
    {"gh200-144gb", "gh200-144g"},
    {"A100-SXM4-64GB", "a100-64g"},
    {"H20-3e", "h20-141g"},
    {"", NULL},
    {"-", NULL},
    {"v5", "tpu-v5p"},
    {"v9", NULL},
    {"tpu-h100", NULL},
    {"h100g", NULL},
    {"a-very-long-name-that-no-chip-can-have-because-it-goes-on-and-on-and-on-and-on-and-on-and-on-and-on-and-on-and-"
     "on",
     NULL},
};

Test(chip, names) {
    for (size_t i = 0; i < COUNT_OF(NAMES); i++) {
        const Chip *chip = catalog_find(&catalog, NAMES[i].written);
        if (NAMES[i].found)
            cr_expect_str_eq(chip ? chip->name : "none", NAMES[i].found, "%s", NAMES[i].written);
        else
            cr_expect_null(chip, "%s", NAMES[i].written);
    }
}

/* A small correct chip; each row breaks it in one place. */
// clang-format off
#define FIGURE(value) "{\"value\": " #value ", \"source\": \"a page\", \"verified\": true}"
static const char TORUS[] =
    "{\"name\": \"tiny\", \"bf16_flops_per_second\": " FIGURE(1e14)
    ", \"hbm_bytes\": " FIGURE(16e9) ", \"hbm_bytes_per_second\": " FIGURE(1e12)
    ", \"link_bytes_per_second\": " FIGURE(5e10) ", \"hop_seconds\": " FIGURE(1e-6)
    ", \"scaleout_bytes_per_second\": " FIGURE(3e9) ", \"scaleout_seconds\": " FIGURE(1e-5)
    ", \"topology\": {\"source\": \"a page\", \"verified\": true, \"kind\": \"torus_2d\", \"chips_per_host\": 8,"
    " \"links_per_chip\": 4, \"pod\": \"16x16\", \"closed_size\": 16, \"shapes\": [\"8x16\", \"16x16\"],"
    " \"name_prefixes\": [\"tiny\"], \"cores_in_name\": 1}}";
// clang-format on
#define SEVEN "seventh"

static const struct {
    const char *name, *from, *to, *says; /* says: NULL means that the chip is correct */
} BROKEN[] = {
    {"as it is", "tiny", "tiny", NULL},
    {"no source", "{\"value\": 16e9, \"source\": \"a page\",", "{\"value\": 16e9,", "hbm_bytes: give \"source\""},
    {"empty source", "{\"value\": 16e9, \"source\": \"a page\",", "{\"value\": 16e9, \"source\": \"\",",
     "hbm_bytes: give"},
    {"not said whether verified", "16e9, \"source\": \"a page\", \"verified\": true", "16e9, \"source\": \"a page\"",
     "verified"},
    {"figure missing", "\"hbm_bytes\": " FIGURE(16e9) ",", "", "hbm_bytes: give {"},
    {"figure a bare number", FIGURE(16e9), "16e9", "hbm_bytes: give {"},
    {"value a text", "\"value\": 16e9", "\"value\": \"16e9\"", "hbm_bytes: give {"},
    {"too large: bytes for gigabytes", "16e9", "16e18", "hbm_bytes is 1.6e+19; expected 1e+09 to 1e+13"},
    {"negative", "1e14", "-1e14", "bf16_flops_per_second is -1e+14"},
    {"zero rate", "5e10", "0", "link_bytes_per_second is 0"},
    {"misspelt key", "hop_seconds", "hop_second", "hop_second is not a key"},
    {"misspelt key in a figure", "16e9, \"source\"", "16e9, \"sources\"", "sources is not a key"},
    {"kind unknown", "torus_2d", "torus_4d", "torus_2d, torus_3d, switch, mesh or pcie"},
    {"figure missing, and said to be", "\"hbm_bytes\": " FIGURE(16e9) ",", "\"unknown\": \"HBM: not found\",", NULL},
    {"what is unknown a number", "\"name\": \"tiny\",", "\"name\": \"tiny\", \"unknown\": 5,", "unknown"},
    {"half of NCCL", "\"hop_seconds\"", "\"ring_base_seconds\": " FIGURE(1e-6) ", \"hop_seconds\"",
     "all of them or none"},
    {"a mesh without a domain", "torus_2d", "mesh", "domain_chips"},
    {"a mesh of uneven links", "\"torus_2d\"", "\"mesh\", \"domain_chips\": 8", "as many links to each other"},
    {"no topology source", "{\"source\": \"a page\", \"verified\": true, \"kind\"", "{\"kind\"",
     "topology: give \"source\""},
    {"pod of a wrong form", "\"pod\": \"16x16\"", "\"pod\": \"16x16x2\"", "topology.pod: give"},
    {"pod that is not offered", "\"pod\": \"16x16\"", "\"pod\": \"32x32\"",
     "topology.pod: give a shape that is offered"},
    {"shape with a zero", "\"8x16\"", "\"0x16\"", "shapes: give"},
    {"shape that is huge", "\"8x16\"", "\"999999999x999999999\"", "shapes: give"},
    {"shapes not an array", "[\"8x16\", \"16x16\"]", "\"8x16\"", "shapes"},
    {"chips per host missing", "\"chips_per_host\": 8,", "", "chips_per_host"},
    {"chips per host a fraction", "\"chips_per_host\": 8", "\"chips_per_host\": 8.5", "chips_per_host"},
    {"chips per host zero", "\"chips_per_host\": 8", "\"chips_per_host\": 0", "chips_per_host"},
    {"two devices, nothing between", "\"links_per_chip\"", "\"devices_per_chip\": 2, \"links_per_chip\"",
     "device_link"},
    {"switch without a domain", "torus_2d", "switch", "domain_chips"},
    {"name empty", "\"name\": \"tiny\"", "\"name\": \"\"", "name"},
    {"name missing", "\"name\": \"tiny\",", "", "name"},
    {"alias a number", "\"name\": \"tiny\",", "\"name\": \"tiny\", \"aliases\": [5],", "aliases"},
    {"alias of one letter", "\"name\": \"tiny\",", "\"name\": \"tiny\", \"aliases\": [\"t\"],", NULL},
    {"alias of none", "\"name\": \"tiny\",", "\"name\": \"tiny\", \"aliases\": [\"\"],",
     "aliases: each a text of 1 to 63"},
    {"alias of 63 letters", "\"name\": \"tiny\",",
     "\"name\": \"tiny\", \"aliases\": [\"" SEVEN SEVEN SEVEN SEVEN SEVEN SEVEN SEVEN SEVEN SEVEN "\"],", NULL},
    {"alias of 64", "\"name\": \"tiny\",",
     "\"name\": \"tiny\", \"aliases\": [\"t" SEVEN SEVEN SEVEN SEVEN SEVEN SEVEN SEVEN SEVEN SEVEN "\"],",
     "aliases: each"},
    {"thirty-two aliases", "\"name\": \"tiny\",",
     "\"name\": \"tiny\", \"aliases\": [\"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\", \"h\", \"i\", \"j\", \"k\", "
     "\"l\", \"m\", \"n\", \"o\", \"p\", \"q\", \"r\", \"s\", \"t\", \"u\", \"v\", \"w\", \"x\", \"y\", \"z\", "
     "\"a1\", \"b1\", \"c1\", \"d1\", \"e1\", \"f1\"],",
     NULL},
    {"one more", "\"name\": \"tiny\",",
     "\"name\": \"tiny\", \"aliases\": [\"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\", \"h\", \"i\", \"j\", \"k\", "
     "\"l\", \"m\", \"n\", \"o\", \"p\", \"q\", \"r\", \"s\", \"t\", \"u\", \"v\", \"w\", \"x\", \"y\", \"z\", "
     "\"a1\", \"b1\", \"c1\", \"d1\", \"e1\", \"f1\", \"g1\"],",
     "aliases: at most 32"},
    {"just as little as there is", "16e9", "1e9", NULL},
    {"less", "16e9", "0.99e9", "hbm_bytes is 9.9e+08"},
    {"just as much", "16e9", "1e13", NULL},
    {"more", "16e9", "1.01e13", "hbm_bytes is 1.01e+13"},
    {"an array", NULL, "[]", "a chip is an object"},
    /* counts of 16 bits, pods of 2^24 chips, 64 cores a chip: both sides of each end */
    {"the largest host", "\"chips_per_host\": 8", "\"chips_per_host\": 65536", NULL},
    {"a larger one", "\"chips_per_host\": 8", "\"chips_per_host\": 65537", "chips_per_host"},
    {"one chip a host", "\"chips_per_host\": 8", "\"chips_per_host\": 1", NULL},
    {"most links", "\"links_per_chip\": 4", "\"links_per_chip\": 65536", NULL},
    {"more links", "\"links_per_chip\": 4", "\"links_per_chip\": 65537", "links_per_chip"},
    {"one link", "\"links_per_chip\": 4", "\"links_per_chip\": 1", NULL},
    {"no link", "\"links_per_chip\": 4", "\"links_per_chip\": 0", "links_per_chip"},
    {"rings of two", "\"closed_size\": 16", "\"closed_size\": 2", NULL},
    {"rings of one", "\"closed_size\": 16", "\"closed_size\": 1", "closed_size"},
    {"the largest ring", "\"closed_size\": 16", "\"closed_size\": 65536", NULL},
    {"a larger one", "\"closed_size\": 16", "\"closed_size\": 65537", "closed_size"},
    {"64 cores", "\"cores_in_name\": 1", "\"cores_in_name\": 64", NULL},
    {"65 cores", "\"cores_in_name\": 1", "\"cores_in_name\": 65", "cores_in_name"},
    {"no core", "\"cores_in_name\": 1", "\"cores_in_name\": 0", "cores_in_name"},
    {"a job of one chip", "\"closed_size\": 16", "\"max_job_chips\": 1", NULL},
    {"a job of none", "\"closed_size\": 16", "\"max_job_chips\": 0", "max_job_chips"},
    {"the largest job", "\"closed_size\": 16", "\"max_job_chips\": 16777216", NULL},
    {"a larger one", "\"closed_size\": 16", "\"max_job_chips\": 16777217", "max_job_chips"},
    {"a chip a machine", "\"closed_size\": 16", "\"chips_per_vm\": 1", NULL},
    {"none", "\"closed_size\": 16", "\"chips_per_vm\": 0", "chips_per_vm"},
    {"most chips a machine", "\"closed_size\": 16", "\"chips_per_vm\": 65536", NULL},
    {"more", "\"closed_size\": 16", "\"chips_per_vm\": 65537", "chips_per_vm"},
    {"cubes of a square", "\"closed_size\": 16", "\"max_cubes\": 1", "max_cubes"},
    {"nine devices", "\"closed_size\": 16", "\"devices_per_chip\": 9", "devices_per_chip"},
    {"no device", "\"closed_size\": 16", "\"devices_per_chip\": 0", "devices_per_chip"},
    {"the largest shape", "\"8x16\"", "\"4096x4096\"", NULL},
    {"a larger one", "\"8x16\"", "\"4096x4097\"", "shapes: give"},
    {"two prefixes", "[\"tiny\"]", "[\"tiny\", \"small\"]", NULL},
    {"three", "[\"tiny\"]", "[\"tiny\", \"small\", \"little\"]", "name_prefixes: at most 2"},
    {"a domain of one host", "\"torus_2d\"", "\"switch\", \"domain_chips\": 8", NULL},
    {"of two", "\"torus_2d\"", "\"switch\", \"domain_chips\": 16", NULL},
    {"of one and a half", "\"torus_2d\"", "\"switch\", \"domain_chips\": 12", "a multiple of chips_per_host"},
    {"of less than one", "\"torus_2d\"", "\"switch\", \"domain_chips\": 7", "domain_chips"},
    {"the largest domain", "\"torus_2d\"", "\"switch\", \"domain_chips\": 65536", NULL},
    {"a larger one", "\"torus_2d\"", "\"switch\", \"domain_chips\": 65544", "domain_chips"},
    {"a switch of two devices", "\"torus_2d\"", "\"switch\", \"domain_chips\": 8, \"devices_per_chip\": 2",
     "device_link"},
    /* Titles stand in launch files and on terminals: a line or an escape of a catalog is not to begin there. */
    {"title of two lines", "\"name\": \"tiny\",", "\"name\": \"tiny\", \"title\": \"T\\ntouch x #\",",
     "title: has a control character"},
    {"escape in an alias", "\"name\": \"tiny\",", "\"name\": \"tiny\", \"aliases\": [\"a\\u001b[31m\"],",
     "control character"},
    {"prefix of two lines", "[\"tiny\"]", "[\"tiny\\nevil: yes\"]", "control character"},
    {"source of two lines", "16e9, \"source\": \"a page\"", "16e9, \"source\": \"a\\npage\"", "source: has a control"},
    {"turned reading direction", "\"name\": \"tiny\",", "\"name\": \"tiny\", \"title\": \"\\u202egnp\",", "title: has"},
};

/* Returns `text` with the first `from` replaced; a NULL `from` means all of it. */
static char *with(const char *text, const char *from, const char *to) {
    const char *at = from ? strstr(text, from) : text;
    cr_assert_not_null(at, "%s", from ? from : "");
    size_t cut = from ? strlen(from) : strlen(text);
    return arena_format(&arena, "%.*s%s%s", (int)(at - text), text, to, at + cut);
}

Test(chip, broken_files) {
    for (size_t i = 0; i < COUNT_OF(BROKEN); i++) {
        Error error = {0};
        Chip chip = {.name = "untouched"};
        const char *text = with(TORUS, BROKEN[i].from, BROKEN[i].to);
        cJSON *json = json_parse(text, strlen(text), "tiny.json", &error);
        cr_assert_not_null(json, "%s: %s", BROKEN[i].name, error.text);
        bool ok = chip_from_json(json, "tiny.json", &chip, &error);
        cJSON_Delete(json);
        if (!BROKEN[i].says) {
            cr_expect(ok, "%s: %s", BROKEN[i].name, error.text);
            continue;
        }
        cr_expect_not(ok, "%s", BROKEN[i].name);
        cr_expect_eq(error.kind, ERROR_INPUT, "%s", BROKEN[i].name);
        cr_expect_not_null(strstr(error.text, BROKEN[i].says), "%s says: %s", BROKEN[i].name, error.text);
        cr_expect_str_eq(chip.name, "untouched", "%s", BROKEN[i].name);
    }
}

/* No pod is offered in more cubes than this; the figure is ours. */
Test(chip, cubes_of_a_pod) {
    for (int cubes = 4096; cubes <= 4097; cubes++) {
        char pod[64];
        Error error = {0};
        Chip chip;
        snprintf(pod, sizeof pod, "\"pod\": \"16x16x16\", \"max_cubes\": %d", cubes);
        const char *text = with(with(TORUS, "torus_2d", "torus_3d"), "\"pod\": \"16x16\"", pod);
        text = with(text, "[\"8x16\", \"16x16\"]", "[\"16x16x16\"]");
        cJSON *json = json_parse(text, strlen(text), "tiny.json", &error);
        cr_assert_not_null(json, "%s", error.text);
        cr_expect_eq(chip_from_json(json, "tiny.json", &chip, &error), cubes == 4096, "%d: %s", cubes, error.text);
        cr_expect(cubes == 4096 || strstr(error.text, "max_cubes"), "%s", error.text);
        cJSON_Delete(json);
    }
}

/* Bounds tell a slipped power of ten: each is 1, 2 or 5 of one, or a power of two, and there is room between them. */
Test(chip, bounds_are_round) {
    for (int i = 0; i < CHIP_FIGURE_COUNT; i++) {
        const ChipFigure *figure = &CHIP_FIGURES[i];
        const double bounds[] = {figure->low, figure->high};
        cr_expect(figure->low >= 0 && figure->high > figure->low && figure->high >= 2 * figure->low, "%s", figure->key);
        for (int k = 0; k < 2; k++) {
            int exponent;
            bool round = bounds[k] == 0 || frexp(bounds[k], &exponent) == 0.5;
            double digit = round ? 1 : bounds[k] / pow(10, floor(log10(bounds[k]) + 1e-9));
            round = round || fabs(digit - 1) < 1e-9 || fabs(digit - 2) < 1e-9 || fabs(digit - 5) < 1e-9;
            cr_expect(round, "%s: %.10g", figure->key, bounds[k]);
        }
    }
}

static const struct {
    const char *folder, *says;
} FOLDERS[] = {
    {"same_name", "both answer to"},
    {"misspelt", "hbm_byte_per_second is not a key"},
    {"nothing_here", ""},
};

Test(chip, broken_folders) {
    for (size_t i = 0; i < COUNT_OF(FOLDERS); i++) {
        Error error = {0};
        Catalog other;
        setenv("SHARDOPT_DATA", arena_format(&arena, "%s/mesh/%s", SHARDOPT_TEST_DATA, FOLDERS[i].folder), 1);
        cr_expect_not(catalog_load(&arena, &other, &error), "%s", FOLDERS[i].folder);
        cr_expect_not_null(strstr(error.text, FOLDERS[i].says), "%s: %s", FOLDERS[i].folder, error.text);
    }
    unsetenv("SHARDOPT_DATA");
}

/* Runs `shardopt chips` in memory: the exit code, and the text of the output. */
static int run(char **words, int count, char **text, Error *error) {
    size_t length = 0;
    FILE *out = open_memstream(text, &length);
    int code = command_run(&COMMAND_CHIPS, count, words, (Streams){.out = out, .err = out}, error);
    fclose(out);
    return code;
}

static const struct {
    const char *words[4];
    int code;
    const char *holds;
} COMMAND_ROWS[] = {
    {{"chips"}, 0, "tpu-v5p"},
    {{"chips", "v5p"}, 0, "102005473280"},
    {{"chips", "v5p"}, 0, "largest schedulable slice: 6,144 chips"},
    {{"chips", "h100", "--format", "json"}, 0, "\"domain_chips\": 8"},
    {{"chips", "--format=json"}, 0, "\"verified\""},
    {{"chips", "--help"}, 0, "--format"},
    {{"chips", "v5q"}, 2, ""},
    {{"chips", ""}, 2, ""},
    {{"chips", "v5p", "h100"}, 2, ""},
    {{"chips", "--format", "yaml"}, 2, ""},
    {{"chips", "--format"}, 2, ""},
    {{"chips", "--fromat"}, 2, ""},
    {{"chips", "--format=json", "--format=x"}, 2, ""},
};

Test(chip, command) {
    for (size_t i = 0; i < COUNT_OF(COMMAND_ROWS); i++) {
        Error error = {0};
        char *words[5] = {0}, *text = NULL;
        int count = 0;
        for (; count < 4 && COMMAND_ROWS[i].words[count]; count++)
            words[count] = arena_text(&arena, COMMAND_ROWS[i].words[count]);
        cr_expect_eq(run(words, count, &text, &error), COMMAND_ROWS[i].code, "row %zu: %s", i, error.text);
        cr_expect_not_null(strstr(text, COMMAND_ROWS[i].holds), "row %zu: %s", i, text);
        if (COMMAND_ROWS[i].code != 0) {
            cr_expect_str_empty(text, "row %zu", i);
            cr_expect_neq(error.kind, ERROR_NONE, "row %zu", i);
        }
        free(text);
    }
}

Test(chip, command_json_is_the_catalog) {
    Error error = {0};
    char *words[] = {(char[]){"chips"}, (char[]){"--format=json"}, NULL}, *text = NULL;
    cr_assert_eq(run(words, 2, &text, &error), 0);
    cJSON *json = json_parse(text, strlen(text), "chips", &error);
    cr_assert_eq(cJSON_GetArraySize(json), catalog.count, "%s", error.text);
    for (int i = 0; i < catalog.count; i++) {
        const cJSON *chip = cJSON_GetArrayItem(json, i);
        const cJSON *value = json_at(chip, "hbm_bytes.value"), *source = json_at(chip, "hbm_bytes.source");
        const Figure *figure = &catalog.chips[i].hbm_bytes;
        if (figure->source[0] == '\0') { /* not known */
            cr_expect(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(chip, "hbm_bytes")), "%s", catalog.chips[i].name);
            cr_expect_str_not_empty(catalog.chips[i].unknown, "%s", catalog.chips[i].name);
            continue;
        }
        cr_assert(cJSON_IsNumber(value) && cJSON_IsString(source) && cJSON_IsBool(json_at(chip, "hbm_bytes.verified")));
        cr_expect_eq(value->valuedouble, figure->value);
        cr_expect_str_eq(source->valuestring, figure->source);
    }
    cJSON_Delete(json);
    free(text);
}

Test(chip, axis_words) {
    cr_expect_str_eq(axis_kind_name(AXIS_RING), "ring");
    cr_expect_str_eq(axis_kind_name(AXIS_LINE), "line");
    cr_expect_str_eq(axis_kind_name(AXIS_SWITCH), "switch");
}
