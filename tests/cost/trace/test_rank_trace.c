/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a device spent two steps on, added up by hand. */
#include "base/util.h"
#include "cost/trace/rank_trace.h"
#include "tests/cost/trace/recorded.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(rank_trace, .init = recorded_begin, .fini = recorded_end);

static RankTraces traces;

static const RankTrace *trace(const PlanShape *shape) {
    Error error = {0};
    recorded_finish();
    cr_assert(rank_traces(&recorded, "file", shape, &recorded_arena, &traces, &error), "%s", error.text);
    cr_assert_eq(traces.count, 1);
    return &traces.ranks[0];
}

static void collective(const char *name, int64_t start, int64_t end, CollectiveKind kind, double bytes, int64_t size) {
    TraceEvent *event = recorded_kernel(name, start, end, start - 1);
    event->kind = (uint8_t)kind;
    event->bytes = bytes;
    event->stream = 9;
    event->group = recording_group(&recorded, recording_name(&recorded, "g", 1), -1, size);
}

/* Four steps of 1 ms, of which the middle two count. In each: 400 us of a matmul, a gather from 300 to 600 us of which
 * 200 are seen, a copy to the host from 600 to 700 us behind a matmul that goes on until 650, and 300 us of nothing. */
static void four_steps(void) {
    for (int i = 0; i < 4; i++) {
        int64_t at = 1000 * (i + 1);
        recorded_range("ProfilerStep#1", at - 20, at);
        recorded_kernel("ampere_bf16_gemm", at, at + 400, at - 10);
        collective("ncclDevKernel_AllGather_RING_LL(x)", at + 300, at + 600, COLLECTIVE_KIND_ALL_GATHER, 1e6, 4);
        recorded_kernel("ampere_bf16_gemm", at + 600, at + 650, at + 20);
        TraceEvent *copy = recorded_kernel("Memcpy DtoH", at + 600, at + 700, at + 30);
        copy->class = CLASS_COPY;
        copy->host_copy = true;
    }
    recorded_kernel("mystery", 5000, 5100, -1)->launch = 0;
}

Test(rank_trace, steps) {
    PlanShape shape = {.known = true, .degree = {[TERM_FSDP] = 4}};
    for (int role = TERM_TENSOR; role <= TERM_PIPELINE; role++)
        if (role != TERM_FSDP) shape.degree[role] = 1;
    four_steps();
    const RankTrace *rank = trace(&shape);
    cr_expect(rank->steps_by == STEPS_ANNOTATED && rank->steps == 4 && rank->steps_used == 2);
    cr_expect_float_eq(rank->step_mean, 1e-3, 1e-12);
    cr_expect_float_eq(rank->step_median, 1e-3, 1e-12);
    cr_expect(rank->step_least == rank->step_most);
    cr_expect(rank->launches_known);
    static const struct {
        TraceTerm term;
        double length, exposed; /* us */
    } TERMS[] = {{TERM_MATMUL, 450, 450},
                 {TERM_FSDP, 300, 200},
                 {TERM_WAITS, 100, 50},
                 {TERM_OTHER, 0, 300},
                 {TERM_BUBBLE, 0, 0}};
    double sum = 0;
    for (size_t i = 0; i < COUNT_OF(TERMS); i++) {
        cr_expect_float_eq(rank->exposed[TERMS[i].term], 1e-6 * TERMS[i].exposed, 1e-12, "%s: %g",
                           term_name(TERMS[i].term), rank->exposed[TERMS[i].term]);
        if (TERMS[i].term < TERM_BUBBLE)
            cr_expect_float_eq(rank->length[TERMS[i].term], 1e-6 * TERMS[i].length, 1e-12, "%s",
                               term_name(TERMS[i].term));
    }
    for (int term = 0; term < TERM_COUNT; term++) sum += rank->exposed[term];
    cr_expect_float_eq(sum, rank->step_mean, 1e-12);
    cr_assert_eq(rank->use_count, 1);
    cr_expect(rank->uses[0].term == TERM_FSDP && rank->uses[0].kind == COLLECTIVE_KIND_ALL_GATHER);
    cr_expect(rank->uses[0].count == 1 && rank->uses[0].bytes == 1e6);
    cr_expect_float_eq(rank->uses[0].seconds, 300e-6, 1e-12);
    cr_assert_eq(rank->unplaced_count, 1);
    cr_expect_str_eq(rank->unplaced[0].name, "mystery");
    cr_expect(rank->unplaced[0].count == 1);
    cr_expect_float_eq(rank->unplaced[0].seconds, 100e-6, 1e-12);
    cr_assert_eq(rank->instance_count, 4);
    for (int i = 0; i < 4; i++) {
        cr_expect_eq(rank->instances[i].ordinal, i);
        cr_expect_eq(rank->instances[i].key, rank->instances[0].key);
        cr_expect_eq(rank->instances[i].start_ns, 1000 * (1000 * (i + 1) + 300));
    }
}

/* From 1000 to 5100 us: 4 x 450 + 100 us of kernels, 4 x 300 of collectives of which 4 x 200 are seen, 4 x 100 of
 * copies of which half; nothing for what is left. */
Test(rank_trace, the_whole_file) {
    PlanShape shape = {0};
    four_steps();
    const DeviceTotals *whole = &trace(&shape)->whole;
    cr_expect(whole->kernels == 13 && whole->collectives == 4, "%d", (int)whole->kernels);
    static const double US = 1e-6;
    cr_expect_float_eq(whole->span, 4100 * US, 1e-12);
    cr_expect_float_eq(whole->compute, 1900 * US, 1e-12);
    cr_expect_float_eq(whole->communication, 1200 * US, 1e-12);
    cr_expect_float_eq(whole->exposed_communication, 800 * US, 1e-12);
    cr_expect_float_eq(whole->overlap, 400 * US, 1e-12);
    cr_expect_float_eq(whole->copy, 400 * US, 1e-12);
    cr_expect_float_eq(whole->exposed_copy, 200 * US, 1e-12);
    cr_expect_float_eq(whole->idle, (4100 - 1900 - 800 - 200) * US, 1e-12);
    cr_expect_float_eq(whole->busy, (1900 + 800 + 200) * US, 1e-12);
}

/* An all_reduce counts its bytes twice, an all_to_all as often as its group has ranks. */
Test(rank_trace, bytes_as_a_plan_counts_them) {
    static const struct {
        CollectiveKind kind;
        double bytes;
    } ROWS[] = {
        {COLLECTIVE_KIND_ALL_REDUCE, 2e6}, {COLLECTIVE_KIND_ALL_TO_ALL, 4e6}, {COLLECTIVE_KIND_REDUCE_SCATTER, 1e6}};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        PlanShape shape = {0};
        collective("ncclDevKernel_AllGather_RING_LL(x)", 10, 20, ROWS[i].kind, 1e6, 4);
        const RankTrace *rank = trace(&shape);
        cr_assert_eq(rank->use_count, 1);
        cr_expect_eq(rank->uses[0].kind, ROWS[i].kind);
        cr_expect_eq(rank->uses[0].bytes, ROWS[i].bytes, "%zu: %g", i, rank->uses[0].bytes);
        recorded_end();
        recorded_begin();
    }
}

/* In a pipeline what is idle for 20 us or longer is the bubble's, but before a kernel that the host launched only then;
 * shorter gaps are the device's own. A message of a size that took 40 us elsewhere waited 60 of its 100. */
Test(rank_trace, bubbles) {
    PlanShape shape = {.known = true};
    for (int role = TERM_TENSOR; role <= TERM_PIPELINE; role++) shape.degree[role] = 1;
    shape.degree[TERM_PIPELINE] = 2;
    recorded_range("ProfilerStep#1", 0, 10);
    recorded_range("ProfilerStep#2", 510, 515);
    recorded_kernel("ampere_bf16_gemm", 0, 100, 0);
    recorded_kernel("ampere_bf16_gemm", 119, 200, 1);   /* 19 us behind */
    recorded_kernel("ampere_bf16_gemm", 220, 300, 2);   /* 20 us behind, launched long before */
    recorded_kernel("ampere_bf16_gemm", 350, 400, 310); /* 50, launched in the gap */
    collective("ncclDevKernel_SendRecv(x)", 400, 500, COLLECTIVE_KIND_SEND_RECV, 1e6, 2);
    collective("ncclDevKernel_SendRecv(x)", 500, 540, COLLECTIVE_KIND_SEND_RECV, 1e6, 2);
    recorded_kernel("ampere_bf16_gemm", 700, 800, 520); /* 160, launched before it, in the next step */
    const RankTrace *rank = trace(&shape);
    cr_assert(rank->steps == 2 && rank->steps_used == 1);
    static const struct {
        TraceTerm term;
        double exposed; /* us */
    } TERMS[] = {{TERM_MATMUL, 311}, {TERM_OTHER, 19 + 50}, {TERM_BUBBLE, 20 + 60 + 160}, {TERM_PIPELINE, 80}};
    for (size_t i = 0; i < COUNT_OF(TERMS); i++)
        cr_expect_float_eq(rank->exposed[TERMS[i].term], 1e-6 * TERMS[i].exposed, 1e-12, "%s: %g",
                           term_name(TERMS[i].term), rank->exposed[TERMS[i].term]);
    cr_expect_float_eq(rank->step_mean, 700e-6, 1e-12);
    cr_expect(rank->messages.count == 1 && rank->messages.least_ns[0] == 40000);
    cr_expect(rank->message_count[0] == 2);
    cr_expect_float_eq(rank->message_seconds[0], 80e-6, 1e-12);
    /* The picture's moments of 1.75 us: the wait inside the message is the bubble's, then its bytes move. */
    cr_assert_not_null(rank->timeline);
    cr_expect(rank->timeline->busy[235][TERM_BUBBLE] == 1 && rank->timeline->busy[235][TERM_PIPELINE] == 0);
    cr_expect(rank->timeline->busy[275][TERM_PIPELINE] == 1 && rank->timeline->busy[275][TERM_BUBBLE] == 0);
    cr_expect(rank->timeline->busy[350][TERM_BUBBLE] == 1 && rank->timeline->busy[10][TERM_MATMUL] == 1);
    cr_expect(rank->timeline->busy[62][TERM_OTHER] == 1 && rank->timeline->busy[180][TERM_OTHER] == 1);
}

enum { COMPUTE, OTHER_COMPUTE, SEND, GATHER, COPY, IDLE };

typedef struct {
    int64_t start, end;
    uint8_t kind;
} Interval;

static void add_up(const Interval *intervals, int count, const SpanWindow *window, SpanTotals *out) {
    SpanEdge edges[64];
    for (int i = 0; i < count; i++) {
        edges[2 * i] = (SpanEdge){intervals[i].start, i, intervals[i].kind, 1};
        edges[2 * i + 1] = (SpanEdge){intervals[i].end, i, intervals[i].kind, -1};
    }
    spans_add_up(edges, 2 * count, window, out);
}

static uint8_t idle_kind(const void *context, int64_t from, int64_t to, int32_t next) {
    (void)context, (void)from, (void)to, (void)next;
    return IDLE;
}

static const uint8_t LEVELS[SPAN_KINDS] = {[SEND] = 1, [GATHER] = 1, [COPY] = 2, [IDLE] = 3};

/* By hand: computation 0-10 and 20-30, one collective 5-15, another 12-24, a copy 14-18, of a window 0-40. */
Test(spans, unions_and_shares_by_hand) {
    static const Interval ROWS[] = {
        {0, 10, COMPUTE}, {20, 30, COMPUTE}, {5, 15, SEND}, {12, 24, GATHER}, {14, 18, COPY}};
    SpanWindow window = {.start = 0, .end = 40, .idle = idle_kind};
    SpanTotals totals;
    memcpy(window.level, LEVELS, sizeof LEVELS);
    add_up(ROWS, COUNT_OF(ROWS), &window, &totals);
    cr_expect_eq(totals.length[COMPUTE], 20);
    cr_expect_eq(totals.at_level[1], 19);          /* 5 to 24 */
    cr_expect_eq(totals.overlap, 9);               /* 5-10 and 20-24 */
    cr_expect_eq(totals.exposed[SEND], 2 + 1.5);   /* 10-12 alone, half of 12-15 */
    cr_expect_eq(totals.exposed[GATHER], 1.5 + 5); /* the other half, 15-20 alone */
    cr_expect_eq(totals.exposed[COPY], 0);
    cr_expect_eq(totals.exposed[IDLE], 10); /* 30-40 */
    cr_expect_eq(totals.idle, 10);
}

/* A second way, instant by instant, on intervals drawn by chance: unions, claims, and shares that add up. */
Test(spans, as_counted_instant_by_instant) {
    srand(7);
    for (int round = 0; round < 300; round++) {
        Interval rows[24];
        SpanTotals totals;
        SpanWindow window = {.start = 10, .end = 90, .idle = idle_kind};
        double length[SPAN_KINDS] = {0}, exposed[SPAN_KINDS] = {0}, sum = 0;
        memcpy(window.level, LEVELS, sizeof LEVELS);
        for (size_t i = 0; i < COUNT_OF(rows); i++) {
            int64_t start = rand() % 110;
            rows[i] = (Interval){start, start + rand() % 15, (uint8_t)(rand() % (COPY + 1))};
        }
        for (int64_t t = window.start; t < window.end; t++) {
            int active[SPAN_KINDS] = {0}, level = SPAN_LEVELS, sharing = 0;
            for (size_t i = 0; i < COUNT_OF(rows); i++)
                if (rows[i].start <= t && t < rows[i].end) active[rows[i].kind] = 1;
            for (int kind = 0; kind < SPAN_KINDS; kind++)
                if (active[kind] && LEVELS[kind] < level) level = LEVELS[kind];
            for (int kind = 0; kind < SPAN_KINDS; kind++) sharing += active[kind] && LEVELS[kind] == level;
            for (int kind = 0; kind < SPAN_KINDS; kind++) {
                length[kind] += active[kind];
                if (active[kind] && LEVELS[kind] == level) exposed[kind] += 1.0 / sharing;
            }
            if (sharing == 0) exposed[IDLE]++;
        }
        add_up(rows, COUNT_OF(rows), &window, &totals);
        for (int kind = 0; kind <= IDLE; kind++) {
            cr_expect_float_eq(totals.length[kind], length[kind], 1e-9);
            cr_expect_float_eq(totals.exposed[kind], exposed[kind], 1e-9);
            sum += totals.exposed[kind];
        }
        cr_expect_float_eq(sum, 80, 1e-9);
    }
}

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
