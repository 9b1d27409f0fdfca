/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/state/remat.h: names for the choice of activations that are saved, recomputed and offloaded. A policy may be
 * required of every plan (--remat); without one the layout decides, and its outcome is named by the policy it
 * equals. */
#pragma once

#include "base/error.h"
#include "cost/plan/plan.h"
#include "models/model.h"

/* A state for each activation. `layers` 0 means all layers; any other number means that many layers of the fullest
 * stage (all, where it has fewer), with everything saved in the rest, as Megatron's --recompute-method block does. */
typedef struct {
    bool required; /* false means that the layout decides; the other members then mean nothing */
    ActivationState state[ACTIVATION_COUNT];
    int64_t layers;
} RematRule;

/* Rules, one of which every layout follows: the choices that a launcher accepts. Its shardings are plain too: tables
 * split by vocabulary, activations that move over tensor, KV heads split or copied. */
typedef struct {
    const RematRule *rules;
    int count;
    bool has[ACTIVATION_COUNT][STATE_COUNT]; /* whether one of the rules holds an activation in this state */
    bool by_chunk;    /* layers of a stage are counted by its chunks: the same number of each (Megatron's block) */
    bool first_least; /* the first rule keeps whatever another one keeps: where it fits, no other rule is faster */
} RematDomain;

/* An offer of these rules, which stay the caller's. */
RematDomain remat_domain(const RematRule *rules, int count, bool by_chunk);

/* Reads "auto"; the name of a policy ("full", "save_qkv_proj"), also for some layers alone ("full:40"); or states by
 * activation ("qkv=saved context=saved"), where unnamed activations are recomputed, as in MaxText's `custom`. False
 * means that *error says what would be right. */
bool remat_parse(const char *text, const char *where, RematRule *out, Error *error);

enum { REMAT_TEXT_SIZE = 512 };
/* Writes the rule as remat_parse() reads it. Returns `text`. */
const char *remat_text(const RematRule *rule, char text[REMAT_TEXT_SIZE]);

/* Whether a layer of the model, in one of its kinds, has such an activation. */
bool activation_exists(const Model *model, Activation activation);

/* The policy that a layout equals ("none", "full", "full:40"), or "custom". Returns `text`. */
const char *remat_name(const Model *model, const Layout *layout, char text[REMAT_TEXT_SIZE]);

/* How many layers of a stage with `layers` hold an activation in each state under a required rule. */
void remat_layers(const RematRule *rule, Activation activation, int64_t layers, int64_t out[STATE_COUNT]);

/* The same as the policy alone: "full"; NULL: none. *layers: of how many layers of a stage; 0: of all. */
const char *remat_policy(const Model *model, const Layout *layout, int64_t *layers);

/* Among the states in which a layout has an activation, the one that keeps the fewest bytes in HBM: one policy for all
 * layers has to say this so that they fit. */
ActivationState layout_least(const Layout *layout, Activation activation);

/* The state of an activation under selective checkpointing op by op, as PyTorch does it. */
ActivationState remat_selective_by_op(Activation activation);
