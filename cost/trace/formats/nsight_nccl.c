/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/trace/formats/nsight_nccl.h"

#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A payload begins with its domain, its schema, its length, and one more number, each of 8 bytes. */
enum { HEADER = 32, HEADER_SCHEMA = 8 };
/* Types of NVTX's figures (nvToolsExtPayload.h): a signed number of 4 bytes, and two unsigned ones of 8. */
enum { TYPE_INT = 5, TYPE_UINT64 = 18, TYPE_SIZE = 22 };
static const double BYTES_MOST = 1e15;
static const int64_t RANKS_MOST = 10000000, COMMUNICATORS_MOST = 65536;

/* Next to the kinds of collectives, what a range can be. */
enum { WHAT_SEND = COLLECTIVE_KIND_COUNT, WHAT_RECEIVE, WHAT_GROUP_START, WHAT_GROUP_END };

void nccl_free(NcclCalls *calls) {
    free(calls->calls);
    free(calls->communicators);
    *calls = (NcclCalls){.count = 0};
}

/* ---- payloads ---- */

static NcclSchema *schema_of(NcclCalls *calls, int64_t domain, int64_t schema) {
    for (int i = 0; i < calls->schema_count; i++)
        if (calls->schemas[i].domain == domain && calls->schemas[i].schema == schema) return &calls->schemas[i];
    return NULL;
}

void nccl_add_field(NcclCalls *calls, const int64_t domain_and_schema[2], const char *name, int64_t type,
                    int64_t offset) {
    NcclField field = strcmp(name, "NCCL communicator ID") == 0 ? NCCL_FIELD_COMMUNICATOR
                      : strcasestr(name, "bytes")               ? NCCL_FIELD_BYTES
                      : strcmp(name, "No. of ranks") == 0       ? NCCL_FIELD_RANKS
                                                                : NCCL_FIELD_COUNT;
    int width = type == TYPE_INT ? 4 : type == TYPE_UINT64 || type == TYPE_SIZE ? 8 : 0;
    if (field == NCCL_FIELD_COUNT || width == 0 || offset < 0 || offset > UINT16_MAX) return;
    NcclSchema *own = schema_of(calls, domain_and_schema[0], domain_and_schema[1]);
    if (!own) {
        if (calls->schema_count == NCCL_SCHEMAS_MAX) return;
        own = &calls->schemas[calls->schema_count++];
        *own = (NcclSchema){domain_and_schema[0], domain_and_schema[1], {-1, -1, -1}, {0}};
    }
    if (own->offset[field] >= 0) return; /* each process of a file writes the same */
    own->offset[field] = offset;
    own->width[field] = width;
}

static uint64_t number_at(const uint8_t *bytes, int width) {
    uint64_t value = 0;
    for (int i = width; i-- > 0;) value = value << 8 | bytes[i];
    return value;
}

/* 0: the payload does not have the figure. */
static uint64_t figure(const NcclSchema *schema, NcclField field, const NcclPayload *payload) {
    if (schema->offset[field] < 0) return 0;
    size_t at = HEADER + (size_t)schema->offset[field];
    return at + (size_t)schema->width[field] <= payload->size ? number_at(payload->bytes + at, schema->width[field])
                                                              : 0;
}

/* ---- calls ---- */

bool nccl_is_call(const char *name) { return strncmp(name, "nccl", 4) == 0 && name[4] >= 'A' && name[4] <= 'Z'; }

static uint8_t what_of(const KernelNames *rules, const char *name) {
    if (strcmp(name, "ncclGroupStart") == 0) return WHAT_GROUP_START;
    if (strcmp(name, "ncclGroupEnd") == 0) return WHAT_GROUP_END;
    if (strcmp(name, "ncclSend") == 0) return WHAT_SEND;
    if (strcmp(name, "ncclRecv") == 0) return WHAT_RECEIVE;
    return (uint8_t)collective_kind(rules, name);
}

static bool add_communicator(NcclCalls *calls, uint64_t id, uint64_t ranks) {
    if (id == 0 || ranks < 1 || ranks > (uint64_t)RANKS_MOST || calls->communicator_count == COMMUNICATORS_MOST)
        return true;
    if (!list_grow((void **)&calls->communicators, calls->communicator_count, &calls->communicator_room,
                   sizeof *calls->communicators))
        return false;
    calls->communicators[calls->communicator_count++] = (NcclCommunicator){id, (int64_t)ranks};
    return true;
}

bool nccl_add_call(NcclCalls *calls, const KernelNames *rules, const char *name, NcclCall call,
                   const NcclPayload *payload) {
    const NcclSchema *schema = NULL;
    if (payload->size >= HEADER)
        schema = schema_of(calls, payload->domain, (int64_t)number_at(payload->bytes + HEADER_SCHEMA, 8));
    if (schema) {
        call.communicator = figure(schema, NCCL_FIELD_COMMUNICATOR, payload);
        call.bytes = (double)figure(schema, NCCL_FIELD_BYTES, payload);
        if (call.bytes > BYTES_MOST) call.bytes = 0;
        uint64_t ranks = figure(schema, NCCL_FIELD_RANKS, payload);
        if (!add_communicator(calls, call.communicator, ranks)) return false;
    }
    call.what = what_of(rules, name);
    if (call.what == COLLECTIVE_KIND_UNKNOWN || call.end_ns < call.start_ns) return true;
    if (!list_grow((void **)&calls->calls, calls->count, &calls->room, sizeof call)) return false;
    calls->calls[calls->count++] = call;
    return true;
}

static int by_start(const void *a, const void *b) {
    const NcclCall *x = a, *y = b;
    if (x->thread != y->thread) return x->thread < y->thread ? -1 : 1;
    if (x->start_ns != y->start_ns) return x->start_ns < y->start_ns ? -1 : 1;
    if (x->end_ns != y->end_ns) return x->end_ns > y->end_ns ? -1 : 1;
    return x->what < y->what ? -1 : x->what > y->what;
}

static int by_id(const void *a, const void *b) {
    const NcclCommunicator *x = a, *y = b;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    return x->ranks < y->ranks ? -1 : x->ranks > y->ranks;
}

/* Calls of a group are launched together where the outermost group ends; a call outside of groups is a batch alone. A
 * batch has the number of its first range. */
static void find_batches(NcclCalls *calls) {
    int64_t depth = 0, batch = 0;
    for (int64_t i = 0; i < calls->count; i++) {
        NcclCall *call = &calls->calls[i];
        if (i > 0 && call->thread != calls->calls[i - 1].thread) depth = 0;
        if (depth == 0) batch = i;
        call->batch = batch;
        if (call->what == WHAT_GROUP_START) depth++;
        if (call->what == WHAT_GROUP_END && depth > 0) depth--;
    }
}

/* ---- kernels ---- */

typedef struct {
    int64_t launch_ns, event, batch;
    int32_t thread;
} Kernel;

static int by_launch(const void *a, const void *b) {
    const Kernel *x = a, *y = b;
    if (x->thread != y->thread) return x->thread < y->thread ? -1 : 1;
    if (x->launch_ns != y->launch_ns) return x->launch_ns < y->launch_ns ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
}

static int64_t list_kernels(const Recording *recording, Kernel *out) {
    int64_t count = 0;
    for (int64_t i = 0; i < recording->event_count; i++) {
        const TraceEvent *event = &recording->events[i];
        if (event->class != CLASS_COLLECTIVE || event->launch < 0) continue;
        if (!out) {
            count++;
            continue;
        }
        const TraceLaunch *launch = &recording->launches[event->launch];
        out[count++] = (Kernel){launch->start_ns, i, 0, launch->thread};
    }
    return count;
}

/* Keeps the kernels that were launched in a range of NCCL: in the last one that has begun, if it has not ended. Kernels
 * and ranges are in the same order. Returns how many they are. */
static int64_t find_kernels(const NcclCalls *calls, Kernel *kernels, int64_t count) {
    int64_t next = 0, kept = 0;
    for (int64_t k = 0; k < count; k++) {
        const Kernel *kernel = &kernels[k];
        while (next < calls->count &&
               (calls->calls[next].thread < kernel->thread ||
                (calls->calls[next].thread == kernel->thread && calls->calls[next].start_ns <= kernel->launch_ns)))
            next++;
        const NcclCall *last = next > 0 ? &calls->calls[next - 1] : NULL;
        if (!last || last->thread != kernel->thread || last->end_ns < kernel->launch_ns) continue;
        kernels[kept] = *kernel;
        kernels[kept++].batch = last->batch;
    }
    return kept;
}

/* ---- batches: what their calls send, by the kind of kernel that sends it ---- */

typedef struct {
    double sent, received;                  /* bytes of whole arrays */
    int64_t calls, unknown, kernels, first; /* of calls: how many, how many without bytes, the next to be given out */
    uint64_t communicator;                  /* 0: of several, or not said */
    CollectiveKind kind;
} KindSum;

static int64_t ranks_of(const NcclCalls *calls, uint64_t id) {
    int64_t low = 0, high = calls->communicator_count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (calls->communicators[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < calls->communicator_count && calls->communicators[low].id == id ? calls->communicators[low].ranks : 0;
}

static CollectiveKind kind_of(const NcclCall *call) {
    return call->what >= WHAT_SEND ? COLLECTIVE_KIND_SEND_RECV : (CollectiveKind)call->what;
}

/* NCCL counts what one rank puts into a gather and takes from a scatter, and what it sends to one other in an
 * all-to-all; a recording has the whole array of the first two, and all that a rank sends of the last. 0: not known. */
static double whole_bytes(const NcclCalls *calls, const NcclCall *call) {
    CollectiveKind kind = kind_of(call);
    bool shared = kind == COLLECTIVE_KIND_ALL_GATHER || kind == COLLECTIVE_KIND_REDUCE_SCATTER ||
                  kind == COLLECTIVE_KIND_ALL_TO_ALL;
    return shared ? call->bytes * (double)ranks_of(calls, call->communicator) : call->bytes;
}

static void add_call(const NcclCalls *calls, const NcclCall *call, KindSum *sum) {
    double bytes = whole_bytes(calls, call);
    if (sum->calls == 0) sum->communicator = call->communicator;
    if (sum->communicator != call->communicator) sum->communicator = 0;
    sum->kind = kind_of(call);
    sum->calls++;
    sum->unknown += !(bytes > 0);
    *(call->what == WHAT_RECEIVE ? &sum->received : &sum->sent) += bytes;
}

/* Kernels that have no plain name send what has no kernel of its own: all-to-alls by the kernel of messages, and all by
 * the one kernel of several kinds. */
static KindSum *sum_for(KindSum sums[COLLECTIVE_KIND_COUNT], CollectiveKind kind) {
    if (sums[kind].calls > 0) return &sums[kind];
    if (kind == COLLECTIVE_KIND_SEND_RECV && sums[COLLECTIVE_KIND_ALL_TO_ALL].calls > 0)
        return &sums[COLLECTIVE_KIND_ALL_TO_ALL];
    KindSum *only = NULL;
    for (int other = 1; kind == COLLECTIVE_KIND_UNKNOWN && other < COLLECTIVE_KIND_COUNT; other++) {
        if (sums[other].calls == 0) continue;
        if (only) return NULL;
        only = &sums[other];
    }
    return only;
}

/* The next call of the kind in the batch. */
static const NcclCall *next_call(const NcclCalls *calls, KindSum *sum) {
    while (kind_of(&calls->calls[sum->first]) != sum->kind || calls->calls[sum->first].what >= WHAT_GROUP_START)
        sum->first++;
    return &calls->calls[sum->first++];
}

/* As many kernels as calls are launched in their order; one kernel does all calls; else each does its share. */
static void fill_kernel(const NcclCalls *calls, KindSum *sum, Recording *recording, TraceEvent *event) {
    char name[48];
    uint64_t communicator = sum->communicator;
    if (sum->kernels == sum->calls && sum->kind != COLLECTIVE_KIND_SEND_RECV) {
        const NcclCall *call = next_call(calls, sum);
        communicator = call->communicator;
        event->bytes = whole_bytes(calls, call);
    } else if (sum->unknown == 0) {
        event->bytes = max_real(sum->sent, sum->received) / (double)sum->kernels;
    }
    if (event->kind == COLLECTIVE_KIND_UNKNOWN || sum->kind == COLLECTIVE_KIND_ALL_TO_ALL)
        event->kind = (uint8_t)sum->kind;
    if (communicator == 0) return;
    int length = snprintf(name, sizeof name, "communicator %016llx", (unsigned long long)communicator);
    int32_t text = recording_name(recording, name, (size_t)length);
    if (text >= 0) event->group = recording_group(recording, text, -1, ranks_of(calls, communicator));
}

/* `kernels` are all of one batch. */
static void fill_batch(const NcclCalls *calls, Recording *recording, const Kernel *kernels, int64_t count) {
    KindSum sums[COLLECTIVE_KIND_COUNT] = {{.calls = 0}};
    int64_t batch = kernels[0].batch;
    for (int kind = 0; kind < COLLECTIVE_KIND_COUNT; kind++) sums[kind].first = batch;
    for (int64_t i = batch; i < calls->count && calls->calls[i].batch == batch; i++)
        if (calls->calls[i].what < WHAT_GROUP_START)
            add_call(calls, &calls->calls[i], &sums[kind_of(&calls->calls[i])]);
    for (int pass = 0; pass < 2; pass++)
        for (int64_t k = 0; k < count; k++) {
            TraceEvent *event = &recording->events[kernels[k].event];
            KindSum *sum = sum_for(sums, (CollectiveKind)event->kind);
            if (sum && pass == 0) sum->kernels++;
            if (sum && pass == 1) fill_kernel(calls, sum, recording, event);
        }
}

bool nccl_join(NcclCalls *calls, Recording *recording) {
    int64_t count = calls->count > 0 ? list_kernels(recording, NULL) : 0;
    if (count == 0) return true;
    Kernel *kernels = malloc((size_t)count * sizeof *kernels);
    if (!kernels) return false;
    list_kernels(recording, kernels);
    qsort(kernels, (size_t)count, sizeof *kernels, by_launch);
    qsort(calls->calls, (size_t)calls->count, sizeof *calls->calls, by_start);
    if (calls->communicator_count > 0)
        qsort(calls->communicators, (size_t)calls->communicator_count, sizeof *calls->communicators, by_id);
    find_batches(calls);
    count = find_kernels(calls, kernels, count);
    for (int64_t first = 0, last; first < count; first = last) {
        for (last = first + 1; last < count && kernels[last].batch == kernels[first].batch; last++) {}
        fill_batch(calls, recording, kernels + first, last - first);
    }
    free(kernels);
    return true;
}
