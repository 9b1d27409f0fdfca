/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/launchers.c with one more row. The linker takes this list, and leaves the archive's where it is. */
#include "tests/search/launch/new_launcher/wombat.h"

#include "base/util.h"

extern const Launcher MAXTEXT_LAUNCHER, JAX_LAUNCHER, MEGATRON_LAUNCHER, TORCHTITAN_LAUNCHER, DEEPSPEED_LAUNCHER,
    TRL_LAUNCHER;

static const Launcher *const LAUNCHERS[] = {
    &MAXTEXT_LAUNCHER,   &JAX_LAUNCHER, &MEGATRON_LAUNCHER, &TORCHTITAN_LAUNCHER,
    &DEEPSPEED_LAUNCHER, &TRL_LAUNCHER, &WOMBAT_LAUNCHER,
};

int launcher_count(void) { return (int)COUNT_OF(LAUNCHERS); }

const Launcher *launcher_at(int index) { return LAUNCHERS[index]; }
