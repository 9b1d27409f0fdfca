/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/memory.h: what a chip holds at each moment that can peak, row by row. */
#ifndef SHARDOPT_COST_MEMORY_H
#define SHARDOPT_COST_MEMORY_H

#include "cost/ops.h"

typedef struct {
    double parameters_bytes;  /* bf16 copy for compute, the chip's shard */
    double gradients_bytes;   /* fp32 when accumulated over microbatches, else bf16 */
    double optimizer_bytes;   /* fp32 master, m, v */
    double activations_bytes; /* saved, all microbatches in flight */
    double gathered_bytes;    /* weights gathered by fsdp (two layers, or the stage when kept), and the gradient of a layer before its reduce_scatter */
    double logits_bytes;
    double transient_bytes;   /* one layer's working set in backward */
} MemoryRows;

double memory_total(const MemoryRows *rows);

#endif
