/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hosts of fewer GPUs than the catalog's: their axes, their share of a host, and what crosses from one to another. */
#include "base/util.h"
#include "mesh/collective.h"
#include "mesh/host_link.h"
#include "mesh/machine.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static Arena arena;
static Catalog catalog;

static void load(void) {
    Error error = {0};
    cr_assert(catalog_load(&arena, &catalog, &error), "%s: %s", error.where, error.text);
}
static void unload(void) { arena_free(&arena); }
TestSuite(hosts, .init = load, .fini = unload);

static Machine hosts_of(const char *name, int64_t nodes, int64_t each, Chip *chip) {
    Machine machine = {0};
    Error error = {0};
    *chip = *catalog_find(&catalog, name);
    host_set_chips(chip, each);
    MachineRequest request = {.nodes = nodes};
    cr_assert(machine_from_request(chip, &request, &machine, &error), "%s: %s", error.where, error.text);
    return machine;
}

/* NVLink of 18 x 25 GB/s, 8 cards of 50 GB/s a host of 8; an MI300X has 7 links, one to each other; PCIe of A10 as its
 * file says; two of an H100 NVL are under a bridge; a tray of GB200 has 4 of a rack's 72. */
Test(hosts, axes) {
    static const struct {
        const char *chip;
        int64_t nodes, each, chips;
        const char *text, *inner;
        int64_t inside;
        int axes;
    } ROWS[] = {
        {"h100", 8, 4, 32, "8 nodes of 4", "nvlink", 4, 2},    {"h100", 8, 1, 8, "8 nodes of 1", "network", 8, 1},
        {"h100", 1, 4, 4, "1 node of 4", "nvlink", 4, 1},      {"h100", 5, 3, 15, "5 nodes of 3", "nvlink", 3, 2},
        {"a10", 2, 2, 4, "2 nodes of 2", "pcie", 2, 2},        {"mi300x", 4, 2, 8, "4 nodes of 2", "xgmi", 2, 2},
        {"mi300x", 2, 1, 2, "2 nodes of 1", "network", 2, 1},  {"h100-nvl", 2, 4, 8, "2 nodes of 4", "nvlink", 2, 3},
        {"gb200", 18, 4, 72, "1 rack of 72", "nvlink", 72, 1}, {"gb200", 36, 4, 144, "2 racks of 72", "nvlink", 72, 2},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Chip chip;
        Machine machine = hosts_of(ROWS[i].chip, ROWS[i].nodes, ROWS[i].each, &chip);
        cr_expect_eq(machine.mesh.chips, ROWS[i].chips, "%s: %lld chips", ROWS[i].text, (long long)machine.mesh.chips);
        cr_expect_str_eq(machine.text, ROWS[i].text);
        cr_expect_eq(machine.mesh.axis_count, ROWS[i].axes, "%s: %d axes", ROWS[i].text, machine.mesh.axis_count);
        cr_expect_str_eq(machine.mesh.axes[0].name, ROWS[i].inner, "%s: %s", ROWS[i].text, machine.mesh.axes[0].name);
        cr_expect_eq(machine.mesh.axes[0].size, ROWS[i].inside, "%s", ROWS[i].text);
    }
}

/* An all_reduce over all chips, by hand, in seconds per byte: two passes, each of which moves through the NIC of every
 * chip (1/I of the bytes) x (hosts - 1) / hosts. 4 hosts of 2 H100: 2 x (1/2) (3/4) / 50e9; one host of 4: NVLink
 * alone, 2 x (3/4) / 450e9. Two of MI300X have one link of 64e9 between them. */
Test(hosts, all_reduce_by_hand) {
    static const struct {
        const char *chip;
        int64_t nodes, each;
        double expected;
    } ROWS[] = {
        {"h100", 4, 2, 2 * (1. / 2) * (3. / 4) / 50e9},
        {"h100", 8, 1, 2 * (7. / 8) / 50e9},
        {"h100", 1, 4, 2 * (3. / 4) / 450e9},
        {"mi300x", 1, 2, 2 * (1. / 2) / 64e9},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Chip chip;
        Machine machine = hosts_of(ROWS[i].chip, ROWS[i].nodes, ROWS[i].each, &chip);
        Footprint all = {0};
        for (int a = 0; a < MESH_AXES_MAX; a++)
            all.on[a] = (Span){a < machine.mesh.axis_count ? machine.mesh.axes[a].size : 1, 1};
        double seconds = collective_cost(COLLECTIVE_ALL_REDUCE, &machine.mesh, &all).seconds_per_byte[1];
        cr_expect_float_eq(seconds, ROWS[i].expected, 1e-3 * ROWS[i].expected, "%s, %lld of %lld: %g, by hand %g",
                           ROWS[i].chip, (long long)ROWS[i].nodes, (long long)ROWS[i].each, seconds, ROWS[i].expected);
    }
}

/* Half a host has half of what copies get (450 GB/s), so that each of its chips has what it had; one that is alone on a
 * whole host has more. */
Test(hosts, share_of_copies) {
    Chip whole = *catalog_find(&catalog, "h100"), half = whole, alone = whole;
    host_set_chips(&half, 4);
    host_set_job(&whole, 8), host_set_job(&half, 32), host_set_job(&alone, 1);
    cr_expect_float_eq(half.host_copies_bytes_per_second.value, 225e9, 1);
    cr_expect_float_eq(host_both_ways_rate(&half), 450e9 / 8, 1);
    cr_expect_float_eq(host_both_ways_rate(&half), host_both_ways_rate(&whole), 1);
    cr_expect(host_both_ways_rate(&alone) > host_both_ways_rate(&half));
}

/* Of 9 hosts of 4, 12% may idle: one host of 4, where hosts of 8 would idle all or none of two. */
Test(hosts, idle_by_the_host) {
    Chip chip;
    Machine machine = hosts_of("h100", 9, 4, &chip);
    MachineList list;
    Error error = {0};
    cr_assert(machine_idle_shapes(&chip, &machine, 0.12, &arena, &list, &error), "%s", error.text);
    cr_assert_eq(list.count, 1);
    cr_expect_eq(list.machines[0].mesh.chips, 32);
    cr_expect_str_eq(list.machines[0].text, "8 nodes of 4");
}
