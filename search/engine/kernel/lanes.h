/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/kernel/lanes.h: rows of relaxations side by side, so that one instruction of the processor serves them all:
 * what cost/time/step.h takes of a StepRule and of Resources, one number for each row. */
#pragma once

#include "search/engine/kernel/program.h"
#include "search/engine/layout/layout.h"

enum { KERNEL_LANES = 8 };
typedef double KernelNumbers[KERNEL_LANES] __attribute__((aligned(64)));

typedef struct {
    int count;
    KernelGroups groups; /* of any row */
    bool any_serial, any_offload;
    KernelNumbers messages[GROUP_COUNT][PHASE_COUNT], bytes[GROUP_COUNT][PHASE_COUNT];
    KernelNumbers share[GROUP_COUNT][2], hidden[GROUP_COUNT][2]; /* exposed and hidden share; near, far */
    KernelNumbers minus[2][PHASE_COUNT]; /* near, far: hidden share of attention under a ring; else infinity */
    KernelNumbers second[GROUP_COUNT];   /* above 0: the second bound counts by the second piece */
    KernelNumbers microbatches, pairs;   /* m, and m - 1 */
    KernelNumbers idle[PHASE_COUNT], compute[PHASE_COUNT], part[2], saved, optimizer, other;
    KernelNumbers offload, offload_exposed;       /* P, and what nothing hides of it */
    KernelNumbers serial_weight, serial_constant; /* where there is no second bound: 0 and minus infinity */
} KernelLanes;

/* No row: all lanes are zero, which any placement takes. */
void kernel_lanes_clear(KernelLanes *lanes);

/* Adds a row of a relaxation that fits. There must be room: lanes->count < KERNEL_LANES. */
void kernel_lanes_add(KernelLanes *lanes, const StepRule *rule, const Relaxation *relaxation, int row);
