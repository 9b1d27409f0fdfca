/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares with the results of jax-ml/jax itself (tests/data/mesh/jax_mesh_cases.tsv: its header names the commit), and
 * checks the purpose of the small orders: neighbours in them are neighbours on the machine. */
#include "mesh/jax_mesh.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/util.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static JaxShape shape_of(const char *text) {
    JaxShape shape = {0};
    for (const char *at = text; *at;) {
        char *end;
        cr_assert(shape.count < JAX_LOGICAL_MAX);
        shape.size[shape.count++] = strtoll(at, &end, 10);
        cr_assert(end > at, "%s", text);
        at = *end ? end + 1 : end;
    }
    return shape;
}

/* "4,20,28|4,1,1": a group per logical axis, in it the factor of every physical axis. */
static void check_assignment(const char *text, const char *row, const JaxShape *physical, const JaxShape *logical,
                             const JaxAssignment *assignment) {
    char own[256] = "";
    size_t used = 0;
    for (int l = 0; l < logical->count; l++)
        for (int p = 0; p < physical->count; p++)
            used += (size_t)snprintf(own + used, sizeof own - used, "%s%lld",
                                     p   ? ","
                                     : l ? "|"
                                         : "",
                                     (long long)assignment->factor[p][l]);
    cr_expect_str_eq(own, text, "%s: %s, JAX has %s", row, own, text);
}

static void check_devices(const char *first, const char *sha, const char *row, const int32_t *devices, int64_t count) {
    char text[200] = "", hex[SHA256_HEX_SIZE];
    size_t used = 0;
    Sha256 hash = sha256_start();
    for (int64_t i = 0; i < count; i++) {
        char number[16];
        size_t length = (size_t)snprintf(number, sizeof number, "%s%d", i ? "," : "", devices[i]);
        sha256_add(&hash, number, length);
        if (i < 12) used += (size_t)snprintf(text + used, sizeof text - used, "%s%d", i ? " " : "", devices[i]);
    }
    sha256_hex(&hash, hex);
    hex[16] = '\0';
    cr_expect_str_eq(text, first, "%s: %s, JAX has %s", row, text, first);
    cr_expect_str_eq(hex, sha, "%s: %s, JAX has %s", row, hex, sha);
}

/* The devices of the mesh in C order over the logical axes, numbered in C order over the physical ones, as numpy would
 * show them. `out` has room for their product. */
static void jax_mesh_devices(const JaxShape *physical, const JaxShape *logical, const JaxAssignment *assignment,
                             int32_t *out) {
    /* A device number is a sum over digits, one per (logical, physical) pair, in the order in which they vary: the
     * pairs of a logical axis start with the highest physical axis. A digit is worth the stride of its axis times the
     * share of that axis that more intense logical axes take. */
    struct {
        int64_t size, worth;
    } digits[JAX_LOGICAL_MAX * JAX_PHYSICAL_MAX];
    int64_t inside[JAX_PHYSICAL_MAX], stride = 1, total = 1;
    int count = 0;
    for (int p = physical->count - 1; p >= 0; p--) {
        inside[p] = stride;
        stride *= physical->size[p];
    }
    for (int l = logical->count - 1; l >= 0; l--)
        for (int p = physical->count - 1; p >= 0; p--) {
            int64_t factor = assignment->factor[p][l];
            digits[count].size = factor;
            digits[count++].worth = inside[p];
            inside[p] *= factor;
            total *= factor;
        }
    for (int64_t i = 0; i < total; i++) {
        int64_t device = 0, rest = i;
        for (int d = 0; d < count; d++) {
            device += rest % digits[d].size * digits[d].worth;
            rest /= digits[d].size;
        }
        out[i] = (int32_t)device;
    }
}

static void check_row(char *line) {
    char *fields[7] = {0}, row[160];
    for (int i = 0; i < 7 && line; i++) fields[i] = strsep(&line, "\t");
    cr_assert_not_null(fields[3]);
    snprintf(row, sizeof row, "%s as (%s)%s", fields[0], fields[1], fields[2][0] == '1' ? ", split" : "");
    JaxShape physical = shape_of(fields[0]), logical = shape_of(fields[1]);
    JaxAssignment assignment;
    bool split, placed = jax_mesh_assign(&physical, &logical, &split, &assignment);
    placed = placed && (!split || fields[2][0] == '1'); /* its column: allow_split_physical_axes */
    if (strcmp(fields[3], "ok") != 0) {
        cr_expect_str_eq(fields[3], "NotImplementedError");
        cr_expect_not(placed, "%s: placed, JAX refuses", row);
        return;
    }
    cr_expect(placed, "%s: refused, JAX places it", row);
    if (!placed) return;
    int64_t count = 1;
    for (int p = 0; p < physical.count; p++) count *= physical.size[p];
    int32_t *devices = malloc((size_t)count * sizeof *devices);
    cr_assert_not_null(devices);
    jax_mesh_devices(&physical, &logical, &assignment, devices);
    check_assignment(fields[4], row, &physical, &logical, &assignment);
    check_devices(fields[5], fields[6], row, devices, count);
    free(devices);
}

Test(jax_mesh, as_jax_returns_it) {
    Arena arena = {0};
    Error error = {0};
    char *text;
    size_t length;
    cr_assert(file_read(SHARDOPT_TEST_DATA "/mesh/jax_mesh_cases.tsv", 1 << 20, &arena, &text, &length, &error));
    int rows = 0;
    for (char *line; (line = strsep(&text, "\n")) != NULL;) {
        if (line[0] == '#' || line[0] == '\0' || strncmp(line, "physical", 8) == 0) continue;
        check_row(line);
        rows++;
    }
    cr_expect_eq(rows, 174, "%d rows", rows);
    arena_free(&arena);
}

/* By JAX's rule an axis takes as many physical axes as it can, the most intense first: of 16x4x4, the inner 16 is y and
 * z, though x alone would do, and x is left for the outer. */
Test(jax_mesh, two_axes_before_one) {
    JaxShape physical = {3, {16, 4, 4}}, logical = {2, {16, 16}};
    static const int64_t FACTORS[3][2] = {{16, 1}, {1, 4}, {1, 4}};
    JaxAssignment assignment;
    bool split;
    cr_assert(jax_mesh_assign(&physical, &logical, &split, &assignment) && !split);
    for (int p = 0; p < 3; p++)
        for (int l = 0; l < 2; l++)
            cr_expect_eq(assignment.factor[p][l], FACTORS[p][l], "axis %d of %d: %d", p, l,
                         (int)assignment.factor[p][l]);
}

Test(jax_mesh, products_must_agree) {
    JaxAssignment assignment;
    JaxShape physical = {3, {4, 4, 4}}, logical = {2, {8, 4}};
    bool split;
    cr_expect_not(jax_mesh_assign(&physical, &logical, &split, &assignment));
}

/* Hops between two devices numbered with x fastest (cores of one chip before that). */
static int hops(const int size[3], int cores, int a, int b) {
    int sum = 0;
    a /= cores, b /= cores;
    for (int i = 0; i < 3; i++) {
        sum += abs(a % size[i] - b % size[i]);
        a /= size[i], b /= size[i];
    }
    return sum;
}

/* The purpose of the orders: the next device in the order is at most one hop away, and the last is next to the first
 * (on the 2x2 blocks of tpu7x: block by block). */
Test(jax_mesh, small_orders_are_rings) {
    static const struct {
        const char *chip;
        JaxShape physical;
        int rows[3], cores, ring; /* how its numbers run, and the chips of a ring */
    } ROWS[] = {
        {"tpu-v5e", {3, {2, 2, 1}}, {2, 2, 1}, 1, 4},   {"tpu-v6e", {3, {2, 4, 1}}, {4, 2, 1}, 1, 8},
        {"tpu-v6e", {3, {4, 4, 1}}, {4, 4, 1}, 1, 16},  {"tpu-v5p", {3, {2, 2, 2}}, {2, 2, 2}, 1, 8},
        {"tpu-v7", {4, {2, 2, 1, 2}}, {2, 2, 1}, 2, 8}, {"tpu-v7", {4, {2, 2, 4, 2}}, {2, 2, 4}, 2, 8},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        int64_t devices = 1;
        for (int p = 0; p < ROWS[i].physical.count; p++) devices *= ROWS[i].physical.size[p];
        JaxShape one = {2, {1, devices}};
        const JaxOrder *order = jax_small_order(ROWS[i].chip, &ROWS[i].physical, &one);
        cr_assert_not_null(order, "%s, row %zu", ROWS[i].chip, i);
        cr_assert_eq(order->count, devices);
        unsigned long long seen = 0;
        for (int d = 0; d < order->count; d++) {
            int first = d / ROWS[i].ring * ROWS[i].ring, next = first + (d + 1 - first) % ROWS[i].ring;
            seen |= 1ull << order->device[d];
            cr_expect_leq(hops(ROWS[i].rows, ROWS[i].cores, order->device[d], order->device[next]), 1, "%s: %d then %d",
                          ROWS[i].chip, order->device[d], order->device[next]);
        }
        cr_expect_eq(seen, (1ull << devices) - 1, "%s: not every device once", ROWS[i].chip);
    }
    JaxShape square = {3, {4, 4, 1}}, split = {2, {4, 4}}, eight = {3, {2, 4, 1}}, cube = {4, {2, 1, 2, 2}};
    cr_expect_null(jax_small_order("tpu-v5e", &square, &split), "4x4 is ordered only for one group of all");
    cr_expect_null(jax_small_order("tpu-v4", &square, &split));
    const JaxOrder *twos = jax_small_order("tpu-v5e", &eight, &cube);
    cr_expect(twos && twos->device[1] == 4, "2x2x2 has an order of its own");
}

/* The orders as they stand in jax/_src/mesh_utils.py (../shared/reference/topology.md, section 2, point 2): of a tray
 * of tpu7x 0 1 2 3 6 7 4 5, and so on by eight. */
Test(jax_mesh, small_orders_of_jax) {
    static const struct {
        const char *chip;
        JaxShape physical, logical;
        const char *order;
    } ROWS[] = {
        {"tpu-v5e", {3, {2, 2, 1}}, {1, {4}}, "0 1 3 2"},
        {"tpu-v6e", {3, {2, 2, 1}}, {2, {2, 2}}, "0 1 3 2"},
        {"tpu-v5e", {3, {2, 4, 1}}, {3, {2, 2, 2}}, "0 4 2 6 1 5 3 7"},
        {"tpu-v6e", {3, {2, 4, 1}}, {4, {2, 1, 2, 2}}, "0 4 2 6 1 5 3 7"},
        {"tpu-v5e", {3, {2, 4, 1}}, {2, {4, 2}}, "0 1 2 3 7 6 5 4"},
        {"tpu-v6e", {3, {2, 4, 1}}, {1, {8}}, "0 1 2 3 7 6 5 4"},
        {"tpu-v5e", {3, {4, 4, 1}}, {2, {1, 16}}, "0 1 2 3 7 6 5 9 10 11 15 14 13 12 8 4"},
        {"tpu-v6e", {3, {4, 4, 1}}, {2, {16, 1}}, "0 1 2 3 7 6 5 9 10 11 15 14 13 12 8 4"},
        {"tpu-v5p", {3, {2, 2, 2}}, {2, {2, 4}}, "0 1 3 2 6 7 5 4"},
        {"tpu-v7", {4, {2, 2, 1, 2}}, {2, {2, 4}}, "0 1 2 3 6 7 4 5"},
        {"tpu-v7", {4, {2, 2, 2, 2}}, {1, {16}}, "0 1 2 3 6 7 4 5 8 9 10 11 14 15 12 13"},
        {"tpu-v7",
         {4, {2, 2, 4, 2}},
         {2, {8, 4}},
         "0 1 2 3 6 7 4 5 8 9 10 11 14 15 12 13 16 17 18 19 22 23 20 21 24 25 26 27 30 31 28 29"},
    };
    static const struct {
        const char *chip;
        JaxShape physical, logical;
    } NONE[] = {
        {"tpu-v5e", {3, {4, 4, 1}}, {3, {4, 2, 2}}}, {"tpu-v6e", {3, {4, 4, 1}}, {2, {2, 8}}},
        {"tpu-v5e", {3, {4, 2, 1}}, {1, {8}}},       {"tpu-v5e", {3, {2, 2, 2}}, {1, {8}}},
        {"tpu-v5e", {3, {2, 8, 1}}, {1, {16}}},      {"tpu-v5p", {3, {2, 2, 1}}, {1, {4}}},
        {"tpu-v5p", {3, {2, 2, 4}}, {1, {16}}},      {"tpu-v7", {4, {2, 2, 3, 2}}, {1, {24}}},
        {"tpu-v7", {4, {2, 2, 2, 1}}, {1, {8}}},     {"tpu-v6e", {4, {2, 2, 1, 2}}, {1, {8}}},
        {"tpu-v7", {4, {2, 4, 1, 2}}, {1, {16}}},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        char text[128] = "";
        size_t used = 0;
        const JaxOrder *order = jax_small_order(ROWS[i].chip, &ROWS[i].physical, &ROWS[i].logical);
        for (int d = 0; order && d < order->count; d++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%d", d ? " " : "", order->device[d]);
        cr_expect_str_eq(text, ROWS[i].order, "%s, row %zu: %s", ROWS[i].chip, i, text);
    }
    for (size_t i = 0; i < COUNT_OF(NONE); i++)
        cr_expect_null(jax_small_order(NONE[i].chip, &NONE[i].physical, &NONE[i].logical), "%s, none %zu", NONE[i].chip,
                       i);
}

/* 64x4: four devices in a row are the corners of a 2x2 block, and blocks follow each other along y. */
Test(jax_mesh, custom_meshes_of_maxtext) {
    JaxShape physical = {3, {16, 16, 1}}, fine = {4, {1, 64, 1, 4}}, coarse = {2, {32, 8}}, turned = {2, {4, 64}},
             small = {3, {8, 8, 1}}, other = {2, {16, 16}};
    JaxAssignment assignment;
    static int32_t devices[256];
    cr_expect_str_eq(maxtext_custom_mesh(&physical, &fine, &assignment), "hybrid_ring_64x4");
    jax_mesh_devices(&physical, &fine, &assignment, devices);
    for (int i = 0; i < 256; i++) {
        int x = devices[i] / 16, y = devices[i] % 16, block = i / 4;
        cr_expect(x / 2 == block / 8 && y / 2 == block % 8, "device %d of block %d is at %d,%d", i, block, x, y);
    }
    cr_expect_str_eq(maxtext_custom_mesh(&physical, &coarse, &assignment), "hybrid_ring_32x8");
    cr_expect(assignment.factor[0][0] == 8 && assignment.factor[1][0] == 4, "blocks, 8 along x and 4 along y");
    cr_expect(assignment.factor[0][1] == 2 && assignment.factor[1][1] == 4, "chips of a block");
    jax_mesh_devices(&physical, &coarse, &assignment, devices);
    for (int i = 0; i < 256; i++) {
        int x = devices[i] / 16, y = devices[i] % 16, block = i / 8;
        cr_expect(x / 2 == block / 4 && y / 4 == block % 4, "device %d of block %d is at %d,%d", i, block, x, y);
    }
    cr_expect_null(maxtext_custom_mesh(&physical, &turned, &assignment));
    cr_expect_null(maxtext_custom_mesh(&small, &fine, &assignment));
    cr_expect_null(maxtext_custom_mesh(&physical, &other, &assignment));
}
