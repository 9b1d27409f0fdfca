/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/rl/in_flight.h"

#include "base/util.h"

#include <math.h>

/* A heap of answers in flight: the step at which each ends, the soonest first, and that at which it began. */
typedef struct {
    double *end, *begin;
    int64_t count;
} Heap;

static void swap(Heap *heap, int64_t a, int64_t b) {
    double end = heap->end[a], begin = heap->begin[a];
    heap->end[a] = heap->end[b], heap->begin[a] = heap->begin[b];
    heap->end[b] = end, heap->begin[b] = begin;
}

static void sink(Heap *heap, int64_t at) {
    for (int64_t next; (next = 2 * at + 1) < heap->count; at = next) {
        if (next + 1 < heap->count && heap->end[next + 1] < heap->end[next]) next++;
        if (heap->end[at] <= heap->end[next]) return;
        swap(heap, at, next);
    }
}

static void push(Heap *heap, double begin, double end) {
    int64_t at = heap->count++;
    heap->end[at] = end, heap->begin[at] = begin;
    for (; at > 0 && heap->end[(at - 1) / 2] > heap->end[at]; at = (at - 1) / 2) swap(heap, at, (at - 1) / 2);
}

/* Adds steps with so many in flight; a segment ends where that has changed, or where it has become long. */
static void add(AnswersInFlight *out, double steps, double answers, double generated, double left, double longest) {
    static const double CHANGE = 0.07;
    enum { PARTS = 48 };
    InFlightSegment *last = out->count > 0 ? &out->of[out->count - 1] : NULL;
    bool same = last && fabs(answers - last->answers) <= CHANGE * last->answers && last->steps < longest / PARTS;
    if (!same && out->count < IN_FLIGHT_SEGMENTS_MAX) {
        last = &out->of[out->count++];
        *last = (InFlightSegment){.left = left};
    }
    double all = last->steps + steps, tokens = last->steps * last->answers + steps * answers;
    last->generated = (last->generated * last->steps * last->answers + generated * steps * answers) / tokens;
    last->steps = all;
    last->answers = tokens / all;
    out->steps += steps;
    out->tokens += steps * answers;
}

void answers_in_flight(const double *lengths, int64_t count, int64_t slots, double *room, AnswersInFlight *out) {
    Heap heap = {room, room + count, 0};
    double now = 0, begun = 0, longest = 0; /* begun: the sum of the steps at which those in flight began */
    int64_t next = 0;
    out->count = 0;
    out->steps = out->tokens = 0;
    for (int64_t i = 0; i < count; i++) longest = max_real(longest, lengths[i]);
    while (next < count && next < slots) push(&heap, 0, lengths[next]), next++;
    while (heap.count > 0) {
        double end = heap.end[0], answers = (double)heap.count;
        if (end > now)
            add(out, end - now, answers, (now + end) / 2 - begun / answers, (double)(heap.count + count - next),
                longest);
        now = end;
        begun -= heap.begin[0];
        if (next < count) {
            heap.begin[0] = now, heap.end[0] = now + lengths[next++];
            begun += now;
        } else {
            heap.end[0] = heap.end[heap.count - 1], heap.begin[0] = heap.begin[heap.count - 1];
            heap.count--;
        }
        sink(&heap, 0);
    }
}
