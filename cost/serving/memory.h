/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/serving/memory.h: what one device of a worker holds at its peak: every sequence at its full length. */
#pragma once

#include "cost/serving/matrices.h"
#include "cost/serving/step.h"

typedef struct {
    double limit_bytes; /* the share of HBM that the engine may use */
    double weights_bytes, kv_bytes, activations_bytes, workspace_bytes;
} WorkerMemory;

static inline double worker_memory_total(const WorkerMemory *memory) {
    return memory->weights_bytes + memory->kv_bytes + memory->activations_bytes + memory->workspace_bytes;
}

/* Weights of the fullest stage, with what is copied; embedding or head. */
double worker_weights_bytes(const ServedModel *served, const WorkerLayout *layout);

/* The cache of one sequence of `tokens` on one device, pages filled up. */
double worker_cache_bytes(const ServedModel *served, const WorkerLayout *layout, double tokens);

/* Everything of a layout that no load changes. */
typedef struct {
    double limit_bytes, weights_bytes, workspace_bytes;
    double sequence_bytes;            /* of the cache of one sequence at its end, on the devices that hold it */
    double token_bytes, logits_bytes; /* of a token of a step, and of a sequence that ends one */
    int64_t ranks, cuts, stages;      /* attention_data, kv_batch, pipeline */
} MemoryPlan;

/* `tokens`: of a sequence at its end. */
void memory_plan(const ServedModel *served, const WorkerLayout *layout, double tokens, MemoryPlan *out);

/* `sequences` and `step_tokens` of the worker. */
void memory_of_load(const MemoryPlan *plan, double sequences, double step_tokens, WorkerMemory *out);

/* Whether it fits. */
static inline bool memory_fits(const WorkerMemory *memory) {
    return worker_memory_total(memory) <= memory->limit_bytes;
}
