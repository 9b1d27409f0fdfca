/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/stage/stage_totals.h: the op list of a stage added up by part: resources, memory and rules are made of these
 * sums. Everything made of them is non-decreasing in each of their figures, so component-wise least sums give lower
 * bounds. Sums depend on tensor, expert and sequence degrees, on whether fsdp is more than one way, on microbatch and
 * sharding alone: searches keep them. */
#pragma once

#include "cost/stage/stage.h"

typedef struct {
    double compute[PHASE_COUNT]; /* seconds outside attention */
    double attention[PHASE_COUNT];
    Traffic traffic[GROUP_DATA][PHASE_COUNT];
    double dense_weights, expert_weights; /* of one chip, before fsdp */
    double gathered_weights;              /* of one layer while it is in use, where something gathers them; else 0 */
    double largest_weights;               /* of those, the weights of the largest op: gate and up, or all experts' */
    double dense_trained, expert_trained; /* of those weights, what is trained, */
    double gathered_trained;              /* and of those that are gathered */
    double stored_apart;                  /* numbers of frozen matrices that lie in a format of their own; else 0 */
    double largest_stored;                /* of these, the largest matmul's, which is written out in bf16 to be used */
    double adapters;                      /* numbers of adapters */
    double saved[ACTIVATION_COUNT];       /* bytes of one microbatch */
} PartSums;

typedef struct {
    PartSums layer; /* the mean layer of the model */
    PartSums embedding, logits;
} StageTotals;

void stage_sums(const CostContext *setting, const Shard *shard, const Methods *methods, const Sharding *sharding,
                StageTotals *out);

/* Seconds of a layer of one microbatch in addition to its ops. */
double fixed_layer_seconds(const CostContext *setting);
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

/* What the logits of a tied model have besides the table that the embedding counts: the last norm, and biases. */
double logits_without_table(const CostContext *setting, const Shard *shard, const PartSums *logits, bool trained);

/* Of them, those that are trained: the only ones with a gradient and a state. */
LocalParameters trained_parameters(const CostContext *setting, const Shard *shard, const Knobs *knobs,
                                   const StageTotals *sums, bool last);

/* Frozen numbers that lie quantised on a chip, and numbers of adapters there. Of the parameters, not alongside them. */
typedef struct {
    double quantised, adapters;
} TunedParameters;
TunedParameters tuned_parameters(const CostContext *setting, const Shard *shard, const StageTotals *sums, bool last);

/* The part of the trained parameters `local` whose optimizer state the chip keeps. */
LocalParameters owned_parameters(const Shard *shard, const Knobs *knobs, const LocalParameters *local);

/* Bytes of the optimizer's state for the parameters that a chip owns; and the part of them that lies on the host under
 * knobs->offload_optimizer: all bytes for which the chip's share of the host has room (the rest stays in HBM). State
 * comes before activations. */
double optimizer_bytes_of(const TrainingState *state, const LocalParameters *owned);
double host_optimizer_bytes(const CostContext *setting, const Knobs *knobs, const LocalParameters *owned);

/* What that state takes of the host, with the gradients that CPUs need alongside it; and what of `on_host` bytes passes
 * through HBM at a time, where the chip updates them. */
double host_update_room(const CostContext *setting, const Knobs *knobs, const LocalParameters *owned);
double host_passing_bytes(const CostContext *setting, double on_host, double layers);

/* Weights that fsdp (or the layout, over tensor) has gathered: those of the layer at work, and of the next layer, which
 * arrives, or, when weights are kept, of all other layers of the stage; the gradient of one layer before its
 * reduce_scatter; next to the logits their table and its gradient. By matrices, the largest matmul takes the place of a
 * layer (gate and up are two: one at work, one that arrives). */
typedef struct {
    double in_use, others, gradient, table; /* numbers */
    double table_gradient;                  /* a number, too: none while logits and their gradient are there, where it
                                             * comes after a loop (Profile.whole_program) */
    double copies;                          /* of a gradient: 2 where it is all_reduced whole, operand and result */
} GatheredWeights;
GatheredWeights gathered_weights(const CostContext *setting, const Shard *shard, const Knobs *knobs,
                                 const StageTotals *sums, Moment moment, double layers);

/* The same where parts are frozen, which have no master to be cast from: they lie as they are used, or quantised. */
double master_rest_bytes(const CostContext *setting, const Knobs *knobs, const LocalParameters *local,
                         const LocalParameters *owned);
double reduction_bytes(const CostContext *setting, const Shard *shard, const LocalParameters *owned);
/* Temporaries of the update, freed after it; 0 at other moments. */
double regathered_bytes(const CostContext *setting, const Shard *shard, const Sharding *sharding);

/* Where the loss is computed in chunks, gradients of the chunks are summed in fp32: bytes of a parameter of the logits'
 * table, that of the chunk included; and bytes of the sum of the stream's gradients, 0 without chunks (torchtitan 0.3,
 * ChunkedLossWrapper and GradAccumulator). `stream` is the bytes of the residual stream. */
double table_gradient_bytes(const CostContext *setting);
double chunks_gradient_bytes(const CostContext *setting, double stream);

/* What one compiled program adds (Profile.whole_program), all 0 without it. casts: bf16 copies of the weights, made
 * before the loop that reads them: of the layers' loop, or of microbatches', which reads tables too; none of a single
 * pass whose matmuls are rings of shards. gradients: those of all layers, an array of the loop. master: the copy of
 * the fp32 master that the update reads, where all chips have the same one and gather the updated shards in its
 * place. logits: their gradient, with what it needs for that of their table. */
typedef struct {
    double casts, gradients, master, logits;
} ProgramBytes;
ProgramBytes program_bytes(const ShardedStage *stage, const LocalParameters *local, Moment moment);

/* Tokens whose logits a chip has at once: a microbatch's; of one compiled program the chip's share of all that a
 * pipeline has passed. */
double loss_tokens(const CostContext *setting, const Shard *shard);

/* Whether each chip of tensor has the logits of its own tokens, over the whole vocabulary (MaxText's, whose stream is
 * split over tensor there). */
static inline bool logits_of_own_tokens(const CostContext *setting, const Shard *shard) {
    return setting->profile->whole_program > 0.5 && setting->profile->stream_split > 0.5 && shard->tensor > 1;
}

/* Whether gradients of sharded parameters wait, whole, for the last microbatch (Profile.stages_stay_whole). */
bool stage_stays_whole(const CostContext *setting, const Shard *shard);

/* Bytes of one layer and one microbatch with every activation saved. */
double saved_of_sums(const StageTotals *sums);

/* stage_resources, memory_rows and step_rule from sums that are there. */
void resources_of_sums(const CostContext *setting, const Shard *shard, const Knobs *knobs, const Sharding *sharding,
                       const StageTotals *sums, Resources *out);
/* The same but for memory, which is 0: what the time of a step depends on. */
void moved_of_sums(const CostContext *setting, const Shard *shard, const Knobs *knobs, const Sharding *sharding,
                   const StageTotals *sums, Resources *out);
/* The same of a stage with these layers, embedding and logits, whichever stage the shard is priced as. */
void moved_of_stage(const ShardedStage *stage, const StageTotals *sums, const StagePace *pace, Resources *out);
void rows_of_sums(const ShardedStage *stage, const StageTotals *sums, Moment moment, double saved_bytes,
                  MemoryRows *out);
void rule_of_sums(const CostContext *setting, const Shard *shard, const Knobs *knobs, const StageTotals *sums,
                  StepRule *out);
/* The part of a rule that ZeRO and the optimizer decide: what moves once a step, the optimizer's and the other seconds.
 * The rest stays as it is. */
void rule_once_of_sums(const CostContext *setting, const Shard *shard, const Knobs *knobs, const StageTotals *sums,
                       StepRule *out);

/* The least time in seconds that the weight gradients of one microbatch take on this many layers: their FLOPs at the
 * matrix units' rate. */
double weight_gradient_seconds(const CostContext *setting, const Shard *shard, double layers);

/* Next to the optimizer's state the host has room for a few activations of all layers and microbatches in flight; their
 * gain decides which ones go there, so that no layout has to count host bytes. They take the most room where the
 * residual stream is whole on every chip: offload_sharding() is that sharding, and `whole` its activations. `first`
 * holds the first sharding's totals, whose weights count; it is read where the optimizer is on the host. */
Sharding offload_sharding(const CostContext *setting, const Shard *shard);
void offloadable_activations(const CostContext *setting, const Shard *shard, const Knobs *knobs,
                             const ActivationCost whole[ACTIVATION_COUNT], const StageTotals *first,
                             bool offloadable[ACTIVATION_COUNT]);

/* Host bytes of one chip; and those of one activation, where INFINITY means that it is not sent there. An activation
 * larger than the room has no place, however little else is there. */
double offload_room(const CostContext *setting);
double offload_bytes(const CostContext *setting, const Shard *shard, const ActivationCost *whole, int activation,
                     double in_flight);
