/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/trace/recording.h"

#include "base/util.h"

/* The innermost range of host code around a moment of a thread of the kinds that are requested (bit k: kind k); NULL:
 * there is none. */
static const TraceRange *range_at(const Recording *recording, const TraceLaunch *launch, unsigned kinds) {
    int64_t low = 0, high = recording->range_count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        const TraceRange *range = &recording->ranges[middle];
        if (range->thread < launch->thread || (range->thread == launch->thread && range->start_ns <= launch->start_ns))
            low = middle + 1;
        else
            high = middle;
    }
    for (int64_t i = low - 1; i >= 0; i = recording->ranges[i].parent) {
        const TraceRange *range = &recording->ranges[i];
        if (range->thread != launch->thread) break;
        if (range->end_ns > launch->start_ns && (kinds & 1u << range->kind)) return range;
    }
    return NULL;
}

/* ---- groups ---- */

static bool has_role(const PlanShape *shape, TraceTerm role) { return shape->degree[role] > 1; }

/* Whether the plan has a group of this size for the role; 0: any size. */
static bool has_group(const PlanShape *shape, TraceTerm role, int64_t size) {
    return has_role(shape, role) && (size <= 0 || shape->degree[role] == size);
}

static TraceTerm first_role(const PlanShape *shape, const TraceTerm *roles, int count, int64_t size) {
    for (int i = 0; i < count; i++)
        if (has_group(shape, roles[i], size)) return roles[i];
    return TERM_COLLECTIVE;
}

/* The role of a plan that has a group of this size and stride, where only one does. */
static TraceTerm role_of_size(const PlanShape *shape, const TraceGroup *group) {
    TraceTerm found = TERM_COLLECTIVE;
    int matches = 0;
    for (TraceTerm role = TERM_TENSOR; role <= TERM_PIPELINE; role++) {
        bool stride = group->stride <= 0 || shape->stride[role] <= 0 || shape->stride[role] == group->stride;
        if (!has_role(shape, role) || shape->degree[role] != group->size || !stride) continue;
        found = role;
        matches++;
    }
    return matches == 1 ? found : TERM_COLLECTIVE;
}

/* By what is sent: gathers and scatters are those of parameters where the plan shards them, and so on. Roles whose
 * groups have the size come first. */
static TraceTerm role_of_kind(const PlanShape *shape, CollectiveKind kind, int64_t size) {
    static const struct {
        TraceTerm roles[4];
        int count;
    } BY_KIND[COLLECTIVE_KIND_COUNT] = {
        [COLLECTIVE_KIND_ALL_GATHER] = {{TERM_FSDP, TERM_TENSOR, TERM_SEQUENCE, TERM_DATA}, 4},
        [COLLECTIVE_KIND_REDUCE_SCATTER] = {{TERM_FSDP, TERM_TENSOR, TERM_DATA, TERM_SEQUENCE}, 4},
        [COLLECTIVE_KIND_ALL_REDUCE] = {{TERM_TENSOR, TERM_DATA, TERM_FSDP}, 3},
        [COLLECTIVE_KIND_SEND_RECV] = {{TERM_PIPELINE, TERM_SEQUENCE, TERM_EXPERT}, 3},
        [COLLECTIVE_KIND_ALL_TO_ALL] = {{TERM_EXPERT, TERM_SEQUENCE}, 2}};
    if (!shape->known) return TERM_COLLECTIVE;
    TraceTerm of_size = first_role(shape, BY_KIND[kind].roles, BY_KIND[kind].count, size);
    return of_size != TERM_COLLECTIVE ? of_size : first_role(shape, BY_KIND[kind].roles, BY_KIND[kind].count, 0);
}

/* A plan that shards parameters over the ranks that hold data has no group of its own for them: what a framework calls
 * the data group then is the plan's fsdp, and the other way about. */
static TraceTerm as_the_plan_calls_it(const PlanShape *shape, TraceTerm role) {
    if (!shape->known || has_role(shape, role)) return role;
    if (role == TERM_DATA && has_role(shape, TERM_FSDP)) return TERM_FSDP;
    if (role == TERM_FSDP && has_role(shape, TERM_DATA)) return TERM_DATA;
    return role;
}

static void place_groups(Recording *recording, const PlanShape *shape) {
    for (int32_t i = 0; i < recording->group_count; i++) {
        TraceGroup *group = &recording->groups[i];
        TraceTerm role = group_term(recording->rules, recording_text(recording, group->description));
        if (role == TERM_COUNT) role = group_term(recording->rules, recording_text(recording, group->name));
        if (role == TERM_COUNT) role = shape->known ? role_of_size(shape, group) : TERM_COLLECTIVE;
        group->term = (uint8_t)as_the_plan_calls_it(shape, role);
    }
}

/* ---- events ---- */

static TraceTerm term_of_class(KernelClass class, bool host_copy) {
    switch (class) {
    case CLASS_MATMUL:
        return TERM_MATMUL;
    case CLASS_ATTENTION:
        return TERM_ATTENTION;
    case CLASS_OPTIMIZER:
        return TERM_OPTIMIZER;
    case CLASS_ELEMENTWISE:
        return TERM_ELEMENTWISE;
    case CLASS_COPY:
        return host_copy ? TERM_WAITS : TERM_ELEMENTWISE; /* copies on the device stream HBM */
    default:
        return TERM_UNPLACED;
    }
}

static RangeKind phase_of(const Recording *recording, const TraceEvent *event, bool *backward) {
    if (event->phase != RANGE_NONE || event->launch < 0) return (RangeKind)event->phase;
    const TraceLaunch *launch = &recording->launches[event->launch];
    const TraceRange *range =
        range_at(recording, launch, 1u << RANGE_OPTIMIZER | 1u << RANGE_BACKWARD | 1u << RANGE_RECOMPUTE);
    *backward = recording->threads[launch->thread].backward;
    return range ? (RangeKind)range->kind : RANGE_NONE;
}

static void place_compute(const Recording *recording, TraceEvent *event, PlaceTotals *out) {
    bool backward = false;
    RangeKind phase = phase_of(recording, event, &backward);
    event->term = (uint8_t)term_of_class((KernelClass)event->class, event->host_copy);
    out->backward_launches += backward || phase == RANGE_BACKWARD || phase == RANGE_RECOMPUTE;
    if (!term_is_compute((TraceTerm)event->term)) return;
    if (phase == RANGE_OPTIMIZER) event->term = TERM_OPTIMIZER;
    if (phase != RANGE_RECOMPUTE) return;
    event->term = TERM_RECOMPUTE;
    out->recompute_seen = true;
}

/* NCCL sends all that is no plain collective with one kernel: the host code around its launch says what it is for. */
static void name_collective(const Recording *recording, TraceEvent *event) {
    bool plain = event->kind != COLLECTIVE_KIND_UNKNOWN && event->kind != COLLECTIVE_KIND_SEND_RECV;
    if (plain || event->launch < 0) return;
    const TraceRange *range = range_at(recording, &recording->launches[event->launch], 1u << RANGE_COLLECTIVE);
    if (range && range->number > COLLECTIVE_KIND_UNKNOWN) event->kind = (uint8_t)range->number;
}

/* Whether it was placed by a rule; false: by what is sent, or not at all. */
static bool place_collective(const Recording *recording, const PlanShape *shape, TraceEvent *event) {
    name_collective(recording, event);
    const TraceGroup *group = event->group >= 0 ? &recording->groups[event->group] : NULL;
    TraceTerm role = group ? (TraceTerm)group->term : TERM_COLLECTIVE;
    bool by_rule = role != TERM_COLLECTIVE || !shape->known;
    if (role == TERM_COLLECTIVE) role = role_of_kind(shape, (CollectiveKind)event->kind, group ? group->size : 0);
    event->term = (uint8_t)role;
    return by_rule;
}

void trace_place(Recording *recording, const PlanShape *shape, PlaceTotals *out) {
    *out = (PlaceTotals){0};
    place_groups(recording, shape);
    for (int64_t i = 0; i < recording->event_count; i++) {
        TraceEvent *event = &recording->events[i];
        double length = (double)(event->end_ns - event->start_ns);
        bool by_rule = true;
        if (event->class == CLASS_COLLECTIVE)
            by_rule = place_collective(recording, shape, event);
        else
            place_compute(recording, event, out);
        bool placed = event->term != TERM_UNPLACED && (event->term != TERM_COLLECTIVE || !shape->known);
        *(!placed ? &out->unplaced_ns : by_rule ? &out->placed_ns : &out->fallback_ns) += length;
    }
}

/* ---- messages of a pipeline ---- */

/* Messages up to this many times as long as the shortest of their size are slower, and do not wait. */
static const double NO_WAIT = 1.25;

static int size_of(const MessageSizes *sizes, double bytes) {
    int i = 0;
    while (i < sizes->count && sizes->bytes[i] != bytes) i++;
    return i;
}

static bool is_message(const TraceEvent *event) {
    return event->term == TERM_PIPELINE && event->kind == COLLECTIVE_KIND_SEND_RECV && event->bytes > 0;
}

int message_size(const MessageSizes *sizes, const TraceEvent *event) {
    int at = is_message(event) ? size_of(sizes, event->bytes) : sizes->count;
    return at < sizes->count ? at : -1;
}

bool message_waits(double length, double least) { return length > NO_WAIT * least; }

void trace_messages(const Recording *recording, int64_t first, int64_t last, MessageSizes *out) {
    out->count = 0;
    for (int64_t i = first; i < last; i++) {
        const TraceEvent *event = &recording->events[i];
        if (!is_message(event)) continue;
        int at = size_of(out, event->bytes);
        if (at == MESSAGE_SIZES_MAX) continue;
        if (at == out->count) {
            out->bytes[out->count] = event->bytes;
            out->least_ns[out->count++] = INT64_MAX;
        }
        out->least_ns[at] = min_whole(out->least_ns[at], event->end_ns - event->start_ns);
    }
}

int64_t message_transfer_ns(const MessageSizes *sizes, const TraceEvent *event) {
    int64_t length = event->end_ns - event->start_ns;
    int at = message_size(sizes, event);
    return at < 0 || !message_waits((double)length, (double)sizes->least_ns[at]) ? length : sizes->least_ns[at];
}
