/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/maxtext/maxtext.h: MaxText. Internal to its folder, and for tests. */
#pragma once

#include "search/launch/emit.h"
#include "search/launch/import.h"

extern const Launcher MAXTEXT_LAUNCHER;

const char *maxtext_refuses_degrees(const PlanFacts *facts);
const char *maxtext_refuses(const PlanFacts *facts);
void maxtext_ways(const LaunchAsk *ask, LaunchWays *out);
void maxtext_remat_rules(RematList *list, const Model *model);
const char *maxtext_remat_words(const Model *model, const Layout *layout, char text[REMAT_TEXT_SIZE]);
void maxtext_plan_words(const Request *request, const RankedPlan *ranked, Prose *to);
EmitWriter emit_maxtext;
EmitNoter emit_maxtext_notes;
bool maxtext_work(ConfigFile *file, ImportedWork *out, Error *error);
bool maxtext_plan(ConfigFile *file, const Request *request, ImportedPlan *out, Error *error);
bool maxtext_import_way(ConfigFile *file, const Request *request, const ImportedPlan *plan, const LaunchWays *ways,
                        const LaunchWay **out, Error *error);

/* Its names for the tensors of an activation, NULL after the last (or after MAXTEXT_TENSORS_MAX); none: it has no word
 * for it. */
enum { MAXTEXT_TENSORS_MAX = 6 };
const char *const *maxtext_tensors(Activation activation);
const char *maxtext_state(ActivationState state); /* "device" "remat" "offload" */
