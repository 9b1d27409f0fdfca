/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/jax/code.h: the parts of the emitted Python module that are the same for every plan. */
#pragma once

#include <stdio.h>

void jax_write_head(FILE *out);      /* docstring and imports */
void jax_write_spec(FILE *out);      /* spec(): roles to a PartitionSpec; wants ROLES */
void jax_write_functions(FILE *out); /* devices, mesh, shardings, remat, --check */
