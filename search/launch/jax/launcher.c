/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/jax/jax.h"

#include "search/launch/placement.h"

/* AXLearn 34aed43c experiments/text/gpt/common.py: pipeline, data, expert, fsdp, seq, model. */
#define ORDER                                                                                                          \
    {                                                                                                                  \
        { ROLE_TENSOR, ROLE_SEQUENCE, ROLE_FSDP, ROLE_EXPERT, ROLE_DATA, ROLE_PIPELINE }                               \
    }

static void ways(const LaunchAsk *ask, LaunchWays *out) {
    static const Nesting NESTING = ORDER;
    launch_on_device_mesh(ask, &NESTING, "allow_split_physical_axes=True", out);
}

const Launcher JAX_LAUNCHER = {
    .name = "jax",
    .nestings = {{.name = "jax", .order = ORDER}},
    .refuses_degrees = jax_refuses_degrees,
    .refuses = jax_refuses,
    .ways = ways,
    .device_order = "an array of devices in the plan's order",
    .signs = {"MESH_AXES"},
    .import_work = jax_work,
    .import_plan = jax_plan,
    .formats = {{"jax", emit_jax, emit_jax_notes, "a Python module: mesh, PartitionSpecs, remat, schedule", "plan.py"}},
};
