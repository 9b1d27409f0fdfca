/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/serving/matrices.h: the matrices of a layer as one chip of a worker holds them. The memory of weights and the
 * kernels of a step are both made from this list. */
#pragma once

#include "cost/serving/worker.h"

enum { WORKER_MATRICES_MAX = 24 };

typedef struct {
    double parameters; /* that the chip holds: its slice, with what is copied */
    bool of_group;     /* it multiplies the tokens of the whole group, else those of the chip's own attention rank */
    bool quantised;    /* it is stored in the type of the weights, else in 16 bits */
} WorkerMatrix;

typedef struct {
    WorkerMatrix list[WORKER_MATRICES_MAX]; /* in the order in which they run; each is one kernel */
    int count;
    /* Routed experts: parameters of one expert in this chip, how many experts it holds, and the share of the group's
     * tokens that one expert takes. 0 experts: none. */
    double expert_parameters, expert_width, experts, expert_share;
    int64_t expert_ranks;    /* chips between which experts are split */
    double other_parameters; /* norms, biases: no kernel of their own */
    /* Of one LoRA adapter of rank 1: its numbers in this chip, and the matmuls that it follows. Experts have none. */
    double adapter_width, adapter_matmuls;
} WorkerMatrices;

void worker_matrices(const Model *model, const LayerKind *kind, const WorkerLayout *layout, WorkerMatrices *out);

/* Whether any layer has routed experts. */
bool model_has_experts(const Model *model);

/* The share of experts that a step touches at all: 1 - (1 - share)^tokens. */
double experts_touched(double share_of_expert, double tokens);

/* The type in which a matrix is stored: checkpoints of 4 bits with experts keep everything else at 16 bits. */
StoredType matrix_type(const Model *model, const WorkerLayout *layout, const ServingProfile *profile, bool expert,
                       bool quantised);

/* Parameters of the head on one chip. */
double head_parameters(const Model *model, const WorkerLayout *layout);
