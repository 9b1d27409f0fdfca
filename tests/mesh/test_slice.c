/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An invented 3-D generation of two listed shapes and up to 20 cubes of 4 x 4 x 4, against all shapes there can be,
 * tried one by one. */
#include "mesh/slice.h"

#include "base/util.h"
#include "mesh/machine.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { CUBES = 20 };

static Chip a_chip(bool sorted) {
    return (Chip){.scaleup = SCALEUP_TORUS_3D,
                  .max_cubes = CUBES,
                  .sorted_shapes = sorted,
                  .shapes = {{{2, 2, 1}}, {{2, 2, 4}}},
                  .shape_count = 2};
}

/* Cubes of an offered shape, by what the header says; 0: it is none. */
static int64_t cubes_of(const Chip *chip, int64_t x, int64_t y, int64_t z) {
    if (x % 4 || y % 4 || z % 4 || x < 4 || y < 4 || z < 4 || x * y * z > 64 * chip->max_cubes) return 0;
    if (chip->sorted_shapes && (x > y || y > z)) return 0;
    return x * y * z / 64;
}

Test(slice, walk_is_all_that_is_offered) {
    for (int sorted = 0; sorted < 2; sorted++) {
        Chip chip = a_chip(sorted);
        SliceWalk walk = {.chip = &chip};
        for (int i = 0; i < 2; i++) {
            cr_assert(slice_next(&walk));
            cr_assert_eq(slice_compare(walk.shape, chip.shapes[i]), 0);
            cr_assert(slice_offered(&chip, walk.shape));
        }
        for (int64_t x = 1; x <= 4 * CUBES + 4; x++)
            for (int64_t y = 1; y <= 4 * CUBES + 4; y++)
                for (int64_t z = 1; z <= 4 * CUBES + 4; z++) {
                    SliceShape shape = {{x, y, z}};
                    bool listed = (x == 2 && y == 2 && (z == 1 || z == 4)), cubes = cubes_of(&chip, x, y, z) > 0;
                    cr_assert_eq(slice_offered(&chip, shape), listed || cubes, "%dx%dx%d", (int)x, (int)y, (int)z);
                    if (!cubes) continue;
                    cr_assert(slice_next(&walk));
                    cr_assert_eq(slice_compare(walk.shape, shape), 0, "%dx%dx%d", (int)x, (int)y, (int)z);
                }
        cr_assert_not(slice_next(&walk));
    }
    /* an axis has at most 256 chips, however many cubes there are */
    Chip chip = a_chip(false);
    chip.max_cubes = 1000;
    cr_expect(slice_offered(&chip, (SliceShape){{4, 4, 256}}));
    cr_expect_not(slice_offered(&chip, (SliceShape){{4, 4, 260}}));
    cr_expect_not(slice_offered(&chip, (SliceShape){{4, 4, 0}}));
    chip.max_cubes = 0;
    SliceWalk walk = {.chip = &chip, .listed = 2};
    cr_expect_not(slice_next(&walk), "no cubes at all");
    chip.max_cubes = 1;
    cr_expect(slice_next(&walk) && slice_compare(walk.shape, (SliceShape){{4, 4, 4}}) == 0, "one cube");
    cr_expect_not(slice_next(&walk));
}

/* The least sum of sizes among those with so many chips, and the first of these. */
Test(slice, default_is_the_most_cubic) {
    Chip chip = a_chip(true);
    for (int64_t chips = 1; chips <= 64 * (CUBES + 1); chips++) {
        SliceShape best = {{0}}, found;
        int64_t sum = INT64_MAX;
        for (int64_t x = 4; x <= 4 * CUBES; x += 4)
            for (int64_t y = 4; y <= 4 * CUBES; y += 4)
                for (int64_t z = 4; z <= 4 * CUBES; z += 4)
                    if (cubes_of(&chip, x, y, z) && x * y * z == chips && x + y + z < sum) {
                        sum = x + y + z;
                        best = (SliceShape){{x, y, z}};
                    }
        if (chips == 4 || chips == 16) best = chip.shapes[chips == 16], sum = 0;
        cr_assert_eq(slice_default(&chip, chips, &found), sum < INT64_MAX, "%d", (int)chips);
        if (sum < INT64_MAX) cr_assert_eq(slice_compare(found, best), 0, "%d", (int)chips);
    }
    /* what the vendor calls its default goes before */
    SliceShape found;
    chip.defaults[0] = (SliceShape){{4, 8, 16}};
    chip.default_count = 1;
    cr_assert(slice_default(&chip, 512, &found));
    cr_expect_eq(slice_compare(found, chip.defaults[0]), 0);
    cr_assert(slice_default(&chip, 256, &found));
    cr_expect_eq(slice_compare(found, (SliceShape){{4, 8, 8}}), 0);
}

/* The least sum of differences, then the fewest chips, by trying all. */
Test(slice, nearest_by_trying_all) {
    Chip chip = a_chip(true);
    static const SliceShape asked[] = {{{7, 9, 3}}, {{1, 1, 1}},  {{2, 3, 4}},  {{28, 20, 16}}, {{4, 4, 90}},
                                       {{6, 6, 6}}, {{12, 4, 8}}, {{5, 5, 50}}, {{10, 10, 10}}, {{8, 2, 2}}};
    for (size_t i = 0; i < COUNT_OF(asked); i++) {
        SliceShape sorted = slice_sorted(asked[i]), found;
        int64_t least = INT64_MAX, fewest = INT64_MAX;
        for (int64_t x = 1; x <= 4 * CUBES; x++)
            for (int64_t y = 1; y <= 4 * CUBES; y++)
                for (int64_t z = 1; z <= 4 * CUBES; z++) {
                    if (!slice_offered(&chip, (SliceShape){{x, y, z}})) continue;
                    int64_t off = llabs(x - sorted.size[0]) + llabs(y - sorted.size[1]) + llabs(z - sorted.size[2]);
                    if (off < least || (off == least && x * y * z < fewest)) least = off, fewest = x * y * z;
                }
        cr_assert(slice_nearest(&chip, asked[i], &found));
        int64_t off = 0;
        for (int a = 0; a < 3; a++) off += llabs(found.size[a] - sorted.size[a]);
        cr_expect_eq(off, least, "row %zu", i);
        cr_expect_eq(slice_chips(found), fewest, "row %zu", i);
    }
    Chip flat = {.scaleup = SCALEUP_TORUS_2D, .shapes = {{{2, 4, 1}}, {{4, 8, 1}}}, .shape_count = 2};
    SliceShape found;
    cr_assert(slice_nearest(&flat, (SliceShape){{9, 4, 1}}, &found), "9x4 means 4x9");
    cr_expect_eq(slice_compare(found, (SliceShape){{4, 8, 1}}), 0);
    flat.shape_count = 0;
    cr_expect_not(slice_nearest(&flat, (SliceShape){{9, 4, 1}}, &found));
}

/* k x k x 2k and k x 2k x 2k in any order, of whole cubes. */
Test(slice, twists_and_rings) {
    Chip chip = a_chip(false);
    static const struct {
        SliceShape shape;
        int which; /* 1: k k 2k; 2: k 2k 2k; 0: not twisted */
    } rows[] = {{{{4, 4, 8}}, 1},  {{{8, 4, 4}}, 1},  {{{4, 8, 8}}, 2},  {{{8, 4, 8}}, 2},
                {{{8, 8, 16}}, 1}, {{{8, 8, 8}}, 0},  {{{4, 8, 16}}, 0}, {{{4, 4, 12}}, 0},
                {{{2, 2, 4}}, 0},  {{{6, 6, 12}}, 0}, {{{4, 12, 8}}, 0}, {{{4, 4, 16}}, 0}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        chip.twisted = false;
        cr_expect_null(slice_twist(&chip, rows[i].shape));
        chip.twisted = true;
        const Figure *expected = rows[i].which == 1   ? &chip.twisted_gain_k_k_2k
                                 : rows[i].which == 2 ? &chip.twisted_gain_k_2k_2k
                                                      : NULL;
        cr_expect_eq(slice_twist(&chip, rows[i].shape), expected, "row %zu", i);
    }
    for (int axis = 0; axis < 3; axis++) {
        cr_expect(slice_wraps(&chip, (SliceShape){{4, 8, 12}}, axis));
        for (int other = 0; other < 3; other++) {
            SliceShape broken = {{4, 8, 12}};
            broken.size[other] = 2;
            cr_expect_not(slice_wraps(&chip, broken, axis), "sub-cubes have no optical switches");
        }
    }
    Chip flat = {.scaleup = SCALEUP_TORUS_2D, .closed_size = 16};
    cr_expect(slice_wraps(&flat, (SliceShape){{8, 16, 1}}, 1));
    cr_expect_not(slice_wraps(&flat, (SliceShape){{8, 16, 1}}, 0));
    flat.closed_size = 0;
    cr_expect_not(slice_wraps(&flat, (SliceShape){{8, 16, 0}}, 2));
    cr_expect_not(slice_wraps(&(Chip){.scaleup = SCALEUP_SWITCH, .closed_size = 16}, (SliceShape){{16, 16, 1}}, 0));
}

Test(slice, texts) {
    static const struct {
        const char *text;
        SliceShape shape;
        int sizes; /* 0: refused */
    } rows[] = {{"16x20x28", {{16, 20, 28}}, 3},
                {"8X16", {{8, 16, 1}}, 2},
                {"1x1", {{1, 1, 1}}, 2},
                {"1000000000x1", {{1000000000, 1, 1}}, 2},
                {"1000000001x1", {{0}}, 0},
                {"0x4", {{0}}, 0},
                {"4x0x4", {{0}}, 0},
                {"4", {{0}}, 0},
                {"", {{0}}, 0},
                {"4x", {{0}}, 0},
                {"x4", {{0}}, 0},
                {"4x4x4x4", {{0}}, 0},
                {"4*4", {{0}}, 0},
                {"-4x4", {{0}}, 0}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        SliceShape shape = {{7, 7, 7}};
        int sizes = 0;
        cr_expect_eq(slice_parse(rows[i].text, &shape, &sizes), rows[i].sizes > 0, "%s", rows[i].text);
        cr_expect_eq(sizes, rows[i].sizes, "%s", rows[i].text);
        if (rows[i].sizes) cr_expect_eq(slice_compare(shape, rows[i].shape), 0, "%s", rows[i].text);
    }
    char text[SLICE_TEXT_SIZE];
    Chip deep = a_chip(false), flat = {.scaleup = SCALEUP_TORUS_2D};
    cr_expect_str_eq(slice_text(&deep, (SliceShape){{16, 20, 1}}, text), "16x20x1");
    cr_expect_str_eq(slice_text(&flat, (SliceShape){{16, 20, 1}}, text), "16x20");
    cr_expect_eq(slice_chips((SliceShape){{16, 20, 28}}), 8960);
    cr_expect_eq(slice_chips((SliceShape){{1000000000, 1000000000, 9}}), INT64_C(9000000000000000000));
    cr_expect_eq(slice_chips((SliceShape){{1000000000, 1000000000, 10}}), INT64_MAX, "10^19");
    cr_expect_lt(slice_compare((SliceShape){{1, 9, 9}}, (SliceShape){{2, 1, 1}}), 0);
    cr_expect_gt(slice_compare((SliceShape){{2, 9, 2}}, (SliceShape){{2, 9, 1}}), 0);
}

Test(slice, sorted_in_all_orders) {
    static const int ORDERS[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    static const int64_t sizes[] = {3, 5, 9};
    for (int i = 0; i < 6; i++) {
        SliceShape sorted = slice_sorted((SliceShape){{sizes[ORDERS[i][0]], sizes[ORDERS[i][1]], sizes[ORDERS[i][2]]}});
        cr_expect_eq(slice_compare(sorted, (SliceShape){{3, 5, 9}}), 0, "order %d", i);
    }
}
