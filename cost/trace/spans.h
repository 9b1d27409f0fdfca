/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/trace/spans.h: how long kinds of intervals last together and each alone: lengths of unions, never sums of
 * durations. Intervals are half open. Kinds have levels: an instant belongs to the lowest level at which an interval is
 * active, shared equally by the kinds active there, so that the shares add up to the window. Pure. */
#pragma once

#include <stdint.h>

enum { SPAN_KINDS = 32, SPAN_LEVELS = 4 };

/* One end of an interval. */
typedef struct {
    int64_t at;
    int32_t event; /* of the caller */
    uint8_t kind;
    int8_t change; /* +1 begins, -1 ends */
} SpanEdge;

/* What an instant belongs to at which nothing is active: a kind, by the idle interval and the event that ends it (-1:
 * the window's end). */
typedef uint8_t (*SpanIdle)(const void *context, int64_t from, int64_t to, int32_t next);

typedef struct {
    int64_t start, end;        /* the window; edges outside are taken as its ends */
    uint8_t level[SPAN_KINDS]; /* of each kind, below SPAN_LEVELS */
    SpanIdle idle;             /* NULL: such instants belong to nobody */
    const void *context;
} SpanWindow;

typedef struct {
    double length[SPAN_KINDS];    /* of the union of a kind's intervals, ns */
    double exposed[SPAN_KINDS];   /* the share of the window that is the kind's; idle of a kind is here too */
    double at_level[SPAN_LEVELS]; /* of the union of a level's intervals */
    double overlap;               /* the time at which both level 0 and level 1 are active */
    double idle;                  /* nothing is active */
} SpanTotals;

/* Sorts the edges and adds up. */
void spans_add_up(SpanEdge *edges, int64_t count, const SpanWindow *window, SpanTotals *out);
