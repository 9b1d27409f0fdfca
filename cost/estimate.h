/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/estimate.h: one plan priced in full: the numbers that the report shows. */
#pragma once

#include "cost/stage/stage.h"

typedef enum {
    BOUND_COMPUTE,
    BOUND_HBM,
    BOUND_ICI,
    BOUND_DCN,
    BOUND_NVLINK,
    BOUND_NETWORK,
    BOUND_PCIE,
    BOUND_HOST, /* its CPUs, which update the optimizer's state */
    BOUND_LATENCY,
    BOUND_BUBBLE,
    BOUND_COUNT
} BoundBy;
const char *bound_name(BoundBy bound);

/* Ops have a few dozen names in all (cost/plan/ops.c), whatever the model: no list of parts is longer. */
enum { ESTIMATE_PARTS_MAX = 128 };

/* Seconds of one op over the whole step (fullest stage), for "where a step goes". */
typedef struct {
    const char *name;
    OpKind kind;
    double forward_seconds, backward_seconds; /* without recomputation */
    bool memory_bound;
    double flops; /* over the step, one chip */
    double hbm_bytes;
    /* One call of its forward, of the first op of that name: sizes of a matmul; of attention the elements of the whole
     * square, and the width of a head. */
    double m, n, k, score_elements, head_dim, call_flops;
    bool runs_in_precision;
} EstimatePart;

typedef struct {
    Shard shard;
    StepRule rule;
    Resources resources;
    Rates rates;
    StepTime time;          /* where the played step is longer by more than a hundredth, with what it is longer by */
    double formula_seconds; /* what step_seconds() says */
    double played_seconds;  /* cost/played.h; of one stage the formula's; 0: it cannot be played */
    bool updates_on_cpu;    /* the host's CPUs update the optimizer's state that lies there */
    BoundBy bound_by, bound_next; /* the largest and the second largest of the times */
    double bound_next_share;      /* second / largest */
    MemoryRows memory;            /* at the peak moment of the worst stage */
    Moment moment;
    double memory_limit_bytes, reserve_bytes;
    double recompute_seconds;       /* of compute_seconds */
    double mfu, mfu_full_attention; /* useful tokens only */
    double flops_per_token;         /* causal convention */
    double tokens_per_second_per_chip;
    EstimatePart parts[ESTIMATE_PARTS_MAX];
    int part_count;
    double matmul_seconds, attention_seconds, elementwise_seconds; /* of compute_seconds; recomputation is counted
                                                                    * separately */
} Estimate;

/* The resources of a plan with its layout; the second function gives the rows of one moment and returns their total. */
void plan_resources(const CostContext *setting, const Shard *shard, const Plan *plan, Resources *out);
double plan_memory(const CostContext *setting, const Shard *shard, const Plan *plan, Moment moment, MemoryRows *rows);

/* Prices a plan on a mesh (catalog rates; the profile is applied inside) under a nesting of the roles. False means that
 * the plan cannot be used under `rule` (error says why). */
bool estimate_plan(const CostContext *setting, const NestedMesh *nested_mesh, const Plan *plan, PaddingRule padding,
                   Estimate *out, Error *error);

/* Its seconds alone, padded where sizes do not divide: a third of the work. INFINITY means that it cannot be used. */
double estimate_seconds(const CostContext *setting, const NestedMesh *nested_mesh, const Plan *plan);
