/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/remat_offer.h: which activations launchers can be told to recompute or to offload. Pure.
 *
 * - maxtext: one policy for all layers (remat_policy=custom): the layer's input, qkv, context, middle, gate and up each
 *   kept, recomputed or offloaded; norms' outputs and products have no name and are always recomputed.
 * - megatron: nothing; whole layers, so many of a stage (--recompute-method block); modules in all layers (selective:
 *   layernorm, mlp or moe_act); of models all of whose layers have experts, the inputs of modules to the host instead.
 * - torchtitan: nothing, selective (op by op), full. deepspeed: nothing or full.
 * - jax: anything, by layer, so that where it is among those asked for layouts are free.
 * Which modules and tensors these are in our activations: cost/state/remat.c, with the sources. */
#pragma once

#include "base/arena.h"
#include "cost/state/remat.h"
#include "search/request/request.h"

/* What any of `launchers` can be told, in the arena; *out NULL: anything (jax, or no launchers). False: memory is out. */
bool launch_remat(LauncherSet launchers, const Model *model, Arena *arena, const RematOffer **out, Error *error);
