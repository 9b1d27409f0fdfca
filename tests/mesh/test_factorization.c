/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/util.h"
#include "mesh/factorization.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* Numbers up to some thousands, by trial: what is found is prime, and multiplies to the number. */

static bool is_prime(int64_t n) {
    for (int64_t d = 2; d < n; d++)
        if (n % d == 0) return false;
    return n > 1;
}

Test(prime, powers_by_trial) {
    for (int64_t n = 1; n <= 3000; n++) {
        PrimePower powers[PRIMES_MAX];
        int count = prime_powers(n, powers);
        int64_t product = 1;
        for (int i = 0; i < count; i++) {
            cr_assert(is_prime(powers[i].prime) && powers[i].exponent >= 1, "%lld", (long long)n);
            cr_assert(i == 0 || powers[i].prime > powers[i - 1].prime, "%lld: ascending, each once", (long long)n);
            for (int e = 0; e < powers[i].exponent; e++) product *= powers[i].prime;
        }
        cr_assert_eq(product, n);
    }
    PrimePower powers[PRIMES_MAX];
    cr_expect_eq(prime_powers(INT64_C(614889782588491410), powers), 15, "the 15 least primes, multiplied");
    cr_expect_eq(powers[14].prime, 47);
}

Test(prime, divisors_by_trial) {
    Arena arena = {0};
    for (int64_t n = 1; n <= 600; n++) {
        int64_t *divisors = divisors_of(n, &arena);
        cr_assert(divisors);
        for (int64_t d = 1; d <= n; d++)
            if (n % d == 0) cr_assert_eq(*divisors++, d, "%lld", (long long)n);
        cr_assert_eq(*divisors, INT64_MAX, "%lld", (long long)n);
    }
    arena_free(&arena);
}

/* Pascal's triangle. */
Test(prime, binomials) {
    uint32_t row[68] = {1};
    for (int n = 0; n <= 67; n++) {
        for (int k = 0; k <= 5; k++) cr_expect_eq(binomial(n, k), row[k], "%d over %d", n, k);
        for (int k = 5; k > 0; k--) row[k] += row[k - 1];
    }
}

/* 12 x 10 x 7 x 9: 2 in the first two axes, 3 in the first and the last, 5 and 7 in one each. */
Test(prime, of_a_mesh) {
    Mesh mesh = {.axis_count = 4, .axes = {{.size = 12}, {.size = 10}, {.size = 7}, {.size = 9}}};
    static const struct {
        int64_t prime;
        int exponent[4];
    } expected[] = {{2, {2, 1, 0, 0}}, {3, {1, 0, 0, 2}}, {5, {0, 1, 0, 0}}, {7, {0, 0, 1, 0}}};
    MeshPrime found[PRIMES_MAX];
    cr_assert_eq(mesh_primes(&mesh, found), 4);
    for (int i = 0; i < 4; i++) {
        int total = 0;
        cr_expect_eq(found[i].prime, expected[i].prime);
        for (int a = 0; a < 4; a++) {
            cr_expect_eq(found[i].exponent[a], expected[i].exponent[a], "%d on axis %d", i, a);
            total += expected[i].exponent[a];
        }
        cr_expect_eq(found[i].total, total);
    }
    Mesh line = {.axis_count = 2, .axes = {{.size = 1}, {.size = 1}}};
    cr_expect_eq(mesh_primes(&line, found), 0);
    Mesh huge = {.axis_count = 2, .axes = {{.size = INT64_C(1) << 32}, {.size = INT64_C(1) << 32}}};
    cr_expect_eq(mesh_primes(&huge, found), -1, "2^64 devices");
}

static Mesh mesh_of(const int64_t sizes[MESH_AXES_MAX]) {
    Mesh mesh = {.devices = 1};
    for (int a = 0; a < MESH_AXES_MAX && sizes[a]; a++) {
        mesh.axes[mesh.axis_count++] = (Axis){.kind = AXIS_RING, .size = sizes[a], .bytes_per_second = 1};
        mesh.devices *= sizes[a];
    }
    mesh.chips = mesh.devices;
    return mesh;
}

/* Counts from docs/search.md, "Counting", or from the binomials beside the row. */
static const struct {
    const char *name;
    int64_t sizes[MESH_AXES_MAX];
    RoleSet roles;
    unsigned long long factorizations;
    int64_t tuples, most_placements; /* 0 means not known independently */
} COUNTS[] = {
    {"8 v5p pods, dense", {16, 20, 28, 8}, ROLES_DENSE, 13781250, 34125, 2510},
    {"8 v5p pods, all", {16, 20, 28, 8}, ROLES_ALL, 112021056, 157248, 5420},
    {"8 v4 pods, all", {16, 16, 16, 8}, ROLES_ALL, 112021056, 15504, 0},
    {"v6e pod", {16, 16}, ROLES_DENSE, 4900, 495, 0},
    {"64 nodes, dense", {8, 64}, ROLES_DENSE, 7350, 715, 0},
    {"64 nodes, all", {8, 64}, ROLES_ALL, 25872, 2002, 0},
    {"12,500 nodes, dense", {8, 12500}, ROLES_DENSE, 66150, 15876, 0},
    {"12,500 nodes, all", {8, 12500}, ROLES_ALL, 296352, 63504, 0},
    {"one chip", {0}, ROLES_ALL, 1, 1, 1},
    {"two chips go to one of six roles", {2}, ROLES_ALL, 6, 6, 1},
    {"one role takes all", {16, 20}, 1u << ROLE_FSDP, 1, 1, 1},
    {"a large prime: 6 x C(8, 5)", {8, 641}, ROLES_ALL, 336, 336, 1},
    {"the largest prime axis", {2147483647}, ROLES_ALL, 6, 6, 1},
    {"2^28 nodes: C(7, 4) x C(32, 4)", {8, 268435456}, ROLES_DENSE, 35ull * 35960, 52360 /* C(35, 4) */, 0},
    {"two large primes, one on both axes: 36 x 6; 21 x 6", {641, 641 * 1009}, ROLES_ALL, 216, 126, 2},
};

Test(factorization, counts) {
    for (size_t i = 0; i < COUNT_OF(COUNTS); i++) {
        Mesh mesh = mesh_of(COUNTS[i].sizes);
        Arena arena = {0};
        Error error = {0};
        Count count = 0, sum = 0, most = 0;
        Degrees *degrees = NULL;
        int64_t tuples = 0;
        cr_expect(factorization_count(&mesh, COUNTS[i].roles, &count), "%s", COUNTS[i].name);
        cr_expect(count == COUNTS[i].factorizations, "%s: %llu", COUNTS[i].name, (unsigned long long)count);
        DegreesList listed = {0};
        cr_assert(degrees_enumerate(&mesh, COUNTS[i].roles, 1000000, &arena, &listed, &error), "%s: %s", COUNTS[i].name,
                  error.text);
        degrees = listed.tuples, tuples = listed.count;
        cr_expect_eq(tuples, COUNTS[i].tuples, "%s", COUNTS[i].name);
        PlacementTable *table = placement_table(&mesh, COUNTS[i].roles, &arena);
        cr_assert_not_null(table);
        for (int64_t t = 0; t < tuples; t++) {
            Count ways = placement_count(table, &degrees[t]);
            cr_assert(ways >= 1, "%s: a tuple that no placement reaches", COUNTS[i].name);
            sum += ways;
            if (ways > most) most = ways;
            int64_t product = 1;
            for (int r = 0; r < ROLE_COUNT; r++) {
                product *= degrees[t].of[r];
                cr_assert(degrees[t].of[r] == 1 || COUNTS[i].roles >> r & 1);
            }
            cr_assert_eq(product, mesh.devices);
            if (t == 0) continue;
            int first = 0;
            while (first < ROLE_COUNT - 1 && degrees[t].of[first] == degrees[t - 1].of[first]) first++;
            cr_assert_gt(degrees[t].of[first], degrees[t - 1].of[first], "%s: not in order", COUNTS[i].name);
        }
        cr_expect(sum == count, "%s: placements sum to %llu", COUNTS[i].name, (unsigned long long)sum);
        if (COUNTS[i].most_placements)
            cr_expect(most == (Count)COUNTS[i].most_placements, "%s: most %llu", COUNTS[i].name,
                      (unsigned long long)most);
        arena_free(&arena);
    }
}

/* Brute force: every array of factors there is, axis by axis, role by role, in lexicographic order. */
enum { BRUTE_MAX = 40000 };
typedef struct {
    const Mesh *mesh;
    RoleSet roles;
    Placement current, *all;
    int count;
} Brute;

static void brute_walk(Brute *brute, int a, int role) {
    if (a == brute->mesh->axis_count) {
        cr_assert_lt(brute->count, BRUTE_MAX);
        brute->all[brute->count++] = brute->current;
        return;
    }
    if (role == ROLE_COUNT) {
        int64_t product = 1;
        for (int r = 0; r < ROLE_COUNT; r++) product *= brute->current.factor[a][r];
        if (product == brute->mesh->axes[a].size) brute_walk(brute, a + 1, 0);
        return;
    }
    int64_t taken = 1;
    for (int r = 0; r < role; r++) taken *= brute->current.factor[a][r];
    for (int32_t f = 1; taken * f <= brute->mesh->axes[a].size; f++) {
        if (f > 1 && !(brute->roles >> role & 1)) break;
        brute->current.factor[a][role] = f;
        brute_walk(brute, a, role + 1);
    }
}

static bool few_stages(const void *of, const Degrees *begun) {
    return begun->of[ROLE_PIPELINE] <= *(const int64_t *)of && begun->of[ROLE_TENSOR] != 2;
}

/* Two merged roles have the placements of all their products; a rule leaves the tuples it names, in order. */
Test(placements, merged_roles) {
    static const int64_t SIZES[][MESH_AXES_MAX] = {{0}, {8}, {12, 6}, {16, 20, 28}, {8, 12500}, {4, 4, 4, 3}};
    for (size_t i = 0; i < COUNT_OF(SIZES); i++) {
        Mesh mesh = mesh_of(SIZES[i]);
        Arena arena = {0};
        Error error = {0};
        Degrees *all, *some;
        int64_t count, kept, stages = 4, wanted = 0;
        DegreesList listed = {0};
        cr_assert(degrees_enumerate(&mesh, ROLES_ALL, 1000000, &arena, &listed, &error));
        all = listed.tuples, count = listed.count;
        cr_assert(degrees_enumerate_some(&mesh, (DegreesRule){ROLES_ALL, few_stages, &stages}, 1000000, &arena, &listed,
                                         &error));
        some = listed.tuples, kept = listed.count;
        PlacementTable *table = placement_table(&mesh, ROLES_ALL, &arena);
        PlacementTable *two = placement_table_merged(table, ROLE_FSDP, ROLE_DATA, &arena);
        PlacementTable *three = placement_table_merged(two, ROLE_FSDP, ROLE_EXPERT, &arena);
        Count sum = 0, by_two = 0, by_three = 0, tuples;
        cr_expect(degrees_count(&mesh, ROLES_ALL, &tuples) && tuples == (Count)count, "mesh %zu", i);
        for (int64_t t = 0; t < count; t++) {
            const int64_t *of = all[t].of;
            sum += placement_count(table, &all[t]);
            if (of[ROLE_DATA] == 1) by_two += placement_count(two, &all[t]);
            if (of[ROLE_DATA] == 1 && of[ROLE_EXPERT] == 1) by_three += placement_count(three, &all[t]);
            if (of[ROLE_DATA] > 1) cr_expect(placement_count(two, &all[t]) == 0, "mesh %zu: data is no role of it", i);
            if (!few_stages(&stages, &all[t])) continue;
            cr_expect(wanted < kept && memcmp(&some[wanted], &all[t], sizeof(Degrees)) == 0, "mesh %zu: tuple %lld", i,
                      (long long)t);
            wanted++;
        }
        cr_expect(wanted == kept, "mesh %zu: %lld wanted, %lld listed", i, (long long)wanted, (long long)kept);
        cr_expect(sum == by_two && sum == by_three, "mesh %zu", i);
        arena_free(&arena);
    }
}

Test(placements, brute_force) {
    static const struct {
        const char *name;
        int64_t sizes[MESH_AXES_MAX];
        RoleSet roles;
    } MESHES[] = {
        {"4x4", {4, 4}, ROLES_ALL},
        {"12", {12}, ROLES_ALL},
        {"4x6x2", {4, 6, 2}, ROLES_ALL},
        {"6x12", {6, 12}, ROLES_DENSE},
        {"2x2x2x2x3", {2, 2, 2, 2, 3}, ROLES_DENSE},
        {"8x9, three roles", {8, 9}, 1u << ROLE_EXPERT | 1u << ROLE_DATA | 1u << ROLE_PIPELINE},
        {"one chip", {0}, ROLES_ALL},
    };
    static Placement all[BRUTE_MAX];
    for (size_t i = 0; i < COUNT_OF(MESHES); i++) {
        Mesh mesh = mesh_of(MESHES[i].sizes);
        Brute brute = {.mesh = &mesh, .roles = MESHES[i].roles, .all = all};
        for (int a = 0; a < MESH_AXES_MAX; a++)
            for (int r = 0; r < ROLE_COUNT; r++) brute.current.factor[a][r] = 1;
        brute_walk(&brute, 0, 0);
        Count count = 0;
        cr_expect(factorization_count(&mesh, MESHES[i].roles, &count) && count == (Count)brute.count, "%s: %d",
                  MESHES[i].name, brute.count);

        Arena arena = {0};
        Error error = {0};
        Degrees *degrees;
        int64_t tuples, seen = 0;
        DegreesList listed = {0};
        cr_assert(degrees_enumerate(&mesh, MESHES[i].roles, 100000, &arena, &listed, &error));
        degrees = listed.tuples, tuples = listed.count;
        PlacementTable *table = placement_table(&mesh, MESHES[i].roles, &arena);
        for (int64_t t = 0; t < tuples; t++) {
            Placement *placements;
            int64_t placed;
            cr_assert(placements_enumerate(&mesh, &degrees[t], &arena, &placements, &placed, &error), "%s", error.text);
            cr_expect(placement_count(table, &degrees[t]) == (Count)placed, "%s", MESHES[i].name);
            int64_t next =
                0; /* the brute list is in order, so its members of this tuple come in the order of the placements */
            for (int b = 0; b < brute.count; b++) {
                Degrees of = {{1, 1, 1, 1, 1, 1}};
                for (int a = 0; a < mesh.axis_count; a++)
                    for (int r = 0; r < ROLE_COUNT; r++) of.of[r] *= all[b].factor[a][r];
                if (memcmp(&of, &degrees[t], sizeof of) != 0) continue;
                cr_assert_lt(next, placed, "%s", MESHES[i].name);
                cr_expect_eq(memcmp(&all[b], &placements[next], sizeof all[b]), 0, "%s", MESHES[i].name);
                next++;
            }
            cr_expect_eq(next, placed, "%s", MESHES[i].name);
            seen += placed;
        }
        cr_expect_eq(seen, brute.count, "%s", MESHES[i].name);
        arena_free(&arena);
    }
}

/* At full size: the number of placements in the table, each on the axes, each with the degrees, all in order. */
Test(placements, full_size) {
    static const struct {
        const char *name;
        int64_t sizes[MESH_AXES_MAX];
        Degrees degrees;
        int64_t count; /* 0 means not known */
    } TUPLES[] = {
        {"8 v5p pods, fsdp and data", {16, 20, 28, 8}, {{4, 1, 1, 2240, 8, 1}}, 0},
        {"8 v5p pods, odd heads", {16, 20, 28, 8}, {{10, 1, 14, 1, 256, 2}}, 0},
        {"one role takes all", {16, 20, 28, 8}, {{71680, 1, 1, 1, 1, 1}}, 1},
        {"12,500 nodes",
         {8, 12500},
         {{8, 1, 1, 125, 100, 1}},
         3}, /* tensor 2^3 of 2^3 x 2^2 beside 2^2: 8x1, 4x2, 2x4 */
        {"large prime", {8, 641}, {{8, 1, 1, 641, 1, 1}}, 1},
        {"largest prime", {2147483647}, {{1, 1, 1, 1, 2147483647, 1}}, 1},
    };
    for (size_t i = 0; i < COUNT_OF(TUPLES); i++) {
        Mesh mesh = mesh_of(TUPLES[i].sizes);
        const Degrees *degrees = &TUPLES[i].degrees;
        Arena arena = {0};
        Error error = {0};
        Placement *placements;
        int64_t count;
        PlacementTable *table = placement_table(&mesh, ROLES_ALL, &arena);
        cr_assert(placements_enumerate(&mesh, degrees, &arena, &placements, &count, &error), "%s: %s", TUPLES[i].name,
                  error.text);
        cr_expect(placement_count(table, degrees) == (Count)count, "%s", TUPLES[i].name);
        if (TUPLES[i].count) cr_expect_eq(count, TUPLES[i].count, "%s", TUPLES[i].name);
        for (int64_t p = 0; p < count; p++) {
            Degrees of = {{1, 1, 1, 1, 1, 1}};
            for (int a = 0; a < mesh.axis_count; a++) {
                int64_t size = 1;
                for (int r = 0; r < ROLE_COUNT; r++) {
                    size *= placements[p].factor[a][r];
                    of.of[r] *= placements[p].factor[a][r];
                }
                cr_assert_eq(size, mesh.axes[a].size, "%s", TUPLES[i].name);
            }
            cr_assert_eq(memcmp(&of, degrees, sizeof of), 0, "%s", TUPLES[i].name);
            if (p == 0) continue;
            const int32_t *here = &placements[p].factor[0][0], *before = &placements[p - 1].factor[0][0];
            size_t first = 0, last = sizeof(Placement) / sizeof *here - 1;
            while (first < last && here[first] == before[first]) first++;
            cr_assert_gt(here[first], before[first], "%s: not in order", TUPLES[i].name);
        }
        arena_free(&arena);
    }
}

Test(placements, not_of_this_mesh) {
    Mesh mesh = mesh_of((int64_t[MESH_AXES_MAX]){16, 20});
    static const struct {
        const char *name;
        Degrees degrees;
    } ROWS[] = {
        {"too few", {{1, 1, 1, 1, 160, 1}}},
        {"too many", {{2, 1, 1, 1, 320, 1}}},
        {"a foreign prime", {{3, 1, 1, 1, 320, 1}}},
        {"right size, wrong primes", {{9, 1, 1, 1, 1, 1}}},
        {"zero", {{0, 1, 1, 1, 320, 1}}},
        {"negative", {{-1, 1, 1, 1, -320, 1}}},
        {"overflows", {{INT64_MAX, INT64_MAX, 1, 1, 1, 1}}},
        {"a role that is left out", {{1, 320, 1, 1, 1, 1}}},
    };
    Arena arena = {0};
    PlacementTable *table = placement_table(&mesh, ROLES_DENSE, &arena);
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Placement *placements;
        int64_t count;
        Error error = {0};
        cr_expect(placement_count(table, &ROWS[i].degrees) == 0, "%s", ROWS[i].name);
        if (i + 1 == COUNT_OF(ROWS)) break; /* the enumeration takes any roles */
        cr_expect_not(placements_enumerate(&mesh, &ROWS[i].degrees, &arena, &placements, &count, &error), "%s",
                      ROWS[i].name);
        cr_expect_eq(error.kind, ERROR_INPUT, "%s", ROWS[i].name);
    }
    arena_free(&arena);
}

Test(factorization, refusals) {
    Arena arena = {0};
    Error error = {0};
    Mesh pods = mesh_of((int64_t[MESH_AXES_MAX]){16, 20, 28, 8});
    DegreesList listed = {0};
    cr_expect(degrees_enumerate(&pods, ROLES_DENSE, 34125, &arena, &listed, &error));
    cr_expect_not(degrees_enumerate(&pods, ROLES_DENSE, 34124, &arena, &listed, &error), "one too many");
    cr_expect_eq(error.kind, ERROR_INPUT);
    cr_expect_not(degrees_enumerate(&pods, 0, 34125, &arena, &listed, &error), "no roles");
    Count none = 1;
    cr_expect(factorization_count(&pods, 0, &none) && none == 0, "no roles, no factorization");
    Mesh endless = {.axis_count = 3};
    for (int a = 0; a < 3; a++) endless.axes[a] = (Axis){.kind = AXIS_SWITCH, .size = 2147483648};
    cr_expect_not(degrees_enumerate(&endless, ROLES_ALL, 1000, &arena, &listed, &error), "2^93 devices");
    cr_expect_null(placement_table(&endless, ROLES_ALL, &arena), "2^93 devices");
    arena_free(&arena);
}

Test(prime, powers) {
    static const struct {
        int64_t n;
        int count;
        PrimePower powers[4];
    } ROWS[] = {
        {1, 0, {{0}}},
        {2, 1, {{2, 1}}},
        {28, 2, {{2, 2}, {7, 1}}},
        {12500, 2, {{2, 2}, {5, 5}}},
        {641, 1, {{641, 1}}},
        {2147483648, 1, {{2, 31}}},
        {2147483647, 1, {{2147483647, 1}}},
        {9, 1, {{3, 2}}},
        {46337ll * 46337, 1, {{46337, 2}}},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        PrimePower powers[PRIMES_MAX];
        int count = prime_powers(ROWS[i].n, powers);
        cr_assert_eq(count, ROWS[i].count, "%lld", (long long)ROWS[i].n);
        for (int p = 0; p < count; p++)
            cr_expect(powers[p].prime == ROWS[i].powers[p].prime && powers[p].exponent == ROWS[i].powers[p].exponent,
                      "%lld", (long long)ROWS[i].n);
    }
    cr_expect_eq(binomial(67, 5), 9657648u);
    cr_expect_eq(binomial(4, 5), 0u);
    cr_expect_eq(binomial(0, 0), 1u);
}
