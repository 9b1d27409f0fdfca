/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/placement.h: where launchers put the roles of a plan by themselves, and what has to be set to put
 * them where the plan has them. Pure.
 *
 * What is assumed of each (docs/model.md, "Where launchers place roles"; docs/launch.md has the commits):
 * - those in JAX on TPUs: create_device_mesh (mesh/jax_mesh.h) on the mesh's degrees in the launcher's axis order,
 *   create_hybrid_device_mesh over slices. The ici and dcn degrees are separate settings, so the plan's own division is
 *   what the launcher is given. allow_split_physical_axes changes nothing where whole axes do; where they do not, it is
 *   an option that must be set.
 * - those in JAX on GPUs: each scale-up domain is a slice (JAX groups devices by slice_index), so that ici and dcn
 *   degrees say what lies inside and what crosses.
 * - all others: rank 0, 1, ... in the launcher's order of axes, consecutive ranks on a node (as torchrun numbers them).
 *   Which node comes when, and which GPU within its node, a host file or CUDA_VISIBLE_DEVICES can say; what shares a
 *   node follows from the order of axes alone. */
#pragma once

#include "mesh/jax_mesh.h"
#include "search/launch/launcher.h"

/* What a launcher is requested to do: to place the degrees of `placement`, and their division over DCN or nodes where
 * it is set. */
struct LaunchAsk {
    const Mesh *mesh;
    const char *chip; /* the catalog's name */
    const Placement *placement;
};

/* One placement that a launcher makes of given degrees, to be read with its own nesting. */
struct LaunchWay {
    Placement placement;
    Nesting nesting;
    const char *option; /* that it has to be given, as it spells it; NULL: none */
};

/* The placements that it makes of them, its own first. */
enum { LAUNCH_WAYS_MAX = 3 };
struct LaunchWays {
    LaunchWay way[LAUNCH_WAYS_MAX];
    int count;
    bool without_own;     /* its own cannot be written as factors of axes: way[0] is one that is set */
    bool order_unknown;   /* its own order of devices is one that factors do not write, whatever the roles */
    const char *unpriced; /* why its own is not there */
};

void launch_ways(int launcher, const LaunchAsk *ask, LaunchWays *out);

/* Whether two placements put the same groups on the same chips: on every axis the same factors in the same order, on a
 * switch the same factors (which chip has which port makes no difference), and equal axes may trade places. */
bool placements_alike(const Mesh *mesh, const Placement *a, const Nesting *nesting_a, const Placement *b,
                      const Nesting *nesting_b);

/* Whether axes may trade places: only their names and where they stand differ. */
bool axes_equal(const Axis *a, const Axis *b);

bool mesh_of_tpus(const Mesh *mesh);

/* Whether it places whatever is requested. */
bool launcher_places_all(const Launcher *launcher, const Mesh *mesh);

/* ---- for launchers in JAX ---- */

/* Adds where JAX's own mesh of devices puts roles that nest so; `split`: the option where it has to split axes. */
void launch_on_device_mesh(const LaunchAsk *ask, const Nesting *nesting, const char *split, LaunchWays *out);

/* The degrees inside a slice as mesh_shape has them: the outermost role first. */
JaxShape launch_ici_shape(const Mesh *mesh, const Placement *placement, const Nesting *nesting);

/* Adds the assignment inside every slice, with the DCN as it is requested. */
void launch_add_assignment(const LaunchAsk *ask, const Nesting *nesting, const JaxAssignment *assignment,
                           const char *option, LaunchWays *out);
