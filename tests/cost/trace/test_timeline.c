/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/trace/timeline.h"

#include <criterion/criterion.h>

static double active(const TraceTimeline *timeline, TraceTerm term) {
    double sum = 0;
    for (int i = 0; i < TIMELINE_MOMENTS; i++) sum += timeline->busy[i][term];
    return sum / TIMELINE_MOMENTS;
}

/* By hand: of 4000 ns a moment is 10. Matmuls 100-110, 105-125 and 3995-4100 are 30 within the step; a gather that
 * began before the step counts from its start. */
Test(timeline, shares_of_moments_by_hand) {
    TraceTimeline timeline;
    TimelineFill fill;
    timeline_begin(&fill, 1000, 5000, &timeline);
    timeline_add(&fill, TERM_MATMUL, 1100, 1110);
    timeline_add(&fill, TERM_MATMUL, 1105, 1125);
    timeline_add(&fill, TERM_MATMUL, 4995, 5100);
    timeline_add(&fill, TERM_FSDP, 0, 1024);
    timeline_add(&fill, TERM_DATA, 0, 9000);
    timeline_add(&fill, TERM_TENSOR, 5000, 9000);
    cr_expect_float_eq(timeline.seconds, 4e-6, 1e-12);
    cr_expect_float_eq(active(&timeline, TERM_MATMUL), 30.0 / 4000, 1e-6);
    cr_expect_float_eq(timeline.busy[10][TERM_MATMUL], 1, 1e-6);
    cr_expect_float_eq(timeline.busy[11][TERM_MATMUL], 1, 1e-6);
    cr_expect_float_eq(timeline.busy[12][TERM_MATMUL], 0.5, 1e-6);
    cr_expect_float_eq(timeline.busy[399][TERM_MATMUL], 0.5, 1e-6);
    cr_expect_float_eq(timeline.busy[2][TERM_FSDP], 0.4, 1e-6);
    cr_expect_float_eq(active(&timeline, TERM_FSDP), 24.0 / 4000, 1e-6);
    cr_expect_float_eq(active(&timeline, TERM_DATA), 1, 1e-6);
    cr_expect_eq(active(&timeline, TERM_TENSOR), 0);
}

/* A step of a few ns: moments are shorter than that, and each is whole. */
Test(timeline, a_step_shorter_than_its_moments) {
    TraceTimeline timeline;
    TimelineFill fill;
    timeline_begin(&fill, 0, 4, &timeline);
    timeline_add(&fill, TERM_MATMUL, 1, 2);
    cr_expect_float_eq(active(&timeline, TERM_MATMUL), 0.25, 1e-6);
    cr_expect_float_eq(timeline.busy[100][TERM_MATMUL], 1, 1e-6);
    cr_expect_eq(timeline.busy[99][TERM_MATMUL], 0);
    cr_expect_eq(timeline.busy[200][TERM_MATMUL], 0);
}
