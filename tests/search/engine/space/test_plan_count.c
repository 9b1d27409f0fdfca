/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The batches of a number of replicas, against all batches there are, tried one by one. How many plans a machine has is
 * held by brute force in test_knob_space.c. */
#include "search/engine/space/plan_count.h"

#include <criterion/criterion.h>

Test(plan_count, batches_by_trying_all) {
    static const int PERCENT[] = {0, 2, 10, 25, 50};
    for (size_t t = 0; t < sizeof PERCENT / sizeof *PERCENT; t++)
        for (int64_t asked = 1; asked <= 48; asked++)
            for (int64_t replicas = 1; replicas <= 13; replicas++) {
                Request request = {0};
                request.question.work.sequences = asked;
                request.space.batch_tolerance = PERCENT[t] / 100.0;
                int64_t count = 1, most = 0;
                cr_assert_eq(batch_at(&request, replicas, 0), asked);
                for (int64_t batch = 1; batch <= 2 * asked; batch++) { /* within: |batch - asked| <= t asked */
                    if (batch % replicas != 0 || 100 * llabs(batch - asked) > PERCENT[t] * asked) continue;
                    most = batch;
                    if (batch == asked || PERCENT[t] == 0) continue;
                    cr_assert_eq(batch_at(&request, replicas, count++), batch, "%d%% of %d over %d: %d", PERCENT[t],
                                 (int)asked, (int)replicas, (int)batch);
                }
                for (int64_t beyond = count; beyond < count + 3; beyond++)
                    cr_assert_eq(batch_at(&request, replicas, beyond), 0);
                cr_assert_eq(batch_count(&request, replicas), count);
                int64_t found = batch_most(&request, replicas), low = asked - PERCENT[t] * asked / 100;
                cr_assert(most > 0 ? found == most : found < low, "%d%% of %d over %d: at most %d", PERCENT[t],
                          (int)asked, (int)replicas, (int)found);
            }
}
