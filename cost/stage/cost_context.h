/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/stage/cost_context.h: everything that prices a plan and is not part of the plan. */
#ifndef SHARDOPT_COST_STAGE_COST_CONTEXT_H
#define SHARDOPT_COST_STAGE_COST_CONTEXT_H

#include "cost/plan/shard.h"
#include "cost/profile/profile.h"
#include "cost/state/offload.h"
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
    const RematOffer *offer; /* what the layout may choose from; NULL means anything; unused if `remat` is required */
    Offload offload;         /* what plans may send to the host */
    HostUpdate host_update;  /* who updates state on the host: the launcher's way */
} CostContext;

/* The policy that every layout must follow. NULL means that there is none. */
static inline const RematRule *cost_context_remat(const CostContext *setting) {
    return setting->remat && setting->remat->required ? setting->remat : NULL;
}

/* What a layout may choose from. NULL means that it is free, or that a policy is required. */
static inline const RematOffer *cost_context_offer(const CostContext *setting) {
    return cost_context_remat(setting) ? NULL : setting->offer;
}

/* Bytes of HBM that a plan may hold. */
static inline double cost_context_memory_limit(const CostContext *setting) {
    return setting->chip->hbm_bytes.value * (1 - setting->hbm_reserve);
}

/* The load of the busiest expert over the mean load. Training with a capacity factor pads every expert to that factor,
 * whatever the router does; otherwise the profile tells the load. */
static inline double cost_context_imbalance(const CostContext *setting) {
    double capacity = setting->model->training.capacity_factor;
    return capacity > 0 ? capacity : setting->profile->expert_imbalance;
}

static inline const TrainingState *cost_context_state(const CostContext *setting) {
    return setting->state ? setting->state : training_state_default();
}

#endif
