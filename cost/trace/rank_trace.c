/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/trace/rank_trace.h"

#include "base/util.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- a step as a picture shows it ---- */

void timeline_begin(TimelineFill *fill, int64_t start, int64_t end, TraceTimeline *to) {
    *to = (TraceTimeline){.seconds = 1e-9 * (double)(end - start)};
    *fill = (TimelineFill){.to = to, .start = start, .end = end};
    for (int term = 0; term < TERM_COUNT; term++) fill->covered[term] = start;
}

void timeline_add(TimelineFill *fill, TraceTerm term, int64_t from, int64_t until) {
    from = max_whole(from, fill->covered[term]);
    until = min_whole(until, fill->end);
    if (until <= from) return;
    fill->covered[term] = until;
    double scale = (double)TIMELINE_MOMENTS / (double)(fill->end - fill->start);
    double begin = (double)(from - fill->start) * scale, end = (double)(until - fill->start) * scale;
    for (int moment = (int)begin; moment < TIMELINE_MOMENTS && moment < end; moment++) {
        double share = min_real(end, moment + 1) - max_real(begin, moment);
        float *busy = &fill->to->busy[moment][term];
        *busy = (float)min_real(1, *busy + share);
    }
}

/* ---- spans ---- */

static int by_instant(const void *a, const void *b) {
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
    qsort(edges, (size_t)count, sizeof *edges, by_instant);
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

/* ---- a device ---- */

static const double NS = 1e-9;
/* Shorter gaps between kernels of a pipeline are the device's own, not the schedule's. */
static const int64_t KERNEL_GAP_NS = 20000;

/* One device's events, [first, last) of the recording, and what is needed to add them up. */
typedef struct {
    const Recording *recording;
    const PlanShape *shape;
    int64_t first, last, longest_ns;
    MessageSizes messages;
    SpanEdge *edges; /* room for two of each event, and two more of each message */
} Device;

/* ---- the whole file, by class ---- */

enum { WHOLE_COMPUTE, WHOLE_COLLECTIVE, WHOLE_COPY };

static void add_whole(Device *device, DeviceTotals *out) {
    SpanWindow window = {.level = {[WHOLE_COLLECTIVE] = 1, [WHOLE_COPY] = 2}};
    SpanTotals totals;
    int64_t count = 0;
    window.start = device->recording->events[device->first].start_ns;
    window.end = window.start;
    for (int64_t i = device->first; i < device->last; i++) {
        const TraceEvent *event = &device->recording->events[i];
        uint8_t kind = event->class == CLASS_COLLECTIVE ? WHOLE_COLLECTIVE
                       : event->class == CLASS_COPY     ? WHOLE_COPY
                                                        : WHOLE_COMPUTE;
        device->edges[count++] = (SpanEdge){event->start_ns, (int32_t)(i - device->first), kind, 1};
        device->edges[count++] = (SpanEdge){event->end_ns, (int32_t)(i - device->first), kind, -1};
        window.end = max_whole(window.end, event->end_ns);
        out->kernels += event->class != CLASS_COPY;
        out->collectives += event->class == CLASS_COLLECTIVE;
    }
    spans_add_up(device->edges, count, &window, &totals);
    out->span = NS * (double)(window.end - window.start);
    out->compute = NS * totals.length[WHOLE_COMPUTE];
    out->communication = NS * totals.length[WHOLE_COLLECTIVE];
    out->copy = NS * totals.length[WHOLE_COPY];
    out->exposed_communication = NS * totals.exposed[WHOLE_COLLECTIVE];
    out->exposed_copy = NS * totals.exposed[WHOLE_COPY];
    out->overlap = NS * totals.overlap;
    out->idle = NS * totals.idle;
    out->busy = out->span - out->idle;
}

/* ---- a step, by term ---- */

/* The first event that starts at a moment or later. */
static int64_t first_from(const Device *device, int64_t moment) {
    int64_t low = device->first, high = device->last;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (device->recording->events[middle].start_ns < moment)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Idle before a kernel that the host launched only when the device had run dry is the host's; what is left of a
 * pipeline stage's idle is its bubble. */
static uint8_t idle_term(const void *context, int64_t from, int64_t to, int32_t next) {
    const Device *device = context;
    if (device->shape->degree[TERM_PIPELINE] <= 1 || to - from < KERNEL_GAP_NS) return TERM_OTHER;
    int64_t after = next >= 0 ? device->first + next : first_from(device, to); /* the window may end before it */
    if (after == device->last) return TERM_BUBBLE;
    const TraceEvent *event = &device->recording->events[after];
    bool late = event->launch >= 0 && device->recording->launches[event->launch].start_ns >= from;
    return late ? TERM_OTHER : TERM_BUBBLE;
}

static SpanWindow term_window(const Device *device, const TraceStep *step) {
    SpanWindow window = {.start = step->start_ns, .end = step->end_ns, .idle = idle_term, .context = device};
    for (int term = 0; term < TERM_COUNT; term++)
        window.level[term] = term_is_compute((TraceTerm)term)      ? 0
                             : term_is_collective((TraceTerm)term) ? 1
                             : term == TERM_WAITS                  ? 2
                                                                   : 3;
    return window;
}

/* The first event that may reach into a window: none is longer than the longest. */
static int64_t first_within(const Device *device, int64_t start) {
    return first_from(device, start - device->longest_ns);
}

static void add_step(const Device *device, const TraceStep *step, RankTrace *out) {
    const SpanWindow window = term_window(device, step);
    SpanTotals totals;
    int64_t count = 0;
    for (int64_t i = first_within(device, step->start_ns); i < device->last; i++) {
        const TraceEvent *event = &device->recording->events[i];
        int32_t number = (int32_t)(i - device->first);
        int64_t moves = event->end_ns - message_transfer_ns(&device->messages, event);
        if (event->start_ns >= step->end_ns) break;
        if (moves > event->start_ns) {
            device->edges[count++] = (SpanEdge){event->start_ns, number, TERM_BUBBLE, 1};
            device->edges[count++] = (SpanEdge){moves, number, TERM_BUBBLE, -1};
        }
        device->edges[count++] = (SpanEdge){max_whole(moves, event->start_ns), number, event->term, 1};
        device->edges[count++] = (SpanEdge){event->end_ns, number, event->term, -1};
    }
    spans_add_up(device->edges, count, &window, &totals);
    for (int term = 0; term < TERM_COUNT; term++) {
        out->length[term] += NS * totals.length[term];
        out->exposed[term] += NS * totals.exposed[term];
    }
}

/* How often a plan counts the bytes of a whole array: an all_reduce gathers what it has scattered, and an all_to_all
 * counts what all of the group send, of which the trace has one rank's. */
static double passes(const Recording *recording, const TraceEvent *event) {
    if (event->kind == COLLECTIVE_KIND_ALL_REDUCE) return 2;
    if (event->kind != COLLECTIVE_KIND_ALL_TO_ALL || event->group < 0) return 1;
    int64_t size = recording->groups[event->group].size;
    return size > 0 ? (double)size : 1;
}

static void add_uses(const Device *device, const TraceStep *step, CollectiveUse uses[COLLECTIVE_USES_MAX]) {
    for (int64_t i = first_within(device, step->start_ns); i < device->last; i++) {
        const TraceEvent *event = &device->recording->events[i];
        if (event->start_ns >= step->end_ns) break;
        if (event->start_ns < step->start_ns || !term_is_collective((TraceTerm)event->term)) continue;
        CollectiveUse *use = &uses[event->term * COLLECTIVE_KIND_COUNT + event->kind];
        use->count++;
        use->bytes += event->bytes * passes(device->recording, event);
        use->seconds += NS * (double)message_transfer_ns(&device->messages, event);
    }
}

/* Where the bytes of a message move; what it lasts before that is the wait for the other side. Where messages overlap,
 * the order of what moves is not that of the starts, and a picture lacks a little. */
static void fill_event(const Device *device, const TraceEvent *event, TimelineFill *fill) {
    int64_t moves = max_whole(event->start_ns, event->end_ns - message_transfer_ns(&device->messages, event));
    timeline_add(fill, TERM_BUBBLE, event->start_ns, moves);
    timeline_add(fill, (TraceTerm)event->term, moves, event->end_ns);
}

/* The step that is nearest to the median, the first of several. */
static const TraceStep *middle_step(const TraceSteps *steps, double median) {
    const TraceStep *nearest = NULL;
    double least = 0;
    for (int i = 0; i < steps->count; i++) {
        double off = fabs(NS * (double)(steps->steps[i].end_ns - steps->steps[i].start_ns) - median);
        if (!steps->steps[i].used || (nearest && off >= least)) continue;
        nearest = &steps->steps[i];
        least = off;
    }
    return nearest;
}

static bool fill_timeline(const Device *device, const TraceSteps *steps, Arena *arena, RankTrace *out, Error *error) {
    const TraceStep *step = middle_step(steps, out->step_median);
    TimelineFill fill;
    if (!step || step->end_ns <= step->start_ns) return true;
    TraceTimeline *timeline = ARENA_NEW(arena, TraceTimeline, 1);
    if (!timeline) return error_memory(error);
    timeline_begin(&fill, step->start_ns, step->end_ns, timeline);
    int64_t busy = step->start_ns;
    for (int64_t i = first_within(device, step->start_ns); i < device->last; i++) {
        const TraceEvent *event = &device->recording->events[i];
        if (event->start_ns >= step->end_ns) break;
        if (event->start_ns > busy)
            timeline_add(&fill, (TraceTerm)idle_term(device, busy, event->start_ns, (int32_t)(i - device->first)), busy,
                         event->start_ns);
        busy = max_whole(busy, event->end_ns);
        fill_event(device, event, &fill);
    }
    if (busy < step->end_ns)
        timeline_add(&fill, (TraceTerm)idle_term(device, busy, step->end_ns, -1), busy, step->end_ns);
    out->timeline = timeline;
    return true;
}

static void add_messages(const Device *device, const TraceStep *step, RankTrace *out) {
    for (int64_t i = first_within(device, step->start_ns); i < device->last; i++) {
        const TraceEvent *event = &device->recording->events[i];
        if (event->start_ns >= step->end_ns) break;
        int size = message_size(&device->messages, event);
        if (event->start_ns < step->start_ns || size < 0) continue;
        out->message_count[size]++;
        out->message_seconds[size] += NS * (double)message_transfer_ns(&device->messages, event);
    }
}

/* Everything is added up over the steps that count, and divided by their number. */
static bool add_steps(const Device *device, const TraceSteps *steps, Arena *arena, RankTrace *out, Error *error) {
    double *lengths = ARENA_NEW(arena, double, (size_t)steps->used);
    CollectiveUse uses[COLLECTIVE_USES_MAX] = {0};
    int used = 0;
    if (!lengths) return error_memory(error);
    for (int i = 0; i < steps->count; i++) {
        if (!steps->steps[i].used) continue;
        lengths[used++] = NS * (double)(steps->steps[i].end_ns - steps->steps[i].start_ns);
        out->step_mean += lengths[used - 1];
        add_step(device, &steps->steps[i], out);
        add_uses(device, &steps->steps[i], uses);
        add_messages(device, &steps->steps[i], out);
    }
    qsort(lengths, (size_t)used, sizeof *lengths, order_real);
    out->step_mean /= used;
    out->step_median = lengths[used / 2];
    out->step_least = lengths[0];
    out->step_most = lengths[used - 1];
    for (int term = 0; term < TERM_COUNT; term++) {
        out->length[term] /= used;
        out->exposed[term] /= used;
    }
    for (int i = 0; i < MESSAGE_SIZES_MAX; i++) {
        out->message_count[i] /= used;
        out->message_seconds[i] /= used;
    }
    for (int i = 0; i < COLLECTIVE_USES_MAX; i++) {
        if (uses[i].count == 0) continue;
        uses[i].term = (TraceTerm)(i / COLLECTIVE_KIND_COUNT);
        uses[i].kind = (CollectiveKind)(i % COLLECTIVE_KIND_COUNT);
        uses[i].count /= used;
        uses[i].bytes /= used;
        uses[i].seconds /= used;
        out->uses[out->use_count++] = uses[i];
    }
    return true;
}

/* ---- what other ranks are matched with ---- */

static uint64_t mix(uint64_t hash, const char *text) {
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 1099511628211u;
    return (hash ^ 0xff) * 1099511628211u;
}

static uint64_t instance_key(const Recording *recording, const TraceEvent *event) {
    uint64_t hash = mix(14695981039346656037u, collective_kind_name((CollectiveKind)event->kind));
    if (event->group < 0) return mix(hash, recording_text(recording, event->name));
    const TraceGroup *group = &recording->groups[event->group];
    hash = mix(mix(hash, recording_text(recording, group->name)), recording_text(recording, group->description));
    return (hash ^ (uint64_t)group->first) * 1099511628211u;
}

static int by_instance(const void *a, const void *b) {
    const CollectiveInstance *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static bool list_instances(const Device *device, int64_t count, Arena *arena, RankTrace *out, Error *error) {
    out->instances = ARENA_NEW(arena, CollectiveInstance, (size_t)count);
    if (!out->instances) return error_memory(error);
    for (int64_t i = device->first; i < device->last; i++) {
        const TraceEvent *event = &device->recording->events[i];
        if (event->class != CLASS_COLLECTIVE) continue;
        out->instances[out->instance_count++] =
            (CollectiveInstance){.key = instance_key(device->recording, event),
                                 .start_ns = device->recording->base_ns + event->start_ns,
                                 .end_ns = device->recording->base_ns + event->end_ns,
                                 .term = event->term,
                                 .kind = event->kind};
    }
    qsort(out->instances, (size_t)out->instance_count, sizeof *out->instances, by_instance);
    for (int64_t i = 0; i < out->instance_count; i++)
        out->instances[i].ordinal =
            i > 0 && out->instances[i].key == out->instances[i - 1].key ? out->instances[i - 1].ordinal + 1 : 0;
    return true;
}

/* ---- what has no place ---- */

typedef struct {
    int32_t name;
    int64_t count;
    double ns;
} NameTime;

static int by_time(const void *a, const void *b) {
    const NameTime *x = a, *y = b;
    if (x->ns != y->ns) return x->ns > y->ns ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

static bool list_unplaced(const Recording *recording, Arena *arena, RankTrace *out, Error *error) {
    NameTime *times = ARENA_NEW(arena, NameTime, (size_t)recording->names.count);
    if (!times) return error_memory(error);
    for (int64_t i = 0; i < recording->event_count; i++) {
        const TraceEvent *event = &recording->events[i];
        if (event->term != TERM_UNPLACED) continue;
        times[event->name].name = event->name;
        times[event->name].count++;
        times[event->name].ns += (double)(event->end_ns - event->start_ns);
    }
    qsort(times, (size_t)recording->names.count, sizeof *times, by_time);
    for (int i = 0; i < UNPLACED_NAMES_MAX && i < recording->names.count && times[i].count > 0; i++) {
        const char *name = arena_text(arena, recording_text(recording, times[i].name));
        if (!name) return error_memory(error);
        out->unplaced[out->unplaced_count++] = (UnplacedName){name, NS * times[i].ns, times[i].count};
    }
    return true;
}

/* ---- one device after the other ---- */

static bool add_device(Device *device, Arena *arena, RankTrace *out, Error *error) {
    TraceSteps steps;
    for (int64_t i = device->first; i < device->last; i++) {
        const TraceEvent *event = &device->recording->events[i];
        device->longest_ns = max_whole(device->longest_ns, event->end_ns - event->start_ns);
        out->launches_known = out->launches_known || event->launch >= 0;
    }
    trace_messages(device->recording, device->first, device->last, &device->messages);
    out->messages = device->messages;
    int64_t edges = device->last - device->first;
    for (int64_t i = device->first; i < device->last; i++)
        edges += message_size(&device->messages, &device->recording->events[i]) >= 0;
    device->edges = malloc((size_t)edges * 2 * sizeof *device->edges);
    if (!device->edges) return error_memory(error);
    add_whole(device, &out->whole);
    bool ok = trace_steps(device->recording, device->first, device->last, arena, &steps, error) &&
              add_steps(device, &steps, arena, out, error) && fill_timeline(device, &steps, arena, out, error) &&
              list_instances(device, out->whole.collectives, arena, out, error);
    out->steps_by = steps.by;
    out->steps = steps.count;
    out->steps_used = steps.used;
    free(device->edges);
    return ok;
}

/* What holds for all devices of the recording. */
static bool begin_rank(const Recording *recording, const char *file, Arena *arena, RankTrace *out, Error *error) {
    *out = (RankTrace){.file = file,
                       .rank = recording->rank,
                       .world_size = recording->world_size,
                       .peak_bytes = recording->peak_bytes,
                       .damaged = recording->damaged,
                       .dropped = recording->dropped,
                       .trouble = arena_text(arena, recording->trouble)};
    memcpy(out->chip, recording->chip, sizeof out->chip);
    return (out->trouble || error_memory(error)) && list_unplaced(recording, arena, out, error);
}

bool rank_traces(Recording *recording, const char *file, const PlanShape *shape, Arena *arena, RankTraces *out,
                 Error *error) {
    PlaceTotals placed;
    size_t devices = 0;
    for (int64_t i = 0; i < recording->event_count; i++)
        devices += i == 0 || recording->events[i].device != recording->events[i - 1].device;
    *out = (RankTraces){ARENA_NEW(arena, RankTrace, devices + 1), 0};
    if (!out->ranks) return error_memory(error);
    trace_place(recording, shape, &placed);
    for (int64_t first = 0, last; first < recording->event_count; first = last) {
        Device device = {.recording = recording, .shape = shape, .first = first};
        RankTrace *rank = &out->ranks[out->count++];
        for (last = first; last < recording->event_count; last++)
            if (recording->events[last].device != recording->events[first].device) break;
        device.last = last;
        if (!begin_rank(recording, file, arena, rank, error)) return false;
        rank->placed = placed;
        rank->device = recording->devices[recording->events[first].device].label;
        if (!add_device(&device, arena, rank, error)) return false;
    }
    return true;
}
