/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The launchers by name, for tables of tests: their places in search/launch/launchers.c, which test_launchers.c
 * checks. */
#pragma once

#include "search/launch/launcher.h"

enum {
    LAUNCHER_MAXTEXT,
    LAUNCHER_JAX,
    LAUNCHER_MEGATRON,
    LAUNCHER_TORCHTITAN,
    LAUNCHER_DEEPSPEED,
    LAUNCHER_TRL,
    LAUNCHER_AXOLOTL,
    LAUNCHER_LLAMA_FACTORY,
    LAUNCHER_COUNT
};
