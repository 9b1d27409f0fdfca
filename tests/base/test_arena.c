/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/arena.h"
#include "base/util.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

static const struct {
    const char *name;
    size_t count, size;
} GIVEN[] = {
    {"one byte", 1, 1},          {"nothing", 0, 8},     {"nothing of nothing", 0, 0},  {"a cache line", 1, 64},
    {"one more", 65, 1},         {"a block", 65536, 1}, {"a block and one", 65537, 1}, {"a large table", 1 << 20, 8},
    {"small after large", 3, 8},
};

Test(arena, pieces_are_zeroed_aligned_and_apart) {
    enum { ROUNDS = 40 };
    Arena arena = {0};
    unsigned char *pieces[ROUNDS][COUNT_OF(GIVEN)];
    for (size_t r = 0; r < ROUNDS; r++)
        for (size_t i = 0; i < COUNT_OF(GIVEN); i++) {
            size_t bytes = GIVEN[i].count * GIVEN[i].size, sum = 0;
            if (bytes > 100000 && r > 2) continue;
            unsigned char *piece = pieces[r][i] = arena_alloc(&arena, GIVEN[i].count, GIVEN[i].size);
            cr_assert_not_null(piece, "%s", GIVEN[i].name);
            cr_expect_eq((uintptr_t)piece % 64, 0, "%s", GIVEN[i].name);
            for (size_t k = 0; k < bytes; k++) sum += piece[k];
            cr_expect_eq(sum, 0, "%s is not zeroed", GIVEN[i].name);
            memset(piece, (int)(r * COUNT_OF(GIVEN) + i) % 255 + 1, bytes);
        }
    for (size_t r = 0; r < ROUNDS; r++)
        for (size_t i = 0; i < COUNT_OF(GIVEN); i++) {
            size_t bytes = GIVEN[i].count * GIVEN[i].size, wrong = 0;
            if (bytes > 100000 && r > 2) continue;
            for (size_t k = 0; k < bytes; k++) wrong += pieces[r][i][k] != (r * COUNT_OF(GIVEN) + i) % 255 + 1;
            cr_expect_eq(wrong, 0, "%s was overwritten", GIVEN[i].name);
        }
    arena_free(&arena);
}

Test(arena, nothing_behind_a_full_block_is_aligned) {
    Arena arena = {0};
    cr_expect_not_null(arena_alloc(&arena, 100001, 1));
    cr_expect_eq((uintptr_t)arena_alloc(&arena, 0, 1) % 64, 0);
    arena_free(&arena);
}

static const struct {
    const char *name;
    size_t count, size;
} REFUSED[] = {
    {"the product wraps to zero", (size_t)1 << 32, (size_t)1 << 32},
    {"the product wraps to a little", SIZE_MAX / 2 + 2, 2},
    {"all there is", SIZE_MAX, 1},
    {"the header would wrap it", SIZE_MAX - 64, 1},
    {"a petabyte", (size_t)1 << 50, 1},
};

Test(arena, what_no_machine_has_is_refused) {
    Arena arena = {0};
    for (size_t i = 0; i < COUNT_OF(REFUSED); i++)
        cr_expect_null(arena_alloc(&arena, REFUSED[i].count, REFUSED[i].size), "%s", REFUSED[i].name);
    cr_expect_not_null(ARENA_NEW(&arena, int, 4), "a refusal does not spoil the arena");
    arena_free(&arena);
}

Test(arena, text_and_format) {
    Arena arena = {0};
    char long_text[100001];
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    cr_expect_str_eq(arena_text(&arena, ""), "");
    cr_expect_str_eq(arena_text(&arena, "tensor"), "tensor");
    cr_expect_str_eq(arena_format(&arena, "%s=%d", "tensor", 16), "tensor=16");
    cr_expect_str_eq(arena_format(&arena, "%s", long_text), long_text);
    arena_free(&arena);
    cr_expect_str_eq(arena_text(&arena, "again"), "again", "a freed arena can be used again");
    arena_free(&arena);
    arena_free(&arena);
}

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
