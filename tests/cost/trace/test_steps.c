/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where steps begin and end, counted by hand: by annotations and their launches, by the kernel that occurs least often,
 * or one window for all. */
#include "cost/trace/rank_trace.h"

#include "tests/cost/trace/recorded.h"

TestSuite(steps, .init = recorded_begin, .fini = recorded_end);

static TraceSteps steps;

static void find(void) {
    Error error = {0};
    recorded_finish();
    cr_assert(trace_steps(&recorded, 0, recorded.event_count, &recorded_arena, &steps, &error), "%s", error.text);
}

static void expect_step(int i, int64_t start, int64_t end, bool partial, bool used) {
    const TraceStep *step = &steps.steps[i];
    cr_expect_eq(step->start_ns, 1000 * start, "%d: from %lld", i, (long long)step->start_ns);
    cr_expect_eq(step->end_ns, 1000 * end, "%d: to %lld", i, (long long)step->end_ns);
    cr_expect_eq(step->partial, partial, "%d", i);
    cr_expect_eq(step->used, used, "%d", i);
}

/* The device lags 30 us behind the host. Of five steps the first does not count, the last does not end, and the third
 * is more than one and a half times as long as the median of 100. */
Test(steps, annotated) {
    static const int64_t BEGINS[] = {100, 200, 300, 451, 551};
    for (int i = 0; i < 5; i++) {
        recorded_range("ProfilerStep#1", BEGINS[i], BEGINS[i] + 20);
        recorded_kernel("gemm", BEGINS[i] + 30, BEGINS[i] + 60, BEGINS[i]);
        recorded_kernel("gemm", BEGINS[i] + 70, BEGINS[i] + 90, BEGINS[i] + 40);
    }
    recorded_kernel("early", 50, 60, 40); /* launched before all of them */
    find();
    cr_expect_eq(steps.by, STEPS_ANNOTATED);
    cr_assert_eq(steps.count, 5);
    expect_step(0, 130, 230, false, false);
    expect_step(1, 230, 330, false, true);
    expect_step(2, 330, 481, false, false);
    expect_step(3, 481, 581, false, true);
    expect_step(4, 581, 641, true, false);
    cr_expect_eq(steps.used, 2);
}

/* A step of just one and a half medians counts; of two steps the first does. */
Test(steps, few) {
    static const int64_t BEGINS[] = {0, 100, 200, 350};
    for (int i = 0; i < 4; i++) {
        recorded_range("ProfilerStep#1", BEGINS[i], BEGINS[i] + 20);
        recorded_kernel("gemm", BEGINS[i] + 5, BEGINS[i] + 60, BEGINS[i]);
    }
    find();
    cr_assert_eq(steps.count, 4);
    expect_step(2, 205, 355, false, true);
    recorded_end();
    recorded_begin();
    for (int i = 0; i < 2; i++) {
        recorded_range("ProfilerStep#1", BEGINS[i], BEGINS[i] + 20);
        recorded_kernel("gemm", BEGINS[i] + 5, BEGINS[i] + 60, BEGINS[i]);
    }
    find();
    cr_assert_eq(steps.count, 2);
    expect_step(0, 5, 105, false, true);
    expect_step(1, 105, 160, true, false);
    cr_expect_eq(steps.used, 1);
}

/* Nothing is annotated: matmuls come three times a step and the loss once; what takes less than 0.05% of the time may
 * come once. */
Test(steps, by_the_rarest_kernel) {
    recorded_kernel("gemm", 1, 2, -1);
    for (int i = 0; i < 4; i++) {
        int64_t at = 1000 * (i + 1);
        recorded_kernel("loss", at, at + 50, -1);
        for (int k = 0; k < 3; k++) recorded_kernel("gemm", at + 100 * (k + 1), at + 100 * k + 190, -1);
    }
    TraceEvent *copy = recorded_kernel("Memcpy HtoD", 4500, 4800, -1);
    copy->class = CLASS_COPY;
    find();
    cr_expect_eq(steps.by, STEPS_PERIOD);
    cr_assert_eq(steps.count, 4);
    expect_step(0, 1000, 2000, false, false);
    expect_step(1, 2000, 3000, false, true);
    expect_step(2, 3000, 4000, false, true);
    expect_step(3, 4000, 4800, true, false);
}

/* A kernel that takes time and comes once leaves no period: one window, from the first event to the last end. */
Test(steps, one_window) {
    recorded_kernel("once", 10, 200, -1);
    recorded_kernel("gemm", 20, 30, -1);
    recorded_kernel("gemm", 40, 50, -1);
    find();
    cr_expect_eq(steps.by, STEPS_WHOLE);
    cr_assert_eq(steps.count, 1);
    expect_step(0, 10, 200, true, true);
    cr_expect_eq(steps.used, 1);
}
