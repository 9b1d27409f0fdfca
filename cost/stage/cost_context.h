/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/stage/cost_context.h: everything a plan is priced with that is not the plan. */
#ifndef SHARDOPT_COST_STAGE_COST_CONTEXT_H
#define SHARDOPT_COST_STAGE_COST_CONTEXT_H

#include "cost/profile/profile.h"
#include "cost/state/remat.h"
#include "cost/plan/shard.h"
#include "cost/state/state.h"

typedef struct {
    const Model *model;
    const Chip *chip;
    const Profile *profile;
    Work work;
    double hbm_reserve;                /* share of HBM kept back */
    double precision_flops_per_second; /* dense peak of the compute precision */
    const TrainingState *state;        /* NULL: AdamW, training_state_default() */
    const RematRule *remat;            /* NULL, or not required: the layout decides */
    const RematOffer *offer;           /* among these; NULL: freely. Of no meaning where `remat` is required */
} Setting;

/* The policy that every layout must follow; NULL: none. */
static inline const RematRule *setting_remat(const Setting *setting) {
    return setting->remat && setting->remat->required ? setting->remat : NULL;
}

/* What a layout has to choose from; NULL: it is free, or a policy is required. */
static inline const RematOffer *setting_offer(const Setting *setting) {
    return setting_remat(setting) ? NULL : setting->offer;
}

/* Bytes of HBM that a plan may hold. */
static inline double setting_memory_limit(const Setting *setting) {
    return setting->chip->hbm_bytes.value * (1 - setting->hbm_reserve);
}

/* Load of the busiest expert over the mean: what training with a capacity pads to, whatever the router does; else the
 * profile's. */
static inline double setting_imbalance(const Setting *setting) {
    double capacity = setting->model->training.capacity_factor;
    return capacity > 0 ? capacity : setting->profile->expert_imbalance;
}

static inline const TrainingState *setting_state(const Setting *setting) {
    return setting->state ? setting->state : training_state_default();
}

#endif
