/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/kernel/evaluate.h: relaxed times of a few rows on all placements of a tuple, for brute force. Lanes are rows
 * and placements are programs, so that nothing is gathered and nothing is masked: where engine/bound/batch.c puts
 * placements side by side for one row, which suits a search that looks at few rows, this puts rows side by side. Every
 * number is that of relaxed_seconds(), bit for bit: no slack, and no rounding of its own (docs/search.md, "The kernel
 * of brute force"). */
#pragma once

#include "search/engine/kernel/lanes.h"

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
