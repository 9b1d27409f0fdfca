/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/jax/jax.h: a program in plain JAX. Internal to its folder, and for tests. */
#pragma once

#include "search/launch/emit.h"
#include "search/launch/import.h"

extern const Launcher JAX_LAUNCHER;

const char *jax_refuses_degrees(const PlanFacts *facts);
const char *jax_refuses(const PlanFacts *facts);
EmitWriter emit_jax;
EmitNoter emit_jax_notes;
bool jax_work(ConfigFile *file, ImportedWork *out, Error *error);
bool jax_plan(ConfigFile *file, const Request *request, ImportedPlan *out, Error *error);
