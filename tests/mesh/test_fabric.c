/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The costs that a machine adds to its axes: NCCL's rings and trees, rails, an oversubscribed spine, meshes of direct
 * links, two cores a chip, twisted tori; and that the least cost stays below all of them. */
#include "base/util.h"
#include "mesh/collective.h"
#include "mesh/machine.h"
#include "mesh/slice.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

static Arena arena;
static Catalog catalog;

static void load(void) {
    Error error = {0};
    cr_assert(catalog_load(&arena, &catalog, &error), "%s: %s", error.where, error.text);
}
static void drop(void) { arena_free(&arena); }
TestSuite(fabric, .init = load, .fini = drop);

static Machine machine_for(const char *name, MachineRequest request, double oversubscription) {
    Error error = {0};
    Machine machine = {0};
    const Chip *found = catalog_find(&catalog, name);
    cr_assert_not_null(found, "%s", name);
    Chip chip = *found;
    chip.oversubscription = oversubscription;
    cr_assert(machine_from_request(&chip, &request, &machine, &error), "%s: %s: %s", name, error.where, error.text);
    return machine;
}

/* NCCL's src/graph/tuning.cc: microseconds of a ring and of a tree by protocol (LL, LL128, Simple). */
enum { PROTOCOLS = 3 };
static const double RING_BASE[] = {6.6, 14, 8.4}, RING_INTRA[] = {0.6, 1.9, 3.4}, RING_INTER[] = {2.7, 4, 14};
static const double TREE_BASE[] = {6.8, 14, 8.4}, TREE_INTRA[] = {0.6, 1.25, 4}, TREE_INTER[] = {5, 8.5, 14};

/* The tuner's own sum for n ranks on `nodes`; all_gather has no tree. */
static double tuner_microseconds(Collective op, int ranks, int nodes) {
    double least = INFINITY;
    int passes = op == COLLECTIVE_ALL_REDUCE ? 2 : 1, steps = passes * (ranks - 1), inter = passes * (nodes - 1);
    for (int p = 0; p < PROTOCOLS; p++) {
        least = min_real(least, RING_BASE[p] + (steps - inter) * RING_INTRA[p] + inter * RING_INTER[p]);
        double levels = 0;
        for (int n = nodes; n > 1; n /= 2) levels++;
        double tree = TREE_BASE[p] + 2 * ((ranks / nodes - 1.0) * TREE_INTRA[p] + levels * TREE_INTER[p]);
        if (op == COLLECTIVE_ALL_REDUCE) least = min_real(least, tree);
    }
    return least;
}

static const struct {
    const char *chip;
    int inside, nodes;
} GROUPS[] = {
    {"h100", 8, 1},  {"h100", 2, 1},     {"h100", 8, 2},   {"h100", 8, 64},  {"h100", 1, 64}, {"h100", 4, 9},
    {"b200", 8, 32}, {"a100-80g", 8, 3}, {"gb200", 72, 1}, {"gb200", 72, 8}, {"gb300", 1, 2},
};

Test(fabric, small_payloads_cost_what_nccl_says) {
    for (size_t i = 0; i < COUNT_OF(GROUPS); i++) {
        Mesh mesh = machine_for(GROUPS[i].chip, (MachineRequest){.nodes = 64}, 0).mesh;
        mesh.axes[1].size = 576; /* divides by every row */
        Footprint footprint = {{{GROUPS[i].inside, 1}, {GROUPS[i].nodes, 1}}};
        for (Collective op = COLLECTIVE_ALL_GATHER; op <= COLLECTIVE_ALL_REDUCE; op++) {
            double expected = tuner_microseconds(op, GROUPS[i].inside * GROUPS[i].nodes, GROUPS[i].nodes);
            cr_expect_float_eq(collective_seconds(collective_cost(op, &mesh, &footprint), 1, 0) * 1e6, expected, 1e-9,
                               "%s of %d x %d on %s: expected %g us", collective_name(op), GROUPS[i].inside,
                               GROUPS[i].nodes, GROUPS[i].chip, expected);
        }
    }
}

/* Worked by hand: 8 GPUs 6.6 + 14 x 0.6; 64 nodes of 8 by tree 6.8 + 2 (7 x 0.6 + 6 x 5). */
Test(fabric, the_two_of_the_issue) {
    Mesh mesh = machine_for("h100", (MachineRequest){.nodes = 64}, 0).mesh;
    Footprint node = {{{8, 1}, {1, 1}}}, all = {{{8, 1}, {64, 1}}};
    cr_expect_float_eq(collective_seconds(collective_cost(COLLECTIVE_ALL_REDUCE, &mesh, &node), 1, 0), 15.0e-6, 1e-15);
    cr_expect_float_eq(collective_seconds(collective_cost(COLLECTIVE_ALL_REDUCE, &mesh, &all), 1, 0), 75.2e-6, 1e-15);
}

/* A slow step for each rank of a ring that leaves the node: 8 nodes of 8 have 63, one node none; a tree has none, and
 * an all_reduce takes it. */
Test(fabric, steps_of_far_rings) {
    Mesh mesh = machine_for("h100", (MachineRequest){.nodes = 64}, 0).mesh, slow = mesh;
    Footprint node = {{{8, 1}, {1, 1}}}, far = {{{8, 1}, {8, 1}}};
    slow.fabric.ring_step_seconds = 1e-3;
    double more = collective_seconds(collective_cost(COLLECTIVE_ALL_GATHER, &slow, &far), 1, 0) -
                  collective_seconds(collective_cost(COLLECTIVE_ALL_GATHER, &mesh, &far), 1, 0);
    cr_expect_float_eq(more, 63e-3, 1e-12, "%g", more);
    for (Collective op = COLLECTIVE_ALL_GATHER; op <= COLLECTIVE_ALL_REDUCE; op++)
        cr_expect_float_eq(collective_seconds(collective_cost(op, &slow, &node), 1, 0),
                           collective_seconds(collective_cost(op, &mesh, &node), 1, 0), 1e-15);
    cr_expect_lt(collective_seconds(collective_cost(COLLECTIVE_ALL_REDUCE, &slow, &far), 1, 0), 1e-3);
}

/* The book's GPU chapter ("How to Scale Your Model", part 12): node 8 x 450e9, leaf 32 x 400e9, spine 4 x 12.8e12: the
 * least level is the leaf, 400e9 x 32 / 31 = 413e9. The machine's own network is one axis, whose NICs carry the bytes
 * that stay under the leaf and those that cross: 400e9 x 128 / 127. */
Test(fabric, book_fat_tree) {
    GroupAxis levels[] = {{8, 1, AXIS_SWITCH, 450e9, 0}, {32, 1, AXIS_SWITCH, 50e9, 0}, {4, 1, AXIS_SWITCH, 50e9, 0}};
    static const struct {
        int first, count;
        double share, rate;
    } LEVELS[] = {{0, 1, 1, 450e9 * 8 / 7}, {1, 1, 1. / 8, 400e9 * 32 / 31}, {2, 1, 1. / 256, 12.8e12 * 4 / 3}};
    for (size_t i = 0; i < COUNT_OF(LEVELS); i++) {
        CollectiveCost cost = group_collective_cost(COLLECTIVE_ALL_GATHER, levels + LEVELS[i].first, LEVELS[i].count);
        cr_expect_float_eq(1 / (LEVELS[i].share * cost.seconds_per_byte[1]) / LEVELS[i].rate, 1, 1e-12);
    }
    double whole = 1 / group_collective_cost(COLLECTIVE_ALL_GATHER, levels, 3).seconds_per_byte[1];
    cr_expect_float_eq(whole, 413e9, 0.5e9);
    Mesh mesh = machine_for("h100", (MachineRequest){.nodes = 128}, 0).mesh;
    Footprint all = {{{8, 1}, {128, 1}}};
    double own = 1 / collective_cost(COLLECTIVE_ALL_GATHER, &mesh, &all).seconds_per_byte[1];
    cr_expect_float_eq(own / (400e9 * 128 / 127), 1, 1e-12);
    double reduce = 1 / collective_cost(COLLECTIVE_ALL_REDUCE, &mesh, &all).seconds_per_byte[1];
    cr_expect_float_eq(2 * reduce / own, 1, 1e-12, "an all_reduce is two");
}

/* Rails: g chips of each node leave it through their g NICs of 50e9. The book's quiz: model parallel over k whole
 * nodes, data across: 8 k groups, each on the NIC of its own chip, together k x 400e9. */
Test(fabric, rails) {
    Mesh mesh = machine_for("h100", (MachineRequest){.nodes = 128}, 0).mesh;
    for (int g = 1; g <= 8; g *= 2) {
        Footprint footprint = {{{g, 1}, {128, 1}}};
        double rate = 1 / collective_cost(COLLECTIVE_ALL_GATHER, &mesh, &footprint).seconds_per_byte[1];
        cr_expect_float_eq(rate / (g * 50e9 * 128 / 127), 1, 1e-12, "%d NICs", g);
    }
    for (int k = 1; k <= 16; k *= 2) {
        Footprint data = {{{1, 1}, {128 / k, k}}};
        double rate = 1 / collective_cost(COLLECTIVE_ALL_GATHER, &mesh, &data).seconds_per_byte[1];
        double foreign = 1 - k / 128.0;
        cr_expect_float_eq(8 * k * rate * foreign / (k * 400e9), 1, 1e-12, "k = %d", k);
    }
}

enum { NODES = 128, LEAF = 32 };

/* Bytes that leave the busiest leaf when every group of f nodes, s apart, moves one byte per chip of it; whole leaves
 * and whole groups only. */
static double leaf_bytes(Collective op, int f, int s) {
    double leaving[NODES / LEAF] = {0}, most = 0;
    for (int block = 0; block < NODES; block += f * s)
        for (int base = block; base < block + s; base++)
            for (int k = 0; k < f; k++) {
                int from = base + k * s;
                for (int l = 0; l < f; l++) {
                    int to = base + l * s;
                    bool next = l == (k + 1) % f;
                    if (from / LEAF == to / LEAF) continue;
                    if (op == COLLECTIVE_ALL_TO_ALL) leaving[from / LEAF] += 1.0 / f;
                    if (op == COLLECTIVE_ALL_GATHER && next) leaving[from / LEAF] += (f - 1.0) / f;
                    if (op == COLLECTIVE_PERMUTE && next) leaving[from / LEAF] += 1;
                }
            }
    for (int i = 0; i < NODES / LEAF; i++) most = max_real(most, leaving[i]);
    return most;
}

/* One GPU of each node, or all eight: the NIC carries its own bytes, and each leaf has LEAF x 50e9 / c for the bytes
 * that leave it. */
Test(fabric, spine_carries_what_leaves_a_leaf) {
    static const Collective OPS[] = {COLLECTIVE_ALL_GATHER, COLLECTIVE_ALL_TO_ALL, COLLECTIVE_PERMUTE};
    static const double RATIOS[] = {1, 2, 4, 32, 64};
    int crossed = 0;
    for (size_t r = 0; r < COUNT_OF(RATIOS); r++)
        for (int f = 2; f <= NODES; f *= 2)
            for (int s = 1; f * s <= NODES; s *= 2)
                for (size_t i = 0; i < COUNT_OF(OPS); i++) {
                    Mesh mesh = machine_for("h100", (MachineRequest){.nodes = NODES}, RATIOS[r]).mesh;
                    Footprint footprint = {{{1, 1}, {f, s}}};
                    /* per chip: a gather brings all but its own share, and an all_to_all sends all but that */
                    double nic = OPS[i] == COLLECTIVE_PERMUTE ? 1 : (f - 1.0) / f;
                    double leaf = leaf_bytes(OPS[i], f, s) / LEAF * RATIOS[r];
                    double bytes = OPS[i] == COLLECTIVE_ALL_TO_ALL ? f : 1; /* of all chips together */
                    double cost = bytes * collective_cost(OPS[i], &mesh, &footprint).seconds_per_byte[1] * 50e9;
                    cr_expect_float_eq(cost, max_real(nic, leaf), 1e-12, "%s of %d, %d apart, %g to 1",
                                       collective_name(OPS[i]), f, s, RATIOS[r]);
                    crossed += leaf > nic;
                }
    cr_expect_gt(crossed, 50);
}

/* 64 nodes of 8 over 2:1, closed form: half of each chip's V / 512 crosses at half of 50e9. */
Test(fabric, all_to_all_over_a_narrow_spine) {
    Footprint all = {{{8, 1}, {64, 1}}};
    Mesh full = machine_for("h100", (MachineRequest){.nodes = 64}, 1).mesh;
    Mesh half = machine_for("h100", (MachineRequest){.nodes = 64}, 2).mesh;
    Mesh quarter = machine_for("h100", (MachineRequest){.nodes = 64}, 4).mesh;
    double nic = 1 / 512. / 50e9;
    cr_expect_float_eq(collective_cost(COLLECTIVE_ALL_TO_ALL, &full, &all).seconds_per_byte[1] / nic, 63. / 64, 1e-12);
    cr_expect_float_eq(collective_cost(COLLECTIVE_ALL_TO_ALL, &half, &all).seconds_per_byte[1] / nic, 0.5 * 2, 1e-12);
    cr_expect_float_eq(collective_cost(COLLECTIVE_ALL_TO_ALL, &quarter, &all).seconds_per_byte[1] / nic, 0.5 * 4,
                       1e-12);
    Machine machine = machine_for("h100", (MachineRequest){.nodes = 64}, 2);
    cr_expect_str_eq(machine.note, "the spine is oversubscribed 2 to 1 above leaves of 32 nodes");
}

/* MI300X: seven links of 64 GB/s; a group of g has g - 1 of them, a pair and a permute one. */
Test(fabric, direct_links) {
    Mesh mesh = machine_for("mi300x", (MachineRequest){.nodes = 4}, 0).mesh;
    cr_assert_eq(mesh.axes[0].kind, AXIS_MESH);
    for (int g = 2; g <= 8; g *= 2) {
        Footprint footprint = {{{g, 1}, {1, 1}}};
        double gather = collective_cost(COLLECTIVE_ALL_GATHER, &mesh, &footprint).seconds_per_byte[1];
        double to_all = collective_cost(COLLECTIVE_ALL_TO_ALL, &mesh, &footprint).seconds_per_byte[1];
        cr_expect_float_eq(gather * 64e9, 1.0 / g, 1e-12, "each of %d gets a g-th over each link", g);
        cr_expect_float_eq(to_all * 64e9, 1.0 / g / g, 1e-12, "to each of %d its part of a g-th", g);
        cr_expect_float_eq(collective_cost(COLLECTIVE_PERMUTE, &mesh, &footprint).seconds_per_byte[1] * 64e9, 1, 1e-12);
    }
    /* four of eight in each of 4 nodes: links V / 4, NICs (V / 4)(3 / 4) / 50e9 */
    Footprint half = {{{4, 1}, {4, 1}}};
    cr_expect_float_eq(collective_cost(COLLECTIVE_ALL_GATHER, &mesh, &half).seconds_per_byte[1],
                       max_real(0.25 / 64e9, 0.25 * 0.75 / 50e9), 1e-24);
}

/* tpu7x: a chip must bring V (n - 1) / n in over its own two links of 9e10, however fast its two cores exchange it. */
Test(fabric, two_cores_share_the_links_of_a_chip) {
    Mesh mesh = machine_for("v7", (MachineRequest){.slice = "4x4x8"}, 0).mesh;
    cr_assert_str_eq(mesh.axes[0].name, "core");
    Footprint cores = {{{2, 1}, {1, 1}, {1, 1}, {1, 1}}}, ring = {{{2, 1}, {1, 1}, {1, 1}, {8, 1}}};
    CollectiveCost inside = collective_cost(COLLECTIVE_ALL_GATHER, &mesh, &cores);
    CollectiveCost outside = collective_cost(COLLECTIVE_ALL_GATHER, &mesh, &ring);
    cr_expect_float_eq(inside.seconds_per_byte[1], 0.5 / 5.4e11, 1e-24);
    cr_expect_float_eq(outside.seconds_per_byte[1], 7. / 8 / 1.8e11, 1e-24);
    cr_expect_float_eq(outside.latency_seconds[0], 5e-6, 1e-18, "four hops of the ring and one between the cores");
}

/* Mean hops per axis in Z^3 modulo the lattice that three vectors span; ways of equal length share. */
static void mean_hops(const int size[3], int lattice[3][3], double mean[3]) {
    mean[0] = mean[1] = mean[2] = 0;
    for (int p = 0; p < size[0] * size[1] * size[2]; p++) {
        int at[3] = {p % size[0], p / size[0] % size[1], p / size[0] / size[1]}, shortest = 1 << 30, ways = 0;
        double hops[3] = {0, 0, 0};
        for (int c = 0; c < 125; c++) {
            int times[3] = {c % 5 - 2, c / 5 % 5 - 2, c / 25 - 2}, away[3], length = 0;
            for (int j = 0; j < 3; j++) {
                away[j] = at[j];
                for (int i = 0; i < 3; i++) away[j] -= times[i] * lattice[i][j];
                length += abs(away[j]);
            }
            if (length < shortest) {
                shortest = length;
                ways = 0;
                hops[0] = hops[1] = hops[2] = 0;
            }
            if (length > shortest) continue;
            ways++;
            for (int j = 0; j < 3; j++) hops[j] += abs(away[j]);
        }
        for (int j = 0; j < 3; j++) mean[j] += hops[j] / ways / (size[0] * size[1] * size[2]);
    }
}

/* The most that routing by shortest ways gains: the busiest axis of the plain torus over that of the twisted one. */
static double gain_at_most(int k, bool two_long) {
    int size[3] = {k, two_long ? 2 * k : k, 2 * k};
    int plain[3][3] = {{size[0], 0, 0}, {0, size[1], 0}, {0, 0, size[2]}};
    int one[3][3] = {{k, 0, k}, {0, k, k}, {0, 0, 2 * k}}, two[3][3] = {{k, k, k}, {0, 2 * k, 0}, {0, 0, 2 * k}};
    double before[3], after[3];
    mean_hops(size, plain, before);
    mean_hops(size, two_long ? two : one, after);
    return max_real(before[0], max_real(before[1], before[2])) / max_real(after[0], max_real(after[1], after[2]));
}

/* The published 1.63 and 1.31 are 93% and 94% of the gain that shortest ways allow on 4x4x8 and 4x8x8 (1.75, 1.39), and
 * that bound moves by less than 2% with k: so they are taken for every k. */
Test(fabric, published_gains_of_a_twist_are_near_the_bound) {
    static const struct {
        bool two_long;
        double published;
    } TWISTS[] = {{false, 1.63}, {true, 1.31}};
    for (size_t i = 0; i < COUNT_OF(TWISTS); i++) {
        double four = gain_at_most(4, TWISTS[i].two_long);
        cr_expect(TWISTS[i].published < four && TWISTS[i].published > 0.92 * four, "%g of %g", TWISTS[i].published,
                  four);
        cr_expect(fabs(gain_at_most(8, TWISTS[i].two_long) / four - 1) < 0.02);
        cr_expect(fabs(gain_at_most(12, TWISTS[i].two_long) / four - 1) < 0.02);
    }
}

static const struct {
    const char *chip, *slice;
    double gain; /* 0 means not twisted */
} TWISTED[] = {
    {"v5p", "4x4x8", 1.63},    {"v5p", "4x8x8", 1.31}, {"v5p", "8x8x16", 1.63}, {"v5p", "8x16x16", 1.31},
    {"v5p", "12x24x24", 1.31}, {"v5p", "4x4x4", 0},    {"v5p", "8x8x8", 0},     {"v5p", "16x16x24", 0},
    {"v5p", "2x2x4", 0},       {"v5p", "2x4x4", 0},    {"v5p", "4x4x16", 0},    {"v4", "8x4x4", 1.63},
    {"v4", "8x4x8", 1.31},     {"v4", "16x16x16", 0},  {"v7", "4x4x8", 0},
};

Test(fabric, twisted_slices) {
    for (size_t i = 0; i < COUNT_OF(TWISTED); i++) {
        Machine machine = machine_for(TWISTED[i].chip, (MachineRequest){.slice = TWISTED[i].slice, .slices = 2}, 0);
        cr_expect_eq(machine.mesh.fabric.twisted_gain, TWISTED[i].gain, "%s", TWISTED[i].slice);
        cr_expect_eq(strstr(machine.note, "twisted torus") != NULL, TWISTED[i].gain > 0, "%s", TWISTED[i].slice);
    }
}

/* Credited to an all_to_all over the whole slice (slices over DCN or not), and to nothing else. */
Test(fabric, a_twist_helps_all_to_all_alone) {
    Mesh twisted = machine_for("v5p", (MachineRequest){.slice = "4x4x8", .slices = 2}, 0).mesh, plain = twisted;
    plain.fabric.twisted_gain = 0;
    plain.axes[3].bytes_per_second = twisted.axes[3].bytes_per_second = 1e13; /* so that the torus decides */
    Footprint whole = {{{4, 1}, {4, 1}, {8, 1}, {1, 1}}}, both = {{{4, 1}, {4, 1}, {8, 1}, {2, 1}}};
    Footprint half = {{{4, 1}, {4, 1}, {4, 1}, {2, 1}}};
    for (Collective op = 0; op < COLLECTIVE_COUNT; op++) {
        double gain = op == COLLECTIVE_ALL_TO_ALL || op == COLLECTIVE_DISPATCH ? 1.63 : 1;
        const Footprint *const FOOTPRINTS[] = {&whole, &both, &half};
        for (size_t i = 0; i < COUNT_OF(FOOTPRINTS); i++) {
            CollectiveCost a = collective_cost(op, &plain, FOOTPRINTS[i]);
            CollectiveCost b = collective_cost(op, &twisted, FOOTPRINTS[i]);
            cr_expect_float_eq(a.seconds_per_byte[1] / b.seconds_per_byte[1], FOOTPRINTS[i] == &half ? 1 : gain, 1e-12,
                               "%s %zu", collective_name(op), i);
            cr_expect_eq(a.latency_seconds[0], b.latency_seconds[0]);
        }
    }
}

/* xorshift64*: the same meshes everywhere. */
static uint64_t state = 88172645463325252u;
static int draw(int count) {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (int)((state * 2685821657736338717u >> 33) % (uint64_t)count);
}

static Mesh random_mesh(void) {
    static const int64_t SIZES[] = {2, 3, 4, 6, 8, 12, 16, 20};
    Mesh mesh = {.axis_count = 1 + draw(3), .devices = 1};
    bool gpus = draw(2);
    if (gpus) mesh.axis_count = 2;
    for (int a = 0; a < mesh.axis_count; a++) {
        AxisKind kind = gpus     ? a == 0 && draw(2) ? AXIS_MESH : AXIS_SWITCH
                        : a == 0 ? (AxisKind)draw(4)
                                 : (AxisKind)draw(2);
        mesh.axes[a] = (Axis){.kind = kind,
                              .level = gpus ? a == 0 ? LEVEL_NVLINK : LEVEL_NETWORK : LEVEL_ICI,
                              .size = SIZES[draw(COUNT_OF(SIZES))],
                              .bytes_per_second = 1e9 * (1 + draw(100)),
                              .latency_seconds = 1e-6 * (1 + draw(20))};
        mesh.devices *= mesh.axes[a].size;
    }
    mesh.chips = mesh.devices;
    if (gpus && draw(3))
        mesh.fabric = (Fabric){.ring_base_seconds = 1e-6 * (1 + draw(10)),
                               .tree_base_seconds = 1e-6 * (1 + draw(10)),
                               .tree_hop_seconds = 1e-7 * (1 + draw(20)),
                               .tree_scaleout_seconds = 1e-6 * (1 + draw(10))};
    if (gpus && draw(3)) {
        mesh.fabric.leaf_nodes = 1 + draw(9);
        mesh.fabric.oversubscription = 1 + draw(9) / 2.0;
    }
    if (!gpus && draw(2)) mesh.fabric.twisted_gain = 1 + draw(20) / 20.0;
    return mesh;
}

/* Draws every factor and stride that roles can leave: both divide, and together they fit. */
static bool random_span(int64_t size, Span *span) {
    int64_t factor = 1 + draw((int)size), stride = 1 + draw((int)size);
    *span = (Span){factor, factor == 1 ? 1 : stride};
    return size % (span->factor * span->stride) == 0;
}

Test(fabric, least_is_below_random_footprints) {
    static const double PAYLOADS[][2] = {{1, 0}, {0, 1e6}, {1, 1e5}, {126, 1e10}};
    for (int round = 0; round < 3000; round++) {
        Mesh mesh = random_mesh();
        Footprint footprint = {0};
        for (int a = 0; a < mesh.axis_count; a++)
            while (!random_span(mesh.axes[a].size, &footprint.on[a])) continue;
        int64_t degree = footprint_degree(&mesh, &footprint);
        for (Collective op = 0; op < COLLECTIVE_COUNT; op++) {
            CollectiveCost least = collective_cost_least(op, &mesh, degree),
                           cost = collective_cost(op, &mesh, &footprint);
            for (int i = 0; i < 2; i++)
                cr_assert(least.latency_seconds[i] <= cost.latency_seconds[i] &&
                              least.seconds_per_byte[i] <= cost.seconds_per_byte[i],
                          "round %d, %s of %lld", round, collective_name(op), (long long)degree);
            for (size_t i = 0; i < COUNT_OF(PAYLOADS); i++)
                cr_assert_leq(collective_seconds(least, PAYLOADS[i][0], PAYLOADS[i][1]),
                              collective_seconds(cost, PAYLOADS[i][0], PAYLOADS[i][1]));
        }
    }
}

/* 8 of 256 experts are drawn over 4 domains of 8 (DeepSeek-V3 limits itself to the same number): every outcome of where
 * the copies of a token go is counted one by one. Copies that leave are those to other domains, one each. */
Test(fabric, dispatch_sends_one_copy_to_a_domain) {
    enum { DOMAINS = 4, COPIES = 5 };
    Mesh mesh = {.axes = {{"nvlink", AXIS_SWITCH, LEVEL_NVLINK, 8, 1e15, 0},
                          {"network", AXIS_SWITCH, LEVEL_NETWORK, DOMAINS, 1e9, 0}},
                 .axis_count = 2,
                 .chips = 32,
                 .devices = 32};
    Footprint all = {{{8, 1}, {DOMAINS, 1}}};
    double apart = 0, together = 0;
    for (int outcome = 0; outcome < 1024; outcome++) { /* 4^5 */
        unsigned hit = 0;
        for (int copy = 0, rest = outcome; copy < COPIES; copy++, rest /= DOMAINS) {
            hit |= 1u << rest % DOMAINS;
            apart += rest % DOMAINS != 0;
        }
        for (int domain = 1; domain < DOMAINS; domain++) together += hit >> domain & 1;
    }
    double plain = collective_cost(COLLECTIVE_DISPATCH, &mesh, &all).seconds_per_byte[1];
    cr_expect_float_eq(plain, collective_cost(COLLECTIVE_ALL_TO_ALL, &mesh, &all).seconds_per_byte[1], 0);
    mesh.fabric.routed_copies = COPIES;
    double saved = collective_cost(COLLECTIVE_DISPATCH, &mesh, &all).seconds_per_byte[1];
    cr_expect_float_eq(saved / plain, together / apart, 1e-12);
    cr_expect_float_eq(collective_cost(COLLECTIVE_ALL_TO_ALL, &mesh, &all).seconds_per_byte[1], plain, 0);
}
