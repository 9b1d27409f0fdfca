/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/state/remat.h: names for which activations are saved, recomputed and offloaded. A policy may be required of
 * every plan (--remat); where none is, the layout decides, and its outcome is named by the policy it equals. */
#ifndef SHARDOPT_COST_STATE_REMAT_H
#define SHARDOPT_COST_STATE_REMAT_H

#include "base/error.h"
#include "cost/plan/plan.h"
#include "models/model.h"

/* A state for each activation. `layers` 0: in all layers; else in so many of the fullest stage (all, where it has
 * fewer) and everything saved in the rest, as Megatron's --recompute-method block does. */
typedef struct {
    bool required; /* false: the layout decides, and the rest says nothing */
    ActivationState state[ACTIVATION_COUNT];
    int64_t layers;
} RematRule;

/* Rules of which every layout follows one: what a launcher can be told. Its shardings are plain too: tables split by
 * vocabulary, activations that move over tensor, KV heads split or copied. */
typedef struct {
    const RematRule *rules;
    int count;
    bool has[ACTIVATION_COUNT][STATE_COUNT]; /* whether one of the rules holds an activation so */
    bool by_chunk;    /* layers of a stage are counted by its chunks: as many of each (Megatron's block) */
    bool first_least; /* the first keeps whatever another one keeps: where it fits, none is faster */
} RematOffer;

/* An offer of these rules, which stay the caller's. */
RematOffer remat_offer(const RematRule *rules, int count, bool by_chunk);

/* "auto"; the name of a policy ("full", "save_qkv_proj"), also for some layers alone ("full:40"); or states by
 * activation ("qkv=saved context=saved"), where what is not named is recomputed, as in MaxText's `custom`. False:
 * *error says what would be right. */
bool remat_parse(const char *text, const char *where, RematRule *out, Error *error);

enum { REMAT_TEXT_SIZE = 512 };
/* As remat_parse() reads it. Returns `text`. */
const char *remat_text(const RematRule *rule, char text[REMAT_TEXT_SIZE]);

/* Whether a layer of the model has such an activation at all, in one of its kinds. */
bool activation_exists(const Model *model, Activation activation);

/* The policy that a layout equals ("none", "full", "full:40"), or "custom". Returns `text`. */
const char *remat_name(const Model *model, const Layout *layout, char text[REMAT_TEXT_SIZE]);

/* How many layers of a stage with `layers` hold an activation in each state under a required rule. */
void remat_layers(const RematRule *rule, Activation activation, int64_t layers, int64_t out[STATE_COUNT]);

/* How a launcher is told to do what the layout does: "remat_policy=full", "--recompute-granularity full ..."; NULL: it
 * has no word for it. `launcher` is "maxtext", "megatron" or "torchtitan". */
const char *remat_for_launcher(const Model *model, const Layout *layout, const char *launcher,
                               char text[REMAT_TEXT_SIZE]);

/* MaxText's names for the tensors of an activation, NULL behind the last (or after REMAT_TENSORS_MAX); none: it has no
 * word for it. */
enum { REMAT_TENSORS_MAX = 6 };
const char *const *remat_maxtext_tensors(Activation activation);
const char *remat_maxtext_state(ActivationState state); /* "device" "remat" "offload" */

/* Of the states in which a layout has an activation the one that keeps least in HBM: what one policy for all layers has
 * to say so that they fit. */
ActivationState layout_least(const Layout *layout, Activation activation);

/* Megatron's modules, recomputed in all layers (--recompute-modules). `layernorm`: input norm and the one before the
 * MLP; `moe_act`: the experts' non-linearity; `mlp`: a dense MLP. */
typedef enum { MEGATRON_LAYERNORM = 1, MEGATRON_MOE_ACT = 2, MEGATRON_MLP = 4, MEGATRON_NONE = 8 } MegatronModule;
/* The set of modules that have to be recomputed so that an activation is given up; MEGATRON_NONE: that needs whole
 * layers. */
unsigned remat_megatron_modules(const Model *model, Activation activation);

/* The module whose input an activation is (--offload-modules); NULL: none. */
const char *remat_megatron_input(const Model *model, Activation activation);
/* Whether it can send a set of activations, a bit each, to the host in all layers. */
bool remat_megatron_offloads(const Model *model, unsigned activations);

/* Whether torchtitan's selective checkpointing, op by op, makes an activation again. */
bool remat_torchtitan_selective(Activation activation);

#endif
