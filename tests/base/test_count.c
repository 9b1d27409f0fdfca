/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/count.h"
#include "base/util.h"

#include <criterion/criterion.h>

#define COUNT_MAX (~(Count)0)

/* 2^64 = 18446744073709551616 and 2^128 - 1 = 340282366920938463463374607431768211455. */
static const struct {
    Count count;
    const char *plain, *grouped;
} TEXTS[] = {
    {0, "0", "0"},
    {7, "7", "7"},
    {999, "999", "999"},
    {1000, "1000", "1,000"},
    {18183356256, "18183356256", "18,183,356,256"},
    {(Count)1 << 64, "18446744073709551616", "18,446,744,073,709,551,616"},
    {COUNT_MAX, "340282366920938463463374607431768211455", "340,282,366,920,938,463,463,374,607,431,768,211,455"},
};

Test(count, text) {
    for (size_t i = 0; i < COUNT_OF(TEXTS); i++) {
        char text[COUNT_TEXT_SIZE];
        cr_expect_str_eq(count_text(TEXTS[i].count, false, text), TEXTS[i].plain);
        cr_expect_str_eq(count_text(TEXTS[i].count, true, text), TEXTS[i].grouped);
    }
}

static const struct {
    const char *name;
    bool (*step)(Count, Count, Count *);
    Count a, b;
    bool ok;
    Count expected;
} STEPS[] = {
    {"past 64 bits", count_add, UINT64_MAX, 1, true, (Count)1 << 64},
    {"up to the last", count_add, COUNT_MAX - 1, 1, true, COUNT_MAX},
    {"one too many", count_add, COUNT_MAX, 1, false, 0},
    {"twice the half", count_add, (Count)1 << 127, (Count)1 << 127, false, 0},
    {"zero times all", count_multiply, 0, COUNT_MAX, true, 0},
    {"once all", count_multiply, COUNT_MAX, 1, true, COUNT_MAX},
    {"2^63 * 2^64", count_multiply, (Count)1 << 63, (Count)1 << 64, true, (Count)1 << 127},
    {"2^64 * 2^64", count_multiply, (Count)1 << 64, (Count)1 << 64, false, 0},
    {"(2^64 - 1)(2^64 + 1) = 2^128 - 1", count_multiply, UINT64_MAX, ((Count)1 << 64) + 1, true, COUNT_MAX},
    {"twice more than the half", count_multiply, ((Count)1 << 127) + 1, 2, false, 0},
};

Test(count, steps_are_exact_or_said_not_to_be) {
    for (size_t i = 0; i < COUNT_OF(STEPS); i++) {
        Count out = 42;
        cr_expect_eq(STEPS[i].step(STEPS[i].a, STEPS[i].b, &out), STEPS[i].ok, "%s", STEPS[i].name);
        cr_expect(out == (STEPS[i].ok ? STEPS[i].expected : 42), "%s", STEPS[i].name);
    }
}

Test(count, out_may_be_an_operand) {
    Count factorial = 1;
    for (unsigned i = 2; i <= 34; i++) cr_expect(count_multiply(factorial, i, &factorial));
    char text[COUNT_TEXT_SIZE]; /* 34! is the last below 2^128 */
    cr_expect_str_eq(count_text(factorial, false, text), "295232799039604140847618609643520000000");
    cr_expect_not(count_multiply(factorial, 35, &factorial));
}
