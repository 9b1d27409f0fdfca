/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Knob settings that were once cut by what holds for another one (docs/search.md, "Offload never pays"). */
#include "tests/search/asked.h"

#include <stdio.h>

/* Requests with so little room in HBM that the optimizer's state has to make way, though the same plan with the state
 * in HBM fits as well once enough activations are computed again. */
static const char *const TIGHT[] = {
    "plan --model 8b --chip h200 --chips 2 --seq 32768 --sequences 128 --hbm-reserve 18% --top 1 --max-idle 0 "
    "--offload all",
    "plan --model 70b --chip h200 --nodes 4 --seq 4096 --sequences 256 --hbm-reserve 58% --top 1 --max-idle 0 "
    "--for megatron --profile ideal --offload all",
};

/* Each of the two below is a look at all plans in a way of its own: no bound is used, and with --variants no setting
 * is compared with another one. */
static void check_same_best(const char *command, const char *more) {
    char text[400];
    RequestedSearch quick, other;
    snprintf(text, sizeof text, "%s %s", command, more);
    asked_open_by_time(&quick, command);
    asked_open_by_time(&other, text);
    cr_assert(quick.result.plan_count == 1 && other.result.plan_count >= 1, "%s", command);
    const RankedPlan *best = &quick.result.plans[0], *wanted = &other.result.plans[0];
    cr_expect(best->plan.knobs.offload_optimizer, "%s: the state stays in HBM, so the test shows nothing", command);
    cr_expect(best->ranked_seconds == wanted->ranked_seconds &&
                  knobs_compare(&best->plan.knobs, &wanted->plan.knobs) == 0,
              "%s: %.17g s; with %s %.17g s", command, best->ranked_seconds, more, wanted->ranked_seconds);
    asked_close(&quick);
    asked_close(&other);
}

Test(knob_list, offloaded_state_may_pay_where_the_resident_plan_is_cut) {
    for (size_t i = 0; i < COUNT_OF(TIGHT); i++) {
        check_same_best(TIGHT[i], "--brute-force");
        check_same_best(TIGHT[i], "--variants");
    }
}
