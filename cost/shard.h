/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/shard.h: what one chip holds and computes under given degrees: the bridge from whole tensors to local ones.
 * Everything is real, so that break-even points can be searched between whole degrees; plans fill it with whole
 * (padded) numbers. */
#ifndef SHARDOPT_COST_SHARD_H
#define SHARDOPT_COST_SHARD_H

#include "cost/plan.h"
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
    double microbatches;
} Shard;

/* Chips that hold one copy of a parameter between them, tensor aside: everything but data splits it; experts are not
 * split by their own ways again. */
static inline double shard_weight_ways(const Shard *shard) { return shard->expert * shard->sequence * shard->fsdp; }
static inline double shard_expert_ways(const Shard *shard) { return shard->sequence * shard->fsdp; }

/* Fills the shard of a plan. *padding gets what had to be padded (also when `rule` forbids it). False when the rule
 * forbids something, or when the sizes cannot be used at all (more stages than layers, more tensor ways than heads,
 * more experts ways than experts, more context ways than tokens, more replicas than sequences); *padding then holds the
 * forbidden kinds, 0 for "cannot be used at all". */
bool shard_of_plan(const Model *model, const Work *work, const Degrees *degrees, const Knobs *knobs, PaddingRule rule,
                   Shard *out, PaddingSet *padding);

#endif
