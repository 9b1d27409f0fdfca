/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/megatron/megatron.h: Megatron-LM. Internal to its folder, and for tests. */
#pragma once

#include "search/launch/emit.h"
#include "search/launch/import.h"

extern const Launcher MEGATRON_LAUNCHER;

const char *megatron_refuses_degrees(const PlanFacts *facts);
const char *megatron_refuses(const PlanFacts *facts);
bool megatron_offloads_optimizer(const PlanFacts *facts);
void megatron_remat_rules(RematList *list, const Model *model);
const char *megatron_remat_words(const Model *model, const Layout *layout, char text[REMAT_TEXT_SIZE]);
void megatron_plan_words(const Request *request, const RankedPlan *ranked, Prose *to);
EmitWriter emit_megatron;
EmitNoter emit_megatron_notes;
bool megatron_work(ConfigFile *file, ImportedWork *out, Error *error);
bool megatron_plan(ConfigFile *file, const Request *request, ImportedPlan *out, Error *error);
/* Its recomputation; recompute-num-layers counts in each of the `chunks` of layers that a stage has. */
bool megatron_import_remat(ConfigFile *file, const Request *request, int64_t chunks, ImportedPlan *plan, Error *error);

/* Modules, recomputed in all layers (--recompute-modules). `layernorm`: input norm and the one before the MLP;
 * `moe_act`: the experts' non-linearity; `mlp`: a dense MLP. */
typedef enum { MEGATRON_LAYERNORM = 1, MEGATRON_MOE_ACT = 2, MEGATRON_MLP = 4, MEGATRON_NONE = 8 } MegatronModule;
/* The set of modules that have to be recomputed so that an activation is given up; MEGATRON_NONE: that needs whole
 * layers. */
unsigned megatron_modules(const Model *model, Activation activation);

/* The module whose input an activation is (--offload-modules); NULL: none. */
const char *megatron_input(const Model *model, Activation activation);
/* Whether it can send a set of activations, a bit each, to the host in all layers. */
bool megatron_offloads(const Model *model, unsigned activations);
