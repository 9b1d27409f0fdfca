/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/jax/jax.h"

#include "search/answer/parameter_shards.h"
#include "search/launch/placement.h"
#include "search/launch/rules.h"

/* ---- what it refuses ---- */

/* Some other dimension of each matrix may do as well. */
static bool weights_divide(const PlanFacts *facts) {
    ParameterShards specs[PARAMETERS_MAX];
    const char *undivided;
    parameter_shards(facts->model, facts->plan, specs, &undivided);
    return !undivided;
}

static const char *refuses_degrees(const PlanFacts *facts) {
    REFUSE_UNLESS(facts_heads_divide(facts), REFUSES_HEADS);
    REFUSE_UNLESS(facts_kv_heads_divide(facts, true), REFUSES_KV_COPIES);
    REFUSE_UNLESS(facts->seq % facts->sequence == 0, "sequence has to divide the tokens of a sequence");
    return NULL;
}

/* One writes the program oneself: what divides can be said. Stages are one stacked array, so they are even; nobody has
 * written ZB-H1 or DualPipe in it. */
static const char *refuses(const PlanFacts *facts) {
    REFUSE_UNLESS(facts_runs(facts, 1u << SCHEDULE_GPIPE | 1u << SCHEDULE_1F1B | 1u << SCHEDULE_INTERLEAVED |
                                        1u << SCHEDULE_CIRCULAR),
                  "nobody has written this schedule in JAX: gpipe, 1f1b, interleaved or circular");
    REFUSE_UNLESS(facts_even_stages(facts), REFUSES_UNEVEN_STAGES);
    REFUSE_UNLESS(facts_weights_divide(facts) || weights_divide(facts),
                  "a sharded dimension has to divide: fsdp, sequence or expert divides none of some matrix");
    return NULL;
}

/* AXLearn 34aed43c experiments/text/gpt/common.py: pipeline, data, expert, fsdp, seq, model. */
#define ORDER                                                                                                          \
    {                                                                                                                  \
        { ROLE_TENSOR, ROLE_SEQUENCE, ROLE_FSDP, ROLE_EXPERT, ROLE_DATA, ROLE_PIPELINE }                               \
    }

#define KEY_WITH(comment, key, term, kind, low, high, absent)                                                          \
    { key, term, 's', kind, low, high, absent, NULL, "  # " comment }
const LaunchKey JAX_KEYS[] = {
    KEY_WITH("of one step", "SEQUENCES", TERM_BATCH, KEY_WHOLE, 1, INT64_C(1) << 40, 0),
    KEY_SIZE('s', "SEQUENCE_LENGTH", TERM_SEQ),
    KEY_WITH("of each replica", "MICROBATCHES", TERM_MICROBATCHES, KEY_WHOLE, 1, 0, 0),
    KEY_NUMBER('s', "MICROBATCH_SEQUENCES", TERM_MICRO, 1, INT64_C(1) << 32, 0),
    {"SCHEDULE", TERM_SCHEDULE, 's', KEY_KNOB, KNOB_SCHEDULE, 0, SCHEDULE_NONE, NULL, NULL},
    KEY_NUMBER('s', "VIRTUAL_STAGES", TERM_VIRTUAL_STAGES, 1, 1 << 20, 1),
    KEY_WRITTEN('s', "LAYERS_PER_STAGE", TERM_STAGE_LAYERS),
    KEY_WITH("over data: 1 shards the optimizer's state, 2 gradients too", "ZERO_STAGE", TERM_ZERO, KEY_WHOLE, 0, 2, 0),
    KEY_WITH("weights come together again for backward", "REGATHER", TERM_REGATHER, KEY_SWITCH, 0, 1, 1),
    KEY_FLAG('s', "OFFLOAD_OPTIMIZER", TERM_OFFLOAD),
    {"CONTEXT_METHOD", TERM_CONTEXT, 's', KEY_KNOB, KNOB_CONTEXT_METHOD, 0, CONTEXT_NONE, NULL, NULL},
    KEY_DEGREE('s', "ULYSSES", TERM_ULYSSES),
    KEY_WITH("matmuls in chunks beside their collectives", "TENSOR_OVERLAP", TERM_OVERLAP, KEY_SWITCH, 0, 1, 0),
    {NULL},
};

static void ways(const LaunchAsk *ask, LaunchWays *out) {
    static const Nesting NESTING = ORDER;
    launch_on_device_mesh(ask, &NESTING, "allow_split_physical_axes=True", out);
}

const Launcher JAX_LAUNCHER = {
    .name = "jax",
    .nestings = {{.name = "jax", .order = ORDER}},
    .refuses_degrees = refuses_degrees,
    .refuses = refuses,
    .ways = ways,
    .device_order = "an array of devices in the plan's order",
    .signs = {"MESH_AXES"},
    .keys = JAX_KEYS,
    .import_work = jax_work,
    .import_plan = jax_plan,
    .formats = {{"jax", jax_write, jax_notes, "a Python module: mesh, PartitionSpecs, remat, schedule", "plan.py"}},
};
