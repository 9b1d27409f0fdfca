/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/maxtext/maxtext.h"

#include "search/launch/placement.h"

#include <string.h>

/* e591f30cb src/maxtext/configs/base.yml, mesh_axes from data to expert, of which JAX makes the last the innermost;
 * types.py (0.2.5) moves `stage` in front of `data` where there are stages. */
#define ORDER                                                                                                          \
    {                                                                                                                  \
        { ROLE_EXPERT, ROLE_TENSOR, ROLE_SEQUENCE, ROLE_FSDP, ROLE_DATA, ROLE_PIPELINE }                               \
    }

/* It takes no device array: beside JAX's own mesh there are its custom ones. */
void maxtext_ways(const LaunchAsk *ask, LaunchWays *out) {
    static const Nesting NESTING = ORDER;
    launch_on_device_mesh(ask, &NESTING, "allow_split_physical_axes=true", out);
    if (out->order_unknown || !mesh_of_tpus(ask->mesh)) return;
    JaxShape physical = jax_physical_shape(ask->mesh), logical = launch_ici_shape(ask->mesh, ask->placement, &NESTING);
    JaxAssignment assignment;
    const char *custom = maxtext_custom_mesh(&physical, &logical, &assignment);
    if (custom)
        launch_add_assignment(ask, &NESTING, &assignment,
                              strcmp(custom, "hybrid_ring_64x4") == 0
                                  ? "allow_split_physical_axes=true custom_mesh=hybrid_ring_64x4"
                                  : "allow_split_physical_axes=true custom_mesh=hybrid_ring_32x8",
                              out);
}

const Launcher MAXTEXT_LAUNCHER = {
    .name = "maxtext",
    .usual_on_tpus = true,
    .nestings = {{.name = "maxtext", .order = ORDER}},
    .refuses_degrees = maxtext_refuses_degrees,
    .refuses = maxtext_refuses,
    .ways = maxtext_ways,
    .told_domains = true,
    .remat = maxtext_remat_rules,
    .remat_words = maxtext_remat_words,
    .plan_words = maxtext_plan_words,
    .signs = {"ici_", "dcn_", "per_device_batch_size", "max_target_length", "remat_policy"},
    .import_work = maxtext_work,
    .import_plan = maxtext_plan,
    .import_way = maxtext_import_way,
    .formats = {{"maxtext", emit_maxtext, emit_maxtext_notes, "a YAML file for MaxText's trainer", "run.yml"}},
};
