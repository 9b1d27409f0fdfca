/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/trace/comparison.h"

#include "base/util.h"

#include <criterion/criterion.h>
#include <string.h>

/* What a stage computes over what the plan has: one that stands out against the middle one is named, and where all are
 * alike, or nobody can tell, none is. */
Test(stages, the_slow_one) {
    static const struct {
        double times[4];
        int count;
        const char *says; /* NULL: nothing */
    } ROWS[] = {
        {{1, 1, 1, 1}, 4, NULL},
        {{1.3, 1.3, 1.3, 1.3}, 4, NULL}, /* the profile is off, no stage is */
        {{1, 1, 1.04, 1}, 4, NULL},
        {{1, 1, 2, 1}, 4, "stage 3 computes for"},
        {{1.3, 1.3, 1.3, 2.6}, 4, "2.60 times what the plan has, and a stage in the middle 1.30 times"},
        {{1, 2, 1, 1}, 2, NULL}, /* of two none is in the middle */
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        ComparisonStage stages[4];
        Prose out = {0};
        for (int k = 0; k < 4; k++)
            stages[k] = (ComparisonStage){
                .stage = k, .ranks = 1, .measured = {.compute = ROWS[i].times[k]}, .predicted = {.compute = 1}};
        Comparison compared = {.stages = stages, .stage_count = ROWS[i].count};
        comparison_slow_stage(&compared, &out);
        if (ROWS[i].says)
            cr_expect(strstr(out.text, ROWS[i].says), "row %zu: %s", i, out.text);
        else
            cr_expect_eq(out.used, 0, "row %zu: %s", i, out.text);
    }
}
