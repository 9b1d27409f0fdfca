/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/stage/memory.h: what a chip holds at each moment that can peak, row by row. */
#ifndef SHARDOPT_COST_STAGE_MEMORY_H
#define SHARDOPT_COST_STAGE_MEMORY_H

#include "cost/stage/cost_context.h"
#include "cost/time/step.h"

typedef struct {
    double parameters_bytes;  /* copy for compute, the chip's shard; and casts of it that are kept */
    double gradients_bytes;   /* of microbatches accumulated; of one, once its backward is over; what reduces them */
    double optimizer_bytes;   /* master and moments, but for what is on the host */
    double activations_bytes; /* saved, all microbatches in flight; what has been sent on, where it stays */
    /* weights gathered by fsdp (two layers, or the stage when kept), and the gradient of a layer before its
     * reduce_scatter */
    double gathered_bytes;
    double logits_bytes;
    double transient_bytes; /* one layer's working set in backward; of state on the host, a layer's at the update */
} MemoryRows;

double memory_total(const MemoryRows *rows);

/* How many times one saved layer-activation of one microbatch counts in a moment's bytes, per layer of the fullest
 * stage: in-flight microbatches (MOMENT_FIRST_BACKWARD: of the first stage; LAST_*: of the last, scaled by its layers;
 * UPDATE: 0). */
void microbatches_in_flight(const Shard *shard, const Knobs *knobs, double weights[MOMENT_COUNT]);

/* What a device's own tool (nvidia-smi) shows when so much is allocated: what the allocator holds beside it, the
 * context, communicators. Planning keeps the reserve for them. */
double memory_on_device(const CostContext *setting, const Shard *shard, double allocated);

/* What the buffers of its communicators take of a chip. No row counts them: the reserve is there for them, for
 * fragmentation and for the runtime; memory_parts() says whether it suffices. */
double communicators_bytes(const CostContext *setting, const Shard *shard);

/* The rows of one moment under a sharding; `saved` is the layer-activation bytes kept over all layers and
 * microbatches. */
void memory_rows(const CostContext *setting, const Shard *shard, const Knobs *knobs, const Sharding *sharding,
                 Moment moment, double saved_bytes, MemoryRows *out);

#endif
