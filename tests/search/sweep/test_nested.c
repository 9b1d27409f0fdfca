/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Points whose spaces lie in each other: less HBM cannot be faster, unless something else differs too. */
#include "search/sweep/sweep.h"

#include "base/util.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum { POINTS = 6 };
static const char *RESERVES[] = {"10%", "0.2", "25%"}, *MODELS[] = {"8b", "70b"}, *IDLE[] = {"0", "50%", "10%"};

static const char MEGATRON[] = "megatron, h200, new, , ", OTHER[] = "torchtitan, h200, new, , ";

/* Tokens a second of two models under three shares; 0: no plan fits, below 0: that is not proven. */
static const struct {
    const char *name;
    const char *option;
    const char **values;
    double tokens[POINTS];
    int other; /* the row that another launcher has; -1: none */
    bool agrees;
} ROWS[] = {
    {"less room, slower", "hbm-reserve", RESERVES, {9, 8, 7, 5, 5, 0}, -1, true},
    {"less room, faster", "hbm-reserve", RESERVES, {9, 8, 8.1, 5, 5, 0}, -1, false},
    {"of the second model", "hbm-reserve", RESERVES, {9, 8, 7, 5, 5.1, 0}, -1, false},
    {"by less than layouts are solved to", "hbm-reserve", RESERVES, {9, 8, 8.00000001, 5, 5, 0}, -1, true},
    {"by another launcher", "hbm-reserve", RESERVES, {9, 8, 8.1, 5, 5, 0}, 2, true},
    {"more room, and none fits", "hbm-reserve", RESERVES, {9, 8, 7, 5, 0, 3}, -1, false},
    {"more room, and none is known", "hbm-reserve", RESERVES, {9, 8, 7, 5, -1, 3}, -1, true},
    {"idle chips may stay in use", "max-idle", IDLE, {7, 9, 8, 5, 5, 5}, -1, true},
    {"idle chips are faster used", "max-idle", IDLE, {9, 9, 8, 5, 5, 5}, -1, false},
    {"no share at all", "seq", RESERVES, {9, 8, 8.1, 5, 5, 0}, -1, true},
};

Test(nested, rows) {
    for (size_t r = 0; r < COUNT_OF(ROWS); r++) {
        SweepGrid grid = {.options = {{"model", MODELS, 2}, {ROWS[r].option, ROWS[r].values, 3}},
                          .option_count = 2,
                          .points = POINTS};
        SweepRow rows[POINTS];
        Error error = {0};
        for (int i = 0; i < POINTS; i++) {
            double tokens = ROWS[r].tokens[i];
            rows[i] = (SweepRow){.point = i,
                                 .state = tokens > 0   ? POINT_OK
                                          : tokens < 0 ? POINT_NOT_PROVEN
                                                       : POINT_NO_PLAN,
                                 .has_plan = tokens > 0,
                                 .tokens_per_second = tokens,
                                 .priced_by = i == ROWS[r].other ? OTHER : MEGATRON,
                                 .line = "{}"};
        }
        cr_expect_eq(sweep_rows_agree(&grid, rows, &error), ROWS[r].agrees, "%s: %s", ROWS[r].name, error.text);
        cr_expect_eq(error.kind, ROWS[r].agrees ? ERROR_NONE : ERROR_INTERNAL, "%s", ROWS[r].name);
    }
}

/* The other way round: the option stands in front, and turns slower. */
Test(nested, names_the_points) {
    SweepGrid grid = {
        .options = {{"hbm-reserve", RESERVES, 3}, {"model", MODELS, 2}}, .option_count = 2, .points = POINTS};
    SweepRow rows[POINTS];
    Error error = {0};
    for (int i = 0; i < POINTS; i++)
        rows[i] = (SweepRow){
            .point = i, .has_plan = true, .tokens_per_second = i == 5 ? 2 : 1, .priced_by = MEGATRON, .line = "{}"};
    cr_assert_not(sweep_rows_agree(&grid, rows, &error));
    cr_expect(strstr(error.text, "every plan of hbm-reserve=25% model=70b is one of hbm-reserve=10% model=70b"), "%s",
              error.text);
}
