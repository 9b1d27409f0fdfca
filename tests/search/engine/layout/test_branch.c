/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/layout/branch.h"

#include <criterion/criterion.h>

/* Two layers in the one state there is add twice what one does; what stands behind the items is no item. */
Test(branch, resources_are_saved_and_counts) {
    static Branch branch;
    static int64_t counts[ITEMS_MAX] = {2, 7};
    Resources sum;
    branch.item_count = 1;
    for (int r = 0; r < RESOURCE_COUNT; r++) {
        branch.saved.of[r] = 100 + r;
        branch.items[0].adds.of[r] = 3 * r;
        branch.items[1].adds.of[r] = 1000;
    }
    branch_resources(&branch, counts, &sum);
    for (int r = 0; r < RESOURCE_COUNT; r++) cr_expect_eq(sum.of[r], 100 + r + 2 * 3 * r, "%d: %g", r, sum.of[r]);
}
