/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/plan/shard.h: the part of a model that one chip holds and computes under given degrees: the bridge from whole
 * tensors to local ones. All numbers are real, so that break-even points can be searched between whole degrees; plans
 * fill them with whole (padded) numbers. */
#pragma once

#include "cost/plan/plan.h"
#include "models/model.h"

#include <math.h>

/* The places where sizes may not divide, and the rule that allows padding there. */
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

/* The stage as which a shard of a pipeline is priced: the fullest, with the embedding; the last, with the logits; or
 * that of these two which FLOPs make the longer, as a bound may have it, since a step is no shorter than either. */
typedef enum { PACE_BY_FLOPS, PACE_FIRST, PACE_LAST } Pace;

/* A bit per PaddingKind. */
typedef unsigned PaddingSet;
const char *padding_name(PaddingKind kind);

typedef struct {
    /* degrees */
    double tensor, expert, sequence, fsdp, data, pipeline;
    /* one microbatch on one chip */
    double sequences; /* b */
    double seq;       /* tokens of a whole sequence, padded */
    double tokens;    /* b * seq / sequence: the tokens of the chip's tensor group */
    /* the widths of one chip: divided by tensor (and expert) and padded up */
    double heads; /* of attention, or of what mixes tokens instead: what divides those of every kind of layers */
    double d_ff, d_ff_shared, d_ff_expert;
    double experts;
    double vocab;
    /* stages */
    double layers;      /* of the fullest stage */
    double layers_last; /* of the last stage */
    double slots_first; /* the number of layers that the first stage lacks against the fullest: the embedding's
                         * place; mostly 0 */
    Pace pace;
    double microbatches;
    double layer_flops;  /* as layer_flops(); 0 means that it was not computed */
    double layer_active; /* parameters of the mean layer that a token meets; 0 means that it was not computed */
    /* methods; all zeros are the plain way */
    double ulysses;           /* ways of `sequence` that exchange heads; 0 or 1 means none */
    bool sequence_replicates; /* sequence replicates parameters */
    PaddingSet padding;       /* what had to be padded */
    bool along_sequence;      /* the residual stream has to be split over tensor along the sequence */
    /* ranks of a folded expert grid (cost/plan/grid.h); grid_expert 0 means that there is no grid: experts lie on the
     * roles */
    double grid_expert, grid_expert_tensor, grid_weights, grid_data;
} Shard;

/* Chips that hold one copy of a parameter between them, tensor aside: every role but data splits it; experts are not
 * split again by their own ways. */
static inline double shard_weight_ways(const Shard *shard) {
    return shard->expert * (shard->sequence_replicates ? 1 : shard->sequence) * shard->fsdp;
}
static inline double shard_expert_ways(const Shard *shard) {
    if (shard->grid_expert > 0) return shard->grid_weights;
    return (shard->sequence_replicates ? 1 : shard->sequence) * shard->fsdp;
}

/* The width of one of `ways` parts: padded up for whole ways; real between them, where break-even points are
 * searched. */
static inline double shard_width(int64_t width, double ways) {
    double local = (double)width / ways;
    return ways == floor(ways) ? ceil(local) : local;
}

/* Query heads of a layer on one chip, and the KV heads that they touch. */
double shard_heads(const LayerKind *kind, const Shard *shard);
double shard_kv_heads(const LayerKind *kind, const Shard *shard);

/* What tensor and Ulysses divide in a layer: its query heads, the heads of its mixer, or what divides both; 0: it mixes
 * no tokens. */
int64_t kind_heads(const Model *model, const LayerKind *kind);

/* Copies of a parameter: the chips over which its gradient is reduced once per step. */
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

/* Forward FLOPs of one token in the mean layer of the model; the parameters that it meets there go into *active (or
 * NULL). */
double layer_flops(const Model *model, int64_t seq, double *active);
/* FLOPs of the logits over those of a layer. */
double logits_in_layers(const Model *model, int64_t seq);

/* Places of a stage where embedding and logits take one each in addition to the layers (STAGES_SLOTS); 0: there is no
 * such split: it needs a stage that has neither, and (layers + 2) / stages whole. Pure. */
int64_t slots_of_stage(const Model *model, int64_t stages);

/* Layers of the fullest stage and of the last. EVEN: the same number each. BALANCED: the last, which has the logits
 * too, gets the number that makes the longest stage shortest, and the others are as equal as possible. SLOTS: layers
 * and two more divide, and the first and the last stage have one layer fewer. False means that EVEN or SLOTS does not
 * divide, or that there are fewer layers than stages. */
bool layers_per_stage(const Model *model, const Work *work, int64_t stages, StageSplit split, int64_t *fullest,
                      int64_t *last);

/* Decides the part of shard_of_plan() that degrees alone determine, in a fraction of its time. False means that no
 * knobs make a shard of them, and *forbidden holds the kinds that shard_of_plan() would report with one microbatch, 0
 * for "cannot be used at all". True decides nothing yet. `folds` means that experts may lie on the ranks of a grid,
 * whose ways differ from those of the roles. */
bool degrees_may_divide(const Model *model, const Work *work, const Degrees *degrees, bool folds, PaddingRule rule,
                        PaddingSet *forbidden);

/* Fills the shard of a plan. False means that the rule forbids something, or that the sizes cannot be used at all (more
 * stages than layers, more tensor ways than heads, more expert ways than experts, more context ways than tokens, more
 * replicas than sequences); then only out->padding is set, to the forbidden kinds, 0 for "cannot be used at all". */
bool shard_of_plan(const Model *model, const Work *work, const Degrees *degrees, const Knobs *knobs, PaddingRule rule,
                   Shard *out);
