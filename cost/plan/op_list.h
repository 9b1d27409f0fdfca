/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/plan/op_list.h: what ops of a layer are made with, for cost/plan/ops.c, mixer_ops.c and table_ops.c alone. */
#pragma once

#include "cost/plan/ops.h"

#include <assert.h>

/* Tokens of the residual stream that one chip holds. */
static inline double residual_tokens(const Shard *shard, const Sharding *sharding) {
    return sharding->residual == RESIDUAL_SEQUENCE ? shard->tokens / shard->tensor : shard->tokens;
}

typedef struct {
    Op *ops;
    int count;
} OpList;

static inline Op *op_list_add(OpList *list, OpKind kind, const char *name) {
    assert(list->count < OPS_MAX);
    Op *op = &list->ops[list->count++];
    *op = (Op){.kind = kind, .name = name, .groups = 1, .chunks = 1, .output_activation = -1, .saved_ways = 1};
    return op;
}

/* [m, k] x [k, n]: forward once, backward twice (gradients of input and of weights). */
static inline Op *add_matmul(OpList *list, const char *name, double m, double n, double k) {
    Op *op = op_list_add(list, OP_MATMUL, name);
    op->m = m, op->n = n, op->k = k;
    op->runs_in_precision = true;
    op->weights = n * k;
    op->flops[PHASE_FORWARD] = 2 * m * n * k;
    op->flops[PHASE_BACKWARD] = 4 * m * n * k;
    op->hbm_bytes[PHASE_FORWARD] = BF16_BYTES * (m * k + k * n + m * n);
    op->hbm_bytes[PHASE_BACKWARD] = 2 * op->hbm_bytes[PHASE_FORWARD];
    return op;
}

/* An op that reads or writes `forward` and `backward` tensors of `elements` bf16 elements. */
static inline Op *add_elementwise(OpList *list, const char *name, double elements, double forward, double backward) {
    Op *op = op_list_add(list, OP_ELEMENTWISE, name);
    op->hbm_bytes[PHASE_FORWARD] = BF16_BYTES * elements * forward;
    op->hbm_bytes[PHASE_BACKWARD] = BF16_BYTES * elements * backward;
    return op;
}

static inline void set_output(Op *op, Activation activation, double bytes) {
    op->output_activation = activation;
    op->saved_bytes = bytes;
}

static inline void communicate(Op *op, Group group, Phase phase, double messages, double bytes) {
    op->traffic[group][phase].messages += messages;
    op->traffic[group][phase].bytes += messages * bytes;
}

/* Enters a tensor-parallel block. A stream along the sequence is gathered (and its gradient scattered); a replicated
 * one is already there, and its gradient is an all_reduce: two passes. Saved inputs are saved gathered, so backward
 * gathers nothing again. */
static inline void enter_block(Op *op, const Shard *shard, const Sharding *sharding, double bytes) {
    if (shard->tensor <= 1) return;
    if (sharding->residual == RESIDUAL_SEQUENCE) {
        communicate(op, GROUP_TENSOR, PHASE_FORWARD, 1, bytes);
        communicate(op, GROUP_TENSOR, PHASE_BACKWARD, 1, bytes);
    } else {
        communicate(op, GROUP_TENSOR, PHASE_BACKWARD, 2, bytes);
    }
}

/* Leaves it: partial sums are scattered along the sequence, or all_reduced. */
static inline void leave_block(Op *op, const Shard *shard, const Sharding *sharding, double bytes) {
    if (shard->tensor <= 1) return;
    if (sharding->residual == RESIDUAL_SEQUENCE) {
        communicate(op, GROUP_TENSOR, PHASE_FORWARD, 1, bytes);
        communicate(op, GROUP_TENSOR, PHASE_BACKWARD, 1, bytes);
    } else {
        communicate(op, GROUP_TENSOR, PHASE_FORWARD, 2, bytes);
    }
}

static inline double norm_weights(const Model *model) {
    return (double)model->d_model * (model->norm == NORM_LAYER ? 2 : 1);
}

/* Norm and residual addition before a block: forward reads x, writes y and adds a branch (5 tensors), backward moves
 * 7. */
static inline Op *add_norm(OpList *list, const char *name, const Model *model, double tokens) {
    Op *op = add_elementwise(list, name, tokens * (double)model->d_model, 5, 7);
    op->weights = norm_weights(model);
    return op;
}

/* The ops of a layer's mixer (models/mixer.h), from its first matmul to its last. `entered` means that attention
 * alongside it has gathered the input that both read, and reduces the sum of both outputs; `ends` means that no MLP
 * follows: the output is the next layer's input, which is kept anyway. */
typedef struct {
    bool entered, ends;
} MixerPlace;
void mixer_ops(OpList *list, const ShardedLayer *layer, const Methods *methods, MixerPlace place);
