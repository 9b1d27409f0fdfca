/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/jax/jax.h: a program in plain JAX. Internal to its folder. */
#pragma once

#include "search/launch/keys.h"

EmitWriter jax_write;
EmitNoter jax_notes;
enum { TERM_STAGE_LAYERS = TERM_OWN };
extern const LaunchKey JAX_KEYS[];

/* Parts of the emitted Python module that are the same for every plan. */
void jax_write_head(FILE *out);      /* docstring and imports */
void jax_write_spec(FILE *out);      /* spec(): roles to a PartitionSpec; wants ROLES */
void jax_write_functions(FILE *out); /* devices, mesh, shardings, remat, --check */

/* ---- the axes of a plan's jax.sharding.Mesh, and where each lies on the machine ----
 *
 * A role is one axis, unless a part of its ranks is grouped apart (a folded expert grid, heads exchanged inside a
 * ring): then one for each part. */

enum { JAX_AXES_MAX = 16, JAX_PIECES_MAX = 16, JAX_NAME_SIZE = 32 };

/* Of a folded grid, innermost first; of `usp` ULYSSES inside and RING outside; else PART_ALL. */
typedef enum { PART_EXPERT_TENSOR, PART_EXPERT, PART_WEIGHTS, PART_COPIES, PART_ULYSSES, PART_RING, PART_ALL } RolePart;

typedef struct {
    char name[JAX_NAME_SIZE];
    Role role;
    RolePart part;
    int64_t size;
} JaxAxis;

typedef struct {
    JaxAxis axes[JAX_AXES_MAX]; /* outermost first */
    int axis_count;
    struct {
        const char *name; /* of the physical axis */
        int64_t size;
        struct {
            int axis; /* of the mesh */
            int64_t size;
        } pieces[JAX_PIECES_MAX]; /* outermost first */
        int piece_count;
    } physical[MESH_AXES_MAX]; /* in JAX's order: what joins slices or nodes, x, y, z, cores */
    int physical_count;
} JaxAxes;

/* False: a folded grid cuts a role's ranks where they do not divide. */
bool jax_axes_of(const RankedPlan *ranked, JaxAxes *out);
