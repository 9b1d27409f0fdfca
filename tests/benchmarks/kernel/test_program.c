/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Equal pairs have one number, in the order of their first coming, however many there are; against a plain table. */
#include "benchmarks/kernel/evaluate.h"
#include "tests/search/random_problem.h"

enum { SIDE = 300, DRAWS = 200000 };

Test(pairs, are_numbered_as_they_come) {
    Arena arena = {0};
    Pairs pairs;
    Draw draw = draw_seeded(5);
    static int32_t numbers[SIDE][SIDE];
    int32_t next = 1;
    cr_assert(pairs_begin(&pairs, &arena));
    for (int i = 0; i < DRAWS; i++) {
        Pair pair = {(int32_t)draw_below(&draw, SIDE), (int32_t)draw_below(&draw, SIDE)};
        int32_t *want = &numbers[pair.first][pair.second];
        if (*want == 0) *want = next++;
        int32_t number = pairs_number(&pairs, pair, &arena);
        cr_assert_eq(number, *want);
        cr_assert(pairs.pair[number].first == pair.first && pairs.pair[number].second == pair.second);
    }
    cr_expect_eq(pairs.count, next);
    arena_free(&arena);
}
