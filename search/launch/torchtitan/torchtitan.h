/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/torchtitan/torchtitan.h: torchtitan. Internal to its folder, and for tests. */
#pragma once

#include "search/launch/emit.h"
#include "search/launch/import.h"

extern const Launcher TORCHTITAN_LAUNCHER;

const char *torchtitan_refuses_degrees(const PlanFacts *facts);
const char *torchtitan_refuses(const PlanFacts *facts);
bool torchtitan_offloads_optimizer(const PlanFacts *facts);
void torchtitan_remat_rules(RematList *list, const Model *model);
const char *torchtitan_remat_words(const Model *model, const Layout *layout, char text[REMAT_TEXT_SIZE]);
void torchtitan_plan_words(const Request *request, const RankedPlan *ranked, Prose *to);
EmitWriter emit_torchtitan, emit_torchtitan_toml;
EmitNoter emit_torchtitan_notes, emit_torchtitan_toml_notes;
bool torchtitan_work(ConfigFile *file, ImportedWork *out, Error *error);
bool torchtitan_plan(ConfigFile *file, const Request *request, ImportedPlan *out, Error *error);
