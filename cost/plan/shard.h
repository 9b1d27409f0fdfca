/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/plan/shard.h: what one chip holds and computes under given degrees: the bridge from whole tensors to local ones.
 * Everything is real, so that break-even points can be searched between whole degrees; plans fill it with whole
 * (padded) numbers. */
#ifndef SHARDOPT_COST_PLAN_SHARD_H
#define SHARDOPT_COST_PLAN_SHARD_H

#include "cost/plan/plan.h"
#include "models/model.h"

/* The four ways out where sizes do not divide. */
typedef enum { PADDING_NONE, PADDING_LAUNCHABLE, PADDING_ANY } PaddingRule;

typedef enum {
    PAD_STAGES, /* uneven pipeline stages */
    PAD_HEADS,
    PAD_WIDTH, /* d_ff, experts */
    PAD_VOCAB,
    PAD_TOKENS,   /* sequence length */
    PAD_REPLICAS, /* replicas that get fewer sequences */
    PAD_COUNT
} PaddingKind;

/* A bit per PaddingKind. */
typedef unsigned PaddingSet;
const char *padding_name(PaddingKind kind);

typedef struct {
    /* degrees */
    double tensor, expert, sequence, fsdp, data, pipeline;
    /* one microbatch on one chip */
    double sequences; /* b */
    double seq;       /* tokens of a whole sequence, padded */
    double tokens;    /* b * seq / sequence: those of the chip's tensor group */
    /* widths of one chip; tensor (and expert) divided, padded up */
    double heads, kv_heads; /* kv_heads: those its query heads touch */
    double d_ff, d_ff_shared, d_ff_expert;
    double experts;
    double vocab;
    /* stages */
    double layers;      /* of the fullest stage */
    double layers_last; /* of the last stage */
    double slots_first; /* layers that the first stage has fewer than the fullest: the embedding's place; mostly 0 */
    double microbatches;
    double layer_flops;  /* as layer_flops(); 0: not worked out */
    double layer_active; /* parameters of the mean layer that a token meets; 0: not worked out */
    /* methods; all zero: the plain way */
    double ulysses;           /* ways of `sequence` that exchange heads; 0 or 1: none */
    bool sequence_replicates; /* sequence replicates parameters */
    bool along_sequence;      /* the residual stream has to be split over tensor along the sequence */
    /* ranks of a folded expert grid (cost/plan/grid.h); grid_expert 0: none, experts lie on the roles */
    double grid_expert, grid_expert_tensor, grid_weights, grid_data;
} Shard;

/* Chips that hold one copy of a parameter between them, tensor aside: everything but data splits it; experts are not
 * split by their own ways again. */
static inline double shard_weight_ways(const Shard *shard) {
    return shard->expert * (shard->sequence_replicates ? 1 : shard->sequence) * shard->fsdp;
}
static inline double shard_expert_ways(const Shard *shard) {
    if (shard->grid_expert > 0) return shard->grid_weights;
    return (shard->sequence_replicates ? 1 : shard->sequence) * shard->fsdp;
}

/* Copies of a parameter: chips over which its gradient is reduced once per step. */
static inline double shard_data_ways(const Shard *shard) {
    return shard->data * (shard->sequence_replicates ? shard->sequence : 1);
}
static inline double shard_expert_data_ways(const Shard *shard) {
    return shard->grid_expert > 0 ? shard->grid_data : shard_data_ways(shard);
}

/* Ways of an expert's width. */
static inline double shard_expert_tensor(const Shard *shard) {
    return shard->grid_expert > 0 ? shard->grid_expert_tensor : shard->tensor;
}

/* Forward FLOPs of one token in the mean layer of the model; parameters that it meets there, into *active (or NULL). */
double layer_flops(const Model *model, int64_t seq, double *active);
/* FLOPs of the logits over those of a layer. */
double logits_in_layers(const Model *model, int64_t seq);

/* Layers of the fullest stage and of the last. EVEN: as many each. BALANCED: the last, which has the logits too, gets
 * so many that the longest stage is shortest, the others as equal as can be. SLOTS: layers
 * and two more divide, and the first and the last stage have one layer fewer. False: EVEN or SLOTS does not divide, or
 * there are fewer layers than stages. */
bool layers_per_stage(const Model *model, const Work *work, int64_t stages, StageSplit split, int64_t *fullest,
                      int64_t *last);

/* What degrees alone decide of shard_of_plan(), in a fraction of its time: false, no knobs make a shard of them, and
 * *forbidden holds what it has there with one microbatch, 0 for "cannot be used at all". True says nothing yet.
 * `folds`: experts may lie on the ranks of a grid, whose ways are not those of the roles. */
bool degrees_may_divide(const Model *model, const Work *work, const Degrees *degrees, bool folds, PaddingRule rule,
                        PaddingSet *forbidden);

/* Fills the shard of a plan. *padding gets what had to be padded (also when `rule` forbids it). False when the rule
 * forbids something, or when the sizes cannot be used at all (more stages than layers, more tensor ways than heads,
 * more experts ways than experts, more context ways than tokens, more replicas than sequences); *padding then holds the
 * forbidden kinds, 0 for "cannot be used at all". */
bool shard_of_plan(const Model *model, const Work *work, const Degrees *degrees, const Knobs *knobs, PaddingRule rule,
                   Shard *out, PaddingSet *padding);

#endif
