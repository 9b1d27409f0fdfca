/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/budget.h"

#include "base/arena.h"

#include <criterion/criterion.h>

/* What is taken and given back is counted, what exceeds the limit is refused, and that is remembered. */
Test(budget, counts_and_refuses) {
    Budget budget = {.limit = 1000};
    cr_expect(budget_take(&budget, 600));
    cr_expect(budget_is_above(&budget, 0.5) && !budget_is_above(&budget, 0.6) && !budget_is_met(&budget));
    cr_expect_not(budget_take(&budget, 401));
    cr_expect_eq(budget.used, 600);
    cr_expect(budget_is_met(&budget), "it was refused something");
    budget = (Budget){.limit = 1000};
    budget_add(&budget, 1001); /* is there already */
    cr_expect(budget_is_met(&budget));
    budget_add(&budget, -501);
    cr_expect(!budget_is_met(&budget) && budget.used == 500 && budget.most == 1001);
    budget = (Budget){0};
    cr_expect(budget_take(&budget, INT64_C(1) << 50) && !budget_is_met(&budget), "without a limit");
}

/* An arena takes its blocks from its budget and gives all of them back; what is refused is memory that is out. */
Test(budget, is_what_an_arena_takes_from) {
    Budget budget = {.limit = 1 << 20};
    Arena arena = {.budget = &budget};
    for (int i = 0; i < 100; i++) cr_assert_not_null(arena_alloc(&arena, 1, 5000));
    cr_expect(budget.used >= 500000 && budget.used <= 700000, "%lld", (long long)budget.used);
    cr_expect_null(arena_alloc(&arena, 1, 1 << 20));
    cr_expect(budget_is_met(&budget));
    cr_expect_not_null(arena_alloc(&arena, 1, 5000), "what is within the limit is still given");
    arena_free(&arena);
    cr_expect_eq(budget.used, 0);
}
