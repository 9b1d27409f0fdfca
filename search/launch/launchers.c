/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The launchers there are. To add one: a folder that defines it, and a row at the end, whose place is its bit. */
#include "search/launch/launcher.h"

#include "base/util.h"

extern const Launcher MAXTEXT_LAUNCHER, JAX_LAUNCHER, MEGATRON_LAUNCHER, TORCHTITAN_LAUNCHER, DEEPSPEED_LAUNCHER,
    TRL_LAUNCHER, AXOLOTL_LAUNCHER, LLAMA_FACTORY_LAUNCHER;

static const Launcher *const LAUNCHERS[] = {
    &MAXTEXT_LAUNCHER,   &JAX_LAUNCHER, &MEGATRON_LAUNCHER, &TORCHTITAN_LAUNCHER,
    &DEEPSPEED_LAUNCHER, &TRL_LAUNCHER, &AXOLOTL_LAUNCHER,  &LLAMA_FACTORY_LAUNCHER,
};
_Static_assert(COUNT_OF(LAUNCHERS) <= LAUNCHERS_MAX, "a LauncherSet has a bit for each launcher");

int launcher_count(void) { return (int)COUNT_OF(LAUNCHERS); }

const Launcher *launcher_at(int index) { return LAUNCHERS[index]; }
