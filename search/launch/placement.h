/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/placement.h: where launchers put the roles of a plan by themselves, and what has to be told them to put
 * them where the plan has them. Pure.
 *
 * What is assumed of each (reference/exports.md, topology.md sections 2 and 3, at the commits named there):
 * - maxtext and jax on TPUs: create_device_mesh (mesh/jax_mesh.h) on the mesh's degrees in the launcher's axis order,
 *   create_hybrid_device_mesh over slices. The ici and dcn degrees are separate settings, so the plan's own division is
 *   what the launcher is given. allow_split_physical_axes changes nothing where whole axes do; where they do not, it is
 *   an option that must be set. MaxText takes no device array, so any other placement is beyond it (but for its
 *   custom_mesh); in JAX one builds the array of devices oneself.
 * - maxtext and jax on GPUs: each scale-up domain is a slice (JAX groups devices by slice_index), so that ici and dcn
 *   degrees say what lies inside and what crosses.
 * - megatron, torchtitan, deepspeed: rank 0, 1, ... in the launcher's order of axes, consecutive ranks on a node (as
 *   torchrun numbers them). Which node comes when, and which GPU within its node, a host file or CUDA_VISIBLE_DEVICES
 *   can say; what shares a node follows from the order of axes alone. */
#ifndef SHARDOPT_SEARCH_LAUNCH_PLACEMENT_H
#define SHARDOPT_SEARCH_LAUNCH_PLACEMENT_H

#include "cost/time/step.h"
#include "search/answer/ranked_plan.h"

/* The order in which a launcher nests roles, by its name (mesh/nesting.h). */
const char *launcher_nesting(Launcher launcher);

/* One placement that a launcher makes of given degrees, to be read with its own nesting. */
typedef struct {
    Placement placement;
    Nesting nesting;
    const char *option; /* NULL: none is needed */
} LaunchWay;
enum { LAUNCH_WAYS_MAX = 3 };

/* The placements that a launcher makes of the degrees of `placement` (and of their division over DCN or nodes, where
 * that is told it), its own first. Returns how many; 0: its own cannot be written as factors of axes, and *unpriced says
 * why. `chip`: the catalog's name. */
int launch_ways(Launcher launcher, const Mesh *mesh, const char *chip, const Placement *placement,
                LaunchWay ways[LAUNCH_WAYS_MAX], const char **unpriced);

/* Whether two placements put the same groups on the same chips: on every axis the same factors in the same order, on a
 * switch the same factors (which chip has which port makes no difference), and equal axes may trade places. */
bool placements_alike(const Mesh *mesh, const Placement *a, const Nesting *nesting_a, const Placement *b,
                      const Nesting *nesting_b);

/* Of each of `count` placements, all of one tuple of degrees: those of `launchers` that can be made to place roles so, by
 * any of their ways or by a device order. JAX always can. */
void launchers_placing(LauncherSet launchers, const NestedMesh *nested_mesh, const char *chip,
                       const Placement *placements, int64_t count, LauncherSet *out);

/* How `launcher` would place the plan whose step has this rule and these resources. */
LaunchAnswer launch_answer(Launcher launcher, const NestedMesh *nested_mesh, const char *chip, const Plan *plan,
                           const StepRule *rule, const Resources *resources);

#endif
