/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/deepspeed/deepspeed.h: DeepSpeed. Internal to its folder, and for tests. */
#pragma once

#include "search/launch/emit.h"
#include "search/launch/import.h"

extern const Launcher DEEPSPEED_LAUNCHER;

const char *deepspeed_refuses_degrees(const PlanFacts *facts);
const char *deepspeed_refuses(const PlanFacts *facts);
bool deepspeed_offloads_optimizer(const PlanFacts *facts);
void deepspeed_plan_words(const Request *request, const RankedPlan *ranked, Prose *to);
EmitWriter emit_deepspeed;
EmitNoter emit_deepspeed_notes;
bool deepspeed_work(ConfigFile *file, ImportedWork *out, Error *error);
bool deepspeed_plan(ConfigFile *file, const Request *request, ImportedPlan *out, Error *error);
