/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/jax/jax.h"

#include "search/answer/parameter_shards.h"
#include "search/launch/rules.h"

/* Some other dimension of each matrix may do as well. */
static bool jax_weights_divide(const PlanFacts *facts) {
    ParameterShards specs[PARAMETERS_MAX];
    const char *undivided;
    parameter_shards(facts->model, facts->plan, specs, &undivided);
    return !undivided;
}

const char *jax_refuses_degrees(const PlanFacts *facts) {
    REFUSE_UNLESS(facts_heads_divide(facts), REFUSES_HEADS);
    REFUSE_UNLESS(facts_kv_heads_divide(facts, true), REFUSES_KV_COPIES);
    REFUSE_UNLESS(facts->seq % facts->sequence == 0, "sequence has to divide the tokens of a sequence");
    return NULL;
}

/* One writes the program oneself: what divides can be said. Stages are one stacked array, so they are even; nobody has
 * written ZB-H1 or DualPipe in it. */
const char *jax_refuses(const PlanFacts *facts) {
    REFUSE_UNLESS(facts_runs(facts, 1u << SCHEDULE_GPIPE | 1u << SCHEDULE_1F1B | 1u << SCHEDULE_INTERLEAVED |
                                        1u << SCHEDULE_CIRCULAR),
                  "nobody has written this schedule in JAX: gpipe, 1f1b, interleaved or circular");
    REFUSE_UNLESS(facts_even_stages(facts), REFUSES_UNEVEN_STAGES);
    REFUSE_UNLESS(facts_weights_divide(facts) || jax_weights_divide(facts),
                  "a sharded dimension has to divide: fsdp, sequence or expert divides none of some matrix");
    return NULL;
}
