/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/layout/relax_sum.h: the linear relaxation of a branch whose step is a sum: no maximum is left in its program
 * and at most one row of memory. Layers are then a continuous knapsack with a choice of states for each activation,
 * which taking the least seconds per byte first solves exactly, without a linear program. Internal to engine/layout. */
#pragma once

#include "search/engine/layout/decisions.h"

bool relax_is_sum(const Branch *branch, const Program *program);
/* Counts and the multiplier of memory into `out`; false: nothing fits, which the multiplier then proves. */
bool relax_sum(const Branch *branch, const Program *program, Multipliers *out);
