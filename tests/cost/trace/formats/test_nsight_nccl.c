/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/util.h"
#include "cost/trace/formats/nsight_nccl.h"

#include <criterion/criterion.h>
#include <string.h>

/* Figures as a real export lists them (shared/traces/nsys), and one of NCCL before 2.25, which had no communicator. */
enum { INIT = 1, GATHER, SEND, OLD, SIZE_AT = 8, PAYLOAD = 56 };
static const struct {
    int64_t schema, type, offset;
    const char *name;
} FIELDS[] = {{INIT, 18, 0, "NCCL communicator ID"},   {INIT, 5, 8, "No. of ranks"},
              {GATHER, 18, 0, "NCCL communicator ID"}, {GATHER, 22, 8, "Message size [bytes]"},
              {GATHER, 9, 16, "Reduction operation"},  {SEND, 18, 0, "NCCL communicator ID"},
              {SEND, 22, 8, "Message size [bytes]"},   {SEND, 5, 16, "Peer rank"},
              {OLD, 22, 0, "Message size [bytes]"}};

typedef struct {
    const char *name; /* NULL: the last */
    int64_t start, end;
    int schema; /* 0: no payload */
    uint64_t communicator, bytes;
    size_t cut; /* bytes that the payload lacks */
} Range;

static void put(uint8_t *at, uint64_t value) {
    for (int i = 0; i < 8; i++) at[i] = (uint8_t)(value >> (8 * i));
}

static void add_range(NcclCalls *calls, const KernelNames *names, const Range *range) {
    uint8_t payload[PAYLOAD] = {0};
    put(payload, 1);
    put(payload + 8, (uint64_t)range->schema);
    put(payload + 32, range->schema == OLD ? range->bytes : range->communicator);
    if (range->schema != OLD) put(payload + 32 + SIZE_AT, range->bytes);
    NcclCall call = {.start_ns = range->start, .end_ns = range->end, .thread = 0};
    NcclPayload all = {1, payload, range->schema ? sizeof payload - range->cut : 0};
    cr_assert(nccl_add_call(calls, names, range->name, call, &all));
}

static void add_kernel(Recording *recording, const char *name, int64_t launch) {
    int64_t key = recording->event_count + 1;
    TraceEvent event = {.start_ns = 10000 + 100 * key, .end_ns = 10050 + 100 * key, .launch = key, .group = -1};
    event.name = recording_name(recording, name, strlen(name));
    event.device = recording_device(recording, 0, 0);
    cr_assert(recording_add(recording, &event));
    cr_assert(recording_add_launch(recording, (TraceLaunch){key, launch, recording_thread(recording, 7)}));
}

/* Bytes are what NCCL passes, times the ranks of the communicator for what each rank has a part of. */
static const struct {
    const char *name, *kernels[4];
    Range ranges[8];
    int64_t launches[4];
    double bytes[4];
    int64_t group_size; /* of the first kernel; -1: it has no group */
} ROWS[] = {
    {"a gather of 8 ranks",
     {"ncclDevKernel_AllGather_RING_LL"},
     {{"ncclCommInitRank", 1, 2, INIT, 0xAB, 8, 0}, {"ncclAllGather", 10, 20, GATHER, 0xAB, 1000, 0}},
     {15},
     {8000},
     8},
    {"a gather of nobody knows how many",
     {"ncclDevKernel_AllGather_RING_LL"},
     {{"ncclAllGather", 10, 20, GATHER, 0xAB, 1000, 0}},
     {15},
     {0},
     0},
    {"a reduction needs no ranks",
     {"ncclDevKernel_AllReduce_Sum_bf16"},
     {{"ncclAllReduce", 10, 20, GATHER, 0xAB, 1000, 0}},
     {15},
     {1000},
     0},
    {"before NCCL named communicators",
     {"ncclDevKernel_AllReduce_Sum_bf16"},
     {{"ncclAllReduce", 10, 20, OLD, 0, 1000, 0}},
     {15},
     {1000},
     -1},
    {"launched behind the range",
     {"ncclDevKernel_AllReduce_Sum_bf16"},
     {{"ncclAllReduce", 10, 20, GATHER, 0xAB, 1000, 0}},
     {25},
     {0},
     -1},
    {"a payload that is cut",
     {"ncclDevKernel_AllReduce_Sum_bf16"},
     {{"ncclAllReduce", 10, 20, GATHER, 0xAB, 1000, 9}},
     {15},
     {0},
     0},
    {"an unknown schema",
     {"ncclDevKernel_AllReduce_Sum_bf16"},
     {{"ncclAllReduce", 10, 20, 77, 0xAB, 1000, 0}},
     {15},
     {0},
     -1},
    {"messages of a group are one kernel",
     {"ncclDevKernel_SendRecv"},
     {{"ncclGroupStart", 1, 2, 0, 0, 0, 0},
      {"ncclSend", 3, 4, SEND, 0xAB, 100, 0},
      {"ncclRecv", 5, 6, SEND, 0xAB, 300, 0},
      {"ncclSend", 7, 8, SEND, 0xAB, 100, 0},
      {"ncclGroupEnd", 9, 20, 0, 0, 0, 0}},
     {15},
     {300},
     0},
    {"gathers of a group in their order",
     {"ncclDevKernel_AllGather_RING_LL", "ncclDevKernel_AllGather_RING_LL"},
     {{"ncclCommInitRank", 1, 2, INIT, 0xAB, 2, 0},
      {"ncclGroupStart", 3, 4, 0, 0, 0, 0},
      {"ncclAllGather", 5, 6, GATHER, 0xAB, 100, 0},
      {"ncclAllGather", 7, 8, GATHER, 0xAB, 700, 0},
      {"ncclGroupEnd", 9, 20, 0, 0, 0, 0}},
     {11, 12},
     {200, 1400},
     2},
    {"gathers of nested groups in one kernel",
     {"ncclDevKernel_AllGather_RING_LL"},
     {{"ncclCommInitRank", 1, 2, INIT, 0xAB, 2, 0},
      {"ncclGroupStart", 3, 3, 0, 0, 0, 0},
      {"ncclGroupStart", 4, 4, 0, 0, 0, 0},
      {"ncclAllGather", 5, 6, GATHER, 0xAB, 100, 0},
      {"ncclGroupEnd", 7, 7, 0, 0, 0, 0},
      {"ncclAllGather", 8, 8, GATHER, 0xAB, 700, 0},
      {"ncclGroupEnd", 9, 20, 0, 0, 0, 0}},
     {15},
     {1600},
     2},
    {"kinds of a group apart",
     {"ncclDevKernel_ReduceScatter_Sum_bf16", "ncclDevKernel_AllReduce_Sum_bf16"},
     {{"ncclCommInitRank", 1, 2, INIT, 0xAB, 4, 0},
      {"ncclGroupStart", 3, 4, 0, 0, 0, 0},
      {"ncclAllReduce", 5, 6, GATHER, 0xAB, 100, 0},
      {"ncclReduceScatter", 7, 8, GATHER, 0xAB, 700, 0},
      {"ncclGroupEnd", 9, 20, 0, 0, 0, 0}},
     {11, 12},
     {2800, 100},
     4},
    {"a kernel of no plain name does all of one kind",
     {"ncclKernel_Generic"},
     {{"ncclAllReduce", 10, 20, GATHER, 0xAB, 100, 0}},
     {15},
     {100},
     0},
    {"of two kinds nobody knows which",
     {"ncclKernel_Generic"},
     {{"ncclGroupStart", 3, 4, 0, 0, 0, 0},
      {"ncclAllReduce", 5, 6, GATHER, 0xAB, 100, 0},
      {"ncclReduceScatter", 7, 8, GATHER, 0xAB, 700, 0},
      {"ncclGroupEnd", 9, 20, 0, 0, 0, 0}},
     {15},
     {0},
     -1},
    {"an all-to-all is sent as messages",
     {"ncclDevKernel_SendRecv"},
     {{"ncclCommInitRank", 1, 2, INIT, 0xAB, 4, 0}, {"ncclAlltoAll", 10, 20, GATHER, 0xAB, 100, 0}},
     {15},
     {400},
     4},
};

Test(nsight_nccl, bytes_and_groups) {
    Arena arena = {0};
    KernelNames names;
    Error error = {0};
    cr_assert(kernel_names_load(&arena, &names, &error), "%s", error.text);
    for (size_t r = 0; r < COUNT_OF(ROWS); r++) {
        NcclCalls calls = {.count = 0};
        Recording recording;
        recording_begin(&recording, &names);
        for (size_t f = 0; f < COUNT_OF(FIELDS); f++)
            nccl_add_field(&calls, (const int64_t[]){1, FIELDS[f].schema}, FIELDS[f].name, FIELDS[f].type,
                           FIELDS[f].offset);
        for (size_t i = COUNT_OF(ROWS[r].ranges); i-- > 0;) /* in any order */
            if (ROWS[r].ranges[i].name) add_range(&calls, &names, &ROWS[r].ranges[i]);
        for (int k = 0; k < 4 && ROWS[r].kernels[k]; k++)
            add_kernel(&recording, ROWS[r].kernels[k], ROWS[r].launches[k]);
        cr_assert(recording_finish(&recording, "test", &error));
        cr_assert(nccl_join(&calls, &recording));
        for (int k = 0; k < 4 && ROWS[r].kernels[k]; k++)
            cr_expect_float_eq(recording.events[k].bytes, ROWS[r].bytes[k], 1e-9, "%s, kernel %d: %g bytes",
                               ROWS[r].name, k, recording.events[k].bytes);
        int32_t group = recording.events[0].group;
        cr_expect_eq(group < 0 ? -1 : recording.groups[group].size, ROWS[r].group_size, "%s", ROWS[r].name);
        nccl_free(&calls);
        recording_free(&recording);
    }
    arena_free(&arena);
}
