/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The listed placements of launchers against all placements, each of which is asked about alone. */
#include "base/util.h"
#include "cost/time/rates_walk.h"
#include "tests/search/launchers.h"

#include <criterion/criterion.h>
#include <string.h>

typedef struct {
    uint64_t state;
} Random;

/* SplitMix64. */
static int64_t random_below(Random *random, int64_t most) {
    uint64_t word = random->state += 0x9E3779B97F4A7C15u;
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9u;
    word = (word ^ word >> 27) * 0x94D049BB133111EBu;
    return (int64_t)((word ^ word >> 31) % (uint64_t)most);
}

static Axis axis_of(const char *name, AxisKind kind, AxisLevel level, int64_t size) {
    Axis axis = {.kind = kind, .level = level, .size = size, .bytes_per_second = 1e11, .latency_seconds = 1e-6};
    strcpy(axis.name, name);
    return axis;
}

/* A slice of up to three axes and two cores a chip, slices over DCN; or nodes of GPUs. */
static Mesh random_mesh(Random *random, bool tpus) {
    static const char *const NAMES[] = {"x", "y", "z"};
    static const int64_t SIZES[] = {1, 2, 4, 4, 8, 6, 12};
    Mesh mesh = {.devices = 1};
    if (tpus && random_below(random, 3) == 0) mesh.axes[mesh.axis_count++] = axis_of("core", AXIS_LINE, LEVEL_ICI, 2);
    for (int i = 0; i < 3 && tpus; i++) {
        int64_t size = SIZES[random_below(random, COUNT_OF(SIZES))];
        AxisKind kind = size % 4 == 0 ? AXIS_RING : AXIS_LINE;
        if (size > 1) mesh.axes[mesh.axis_count++] = axis_of(NAMES[i], kind, LEVEL_ICI, size);
    }
    int64_t outer = 1 + random_below(random, 12);
    if (!tpus) mesh.axes[mesh.axis_count++] = axis_of("nvlink", AXIS_SWITCH, LEVEL_NVLINK, 8);
    if (outer > 1)
        mesh.axes[mesh.axis_count++] =
            axis_of(tpus ? "dcn" : "network", AXIS_SWITCH, tpus ? LEVEL_DCN : LEVEL_NETWORK, outer);
    for (int i = 0; i < mesh.axis_count; i++) mesh.devices *= mesh.axes[i].size;
    mesh.chips = mesh.devices;
    return mesh;
}

/* Each prime of the devices goes to some role; half of the time to one of two. */
static Degrees random_degrees(Random *random, int64_t devices) {
    Degrees degrees = {{1, 1, 1, 1, 1, 1}};
    int roles = random_below(random, 2) ? ROLE_COUNT : 2;
    int first = (int)random_below(random, ROLE_COUNT);
    for (int64_t prime = 2; devices > 1; devices % prime == 0 ? (devices /= prime) : prime++)
        if (devices % prime == 0) degrees.of[(first + (int)random_below(random, roles)) % ROLE_COUNT] *= prime;
    return degrees;
}

typedef struct {
    const MadePlacements *list;
    LauncherSet asked;
    const char *chip, *name;
    LaunchMemo *memo;
    int64_t at, all;
} Compared;

static void compare(RatesWalk *walk) {
    Compared *with = walk->context;
    LauncherSet placing = 0;
    with->all++;
    for (int launcher = 0; launcher < launcher_count(); launcher++) {
        LauncherSet one = 1u << launcher;
        if (!(with->asked & ~with->list->any & one)) continue;
        if (launchers_place(one, walk->nested_mesh, with->chip, &walk->placement, with->memo)) placing |= one;
    }
    const MadePlacement *next = with->at < with->list->count ? &with->list->made[with->at] : NULL;
    bool listed = next && memcmp(&next->placement, &walk->placement, sizeof walk->placement) == 0;
    cr_assert_eq(listed, placing != 0, "%s: placement %lld, entry %lld", with->name, (long long)with->all,
                 (long long)with->at);
    if (!listed) return;
    cr_expect_eq(next->launchers & ~with->list->any, placing, "%s", with->name);
    with->at++;
}

/* In the order of the walk, none twice, none left out. */
Test(placements_made, are_those_that_a_launcher_says_yes_to) {
    static const char *const CHIPS[] = {"tpu-v5p", "tpu-v6e", "tpu-v5e", "h100"};
    Random random = {20261123};
    int64_t made = 0, all = 0;
    for (int round = 0; round < 200; round++) {
        bool tpus = round % 4 != 3;
        const char *chip = CHIPS[tpus ? round % 3 : 3];
        Mesh mesh = random_mesh(&random, tpus);
        Degrees degrees = random_degrees(&random, mesh.devices);
        NestedMesh nested = {&mesh, nesting_canonical()};
        if (round % 5 == 0) cr_assert(nesting_named(launcher_nesting(LAUNCHER_MAXTEXT), &nested.nesting));
        Methods methods = {0};
        char name[64];
        snprintf(name, sizeof name, "round %d on %s", round, chip);
        Arena arena = {0};
        MadePlacements list;
        LauncherSet asked = round % 2 ? launchers_all() : 1u << random_below(&random, launcher_count());
        cr_assert(launch_placements(asked, &nested, chip, &degrees, &arena, &list));
        if (!list.too_many) {
            Compared with = {
                .list = &list, .asked = asked, .chip = chip, .name = name, .memo = launch_memo_new(&arena)};
            CollectiveMemo *memo = collective_memo_new();
            RatesWalk walk = {
                .nested_mesh = &nested, .methods = &methods, .memo = memo, .visit = compare, .context = &with};
            cr_assert(rates_walk(&walk, &degrees));
            cr_expect_eq(with.at, list.count, "%s: %lld of %lld", name, (long long)with.at, (long long)list.count);
            made += with.at, all += with.all;
            collective_memo_free(memo);
        }
        arena_free(&arena);
    }
    cr_expect(made > 300 && all > 10 * made, "%lld of %lld", (long long)made, (long long)all);
}

/* Where it would have to be asked too often, the list says so. */
Test(placements_made, says_when_it_is_not_whole) {
    Mesh mesh = {.axis_count = 2, .devices = 4 * 4096, .chips = 4 * 4096};
    mesh.axes[0] = axis_of("x", AXIS_RING, LEVEL_ICI, 4);
    mesh.axes[1] = axis_of("dcn", AXIS_SWITCH, LEVEL_DCN, 4096);
    NestedMesh nested = {&mesh, nesting_canonical()};
    Degrees degrees = {{16, 4, 4, 4, 4, 4}};
    Arena arena = {0};
    MadePlacements list;
    cr_assert(launch_placements(1u << LAUNCHER_MAXTEXT, &nested, "tpu-v5p", &degrees, &arena, &list));
    cr_expect(list.too_many);
    arena_free(&arena);
}
