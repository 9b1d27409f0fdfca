/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/stage/memory.h: the bytes that a chip holds at each moment that can peak, row by row. */
#pragma once

#include "cost/stage/cost_context.h"
#include "cost/time/step.h"

/* A stage of a plan as one chip has it. */
typedef struct {
    const CostContext *setting;
    const Shard *shard;
    const Knobs *knobs;
    const Sharding *sharding;
} ShardedStage;

typedef struct {
    double parameters_bytes;  /* copy for compute, the chip's shard; and the casts of it that are kept */
    double gradients_bytes;   /* of accumulated microbatches; of one, once its backward is over; and the buffers
                               * that reduce them */
    double optimizer_bytes;   /* master and moments, without the part that is on the host */
    double activations_bytes; /* saved activations of all microbatches in flight; outputs that have been sent on,
                               * where they stay */
    /* weights gathered by fsdp (two layers, or the stage when kept), and the gradient of a layer before its
     * reduce_scatter */
    double gathered_bytes;
    double logits_bytes;
    double transient_bytes; /* one layer's working set in backward; at the update, one layer of the state on the host */
} MemoryRows;

double memory_total(const MemoryRows *rows);

/* How many times one saved layer-activation of one microbatch counts in a moment's bytes, per layer of the fullest
 * stage: the microbatches in flight (MOMENT_FIRST_BACKWARD: those of the first stage; LAST_*: those of the last, scaled
 * by its layers; UPDATE: 0). */
void microbatches_in_flight(const CostContext *setting, const Shard *shard, const Knobs *knobs,
                            double weights[MOMENT_COUNT]);

/* What of them, at moments of backward, is not counted since the layer at work counts it (Profile.whole_program): one
 * layer, of all layers of the stage. It is kept all the same: what is offloaded lies on the host whole. */
double layers_read_in_place(const CostContext *setting, const Shard *shard);

/* The bytes that a device's own tool (nvidia-smi) shows when this many are allocated: it adds the allocator's spare
 * bytes, the context and communicators. Planning keeps the reserve for them. */
double memory_on_device(const CostContext *setting, const Shard *shard, double allocated);

/* The bytes of a chip's communicator buffers. No row counts them: the reserve holds them, fragmentation and the
 * runtime; memory_parts() says whether it suffices. */
double communicators_bytes(const CostContext *setting, const Shard *shard);

/* The rows of one moment under a sharding; `saved` is the layer-activation bytes kept over all layers and
 * microbatches. */
void memory_rows(const ShardedStage *stage, Moment moment, double saved_bytes, MemoryRows *out);
