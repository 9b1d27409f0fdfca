/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/stage/memory_detail.h: the parts of the rows of cost/stage/memory.h: the parts of each row at one moment add up
 * to it. Next to the rows it lists the bytes that the reserve has to hold and those that lie on the host. */
#pragma once

#include "cost/stage/memory.h"

typedef enum {
    MEMORY_PARAMETERS,
    MEMORY_GRADIENTS,
    MEMORY_OPTIMIZER,
    MEMORY_ACTIVATIONS,
    MEMORY_GATHERED,
    MEMORY_LOGITS,
    MEMORY_TRANSIENT,
    MEMORY_RESERVE, /* HBM that plans may not fill: communicators' buffers, then fragmentation and the runtime */
    MEMORY_HOST,    /* not HBM: the bytes that one chip offloads */
    MEMORY_ROW_COUNT
} MemoryRow;
const char *memory_row_name(MemoryRow row);                     /* "parameters" */
double memory_row_bytes(const MemoryRows *rows, MemoryRow row); /* up to TRANSIENT */

typedef struct {
    MemoryRow row;
    const char *name; /* "weights_prefetched" */
    double bytes;     /* > 0 */
} MemoryPart;
enum { MEMORY_PARTS_MAX = 44 };
#define MEMORY_PART_QUANTISED "quantised"
#define MEMORY_PART_ADAPTERS "adapters"

/* Writes the parts that are not zero, in the order of rows, and returns their number. *in_flight is the number of
 * microbatches whose activations are kept at that moment, in layers of the fullest stage. */
int memory_parts(const CostContext *setting, const Shard *shard, const Plan *plan, Moment moment,
                 MemoryPart parts[MEMORY_PARTS_MAX], double *in_flight);
