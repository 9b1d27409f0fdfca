/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/jax/jax.h: a program in plain JAX. Internal to its folder. */
#pragma once

#include "search/launch/keys.h"

EmitWriter jax_write;
EmitNoter jax_notes;
ImportWork jax_work;
ImportPlan jax_plan;
enum { TERM_STAGE_LAYERS = TERM_OWN };
extern const LaunchKey JAX_KEYS[];

/* Parts of the emitted Python module that are the same for every plan. */
void jax_write_head(FILE *out);      /* docstring and imports */
void jax_write_spec(FILE *out);      /* spec(): roles to a PartitionSpec; wants ROLES */
void jax_write_functions(FILE *out); /* devices, mesh, shardings, remat, --check */
