/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/stage/stage_totals.h: the op list of a stage added up by part: what resources, memory and rules are made of.
 * Everything made of sums is non-decreasing in each of their figures, so component-wise least sums give lower bounds.
 * Sums depend on tensor, expert and sequence degrees, on whether fsdp is more than one way, on microbatch and sharding
 * alone: searches keep them. */
#ifndef SHARDOPT_COST_STAGE_STAGE_TOTALS_H
#define SHARDOPT_COST_STAGE_STAGE_TOTALS_H

#include "cost/stage/stage.h"

typedef struct {
    double compute[PHASE_COUNT]; /* seconds outside attention */
    double attention[PHASE_COUNT];
    Traffic traffic[GROUP_DATA][PHASE_COUNT];
    double dense_weights, expert_weights; /* of one chip, before fsdp */
    double gathered_weights;              /* of one layer while it is in use, where something gathers them; else 0 */
    double largest_weights;               /* of those, the op's that has most: gate and up, or all experts' */
    double saved[ACTIVATION_COUNT];       /* bytes of one microbatch */
} PartSums;

typedef struct {
    PartSums layer; /* the mean layer of the model */
    PartSums embedding, logits;
} StageTotals;

void stage_sums(const CostContext *setting, const Shard *shard, const Methods *methods, const Sharding *sharding,
                StageTotals *out);

/* The parts alone. A layer depends on the sharding's residual, mlp and kv, the embedding on residual and embedding, the
 * logits on residual and logits. */
void layer_sums(const CostContext *setting, const Shard *shard, const Methods *methods, const Sharding *sharding,
                PartSums *out);
void embedding_sums(const CostContext *setting, const Shard *shard, const Sharding *sharding, PartSums *out);
void logits_sums(const CostContext *setting, const Shard *shard, const Sharding *sharding, PartSums *out);

/* Parameters that one chip of the first or the last stage holds (of two stages, where the schedule wants two copies):
 * by part, and in all. */
typedef struct {
    double of[HELD_COUNT], total;
} LocalParameters;
LocalParameters local_parameters(const CostContext *setting, const Shard *shard, const Knobs *knobs,
                                 const StageTotals *sums, bool last);

/* Of those, the parameters whose optimizer state the chip keeps. */
LocalParameters owned_parameters(const Shard *shard, const Knobs *knobs, const LocalParameters *local);

/* Bytes of the optimizer's state for the parameters that a chip owns; and of them those that lie on the host under
 * knobs->offload_optimizer: all, as far as the chip's share of the host has room (the rest stays in HBM). State comes
 * before activations. */
double optimizer_bytes_of(const TrainingState *state, const LocalParameters *owned);
double host_optimizer_bytes(const CostContext *setting, const Knobs *knobs, const LocalParameters *owned);

/* Weights that fsdp (or the layout, over tensor) has brought together: of the layer at work, and of the next, which
 * arrives, or, when they are kept, of all others of the stage; the gradient of one before its reduce_scatter; beside
 * the logits their table, and its gradient too. By matrices: of the largest matmul (gate and up are two: one at work,
 * one that arrives) for a layer. */
typedef struct {
    double in_use, others, gradient, table; /* numbers */
} GatheredWeights;
GatheredWeights gathered_weights(const CostContext *setting, const Shard *shard, const Knobs *knobs,
                                 const StageTotals *sums, Moment moment, double layers);

/* Parts of memory's rows that software adds to what the plan needs (cost/profile/profile.h): the copy for compute with
 * its casts; the master that ZeRO leaves on a replica that does not own it; what gradients are reduced and updated
 * through; an input gathered for backward. */
double parameters_bytes_of(const CostContext *setting, const Shard *shard, const LocalParameters *local);
double master_rest_bytes(const CostContext *setting, const Knobs *knobs, const LocalParameters *local,
                         const LocalParameters *owned);
double reduction_bytes(const CostContext *setting, const Shard *shard, const LocalParameters *owned);
double regathered_bytes(const CostContext *setting, const Shard *shard, const Sharding *sharding);

/* Copies of a part's parameters, over which ZeRO shards. */
double held_data_ways(const Shard *shard, const Knobs *knobs, HeldPart part);

/* Bytes of one layer and one microbatch with every activation saved. */
double saved_of_sums(const StageTotals *sums);

/* stage_resources, memory_rows and step_rule from sums that are there. */
void resources_of_sums(const CostContext *setting, const Shard *shard, const Knobs *knobs, const Sharding *sharding,
                       const StageTotals *sums, Resources *out);
void rows_of_sums(const CostContext *setting, const Shard *shard, const Knobs *knobs, const Sharding *sharding,
                  const StageTotals *sums, Moment moment, double saved_bytes, MemoryRows *out);
void rule_of_sums(const CostContext *setting, const Shard *shard, const Knobs *knobs, const StageTotals *sums,
                  StepRule *out);

/* Beside the optimizer's state the host has room for a few activations of all layers and microbatches in flight; which
 * ones is settled by what they gain, so that no layout has to count host bytes. Where the residual stream is whole on
 * every chip it takes most room: that sharding is asked for, its activations are `whole`. `first`: sums of the first
 * sharding, of which the weights count; looked at where the optimizer is on the host. */
Sharding offload_sharding(const CostContext *setting, const Shard *shard);
void offloadable_activations(const CostContext *setting, const Shard *shard, const Knobs *knobs,
                             const ActivationCost whole[ACTIVATION_COUNT], const StageTotals *first,
                             bool offloadable[ACTIVATION_COUNT]);

/* Host bytes of one chip; and those of one activation, INFINITY: it is not sent there. What takes more than the room
 * has no place however little else is there. */
double offload_room(const CostContext *setting);
double offload_bytes(const CostContext *setting, const Shard *shard, const ActivationCost *whole, int activation,
                     double in_flight);

#endif
