/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/measured/replay_parts.h: the steps of replay_prepare(), each in a file of its own. False means that the run
 * cannot be replayed, and replay->skipped says why. */
#pragma once

#include "cost/measured/replay.h"

/* Says why it cannot be replayed; returns false. */
__attribute__((format(printf, 2, 3))) bool replay_skip(Replay *replay, const char *format, ...);
/* Notes an assumption, for people; it counts as a guess if `guess`. */
__attribute__((format(printf, 3, 4))) void replay_note(Replay *replay, bool guess, const char *format, ...);

/* Whether the framework is one of JAX's; replay_on_torch(): whether it is PyTorch with its own FSDP (torchtitan,
 * llm-foundry, fms-fsdp). */
bool replay_on_jax(const Replay *replay);
bool replay_on_torch(const Replay *replay);

/* replay_model.c: finds the zoo's model of these dimensions, which knows facts that no column holds (windows, latent
 * attention, shared experts, first dense layers); else makes one from the columns. */
bool replay_model(const Zoo *zoo, Replay *replay);

/* replay_machine.c: finds chip, slices or nodes, and the network's rate where topology_note has one. */
bool replay_machine(const ReplayData *data, Replay *replay);

/* replay_plan.c: finds degrees, knobs, remat and state. */
bool replay_plan(const Optimizer *optimizer, Replay *replay);
/* What a row of fine-tuning trains, and the dtypes of its state; a row of another kind leaves both alone. */
bool replay_tuning(Replay *replay, StateDtypes *dtypes, Tuning *out);
/* Sets the layout of replay->remat under the plan's stages. */
void replay_layout(Replay *replay);
/* Places ranks in the framework's order (GPUs) or where JAX puts them (TPUs). */
bool replay_placement(Replay *replay);

/* convention.c: computes the seconds of a measured step from the source's most telling figure, in its own
 * convention. */
bool replay_measured(Replay *replay);
