/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/trace/rank_trace.h"

#include "base/util.h"

#include <stdlib.h>

/* A step longer than this many medians saved a checkpoint or ran an evaluation. */
static const double LONG_STEP = 1.5;
/* Kernels with less than this share of the time may occur as often as they like. */
static const double SMALL_SHARE = 0.0005;

/* The last event's end; events are sorted by start alone. */
static int64_t last_end(const Recording *recording, int64_t first, int64_t last) {
    int64_t end = recording->events[first].end_ns;
    for (int64_t i = first; i < last; i++) end = max_whole(end, recording->events[i].end_ns);
    return end;
}

static void mark_used(TraceSteps *steps, int64_t *lengths) {
    int whole = 0;
    steps->used = 0;
    for (int i = 0; i < steps->count; i++) {
        TraceStep *step = &steps->steps[i];
        step->used = steps->count == 1 || (!step->partial && (i > 0 || steps->count < 3));
        if (step->used) lengths[whole++] = step->end_ns - step->start_ns;
    }
    qsort(lengths, (size_t)whole, sizeof *lengths, order_whole);
    double median = whole > 0 ? (double)lengths[whole / 2] : 0;
    for (int i = 0; i < steps->count; i++) {
        TraceStep *step = &steps->steps[i];
        if (step->used && (double)(step->end_ns - step->start_ns) > LONG_STEP * median) step->used = false;
        steps->used += step->used;
    }
}

/* Makes steps that begin at `starts`, one after the other, the last of which ends with the last event. */
static bool make(const int64_t *starts, int count, int64_t end, Arena *arena, TraceSteps *out, Error *error) {
    int64_t *lengths = ARENA_NEW(arena, int64_t, (size_t)count);
    out->steps = ARENA_NEW(arena, TraceStep, (size_t)count);
    if (!out->steps || !lengths) return error_memory(error);
    out->count = count;
    for (int i = 0; i < count; i++)
        out->steps[i] = (TraceStep){starts[i], i + 1 < count ? starts[i + 1] : end, i + 1 == count, false};
    mark_used(out, lengths);
    return true;
}

/* ---- by annotations ---- */

static bool is_step(const Recording *recording, const TraceRange *range, int32_t device) {
    return range->kind == RANGE_STEP && (!recording->steps_on_device || range->thread == device);
}

static int64_t *step_ranges(const Recording *recording, int32_t device, Arena *arena, int *count) {
    int64_t found = 0;
    for (int64_t i = 0; i < recording->range_count; i++) found += is_step(recording, &recording->ranges[i], device);
    int64_t *starts = ARENA_NEW(arena, int64_t, (size_t)found);
    *count = 0;
    for (int64_t i = 0; starts && i < recording->range_count; i++)
        if (is_step(recording, &recording->ranges[i], device)) starts[(*count)++] = recording->ranges[i].start_ns;
    if (starts) qsort(starts, (size_t)*count, sizeof *starts, order_whole);
    return starts;
}

/* The annotation in or after which a moment lies; -1: it lies before the first. */
static int range_of(const int64_t *starts, int count, int64_t moment) {
    int low = 0, high = count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (starts[middle] <= moment)
            low = middle + 1;
        else
            high = middle;
    }
    return low - 1;
}

/* Fills `begins` with the first event of each annotation that launched any; the count of those. */
static int first_events(const Recording *recording, int64_t first, int64_t last, const int64_t *starts, int count,
                        int64_t *begins) {
    for (int i = 0; i < count; i++) begins[i] = INT64_MAX;
    for (int64_t i = first; i < last; i++) {
        const TraceEvent *event = &recording->events[i];
        if (event->launch < 0 && !recording->steps_on_device) continue;
        int range = range_of(
            starts, count, recording->steps_on_device ? event->start_ns : recording->launches[event->launch].start_ns);
        if (range >= 0) begins[range] = min_whole(begins[range], event->start_ns);
    }
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (begins[i] < INT64_MAX && (kept == 0 || begins[i] > begins[kept - 1])) begins[kept++] = begins[i];
    return kept;
}

/* ---- by the period of the kernels ---- */

typedef struct {
    int64_t count, time_ns, first_ns;
} NameUse;

/* The kernel that occurs least often, of those that take time: it marks the step when it occurs more than once. -1:
 * there is none, or one that matters occurs once. */
static int32_t step_marker(const NameUse *uses, int32_t count, int64_t total) {
    int32_t best = -1;
    for (int32_t i = 0; i < count; i++) {
        if (uses[i].count == 0 || (double)uses[i].time_ns < SMALL_SHARE * (double)total) continue;
        if (best < 0 || uses[i].count < uses[best].count ||
            (uses[i].count == uses[best].count && uses[i].first_ns < uses[best].first_ns))
            best = i;
    }
    return best >= 0 && uses[best].count >= 2 && uses[best].count <= TRACE_STEPS_MAX ? best : -1;
}

static bool by_period(const Recording *recording, int64_t first, int64_t last, Arena *arena, TraceSteps *out,
                      Error *error) {
    NameUse *uses = ARENA_NEW(arena, NameUse, (size_t)recording->names.count);
    int64_t total = 0;
    if (!uses) return error_memory(error);
    for (int64_t i = first; i < last; i++) {
        const TraceEvent *event = &recording->events[i];
        NameUse *use = &uses[event->name];
        if (event->class == CLASS_COPY) continue;
        if (use->count++ == 0) use->first_ns = event->start_ns;
        use->time_ns += event->end_ns - event->start_ns;
        total += event->end_ns - event->start_ns;
    }
    int32_t marker = step_marker(uses, recording->names.count, total);
    if (marker < 0) return true;
    int64_t *starts = ARENA_NEW(arena, int64_t, (size_t)uses[marker].count);
    int count = 0;
    if (!starts) return error_memory(error);
    for (int64_t i = first; i < last; i++)
        if (recording->events[i].name == marker && recording->events[i].class != CLASS_COPY)
            starts[count++] = recording->events[i].start_ns;
    out->by = STEPS_PERIOD;
    return make(starts, count, last_end(recording, first, last), arena, out, error);
}

bool trace_steps(const Recording *recording, int64_t first, int64_t last, Arena *arena, TraceSteps *out, Error *error) {
    int ranges;
    int64_t *starts = step_ranges(recording, recording->events[first].device, arena, &ranges),
            whole = recording->events[first].start_ns;
    int64_t *begins = ARENA_NEW(arena, int64_t, (size_t)ranges);
    *out = (TraceSteps){.by = STEPS_ANNOTATED};
    if (!starts || !begins) return error_memory(error);
    int found = first_events(recording, first, last, starts, min_whole(ranges, TRACE_STEPS_MAX), begins);
    if (found > 0) return make(begins, found, last_end(recording, first, last), arena, out, error);
    if (ranges == 0 && !by_period(recording, first, last, arena, out, error)) return false;
    if (out->count > 0) return true;
    out->by = STEPS_WHOLE;
    return make(&whole, 1, last_end(recording, first, last), arena, out, error);
}
