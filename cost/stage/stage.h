/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/stage/stage.h: the resources that a stage uses under one sharding with all activations saved, and the cost of
 * having each activation again. */
#pragma once

#include "cost/stage/cost_context.h"
#include "cost/stage/memory.h"
#include "cost/stage/sharding.h"
#include "cost/time/schedule.h"
#include "cost/time/step.h"

/* The part of a step that neither layout nor placement changes: bubble, optimizer, gradients over data, overheads. */

/* The rule of a plan's step. */
void step_rule(const CostContext *setting, const Shard *shard, const Knobs *knobs, StepRule *out);

/* What STATE_PARTLY does to an activation of one layer, one microbatch. */
typedef struct {
    double freed_bytes, recompute_seconds;
    double recompute_messages[GROUP_DATA], recompute_bytes[GROUP_DATA];
} PartCost;

/* One activation of one layer, one microbatch. */
typedef struct {
    double bytes;             /* saved */
    double recompute_seconds; /* computing it again from the activation before */
    /* collectives that the recomputation repeats, in backward */
    double recompute_messages[GROUP_DATA], recompute_bytes[GROUP_DATA];
    bool exists;       /* false means that this model has no such tensor */
    bool recomputable; /* LAYER_INPUT is not */
    bool offloadable; /* the host has room for it in all layers, in addition to those that gain more from being there */
    PartCost part;
} ActivationCost;

/* Bytes of one layer's activation that a state leaves in HBM. */
double activation_kept_bytes(const ActivationCost *cost, ActivationState state);
/* The same over all layers of a layout. */
double layout_kept_bytes(const ActivationCost *cost, const Layout *layout, Activation activation);

/* The stage as which a shard is priced (Shard.pace): the first (most layers, embedding) or the last (fewer, but
 * logits); one stage is both. A step is the longer of both (estimate_plan()). */
typedef struct {
    double layers;
    double others; /* all other stages over this one, in such FLOPs: stages - 1 when they are equal */
    bool embedding, logits;
} StagePace;
StagePace stage_pace(const CostContext *setting, const Shard *shard);

/* The shard priced as the other of the two. False: there is one stage. */
bool stage_other_pace(const CostContext *setting, const Shard *shard, Shard *other);

/* Layers of a chunk of a stage, both from 0, as launchers deal them: what is left over goes to the stages behind, the
 * last apart, and to the first chunks; of STAGES_SLOTS the first chunk and the last have one layer fewer. Pure. */
int64_t chunk_layers(const Model *model, const Shard *shard, int64_t virtual_stages, int64_t stage, int64_t chunk);

/* What a stage of a pipeline, from 0, computes over what the one that sets the pace does, in the same FLOPs: at most 1.
 * Layers are dealt as launchers do: what is left over goes to the stages behind, the last apart. 1 with one stage, and
 * where ranks hold two stages, which together are alike. Pure. */
double stage_share(const CostContext *setting, const Shard *shard, const Knobs *knobs, int64_t stage);

/* Seconds of a FLOP of a layer over those of a FLOP of the logits, by the ops of one sequence on one chip, which has as
 * many experts as a token meets, and by what a layer takes in addition. Work.layer_weight keeps it. */
double stage_layer_weight(const CostContext *setting, int64_t seq);

/* Resources of the fullest stage with every activation saved, memory rows included (activations saved in all layers of
 * the stage; with several stages each moment counts its own stage). Pure. */
void stage_resources(const CostContext *setting, const Shard *shard, const Knobs *knobs, const Sharding *sharding,
                     Resources *out);

/* The cost of having each activation again, with `offloadable` left false: it depends on the knobs' methods alone.
 * Pure. */
void activation_costs(const CostContext *setting, const Shard *shard, const Knobs *knobs, const Sharding *sharding,
                      ActivationCost costs[ACTIVATION_COUNT]);

/* Costs per layer and microbatch, indexed by Activation. */
void stage_activations(const CostContext *setting, const Shard *shard, const Knobs *knobs, const Sharding *sharding,
                       ActivationCost costs[ACTIVATION_COUNT]);

/* Adds to *resources the change from recomputing (or offloading) one activation in `count` of the fullest stage's
 * layers, as if the stage that is priced had as many. */
void resources_add_state(const ActivationCost *cost, ActivationState state, double count,
                         const double weights[MOMENT_COUNT], Resources *resources);
