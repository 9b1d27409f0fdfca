/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Machines from requests: wraps (the book's rule), vendor names, default shapes (xpk), counts, errors, idle shapes. */
#include "base/util.h"
#include "mesh/machine.h"
#include "mesh/slice.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static Arena arena;
static Catalog catalog;

static void load(void) {
    Error error = {0};
    cr_assert(catalog_load(&arena, &catalog, &error), "%s: %s", error.where, error.text);
}
static void drop(void) { arena_free(&arena); }
TestSuite(machine, .init = load, .fini = drop);

static const Chip *chip_named(const char *name) {
    const Chip *chip = catalog_find(&catalog, name);
    cr_assert_not_null(chip, "%s", name);
    return chip;
}

static Machine machine_for(const char *chip, MachineRequest request) {
    Error error = {0};
    Machine machine = {0};
    cr_assert(machine_from_request(chip_named(chip), &request, &machine, &error), "%s: %s: %s", chip, error.where,
              error.text);
    return machine;
}

/* Axes as "x:16 ring,dcn:8 switch". */
static const char *axes_text(const Mesh *mesh) {
    const char *text = "";
    for (int i = 0; i < mesh->axis_count; i++)
        text = arena_format(&arena, "%s%s%s:%lld %s", text, i ? "," : "", mesh->axes[i].name,
                            (long long)mesh->axes[i].size, axis_kind_name(mesh->axes[i].kind));
    return text;
}

static const struct {
    const char *chip;
    MachineRequest request;
    int64_t chips;
    const char *axes, *text;
} RIGHT[] = {
    /* 2-D: only an axis of 16 closes */
    {"v5e", {.slice = "16x16"}, 256, "x:16 ring,y:16 ring", "16x16"},
    {"v5e", {.slice = "8x16"}, 128, "x:8 line,y:16 ring", "8x16"},
    {"v6e", {.slice = "8x8"}, 64, "x:8 line,y:8 line", "8x8"},
    {"v6e", {.slice = "4x4"}, 16, "x:4 line,y:4 line", "4x4"},
    {"v6e", {.slice = "1x1"}, 1, "", "1x1"},
    {"v6e", {.slice = "16x16x1"}, 256, "x:16 ring,y:16 ring", "16x16"},
    /* 3-D: whole cubes close every axis, sub-cubes none, not even their size of 4 */
    {"v5p", {.slice = "2x2x1"}, 4, "x:2 line,y:2 line", "2x2x1"},
    {"v5p", {.slice = "2x2x4"}, 16, "x:2 line,y:2 line,z:4 line", "2x2x4"},
    {"v5p", {.slice = "4x4x4"}, 64, "x:4 ring,y:4 ring,z:4 ring", "4x4x4"},
    {"v5p", {.slice = "4x8x8"}, 256, "x:4 ring,y:8 ring,z:8 ring", "4x8x8"},
    {"v4", {.slice = "16x4x8"}, 512, "x:16 ring,y:4 ring,z:8 ring", "16x4x8"},
    /* pods and slices over DCN */
    {"v5p", {0}, 8960, "x:16 ring,y:20 ring,z:28 ring", "16x20x28"},
    {"v5p", {.pods = 1}, 8960, "x:16 ring,y:20 ring,z:28 ring", "16x20x28"},
    {"v5p", {.pods = 8}, 71680, "x:16 ring,y:20 ring,z:28 ring,dcn:8 switch", "8 x 16x20x28"},
    {"v5e", {.pods = 4}, 1024, "x:16 ring,y:16 ring,dcn:4 switch", "4 x 16x16"},
    {"v4", {.pods = 1}, 4096, "x:16 ring,y:16 ring,z:16 ring", "16x16x16"},
    {"v5p", {.slice = "8x8x8", .slices = 2}, 1024, "x:8 ring,y:8 ring,z:8 ring,dcn:2 switch", "2 x 8x8x8"},
    {"v5p", {.slice = "8x8x8", .slices = 1}, 512, "x:8 ring,y:8 ring,z:8 ring", "8x8x8"},
    /* vendors' names: v4 and v5p count cores */
    {"v5p", {.slice = "v5p-1024"}, 512, "x:8 ring,y:8 ring,z:8 ring", "8x8x8"},
    {"v5p", {.slice = "tpu-v5p-1024"}, 512, "x:8 ring,y:8 ring,z:8 ring", "8x8x8"},
    {"v5p", {.slice = "V5P-8"}, 4, "x:2 line,y:2 line", "2x2x1"},
    {"v5p", {.slice = "v5p-17920"}, 8960, "x:16 ring,y:20 ring,z:28 ring", "16x20x28"},
    {"v5p", {.slice = "v5p-4x4x8"}, 128, "x:4 ring,y:4 ring,z:8 ring", "4x4x8"},
    {"v5e", {.slice = "v5litepod-256"}, 256, "x:16 ring,y:16 ring", "16x16"},
    {"v6e", {.slice = "v6e-16"}, 16, "x:4 line,y:4 line", "4x4"},
    {"v6e", {.slice = "v6e-16x16"}, 256, "x:16 ring,y:16 ring", "16x16"},
    {"v4", {.slice = "v4-128"}, 64, "x:4 ring,y:4 ring,z:4 ring", "4x4x4"},
    {"v7", {.slice = "tpu7x-128"}, 64, "core:2 mesh,x:4 ring,y:4 ring,z:4 ring", "4x4x4"},
    /* counts: xpk's default shapes, else the most cubic */
    {"v5p", {.chips = 4}, 4, "x:2 line,y:2 line", "2x2x1"},
    {"v5p", {.chips = 32}, 32, "x:2 line,y:4 line,z:4 line", "2x4x4"},
    {"v5p", {.chips = 256}, 256, "x:4 ring,y:8 ring,z:8 ring", "4x8x8"},
    {"v5p", {.chips = 1536}, 1536, "x:8 ring,y:12 ring,z:16 ring", "8x12x16"},
    {"v5p", {.chips = 6144}, 6144, "x:16 ring,y:16 ring,z:24 ring", "16x16x24"},
    {"v5p", {.chips = 8192}, 8192, "x:16 ring,y:16 ring,z:32 ring", "16x16x32"},
    {"v5p", {.chips = 8960}, 8960, "x:16 ring,y:20 ring,z:28 ring", "16x20x28"},
    {"v4", {.chips = 1024}, 1024, "x:8 ring,y:8 ring,z:16 ring", "8x8x16"},
    {"v4", {.chips = 4096}, 4096, "x:16 ring,y:16 ring,z:16 ring", "16x16x16"},
    {"v5e", {.chips = 32}, 32, "x:4 line,y:8 line", "4x8"},
    /* GPUs */
    {"h100", {0}, 8, "nvlink:8 switch", "1 node of 8"},
    {"h100", {.nodes = 64}, 512, "nvlink:8 switch,network:64 switch", "64 nodes of 8"},
    {"h100", {.chips = 16384}, 16384, "nvlink:8 switch,network:2048 switch", "2048 nodes of 8"},
    {"h100", {.chips = 8}, 8, "nvlink:8 switch", "1 node of 8"},
    {"h100", {.chips = 4}, 4, "nvlink:4 switch", "4 chips of one node"},
    {"h100", {.chips = 1}, 1, "", "1 chip of one node"},
    {"h100", {.chips = 3}, 3, "nvlink:3 switch", "3 chips of one node"},
    /* boards meet over PCIe, up to ten in a host; bridges join pairs */
    {"4090", {.chips = 2}, 2, "pcie:2 switch", "2 chips of one node"},
    {"4090", {.chips = 7}, 7, "pcie:7 switch", "7 chips of one node"},
    {"4090", {.chips = 10}, 10, "pcie:10 switch", "10 chips in one node"},
    {"4090", {0}, 8, "pcie:8 switch", "1 node of 8"},
    {"l40s", {.chips = 16}, 16, "pcie:8 switch,network:2 switch", "2 nodes of 8"},
    {"h100-nvl", {.chips = 4}, 4, "nvlink:2 switch,pcie:2 switch", "4 chips of one node"},
    {"h100-nvl", {.chips = 3}, 3, "pcie:3 switch", "3 chips of one node"},
    {"dgx-spark", {.nodes = 2}, 2, "network:2 switch", "2 nodes of 1"},
    {"gb200", {.nodes = 2}, 144, "nvlink:72 switch,network:2 switch", "2 racks of 72"},
    {"gb200", {.chips = 64}, 64, "nvlink:64 switch", "64 chips of one rack"},
    {"gb200", {.chips = 128}, 128, "nvlink:64 switch,network:2 switch", "64 chips of each of 2 racks"},
    /* 76 = 4 x 19: two racks have no equal parts */
    {"gb200", {.chips = 76}, 76, "nvlink:4 switch,network:19 switch", "76 chips, planned as 19 x 4"},
    {"gb200", {.chips = 100}, 100, "nvlink:20 switch,network:5 switch", "100 chips, planned as 5 x 20"},
    {"gb200", {.chips = 80}, 80, "nvlink:40 switch,network:2 switch", "40 chips of each of 2 racks"},
    {"h100", {.nodes = 9}, 72, "nvlink:8 switch,network:9 switch", "9 nodes of 8"},
    {"mi300x", {.nodes = 16}, 128, "xgmi:8 mesh,network:16 switch", "16 nodes of 8"},
    /* v3: named by cores, closed at 32 */
    {"v3", {0}, 1024, "x:32 ring,y:32 ring", "32x32"},
    {"v3", {.slice = "v3-2048"}, 1024, "x:32 ring,y:32 ring", "32x32"},
    {"v3", {.slice = "v3-8"}, 4, "x:2 line,y:2 line", "2x2"},
    {"v3", {.slice = "8x8"}, 64, "x:8 line,y:8 line", "8x8"},
    {"v3", {.slice = "16x32"}, 512, "x:16 line,y:32 ring", "16x32"},
    /* tpu7x: one chip is two devices */
    {"v7", {.slice = "1x1x1"}, 1, "core:2 mesh", "1x1x1"},
    {"v7", {.slice = "tpu7x-2"}, 1, "core:2 mesh", "1x1x1"},
    {"v7", {.slice = "tpu7x-4x4x8"}, 128, "core:2 mesh,x:4 ring,y:4 ring,z:8 ring", "4x4x8"},
    {"v7", {.chips = 9216}, 9216, "core:2 mesh,x:16 ring,y:24 ring,z:24 ring", "16x24x24"},
};

Test(machine, from_request) {
    for (size_t i = 0; i < COUNT_OF(RIGHT); i++) {
        Machine machine = machine_for(RIGHT[i].chip, RIGHT[i].request);
        const Chip *chip = chip_named(RIGHT[i].chip);
        cr_expect_eq(machine.mesh.chips, RIGHT[i].chips, "row %zu", i);
        cr_expect_eq(machine.mesh.devices, RIGHT[i].chips * chip->devices_per_chip, "row %zu", i);
        cr_expect_str_eq(axes_text(&machine.mesh), RIGHT[i].axes, "row %zu", i);
        cr_expect_str_eq(machine.text, RIGHT[i].text, "row %zu", i);
    }
}

/* Wherever xpk does not know a count, the default shape is the most cubic of that count. */
Test(machine, every_offered_count_has_a_default) {
    static const char *const TORI[] = {"v4", "v5e", "v5p", "v6e", "v7"};
    for (size_t i = 0; i < COUNT_OF(TORI); i++) {
        const Chip *chip = chip_named(TORI[i]);
        for (SliceWalk walk = {.chip = chip}; slice_next(&walk);) {
            SliceShape shape = {{0}};
            cr_expect(slice_offered(chip, walk.shape));
            cr_expect(slice_default(chip, slice_chips(walk.shape), &shape) && slice_offered(chip, shape));
            cr_expect_eq(slice_chips(shape), slice_chips(walk.shape));
        }
    }
}

/* The book's hosts (tests/data/book/cases.tsv T02, T05) and cores (T06), and rates on the axes. */
Test(machine, book_numbers) {
    Machine v5e = machine_for("v5e", (MachineRequest){.pods = 1}),
            v5p = machine_for("v5p", (MachineRequest){.pods = 1});
    cr_expect_eq(v5e.mesh.chips / chip_named("v5e")->chips_per_host, 32);
    cr_expect_eq(v5p.mesh.chips / chip_named("v5p")->chips_per_host, 2240);
    cr_expect_eq(v5p.mesh.chips * chip_named("v5p")->cores_in_name, 17920);
    cr_expect_eq(v5p.mesh.axes[0].bytes_per_second, 9e10);
    cr_expect_eq(v5p.mesh.axes[0].latency_seconds, 1e-6);
    Machine h100 = machine_for("h100", (MachineRequest){.nodes = 2});
    cr_expect_eq(h100.mesh.axes[0].bytes_per_second, 450e9);
    cr_expect_eq(h100.mesh.axes[1].bytes_per_second, 50e9);
    cr_expect_eq(h100.nodes, 2);
    Machine v7 = machine_for("v7", (MachineRequest){.slice = "4x4x4"});
    cr_expect_eq(v7.mesh.axes[1].bytes_per_second, 4.5e10, "two devices share a link");
}

Test(machine, note) {
    Machine pod = machine_for("v5p", (MachineRequest){.slice = "16x20x28"});
    cr_expect_str_eq(pod.note,
                     "16x20x28 is a whole pod: real hardware, but the largest schedulable slice is 6,144 chips");
    cr_expect_str_eq(machine_for("v5p", (MachineRequest){.slice = "16x16x24"}).note, "");
    cr_expect_str_not_empty(machine_for("v5p", (MachineRequest){.slice = "12x24x24"}).note);
    cr_expect_str_eq(machine_for("v4", (MachineRequest){.pods = 1}).note, "");
}

static const struct {
    const char *chip;
    MachineRequest request;
    const char *where, *says;
} WRONG[] = {
    {"v5p",
     {.slice = "16x20x30"},
     "--slice",
     "16x20x30 is not a v5p slice (sizes are multiples of 4, at most 140 cubes of 4x4x4); nearest: 16x20x28"},
    {"v5p", {.slice = "28x20x16"}, "--slice", "smallest size comes first"},
    {"v5p", {.slice = "28x20x16"}, "--slice", "nearest: 16x20x28"},
    {"v5p", {.slice = "16x20x32"}, "--slice", "at most 140 cubes"},
    {"v5p", {.slice = "999999999x999999999x999999999"}, "--slice", "is not a v5p slice"},
    {"v5p", {.slice = "99999999999999999999x4x4"}, "--slice", "give a shape such as 4x4x8"},
    {"v5p", {.slice = "4x4"}, "--slice", "has 2 sizes; a v5p slice has 3"},
    {"v5p", {.slice = ""}, "--slice", "give a shape such as 4x4x8"},
    {"v5p", {.slice = "0x4x4"}, "--slice", "give a shape"},
    {"v5p", {.slice = "-4x4x4"}, "--slice", "give a shape"},
    {"v5p", {.slice = "4x4x4x4"}, "--slice", "give a shape"},
    {"v5p", {.slice = "4x4x"}, "--slice", "give a shape"},
    {"v5p", {.slice = "4 x 4 x 4"}, "--slice", "give a shape"},
    {"v5p", {.slice = "v5p-"}, "--slice", "give a shape"},
    {"v5p", {.slice = "v6e-16"}, "--slice", "is not a v5p slice"},
    {"v5p", {.slice = "v5p-7"}, "--slice", "nearest: 4 (2x2x1)"},
    {"v5p", {.slice = "v5p-0"}, "--slice", "no v5p slice has 0 chips"},
    {"v5p", {.slice = "v5p-99999999999999999999999"}, "--slice", "nearest: 8,960 (16x20x28); give --pods or --slices"},
    {"v6e", {.slice = "v6e-24"}, "--slice", "nearest: 16 (4x4) or 32 (4x8)"},
    {"v6e", {.slice = "32x32"}, "--slice", "nearest: 16x16"},
    {"v6e", {.slice = "16x8"}, "--slice", "nearest: 8x16"},
    {"v6e", {.slice = "4x4x4"}, "--slice", "has 3 sizes; a v6e slice has 2"},
    {"v4", {.slice = "20x16x16"}, "--slice", "in any order, at most 64 cubes"},
    {"v5p", {.chips = 100}, "--chips", "no v5p slice has 100 chips; nearest: 64 (4x4x4) or 128 (4x4x8)"},
    {"v5p", {.chips = 1}, "--chips", "nearest: 4 (2x2x1)"},
    {"v5p", {.chips = 71680}, "--chips", "nearest: 8,960 (16x20x28); give --pods or --slices for more"},
    {"v5p", {.chips = -4}, "--chips", "give 1 to"},
    {"v5p", {.chips = INT64_MAX}, "--chips", "give 1 to"},
    {"v5p", {.pods = -1}, "--pods", "give 1 to 239,674 pods"},
    {"v5p", {.pods = INT64_MAX}, "--pods", "give 1 to 239,674 pods"},
    {"v5p", {.slice = "4x4x4", .slices = INT64_MAX}, "--slices", "give 1 to"},
    {"v5p", {.slice = "4x4x4", .slices = -2}, "--slices", "give 1 to"},
    {"v5p", {.slices = 2}, "--slices", "give --slice"},
    {"v5p", {.pods = 2, .slices = 2}, "--slices", "give --slice"},
    {"v5p", {.nodes = 2}, "--nodes", "give --slice, --chips or --pods"},
    {"v5p", {.pods = 1, .chips = 64}, "machine", "give one of"},
    {"h100", {.pods = 1}, "--pods", "comes in nodes"},
    {"h100", {.slice = "4x4x4"}, "--slice", "comes in nodes"},
    {"h100", {.slices = 2}, "--slices", "comes in nodes"},
    {"h100", {.chips = 12}, "--chips", "nearest: 8 or 16"},
    {"h100", {.chips = 9}, "--chips", "nearest: 8 or 16"},
    {"4090", {.chips = 11}, "--chips", "nearest: 10 or 16"},
    {"dgx-spark", {.chips = 0, .nodes = -1}, "--nodes", "give 1 to"},
    {"h100", {.chips = -8}, "--chips", "give 1 to"},
    {"h100", {.nodes = INT64_MAX}, "--nodes", "give 1 to 268,435,456 nodes"},
    {"h100", {.nodes = -1}, "--nodes", "give 1 to"},
    {"gb200", {.chips = 130}, "--chips", "nearest: 128 or 132"},
    /* figures that nobody published */
    {"v3", {.slice = "8x8", .slices = 2}, "--chip", "no scaleout_bytes_per_second, scaleout_seconds; give one slice"},
    {"v3", {.pods = 2}, "--chip", "cannot be planned in several slices"},
    {"gaudi3", {.nodes = 4}, "--chip", "the catalog has no hop_seconds, scaleout_seconds;"},
    {"v8t", {.chips = 4}, "--chip", "the catalog has no topology; give another chip, and see `shardopt chips tpu-v8t`"},
    {"v8i", {0}, "--chip", "the catalog has no topology;"},
};

Test(machine, wrong_requests) {
    for (size_t i = 0; i < COUNT_OF(WRONG); i++) {
        Error error = {0};
        Machine machine = {.slices = -7};
        bool ok = machine_from_request(chip_named(WRONG[i].chip), &WRONG[i].request, &machine, &error);
        cr_expect_not(ok, "row %zu", i);
        cr_expect_eq(error.kind, ERROR_INPUT, "row %zu", i);
        cr_expect_str_eq(error.where, WRONG[i].where, "row %zu: %s", i, error.text);
        cr_expect_not_null(strstr(error.text, WRONG[i].says), "row %zu: %s", i, error.text);
        cr_expect_eq(machine.slices, -7, "row %zu: untouched", i);
    }
}

/* A torus of one cube still has its rule said as one of cubes; one that counts none lists its shapes. */
Test(machine, rule_of_a_small_torus) {
    for (int64_t cubes = 0; cubes <= 2; cubes++) {
        Chip chip = *chip_named("v4");
        Machine machine;
        Error error = {0};
        char rule[64];
        chip.max_cubes = cubes;
        cr_expect_not(machine_from_request(&chip, &(MachineRequest){.slice = "8x8x12"}, &machine, &error));
        snprintf(rule, sizeof rule, cubes > 0 ? "at most %lld cubes" : "offered:", (long long)cubes);
        cr_expect(strstr(error.text, rule), "%s: %s", rule, error.text);
    }
}

static const struct {
    const char *slice, *chip; /* NULL means that the name implies none */
} IMPLIED[] = {
    {"v5p-1024", "tpu-v5p"},
    {"v5litepod-256", "tpu-v5e"},
    {"v6e-16x16", "tpu-v6e"},
    {"V4-8", "tpu-v4"},
    {"tpu7x-8", "tpu-v7"},
    {"v3-2048", "tpu-v3"},
    {"16x20x28", NULL},
    {"v5p", NULL},
    {"h100-8", NULL},
    {"", NULL},
    {"-", NULL},
};

Test(machine, slice_names_imply_a_chip) {
    for (size_t i = 0; i < COUNT_OF(IMPLIED); i++) {
        const Chip *chip = machine_chip_of_slice(&catalog, IMPLIED[i].slice);
        cr_expect_str_eq(chip ? chip->name : "none", IMPLIED[i].chip ? IMPLIED[i].chip : "none", "%s",
                         IMPLIED[i].slice);
    }
}

/* Lists every sorted shape of multiples of 4 by three plain loops, for each number of slices: the shapes that may stand
 * in. */
static int brute_force_idle(SliceShape asked, int64_t slices, int64_t least, const Machine *found, int count) {
    int64_t own = slice_chips(asked), total = own * slices;
    int expected = 0;
    for (int64_t n = 1; n <= slices; n++)
        for (int64_t a = 4; a <= 256; a += 4)
            for (int64_t b = a; b <= 256; b += 4)
                for (int64_t c = b; c <= 256; c += 4) {
                    int64_t chips = a * b * c;
                    if (chips > 64 * 140) break;
                    if (chips > own || chips * n < least || chips * n >= total) continue;
                    expected++;
                    int hits = 0;
                    for (int i = 0; i < count; i++)
                        hits += found[i].slices == n && slice_compare(found[i].slice, (SliceShape){{a, b, c}}) == 0;
                    cr_expect_eq(hits, 1, "%lld of %lldx%lldx%lld", (long long)n, (long long)a, (long long)b,
                                 (long long)c);
                }
    return expected;
}

static const struct {
    MachineRequest request;
    double idle;
    int64_t least;
} IDLE[] = {
    {{.pods = 1}, 0.1, 8064},
    {{.pods = 8}, 0.1, 64512},
    {{.pods = 12}, 0.1, 96768},
    {{.slice = "4x8x8"}, 0.5, 128},
    {{.slice = "8x8x8", .slices = 3}, 0.4, 922},
    /* ceil(921.6) */ {{.pods = 1}, 0, 8960},
};

Test(machine, idle_shapes_are_all_and_only) {
    for (size_t i = 0; i < COUNT_OF(IDLE); i++) {
        Error error = {0};
        Machine asked = machine_for("v5p", IDLE[i].request), *found = NULL;
        int count = -1;
        MachineList listed = {0};
        cr_assert(machine_idle_shapes(chip_named("v5p"), &asked, IDLE[i].idle, &arena, &listed, &error));
        found = listed.machines, count = listed.count;
        cr_expect_eq(brute_force_idle(asked.slice, asked.slices, IDLE[i].least, found, count), count, "row %zu", i);
        for (int j = 0; j < count; j++) {
            cr_expect(found[j].mesh.chips >= IDLE[i].least && found[j].mesh.chips < asked.mesh.chips, "row %zu", i);
            if (j > 0) cr_expect_leq(found[j].mesh.chips, found[j - 1].mesh.chips, "row %zu: sorted", i);
            cr_expect_eq(found[j].mesh.axes[0].kind, AXIS_RING, "row %zu: its own wraps", i);
        }
    }
}

static int idle_count(const char *chip, MachineRequest request, double idle, Machine **found) {
    Error error = {0};
    Machine asked = machine_for(chip, request);
    int count = -1;
    MachineList listed = {0};
    if (!machine_idle_shapes(chip_named(chip), &asked, idle, &arena, &listed, &error)) return -1;
    *found = listed.machines, count = listed.count;
    return count;
}

/* 76 chips of racks of 72: the answer says which parts are planned, and which counts would be equal. */
Test(machine, unequal_racks_are_said) {
    Machine machine = machine_for("gb200", (MachineRequest){.chips = 76});
    cr_expect_str_eq(machine.note,
                     "76 chips are no equal parts of 2 racks: planned as 19 parts of 4 with the network "
                     "between all of them, slower than the real machine; 72 and 80 chips are equal parts");
    cr_expect_str_eq(machine_for("gb200", (MachineRequest){.chips = 80}).note, "");
}

/* Leaves belong to the installation that the catalog knows; a chip without leaves is refused. */
Test(machine, oversubscription_needs_leaves) {
    Error error = {0};
    Chip chip = *chip_named("mi300x");
    Machine machine;
    chip.oversubscription = 2;
    cr_expect_not(machine_from_request(&chip, &(MachineRequest){.nodes = 4}, &machine, &error));
    cr_expect_str_eq(error.where, "--oversubscription");
    cr_expect(machine_from_request(&chip, &(MachineRequest){.nodes = 1}, &machine, &error), "one node has no spine");
    chip = *chip_named("gb200");
    chip.oversubscription = 2;
    cr_assert(machine_from_request(&chip, &(MachineRequest){.chips = 128}, &machine, &error), "%s", error.text);
    cr_expect_eq(machine.mesh.fabric.leaf_nodes, 8);
    cr_expect_str_eq(machine.note, "the spine is oversubscribed 2 to 1 above leaves of 8 racks");
}

Test(machine, idle_shapes_of_other_machines) {
    Machine *found = NULL;
    cr_assert_eq(idle_count("h100", (MachineRequest){.nodes = 64}, 0.1, &found), 6); /* 58 to 63 nodes */
    cr_expect_eq(found[0].mesh.chips, 504);
    cr_expect_eq(found[5].mesh.chips, 464);
    cr_expect_eq(idle_count("h100", (MachineRequest){.chips = 4}, 0.5, &found), 0, "no part of a node");
    cr_assert_eq(idle_count("gb200", (MachineRequest){.chips = 76}, 0.06, &found), 1);
    cr_expect_eq(found[0].nodes, 1, "a whole rack is better than 19 parts");
    cr_expect_eq(idle_count("v5e", (MachineRequest){.pods = 1}, 0.1, &found), 0);
    cr_assert_eq(idle_count("v5e", (MachineRequest){.pods = 1}, 0.5, &found), 1);
    cr_expect_str_eq(found[0].text, "8x16");
    cr_assert_eq(idle_count("v5e", (MachineRequest){.pods = 10}, 0.1, &found), 1);
    cr_expect_str_eq(found[0].text, "9 x 16x16");
    cr_expect_eq(idle_count("v5p", (MachineRequest){.pods = 1}, NAN, &found), 0);
    cr_expect_eq(idle_count("h100", (MachineRequest){.nodes = 268435456}, 0.5, &found), -1, "too many to list");
    cr_expect_eq(idle_count("v5p", (MachineRequest){.slice = "2x2x1", .slices = 500000000}, 0.9, &found), -1);
    cr_expect_eq(idle_count("v5p", (MachineRequest){.slice = "2x2x1", .slices = 500000000}, 0, &found), 0);
}

Test(machine, twins) {
    Error error = {0};
    Machine asked = machine_for("v5p", (MachineRequest){.slice = "8x8x8", .slices = 2}), *found = NULL;
    int count = 0;
    MachineList listed = {0};
    cr_assert(machines_alike(chip_named("v5p"), &asked, &arena, &listed, &error));
    found = listed.machines, count = listed.count;
    /* 8 cubes as a <= b <= c: 1x1x8, 1x2x4, and 2x2x2 itself */
    cr_assert_eq(count, 2);
    cr_expect_str_eq(found[0].text, "2 x 4x4x32");
    cr_expect_str_eq(found[1].text, "2 x 4x8x16");
    cr_expect_eq(found[0].mesh.chips, 1024);
    asked = machine_for("h100", (MachineRequest){.nodes = 4});
    cr_assert(machines_alike(chip_named("h100"), &asked, &arena, &listed, &error));
    found = listed.machines, count = listed.count;
    cr_expect_eq(count, 0);
}
