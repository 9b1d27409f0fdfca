/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/stage.h: what a stage uses under one sharding, all activations saved; and what each activation costs to have again. */
#ifndef SHARDOPT_COST_STAGE_H
#define SHARDOPT_COST_STAGE_H

#include "cost/memory.h"
#include "cost/step.h"

/* Everything a plan is priced with that is not the plan. */
typedef struct {
    const Model *model;
    const Chip *chip;
    const Profile *profile;
    Work work;
    double hbm_reserve;    /* share of HBM kept back */
    double precision_flops_per_second; /* dense peak of the compute precision */
} Setting;

/* One activation of one layer, one microbatch. */
typedef struct {
    double bytes;                  /* saved */
    double recompute_seconds;      /* compute of producing it again from the one before */
    double recompute_messages[GROUP_DATA], recompute_bytes[GROUP_DATA]; /* collectives that producing it repeats, in backward */
    bool exists;                   /* false: this model has no such tensor */
    bool recomputable;             /* LAYER_INPUT is not */
    bool offloadable;              /* the host has room for it in all layers, beside those that gain more from being there */
} ActivationCost;

/* The stage that sets the pace, by FLOPs alone so that no layout choice moves it: the first (most layers, embedding) or the last
 * (fewer, but logits); one stage is both. */
typedef struct {
    double layers;
    double bubble_ratio; /* idle time of this stage over its busy time for one microbatch: see bubble_factor */
    bool embedding, logits;
} StagePace;
StagePace stage_pace(const Setting *setting, const Shard *shard, const Knobs *knobs);

/* What of the bubble of one pass through all other stages is left with v virtual stages and m microbatches. Microbatches go through
 * the chunks in groups of as many as there are stages: (p - 1) / v of a microbatch when groups are full; the last group, of r <= p
 * microbatches, leaves p - r slots empty in each of its first v - 1 rounds: factor (1 + (v - 1) (p - r) / (p - 1)) / v.
 * One microbatch gains nothing from interleaving. Pure, for p >= 2. */
double bubble_factor(double stages, double microbatches, double virtual_stages);

/* Resources of the fullest stage with every activation saved, memory rows included (activations saved in all layers of the stage; with
 * several stages each moment counts its own stage). Pure. */
void stage_resources(const Setting *setting, const Shard *shard, const Knobs *knobs, const Sharding *sharding, Resources *out);

/* Per layer and microbatch; index by Activation. */
void stage_activations(const Setting *setting, const Shard *shard, const Knobs *knobs, const Sharding *sharding,
                       ActivationCost costs[ACTIVATION_COUNT]);

/* How many times one saved layer-activation of one microbatch counts in a moment's bytes, per layer of the fullest stage:
 * in-flight microbatches (MOMENT_FIRST_BACKWARD: of the first stage; LAST_*: of the last, scaled by its layers; UPDATE: 0). */
void moment_weights(const Shard *shard, const Knobs *knobs, double weights[MOMENT_COUNT]);

/* The rows of one moment under a sharding; `saved` is the layer-activation bytes kept over all layers and microbatches. */
void memory_rows(const Setting *setting, const Shard *shard, const Knobs *knobs, const Sharding *sharding, Moment moment,
                 double saved_bytes, MemoryRows *out);

/* The change that having `count` of the fullest stage's layers recompute (or offload) one activation makes: adds to *resources. */
void resources_add_state(const ActivationCost *cost, ActivationState state, double count, const double weights[MOMENT_COUNT], Resources *resources);

/* The rule of a plan's step. */
void step_rule(const Setting *setting, const Shard *shard, const Knobs *knobs, StepRule *out);

/* The strategies a node of the layout may take under these degrees: SEQUENCE needs tensor > 1 and tokens that divide; GATHERED mlp needs SEQUENCE;
 * kv SPLIT when tensor <= kv heads, else REPLICATED and GATHERED; tables both when tensor > 1. Lists every allowed combination
 * (<= 32); the first is the default (sequence, tensor, split or replicated, vocabulary, vocabulary). */
enum { SHARDINGS_MAX = 32 };
int shardings_of(const Setting *setting, const Shard *shard, Sharding out[SHARDINGS_MAX]);
bool sharding_allowed(const Setting *setting, const Shard *shard, const Sharding *sharding);

#endif
