/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/kernel/evaluate.h"

#include "search/engine/kernel/sums.h"

#include <assert.h>
#include <stdlib.h>

void kernel_room_free(KernelRoom *room) {
    free(room->memory);
    *room = (KernelRoom){0};
}

/* Lays the numbers of a program out in the room. */
static bool lay_out(const KernelProgram *program, KernelRoom *room, KernelSums *out) {
    size_t leaves = (size_t)program->leaf_count * sizeof(LeafSeconds),
           critical = (size_t)program->critical.count * sizeof(CriticalSeconds),
           background = (size_t)program->background.count * sizeof(BackgroundSeconds),
           axis = (size_t)program->axis.count * sizeof(AxisSeconds), size = leaves + critical + background + axis;
    if (size > room->size) {
        kernel_room_free(room);
        room->memory = aligned_alloc(64, 2 * size); /* all sizes are multiples of 64 */
        if (!room->memory) return false;
        room->size = 2 * size;
    }
    char *at = room->memory;
    *out = (KernelSums){.leaf = (LeafSeconds *)at,
                        .critical = (CriticalSeconds *)(at + leaves),
                        .background = (BackgroundSeconds *)(at + leaves + critical),
                        .axis = (AxisSeconds *)(at + leaves + critical + background)};
    return true;
}

bool kernel_evaluate(const KernelProgram *program, const KernelLanes *lanes, KernelRoom *room,
                     double least[KERNEL_LANES], KernelNumbers *seconds) {
    assert(kernel_groups_hold(program->groups, lanes->groups));
    KernelSums sums;
    if (!lay_out(program, room, &sums)) return false;
    bool serial = lanes->any_serial;
    sums_leaves(program, lanes, serial, &sums);
    sums_critical(program, lanes, serial, &sums);
    sums_background(program, serial, &sums);
    if (!seconds && !sums_pass_compute(program, lanes, &sums)) {
        sums_exposed(program, lanes, &sums, least);
        return true;
    }
    sums_axes(program, &sums);
    sums_classes(program, lanes, &sums, least, seconds);
    return true;
}
