/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/megatron/megatron.h: Megatron-LM. Internal to its folder.
 * Flags and their rules: Megatron-LM d98e8a64dd and megatron-core 0.16.1 (core/transformer/transformer_config.py,
 * core/model_parallel_config.py, core/distributed/distributed_data_parallel_config.py, training/arguments.py). */
#pragma once

#include "search/launch/keys.h"

EmitWriter megatron_write;
EmitNoter megatron_notes;

/* ---- what it can express of recomputation ---- */

void megatron_remat_rules(RematList *list, const Model *model);
const char *megatron_remat_words(const Model *model, const Layout *layout, char text[REMAT_TEXT_SIZE]);
/* Its recomputation; recompute-num-layers counts in each of the `chunks` of layers that a stage has. */
bool megatron_import_remat(ConfigFile *file, const Request *request, const LaunchTerms *terms, int64_t chunks,
                           ImportedPlan *plan, Error *error);

/* Recomputation and offloading: the nearest that keeps no more than the plan does, so that memory still fits. */
EmitRefusal megatron_cannot_offload; /* a sentence where nothing keeps so little; NULL */
void megatron_write_activations(const LaunchJob *job, FILE *out);
void megatron_note_activations(const LaunchJob *job, EmitNotes *notes);

/* ---- its keys ---- */

/* Whether queries share keys and values, the residual stream is split over tensor, stages nest inside data, embedding
 * and loss take the place of a layer, FSDP is used, the optimizer's state is distributed; how FSDP's ranks share, and
 * how the groups of them do, and how many groups; whether gradients are bf16; recomputation, its layers of a chunk, and
 * an older word for selective; how tokens go to experts, by whose kernels, with which probabilities, what is fused, and
 * whether their exchanges run alongside compute; weights in fp8 alone, gathered through buffers of gradients. */
enum { TERM_GROUPED = TERM_OWN, TERM_ALONG, TERM_STAGES_INSIDE, TERM_EMBEDDING_SLOT, TERM_LOSS_SLOT, TERM_BY_FSDP };
enum { TERM_DISTRIBUTED = TERM_BY_FSDP + 1, TERM_STRATEGY, TERM_OUTER, TERM_INSTANCES, TERM_HALF, TERM_GRANULARITY };
enum { TERM_METHOD = TERM_GRANULARITY + 1, TERM_RECOMPUTED, TERM_SELECTIVE, TERM_DISPATCHER, TERM_BACKEND };
enum { TERM_ROUTER = TERM_BACKEND + 1, TERM_PERMUTE_FUSED, TERM_ROUTER_FUSED, TERM_EXPERTS_OVERLAP, TERM_NARROW };
enum { TERM_REUSES = TERM_NARROW + 1, TERM_MASTER, TERM_FIRST, TERM_SECOND }; /* dtypes of state */
enum { STRATEGY_NONE, STRATEGY_OPTIM, STRATEGY_GRADS, STRATEGY_ALL };         /* what is sharded: ZeRO's stages */
enum { GRANULARITY_NONE, GRANULARITY_SELECTIVE, GRANULARITY_FULL };
enum { METHOD_NONE, METHOD_UNIFORM, METHOD_BLOCK };
enum { DISPATCHER_ALL_GATHER, DISPATCHER_ALL_TO_ALL, DISPATCHER_FLEX };
enum { BACKEND_DEEPEP, BACKEND_HYBRIDEP };
extern const LaunchKey MEGATRON_KEYS[];
