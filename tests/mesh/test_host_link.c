/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rates of copies to the host, against what nvbandwidth measured (per chip, GB/s): an H800 node with the host of an
 * H100 (liguodongiot/llm-action, commit b676a90b), A100 (NVIDIA/nvbandwidth issues 11 and 53), Grace hosts (issues 23
 * and 41; an OCI guide of GB200). */
#include "base/util.h"
#include "mesh/chip_json.h"
#include "mesh/host_link.h"

#include <criterion/criterion.h>

static Arena arena;
static Catalog catalog;

static void load(void) {
    Error error = {0};
    cr_assert(catalog_load(&arena, &catalog, &error), "%s: %s", error.where, error.text);
}
static void unload(void) { arena_free(&arena); }
TestSuite(host_link, .init = load, .fini = unload);

enum { ONE_WAY, BOTH_WAYS };

Test(host_link, as_measured) {
    static const struct {
        const char *chip;
        int which;
        int64_t chips; /* of the job */
        double measured, tolerance;
    } ROWS[] = {
        {"h100", ONE_WAY, 8, 55.2, 0.02},       /* all 8 in */
        {"h100", BOTH_WAYS, 8, 455. / 8, 0.02}, /* 262 in beside 193 out */
        {"h100", ONE_WAY, 1, 55.3, 0.02},
        {"h100", BOTH_WAYS, 1, 52.8 + 34.4, 0.01},
        {"h200", ONE_WAY, 512, 55.43, 0.02},
        {"a100-80g", ONE_WAY, 1, 25.5, 0.05},
        {"a100-80g", BOTH_WAYS, 1, 12 + 24, 0.05},  /* issue 53 */
        {"a100-80g", BOTH_WAYS, 8, 5.5 + 5.5, 0.2}, /* issue 11: 5 to 6 each way */
        {"gh200", ONE_WAY, 1, 346, 0.05},
        {"gh200", BOTH_WAYS, 1, 350, 0.02},
        {"gb200", ONE_WAY, 1, 201, 0.05},
        {"gb200", BOTH_WAYS, 1, 172 + 171, 0.01},
        {"gb200", ONE_WAY, 72, (169 + 188) / 2., 0.05}, /* all in */
        {"gb200", BOTH_WAYS, 72, 364. / 2, 0.02},       /* of one Grace, for its two */
        {"gb300", BOTH_WAYS, 72, 174, 0.02},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Chip chip = *catalog_find(&catalog, ROWS[i].chip);
        host_set_job(&chip, ROWS[i].chips);
        double rate = (ROWS[i].which == ONE_WAY ? host_one_way_rate(&chip) : host_both_ways_rate(&chip)) / 1e9;
        cr_expect_float_eq(rate, ROWS[i].measured, ROWS[i].tolerance * ROWS[i].measured,
                           "%s, %lld chips, %s: %g, measured %g", ROWS[i].chip, (long long)ROWS[i].chips,
                           ROWS[i].which == ONE_WAY ? "one way" : "both ways", rate, ROWS[i].measured);
    }
}

/* On every host: both ways at once are worth at most 1.3 times one way, all chips together pass no ceiling, and what is
 * offloaded in a step moves no faster than either. */
Test(host_link, laws) {
    int hosts = 0;
    for (int i = 0; i < catalog.count; i++) {
        const Chip *chip = &catalog.chips[i];
        if (!host_is_known(chip)) continue;
        double one = host_one_way_rate(chip), both = host_both_ways_rate(chip), offload = host_offload_rate(chip);
        double ceiling = chip->host_copies_bytes_per_second.value;
        hosts++;
        cr_expect_geq(both, one, "%s", chip->name);
        cr_expect_leq(both, 1.3 * one, "%s", chip->name);
        cr_expect(ceiling == 0 || both * (double)chip->chips_per_host <= ceiling * (1 + 1e-12), "%s", chip->name);
        cr_expect_leq(offload, both, "%s", chip->name);
        cr_expect_float_eq(offload, 2. / 3 * one, 1, "%s", chip->name);
        cr_expect_gt(host_memory_rate(chip), 0, "%s", chip->name);
    }
    cr_expect_geq(hosts, 20);
}

/* Two devices of a chip share all of it; a host of which nothing is known but the link has no ceiling. */
Test(host_link, devices_and_defaults) {
    Chip chip = {.chips_per_host = 4, .devices_per_chip = 2};
    cr_expect_not(host_is_known(&chip));
    chip.pcie_bytes_per_second.value = 30e9, chip.host_bytes.value = 1e11;
    cr_expect(host_is_known(&chip));
    cr_expect_eq(host_one_way_rate(&chip), 30e9);
    cr_expect_eq(host_both_ways_rate(&chip), 30e9);
    cr_expect_eq(host_memory_rate(&chip), 30e9, "no faster than copies are");
    chip.pcie_both_bytes_per_second.value = 40e9, chip.host_copies_bytes_per_second.value = 100e9;
    chip.host_memory_bytes_per_second.value = 400e9;
    cr_expect_eq(host_one_way_rate(&chip), 25e9);
    cr_expect_eq(host_both_ways_rate(&chip), 25e9);
    cr_expect_eq(host_memory_rate(&chip), 100e9);
    Chip device = chip_device(&chip);
    cr_expect_eq(host_one_way_rate(&device), 12.5e9);
    cr_expect_eq(host_both_ways_rate(&device), 12.5e9);
    cr_expect_eq(host_memory_rate(&device), 50e9);
    host_set_job(&chip, 2); /* of the four of a host */
    cr_expect_eq(host_one_way_rate(&chip), 30e9);
    cr_expect_eq(host_both_ways_rate(&chip), 40e9);
}
