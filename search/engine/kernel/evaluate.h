/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/kernel/evaluate.h: relaxed times of a few rows on all placements of a tuple, for brute force. Lanes are rows
 * and placements are programs, so that nothing is gathered and nothing is masked: where engine/bound/batch.c puts
 * placements side by side for one row, which suits a search that looks at few rows, this puts rows side by side. Every
 * number is that of relaxed_seconds(), bit for bit: no slack, and no rounding of its own (docs/search.md, "The kernel
 * of brute force"). */
#pragma once

#include "search/engine/kernel/program.h"
#include "search/engine/layout/layout.h"

/* Rows of relaxations side by side, so that one instruction of the processor serves them all: what cost/time/step.h
 * takes of a StepRule and of Resources, one number for each row. */

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

/* Memory of one thread, used again; `KernelRoom room = {0};` is ready. */
typedef struct {
    void *memory;
    size_t size;
} KernelRoom;
void kernel_room_free(KernelRoom *room);

/* least[k] = the least of relaxed_seconds() of row k over all placements; lanes without a row have no meaning. Where
 * `seconds` is not NULL, seconds[program->class_of[i]][k] is that of placement i. The program must hold the groups of
 * the lanes. False: memory is out. */
bool kernel_evaluate(const KernelProgram *program, const KernelLanes *lanes, KernelRoom *room,
                     double least[KERNEL_LANES], KernelNumbers *seconds);
