/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/rules.h: what the rules of launchers look at, and the rules that several of them have. Pure.
 *
 * A launcher has a rule when its framework raises on it, or when it has no words for the plan; the file that raises is
 * named. What the rules are silent on the launcher takes. Only degrees, knobs and padding are looked at: whether a
 * launcher can put roles where the plan has them is a matter of its own (search/launch/placement.h). A plan is taken as
 * our roles mean it: sequence and expert shard parameters and optimizer as fsdp does.
 *
 * Sources, at the commits as read: MaxText e591f30cb and the release 0.2.5, JAX cec06d116c, Megatron-LM d98e8a64dd,
 * torchtitan b5bcd76c, DeepSpeed edaa72212 and the release 0.19.8. */
#pragma once

#include "search/launch/launcher.h"

struct PlanFacts {
    const Model *model;
    const Plan *plan;
    const Methods *methods; /* the plan's */
    bool tpu;
    int64_t tensor, expert, sequence, fsdp, data, pipeline;
    int64_t seq;
    bool emerging;  /* Work */
    int64_t chunks; /* pipeline stages, virtual ones counted */
};

/* Inside a function that returns what a launcher says no to, as a sentence about the plan. */
#define REFUSE_UNLESS(holds, sentence)                                                                                 \
    do {                                                                                                               \
        if (!(holds)) return (sentence);                                                                               \
    } while (0)

#define REFUSES_HEADS "heads stay whole on a chip: tensor has to divide the number of heads"
#define REFUSES_KV_HEADS "KV heads are split over tensor: tensor has to divide their number"
#define REFUSES_KV_COPIES "KV heads are split or copied over tensor: one of the two numbers has to divide the other"
#define REFUSES_UNEVEN_STAGES "stages are equal: pipeline x virtual stages has to divide the layers"

#define REFUSES_MOMENTS                                                                                                \
    "torch makes moments like the weights that it updates: fp32, or bf16 with --state-dtypes \"master=none "           \
    "moments=bf16\""
#define REFUSES_KEPT_WEIGHTS "it gathers sharded weights again for backward: they are not kept from forward on"

/* heads % tensor, for every kind of layer. */
bool facts_heads_divide(const PlanFacts *facts);

/* KV heads % tensor; `copies`: or tensor % KV heads, every chip with a copy of the head it needs. Latent attention has
 * no KV heads of its own: each query head has its keys and values. */
bool facts_kv_heads_divide(const PlanFacts *facts, bool copies);

/* Heads that stay on a chip of a tensor group can be dealt to the chips that exchange them; KV heads likewise. */
bool facts_ulysses_divides(const PlanFacts *facts);

/* Of MaxText base.yml, where fsdp, context and expert shard the d_model side of weights; JAX refuses a rest. */
bool facts_weights_divide(const PlanFacts *facts);

/* Whether one of these schedules runs, a bit each; without stages there is none. */
bool facts_runs(const PlanFacts *facts, unsigned schedules);

bool facts_even_stages(const PlanFacts *facts);

/* Whether sequence shards parameters, as fsdp does. */
bool facts_sequence_shards(const PlanFacts *facts);

/* Whether the state that is said is what torch's optimizers make: moments like the weights that they update, which are
 * fp32 or, without a master, bf16. `lies`: bf16 is what is kept where nothing is said. */
bool state_as_torch_makes(const Request *request, bool lies);

/* Whether experts re-use the ranks of other roles. */
bool facts_folded(const PlanFacts *facts);
