/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/sums.h: the op list of a stage added up by part: what stage.c makes resources, memory and rules of. Internal to cost/. */
#ifndef SHARDOPT_COST_SUMS_H
#define SHARDOPT_COST_SUMS_H

#include "cost/stage.h"

typedef struct {
    double compute[PHASE_COUNT];   /* seconds outside attention */
    double attention[PHASE_COUNT];
    Traffic traffic[GROUP_DATA][PHASE_COUNT];
    double dense_weights, expert_weights; /* of one chip, before fsdp */
    double gathered_weights;       /* of one layer while it is in use, where something gathers them; else 0 */
    double saved[ACTIVATION_COUNT]; /* bytes of one microbatch */
} PartSums;

typedef struct {
    PartSums layer; /* the mean layer of the model */
    PartSums embedding, logits;
} StageSums;

void stage_sums(const Setting *setting, const Shard *shard, ContextMethod context, const Sharding *sharding, StageSums *out);

#endif
