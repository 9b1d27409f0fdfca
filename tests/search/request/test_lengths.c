/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lengths of samples: means and expected maxima by hand, what is computed for a sample by drawing, files that are
 * wrong. */
#include "search/request/lengths.h"

#include "base/util.h"
#include "tests/search/random_problem.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static Lengths lengths_of(const char *text, double most, Arena *arena) {
    Lengths out;
    Error error = {0};
    cr_assert(lengths_read(text, "file", most, arena, &out, &error), "%s", error.text);
    return out;
}

/* Of k to 4 alike, the longest of two is k with (k^2 - (k - 1)^2) / 16: 1 + 2 * 3 + 3 * 5 + 4 * 7 = 50 sixteenths. */
Test(lengths, by_hand) {
    static const struct {
        const char *text;
        double most, mean, longest, of_two;
    } ROWS[] = {
        {"1\n2\n3\n4\n", 0, 2.5, 4, 50. / 16},
        {"4\n1 # short\n\n3\n2", 0, 2.5, 4, 50. / 16},
        {"1\n2\n3\n4\n", 3, 2.25, 3, (1 + 2 * 3 + 3 * 12) / 16.}, /* those of 4 are cut to 3 */
        {"10 3\n30 1\n", 0, 15, 30, 10 * 9 / 16. + 30 * 7 / 16.}, /* three in four are 10 */
        {"7", 0, 7, 7, 7},
        {"p0 1\np100 1\n", 0, 1, 1, 1},
        {"p0 100\np50 200\np100 300\n", 0, 200.0001, 300, 100 + 200 * 2 / 3.},
        {"p0 100\np100 200\n", 0, 150.00005, 200, 100 + 100 * 2 / 3.}, /* even: the longest of two lies at two thirds */
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Arena arena = {0};
        Lengths lengths = lengths_of(ROWS[i].text, ROWS[i].most, &arena);
        cr_expect_float_eq(lengths.mean, ROWS[i].mean, 1e-9, "%s: %g", ROWS[i].text, lengths.mean);
        cr_expect_float_eq(lengths.longest, ROWS[i].longest, 1e-9, "%s: %g", ROWS[i].text, lengths.longest);
        cr_expect_float_eq(lengths_longest_of(&lengths, 1), ROWS[i].mean, 1e-9, "%s", ROWS[i].text);
        cr_expect_float_eq(lengths_longest_of(&lengths, 2), ROWS[i].of_two, 0.06, "%s: %g", ROWS[i].text,
                           lengths_longest_of(&lengths, 2));
        cr_expect_float_eq(lengths_longest_of(&lengths, 1e9), ROWS[i].longest, 1e-6, "%s", ROWS[i].text);
        arena_free(&arena);
    }
}

/* A step drawn: every rank's microbatches, padded or not, and the wait for the slowest. */
static double drawn(const Lengths *lengths, Packing packing, const TogetherComputed *together, Draw *draw) {
    double slowest = 0;
    for (int rank = 0; rank < (int)together->ranks; rank++) {
        double all = 0;
        for (int m = 0; m < (int)together->microbatches; m++) {
            double most = 0, sum = 0;
            for (int s = 0; s < (int)together->samples; s++) {
                double length = lengths->length[draw_below(draw, lengths->count)];
                most = fmax(most, length), sum += length;
            }
            all += packing == PACKING_PADDED ? most : sum / together->samples;
        }
        slowest = fmax(slowest, all / together->microbatches);
    }
    return slowest;
}

Test(lengths, what_is_computed_is_what_drawing_finds) {
    static const struct {
        Packing packing;
        TogetherComputed together;
        double within; /* sums even out as those of a normal distribution, which these are not */
    } ROWS[] = {{PACKING_PADDED, {1, 4, 1}, 0.01},  {PACKING_PADDED, {8, 4, 1}, 0.01},
                {PACKING_PADDED, {8, 1, 1}, 0.01},  {PACKING_FREE, {8, 1, 1}, 0.01},
                {PACKING_FREE, {1, 4, 4}, 0.01},    {PACKING_FREE, {8, 4, 1}, 0.1},
                {PACKING_PADDED, {8, 2, 16}, 0.05}, {PACKING_FREE, {4, 2, 8}, 0.1}};
    enum { STEPS = 20000 };
    Arena arena = {0};
    Lengths lengths = lengths_of("p0 20\np50 300\np90 1100\np99 3000\np100 6000\n", 2048, &arena);
    cr_expect_eq(lengths_computed(&lengths, PACKING_PACKED, &(TogetherComputed){8, 4, 1}), lengths.mean);
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Draw draw = draw_seeded(i);
        double found = 0, says = lengths_computed(&lengths, ROWS[i].packing, &ROWS[i].together);
        for (int step = 0; step < STEPS; step++)
            found += drawn(&lengths, ROWS[i].packing, &ROWS[i].together, &draw) / STEPS;
        cr_expect(fabs(says / found - 1) < ROWS[i].within, "row %zu: %g, drawn %g", i, says, found);
        cr_expect(says >= lengths.mean && says <= lengths.longest, "row %zu: %g", i, says);
    }
    arena_free(&arena);
}

Test(lengths, what_is_wrong) {
    static const char *const ROWS[][2] = {
        {"", "no lengths"},     {"# nothing\n", "no lengths"}, {"1\ntwo\n3 three", "line 2"},
        {"0\n", "line 1"},      {"5 -1\n", "line 1"},          {"5 1 1\n", "line 1"},
        {"p101 5\n", "line 1"}, {"p50 5\n7\n", "mixes"},       {"p50 500\np90 300\n", "rise"},
        {"p50\n", "line 1"}};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Arena arena = {0};
        Lengths out;
        Error error = {0};
        cr_expect(!lengths_read(ROWS[i][0], "file", 0, &arena, &out, &error) && strstr(error.text, ROWS[i][1]),
                  "\"%s\": %s", ROWS[i][0], error.text);
        arena_free(&arena);
    }
}

/* Lines 2 and 5 of six are none: the mean is that of the four others, and a warning names both. */
Test(lengths, rows_are_left_out) {
    Arena arena = {0};
    Lengths out;
    Error error = {0};
    cr_assert(lengths_read("10\n-1\n20\n30\nlong\n40\n", "file", 0, &arena, &out, &error), "%s", error.text);
    cr_expect_float_eq(out.mean, 25, 1e-12);
    cr_expect(out.left_out && strstr(out.left_out, "file: lines 2, 5 left out"), "%s", out.left_out);
    arena_free(&arena);
}
