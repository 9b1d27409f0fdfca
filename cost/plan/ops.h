/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/plan/ops.h: the transformer as one list of ops. Time, memory and the report are all derived from it. */
#pragma once

#include "cost/plan/shard.h"
#include "cost/plan/tuning.h"
#include "cost/profile/profile.h"
#include "models/parameters.h"

/* Groups of chips that communicate: a role, adjacent roles together, or ranks of a folded expert grid. */
typedef enum {
    GROUP_TENSOR,         /* activations: critical */
    GROUP_EXPERT_TENSOR,  /* the same inside experts of a folded grid: critical */
    GROUP_EXPERT,         /* dispatch and combine: critical */
    GROUP_SEQUENCE,       /* keys and values: critical */
    GROUP_ULYSSES,        /* heads for tokens: critical */
    GROUP_PIPELINE,       /* stage to stage: critical */
    GROUP_WEIGHTS,        /* expert + sequence + fsdp: parameters and gradients of everything except experts */
    GROUP_EXPERT_WEIGHTS, /* sequence + fsdp, or the sharding ranks of a folded grid: parameters and gradients of
                           * experts */
    GROUP_TENSOR_WEIGHTS, /* tensor: weights gathered over it by the layout */
    GROUP_DATA,           /* gradients over replicas: data, and sequence where it replicates */
    GROUP_EXPERT_DATA,    /* the same of a folded grid's experts */
    GROUP_COUNT
} Group;
enum { DATA_GROUPS = GROUP_COUNT - GROUP_DATA }; /* the groups whose traffic is once per step */

/* The role that a group's time is reported under. */
Role group_role(Group group);
/* The roles whose chips form a group; empty for ranks of a folded grid. */
RoleSet group_roles(Group group, const Methods *methods);
/* The number of chips of the group. */
int64_t group_degree(Group group, const Degrees *degrees, const Methods *methods);

typedef struct {
    double messages;
    double bytes; /* of the whole array as the group sees it: see mesh/collective.h */
} Traffic;

typedef enum { PHASE_FORWARD, PHASE_BACKWARD, PHASE_COUNT } Phase;

typedef enum {
    OP_MATMUL,
    OP_GROUPED_MATMUL,
    OP_ATTENTION,
    OP_ELEMENTWISE,
    OP_LOOKUP,
    OP_SCAN, /* a recurrence over tokens, in chunks: state space, linear attention */
} OpKind;

enum { OPS_MAX = 80 };

struct Op {
    OpKind kind;
    const char *name; /* "qkv projection" */
    double m, n, k; /* matmul: local sizes, forward: [m, k] x [k, n]; grouped: those of one expert, `groups` of them */
    double groups;
    double chunks; /* pieces of m that are computed one after the other; 1 means that it is computed whole */
    double flops[PHASE_COUNT]; /* useful FLOPs of the chip, unpadded to tiles */
    double hbm_bytes[PHASE_COUNT];
    bool pair;              /* two matmuls of one size: gate and up */
    bool ungated;           /* experts of two matrices, not three */
    bool biased;            /* experts with biases and a clamped activation */
    bool runs_in_precision; /* a matmul of the blocks runs in the profile's precision, other ops in bf16 */
    double score_elements;  /* attention: elements of the whole square (or window), all heads of the chip */
    double head_dim;        /* attention */
    double repeated;        /* attention: FLOPs of its kernel over the useful ones; 0 means 1 */
    bool on_vectors;        /* scan: FLOPs that are no matrix products */
    double routed_bytes;    /* of dispatched tokens, in each phase */
    double weights;         /* local parameters, before fsdp */
    double frozen;          /* of them, those that are not trained */
    bool expert_weights;
    bool adapter; /* of a frozen matrix: cost/plan/tuning.h */
    Traffic traffic[GROUP_COUNT][PHASE_COUNT];
    int output_activation; /* the Activation it produces, or -1 */
    double saved_bytes;    /* of that activation: bf16, inputs of blocks gathered over tensor */
    double saved_ways; /* ways of tensor over which it lies before it is gathered; 1 means that it is not gathered */
    bool saved_input;  /* only linear layers in the profile's precision read it */
    double saved_copy; /* otherwise: the numbers that such a layer needs as a copy in its own precision */
};

/* A layer as one chip has it. */
typedef struct {
    const Model *model;
    const LayerKind *kind; /* of the model */
    const Shard *shard;
    const Sharding *sharding;
} ShardedLayer;

/* What the software decides of a layer's ops; the figures of the profile have the sources. */
typedef struct {
    double imbalance;         /* the load of the busiest expert over the mean load: >= 1 */
    bool ring_returns;        /* Profile.ring_returns */
    double lanes;             /* Profile.lanes; 0 means 1 */
    bool keys_kept;           /* Profile.keys_kept */
    bool receives_worst_case; /* Profile.receives_worst_case, and the model drops no tokens */
    const Tuning *tuning;     /* what is trained; NULL: everything */
} LayerSoftware;

/* The ops of one layer of a kind, of the embedding (look-up), or of the logits (final norm, projection, loss), for one
 * microbatch on one chip. They return the number of ops (<= OPS_MAX). ops_of_layer() is for software that decides
 * nothing but the imbalance. */
int ops_of_layer(const ShardedLayer *layer, const Methods *methods, double imbalance, Op *ops);
int ops_of_layer_under(const ShardedLayer *layer, const Methods *methods, const LayerSoftware *software, Op *ops);
int ops_of_embedding(const Model *model, const Shard *shard, const Sharding *sharding, const Tuning *tuning, Op *ops);
int ops_of_logits(const Model *model, const Shard *shard, const Sharding *sharding, const Tuning *tuning, Op *ops);

/* Bytes of the activation that the op produces, as the profile's software keeps it. In a low precision, activations
 * that only linear layers read (their inputs) are kept in that precision; attention's output, which its own backward
 * reads in bf16, is kept twice (Transformer Engine). Unfused attention keeps probabilities, their dropout mask and the
 * result of dropout, 5 bytes a score (Korthikanti et al. 2022, section 4.1). */
double op_saved_bytes(const Op *op, const Profile *profile);

/* Roofline seconds of one op in one phase: the larger of FLOPs / (peak x efficiency) and bytes / (HBM x efficiency),
 * padded to tiles where the profile says so. *memory_bound says which is larger. */
double op_seconds(const Op *op, Phase phase, const Chip *chip, const Profile *profile, bool *memory_bound);
