/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/measured/replay_parts.h: the steps of replay_prepare(), each in a file of its own. False: the run cannot be
 * replayed, and replay->skipped says why. */
#ifndef SHARDOPT_COST_MEASURED_REPLAY_PARTS_H
#define SHARDOPT_COST_MEASURED_REPLAY_PARTS_H

#include "cost/measured/replay.h"

/* Why it cannot be replayed; returns false. */
__attribute__((format(printf, 2, 3))) bool replay_skip(Replay *replay, const char *format, ...);
/* What was assumed, for people; counts as a guess where `guess`. */
__attribute__((format(printf, 3, 4))) void replay_note(Replay *replay, bool guess, const char *format, ...);

/* The framework is one of JAX's, or PyTorch with its own FSDP (torchtitan, llm-foundry, fms-fsdp). */
bool replay_on_jax(const Replay *replay);
bool replay_on_torch(const Replay *replay);

/* model_of_run.c: the zoo's model of these dimensions, which knows what no column holds (windows, latent attention,
 * shared experts, first dense layers); else one made of the columns. */
bool replay_model(const Zoo *zoo, Replay *replay);

/* machine_of_run.c: chip, slices or nodes, and the network's rate where topology_note has one. */
bool replay_machine(const ReplayData *data, Replay *replay);

/* plan_of_run.c: degrees, knobs, remat, state. */
bool replay_plan(const Optimizer *optimizer, Replay *replay);
/* The layout of replay->remat under the plan's stages. */
void replay_layout(Replay *replay);
/* Where the framework's order of ranks (GPUs) or JAX (TPUs) puts them. */
bool replay_placement(Replay *replay);

/* convention.c: the seconds of a measured step, from the figure of the source that says most, in its own convention. */
bool replay_measured(Replay *replay);

#endif
