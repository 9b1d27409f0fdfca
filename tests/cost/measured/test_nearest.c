/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/measured/validate.h"

#include "base/util.h"

#include <criterion/criterion.h>

static const struct {
    const char *name;
    Run run;
    struct {
        Precision precision;
        double seconds;
        const char *skipped;
    } was;
} ROWS[] = {
    {"far in size",
     {.model = "a", .active_parameters = 70e9, .request = {.chips = 64, .seq = 8192, .sequences = 64}},
     {PRECISION_BF16, 1, ""}},
    {"of another kind",
     {.model = "b", .active_parameters = 8e9, .mixture = true, .request = {.chips = 64, .seq = 8192, .sequences = 64}},
     {PRECISION_BF16, 1, ""}},
    {"skipped",
     {.model = "llama", .active_parameters = 8e9, .request = {.chips = 64, .seq = 8192, .sequences = 64}},
     {PRECISION_BF16, 1, "no"}},
    {"not measured",
     {.model = "llama", .active_parameters = 8e9, .request = {.chips = 64, .seq = 8192, .sequences = 64}},
     {PRECISION_BF16, 0, ""}},
    {"another precision",
     {.model = "llama", .active_parameters = 8e9, .request = {.chips = 64, .seq = 8192, .sequences = 64}},
     {PRECISION_FP8, 1, ""}},
    {"four times the chips",
     {.model = "llama", .active_parameters = 8e9, .request = {.chips = 256, .seq = 8192, .sequences = 64}},
     {PRECISION_BF16, 2, ""}},
    {"a mixture by its active parameters",
     {.model = "m", .active_parameters = 39e9, .mixture = true, .request = {.chips = 8, .seq = 8192, .sequences = 64}},
     {PRECISION_BF16, 1, ""}},
};

static const Outcome *ask(const NearestAsk *asked) {
    static Outcome outcomes[COUNT_OF(ROWS)];
    for (size_t i = 0; i < COUNT_OF(ROWS); i++)
        outcomes[i] = (Outcome){.run = &ROWS[i].run,
                                .skipped = ROWS[i].was.skipped,
                                .precision = ROWS[i].was.precision,
                                .measured_seconds = ROWS[i].was.seconds};
    return nearest_run(outcomes, COUNT_OF(ROWS), asked);
}

static const char *name_of(const Outcome *outcome) {
    for (size_t i = 0; outcome && i < COUNT_OF(ROWS); i++)
        if (outcome->run == &ROWS[i].run) return ROWS[i].name;
    return "none";
}

Test(nearest, run) {
    NearestAsk dense = {"Llama", 8e9, false, 64, 8192, PRECISION_BF16, NULL};
    cr_expect_str_eq(name_of(ask(&dense)), "four times the chips"); /* 0.7 ln 4 < 1.5 of a precision */
    dense.precision = PRECISION_FP8;
    cr_expect_str_eq(name_of(ask(&dense)), "another precision");
    dense.active_parameters = 17e9; /* more than twice */
    cr_expect_str_eq(name_of(ask(&dense)), "none");
    NearestAsk mixture = {"x", 38e9, true, 64, 8192, PRECISION_BF16, NULL};
    cr_expect_str_eq(name_of(ask(&mixture)), "a mixture by its active parameters");
}

/* 64 sequences of 8,192 in 2 s on 256 chips: 1,024 tokens/s per chip. */
Test(nearest, rate) {
    Outcome outcome = {.run = &ROWS[5].run, .measured_seconds = 2};
    cr_expect_float_eq(outcome_tokens_per_second_per_chip(&outcome), 1024, 1e-9);
    outcome.measured_seconds = 0;
    cr_expect_eq(outcome_tokens_per_second_per_chip(&outcome), 0);
}
