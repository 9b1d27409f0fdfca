/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/util.h"
#include "cost/trace/spans.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

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
