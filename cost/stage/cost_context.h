/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/stage/cost_context.h: everything that prices a plan and is not part of the plan. */
#pragma once

#include "cost/plan/ops.h"
#include "cost/profile/profile.h"
#include "cost/state/remat.h"
#include "cost/state/state.h"

typedef struct {
    const Model *model;
    const Chip *chip;
    const Profile *profile;
    Work work;
    double hbm_reserve;                /* share of HBM that no plan may use */
    double precision_flops_per_second; /* dense peak of the compute precision */
    const TrainingState *state;        /* NULL means training_state_default(), which is AdamW */
    const RematRule *remat;            /* NULL, or a rule that is not required, lets the layout decide */
    const RematDomain *domain; /* what the layout may choose from; NULL means anything; unused if `remat` is required */
    Offload offload;           /* what plans may send to the host */
    double slices;             /* of the machine, joined by DCN; 0 means 1 */
    HostUpdate host_update;    /* who updates state on the host: the launcher's way */
} CostContext;

/* The policy that every layout must follow. NULL means that there is none. */
static inline const RematRule *cost_context_remat(const CostContext *setting) {
    return setting->remat && setting->remat->required ? setting->remat : NULL;
}

/* What a layout may choose from. NULL means that it is free, or that a policy is required. */
static inline const RematDomain *cost_context_domain(const CostContext *setting) {
    return cost_context_remat(setting) ? NULL : setting->domain;
}

/* Bytes of HBM that a plan may hold. */
static inline double cost_context_memory_limit(const CostContext *setting) {
    return setting->chip->hbm_bytes.value * (1 - setting->hbm_reserve);
}

/* The load of the busiest expert over the mean load. Training with a capacity factor pads every expert to that factor,
 * whatever the router does; otherwise the profile says the load. */
static inline double cost_context_imbalance(const CostContext *setting) {
    double capacity = setting->model->training.capacity_factor;
    return capacity > 0 ? capacity : setting->profile->expert_imbalance;
}

static inline const TrainingState *cost_context_state(const CostContext *setting) {
    return setting->state ? setting->state : training_state_default();
}

/* What is trained; NULL: every weight. */
static inline const Tuning *cost_context_tuning(const CostContext *setting) {
    const Tuning *tuning = &cost_context_state(setting)->tuning;
    return tuning->on ? tuning : NULL;
}

/* How often a microbatch goes forward: once, and once more for each reference. */
static inline double cost_context_forwards(const CostContext *setting) {
    return 1 + cost_context_state(setting)->tuning.references;
}

/* Bytes of a number of a layer's matrices as they are gathered: quantised ones stay so. */
static inline double cost_context_stored_bytes(const CostContext *setting) {
    const TrainingState *state = cost_context_state(setting);
    return state->tuning.stored_bytes > 0 ? state->tuning.stored_bytes : state->parameter_bytes;
}

/* What the software decides of a layer's ops. A capacity factor fixes how many tokens an expert gets. */
static inline LayerSoftware cost_context_software(const CostContext *setting) {
    const Profile *profile = setting->profile;
    return (LayerSoftware){.imbalance = cost_context_imbalance(setting),
                           .ring_returns = profile->ring_returns > 0.5,
                           .lanes = profile->lanes,
                           .keys_kept = profile->keys_kept > 0.5,
                           .receives_worst_case =
                               profile->receives_worst_case > 0.5 && !(setting->model->training.capacity_factor > 0),
                           .tuning = cost_context_tuning(setting)};
}

/* The dtype in which the software reduces and keeps gradients, which one that the user named overrules; DTYPE_DEFAULT:
 * fp32 where they are accumulated, else bf16. */
static inline Dtype cost_context_gradient_dtype(const CostContext *setting) {
    Dtype named = cost_context_state(setting)->dtypes.gradients;
    double own = setting->profile->gradient_bytes;
    return named != DTYPE_DEFAULT || own <= 0 ? named : own > 2 ? DTYPE_FP32 : DTYPE_BF16;
}

/* Whether weights that so many chips share are shared by all chips of a slice. */
static inline bool weights_span_slice(const CostContext *setting, const Shard *shard, double ways) {
    double chips = shard->tensor * shard->expert * shard->sequence * shard->fsdp * shard->data * shard->pipeline;
    return ways > 1 && ways * (setting->slices > 1 ? setting->slices : 1) >= chips;
}

/* Whether matmuls of such weights pass them round a ring: where the slice is the machine. */
static inline bool weights_go_round(const CostContext *setting, const Shard *shard, double ways) {
    return ways >= 4 && ways <= setting->profile->ring_ways && !(setting->slices > 1) &&
           weights_span_slice(setting, shard, ways);
}

/* Bytes of a gradient that is kept and reduced over data: of one microbatch, or accumulated over several. */
static inline double cost_context_gradient_bytes(const CostContext *setting, bool accumulated) {
    Dtype dtype = cost_context_gradient_dtype(setting);
    if (dtype != DTYPE_DEFAULT) return dtype_bytes(dtype);
    return cost_context_state(setting)->gradient_bytes[accumulated ? 1 : 0];
}

/* Bytes of a gradient as it is reduced over fsdp. */
static inline double cost_context_scatter_bytes(const CostContext *setting) {
    Dtype dtype = cost_context_gradient_dtype(setting);
    return dtype != DTYPE_DEFAULT ? dtype_bytes(dtype) : cost_context_state(setting)->scatter_bytes;
}

/* Bytes of the copy for compute that stays in HBM next to the state: 0 where the software casts the master whenever it
 * is gathered. Without a master the copy is the only one; where ZeRO shards the master over replicas, and not the
 * moments alone, each replica has a copy for the step. */
static inline double cost_context_copy_bytes(const CostContext *setting, const Knobs *knobs) {
    const TrainingState *state = cost_context_state(setting);
    bool whole = knobs->zero_stage == 0 || (setting->profile->whole_master > 0.5 && !knobs->offload_optimizer);
    bool has_master = dtype_bytes(state->dtypes.master) > 0 && whole;
    bool cast = setting->profile->casts_master > 0.5 && has_master;
    return cast ? 0 : state->parameter_bytes;
}
