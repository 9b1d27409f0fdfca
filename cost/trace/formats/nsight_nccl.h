/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/trace/formats/nsight_nccl.h: what NCCL says of its calls in an export of Nsight Systems: how many bytes, in
 * which communicator, of how many ranks. NCCL marks each call with a range of NVTX whose payload is binary; tables of
 * the export say where in it each figure lies. The kernel is the one that is launched within the range, or at the end
 * of the group of calls that the range is in.
 *
 * Names and units of the figures: NVIDIA/nccl at 5067397c, src/include/nvtx_payload_schemas.h and src/collectives.cc.
 * The header of a payload is not in the documentation of the export: GindaChen/nsys-ai, nccl_payload_breakdown.py,
 * which checked it against a profile of nsys 2026. */
#pragma once

#include "cost/trace/recording.h"

/* A figure in a payload: NVTX_PAYLOAD_SCHEMA_ENTRIES. */
typedef enum { NCCL_FIELD_COMMUNICATOR, NCCL_FIELD_BYTES, NCCL_FIELD_RANKS, NCCL_FIELD_COUNT } NcclField;
typedef struct {
    int64_t domain, schema, offset[NCCL_FIELD_COUNT]; /* -1: the schema lacks the figure */
    int width[NCCL_FIELD_COUNT];                      /* bytes */
} NcclSchema;

/* A range of NVTX that NCCL wrote: a call, or one end of a group of calls. */
typedef struct {
    int64_t start_ns, end_ns, batch;
    uint64_t communicator; /* 0: not said */
    double bytes;          /* of one rank's message, as NCCL counts it; 0: not said */
    int32_t thread;        /* of the recording */
    uint8_t what;
} NcclCall;

typedef struct {
    uint64_t id;
    int64_t ranks;
} NcclCommunicator;

enum { NCCL_SCHEMAS_MAX = 256 };
typedef struct {
    NcclSchema schemas[NCCL_SCHEMAS_MAX];
    int schema_count;
    NcclCall *calls;
    int64_t count, room;
    NcclCommunicator *communicators;
    int64_t communicator_count, communicator_room;
} NcclCalls;

/* A row of NVTX_PAYLOAD_SCHEMA_ENTRIES: the figure's name, the number of its type, and its first byte. Other figures
 * than those above are passed, and so are schemas beyond NCCL_SCHEMAS_MAX. */
void nccl_add_field(NcclCalls *calls, const int64_t domain_and_schema[2], const char *name, int64_t type,
                    int64_t offset);

/* Whether a range of this name is NCCL's own; PyTorch's are "nccl:all_reduce". */
bool nccl_is_call(const char *name);

typedef struct {
    int64_t domain; /* of NVTX */
    const uint8_t *bytes;
    size_t size; /* 0: there is none */
} NcclPayload;

/* Adds a range with its payload; what is neither a call nor says the size of a communicator is passed. `call` has its
 * thread, start and end. False: memory is out. */
bool nccl_add_call(NcclCalls *calls, const KernelNames *rules, const char *name, NcclCall call,
                   const NcclPayload *payload);

/* After recording_finish(): gives kernels of collectives the bytes, the communicator and, where their name does not
 * tell it, the kind of the calls that launched them. What is not known stays as it is. False: memory is out. */
bool nccl_join(NcclCalls *calls, Recording *recording);

void nccl_free(NcclCalls *calls);
