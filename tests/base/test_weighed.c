/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/weighed.h"

#include <criterion/criterion.h>

static double of_five(double share) {
    Weighed list[] = {{5, 1}, {1, 1}, {4, 1}, {2, 1}, {3, 1}};
    return weighed_quantile(list, 5, share);
}

Test(weighed, alike_they_are_the_plain_quantiles) {
    cr_expect_eq(of_five(0.5), 3);
    cr_expect_eq(of_five(0.6), 3, "exactly three fifths lie up to 3");
    cr_expect_eq(of_five(0.61), 4);
    cr_expect_eq(of_five(0), 1);
    cr_expect_eq(of_five(1), 5);
}

/* A value that weighs three counts as three values do. */
Test(weighed, a_weight_is_so_many_values) {
    static const double SHARES[] = {0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 1};
    for (size_t i = 0; i < sizeof SHARES / sizeof *SHARES; i++) {
        Weighed weighed[] = {{-2, 3}, {7, 1}, {0.5, 4}, {3, 0}};
        Weighed one_by_one[] = {{-2, 1}, {-2, 1}, {-2, 1}, {7, 1}, {0.5, 1}, {0.5, 1}, {0.5, 1}, {0.5, 1}};
        cr_expect_eq(weighed_quantile(weighed, 4, SHARES[i]), weighed_quantile(one_by_one, 8, SHARES[i]), "%g",
                     SHARES[i]);
    }
}

/* A tenth summed ten times is a hair below one: the share that it ends at is reached all the same. */
Test(weighed, rounding_reaches_a_share) {
    Weighed list[10];
    for (int i = 0; i < 10; i++) list[i] = (Weighed){i, 0.1};
    for (int i = 0; i < 10; i++) cr_expect_eq(weighed_quantile(list, 10, (i + 1) / 10.0), i);
}
