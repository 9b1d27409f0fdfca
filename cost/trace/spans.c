/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/trace/spans.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int by_time(const void *a, const void *b) {
    const SpanEdge *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    if (x->change != y->change) return x->change < y->change ? -1 : 1; /* ends first */
    return x->event < y->event ? -1 : x->event > y->event;
}

typedef struct {
    int32_t active[SPAN_KINDS];
    uint32_t kinds;                 /* bit k: active[k] > 0 */
    uint32_t of_level[SPAN_LEVELS]; /* the kinds of each level */
} Sweep;

/* Adds the instants from one edge to the next, between which nothing changes. */
static void add_busy(const Sweep *sweep, double length, SpanTotals *out) {
    bool claimed = false;
    for (uint32_t kinds = sweep->kinds; kinds; kinds &= kinds - 1) out->length[__builtin_ctz(kinds)] += length;
    for (int level = 0; level < SPAN_LEVELS; level++) {
        uint32_t active = sweep->kinds & sweep->of_level[level];
        if (!active) continue;
        out->at_level[level] += length;
        double share = length / __builtin_popcount(active);
        for (uint32_t kinds = active; !claimed && kinds; kinds &= kinds - 1)
            out->exposed[__builtin_ctz(kinds)] += share;
        claimed = true;
    }
    if ((sweep->kinds & sweep->of_level[0]) && (sweep->kinds & sweep->of_level[1])) out->overlap += length;
}

static void add_idle(const SpanWindow *window, int64_t from, int64_t to, int32_t next, SpanTotals *out) {
    out->idle += (double)(to - from);
    if (window->idle) out->exposed[window->idle(window->context, from, to, next)] += (double)(to - from);
}

void spans_add_up(SpanEdge *edges, int64_t count, const SpanWindow *window, SpanTotals *out) {
    Sweep sweep = {.kinds = 0};
    int64_t at = window->start;
    memset(out, 0, sizeof *out);
    for (int kind = 0; kind < SPAN_KINDS; kind++) sweep.of_level[window->level[kind]] |= (uint32_t)1 << kind;
    qsort(edges, (size_t)count, sizeof *edges, by_time);
    for (int64_t i = 0; i <= count; i++) {
        int64_t to = i < count ? edges[i].at : window->end;
        if (to > window->end) to = window->end;
        if (to > at) {
            if (sweep.kinds)
                add_busy(&sweep, (double)(to - at), out);
            else
                add_idle(window, at, to, i < count ? edges[i].event : -1, out);
            at = to;
        }
        if (i == count) break;
        int kind = edges[i].kind;
        sweep.active[kind] += edges[i].change;
        sweep.kinds = sweep.active[kind] > 0 ? sweep.kinds | (uint32_t)1 << kind : sweep.kinds & ~((uint32_t)1 << kind);
    }
}
