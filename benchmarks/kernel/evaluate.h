/* SPDX-License-Identifier: GPL-3.0-or-later */
/* benchmarks/kernel/evaluate.h: relaxed times of a few rows on all placements of a tuple, for brute force. Lanes are
 * rows and placements are programs, so that nothing is gathered and nothing is masked: where engine/bound/batch.c puts
 * placements side by side for one row, which suits a search that looks at few rows, this puts rows side by side. Every
 * number is that of relaxed_seconds(), bit for bit: no slack, and no rounding of its own (docs/search.md, "The kernel
 * of brute force"). */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "cost/time/step.h"
#include "search/engine/layout/layout.h"

#include <stdbool.h>
#include <stdint.h>

/* program.c: all placements of one degree tuple under one context method, written as sums that they share.
 *
 * What a placement changes of the step are the costs of the groups and the axes that they lie on. A group has few
 * costs over all placements: each is a leaf. The step needs of a placement (cost/time/step_terms.h)
 *   - the exposed seconds of critical groups, a sum over leaves, and that of the other groups, a second one;
 *   - for each axis the hidden seconds of the groups on it, a sum over leaves; and the largest of these sums.
 * Each sum adds leaves in the order of `Group`, as step_seconds() does, so that sums with the same beginning share it
 * to the last bit, and so do placements with the same sums. Where axes are alike, placements that differ by their
 * names have the same largest sum, and are one. */

/* Numbers pairs of whole numbers by the order in which they first come: equal pairs have one number. Chains of such
 * pairs, each of which begins with the number of another, are sums that share what they begin with. */

typedef struct {
    int32_t first, second; /* both >= 0 */
} Pair;

typedef struct {
    Pair *pair; /* [number], in the arena */
    int32_t count;
    /* of pairs.c */
    int32_t *slots;
    uint32_t slot_count; /* a power of two */
} Pairs;

/* Begins with one pair, number 0, that no search finds: the empty chain. False: memory is out. */
bool pairs_begin(Pairs *pairs, Arena *arena);

/* The number of a pair, a new one where it comes for the first time. Negative: memory is out. */
int32_t pairs_number(Pairs *pairs, Pair pair, Arena *arena);

/* Groups as bits: those that move anything, and those of which a share hides behind compute. */
typedef struct {
    unsigned moving, hiding;
} KernelGroups;

/* Whether one holds the other. */
static inline bool kernel_groups_hold(KernelGroups all, KernelGroups part) {
    return !(part.moving & ~all.moving) && !(part.hiding & ~all.hiding);
}

/* One cost of a group. */
typedef struct {
    CollectiveCost cost;
    int group;
    bool far; /* the group leaves the scale-up network (Rates.leaves_scale_up) */
} KernelLeaf;

typedef struct {
    KernelGroups groups; /* of which placements are distinguished */
    int64_t placement_count;
    KernelLeaf *leaf;                               /* number 0 is none */
    int32_t leaf_count, leaf_from[GROUP_COUNT + 1]; /* those of group g are leaf_from[g] .. leaf_from[g + 1] - 1 */
    /* Sums: number 0 is the empty one; else `first` is an earlier sum's number, and `second` the leaf behind it. */
    Pairs critical, background, axis;
    /* The sets of groups that lie on one axis together; of a placement those left out that are within another one. */
    unsigned *set;
    int set_count;
    Pairs exposed; /* `first` a critical and `second` a background sum; number 0 is no pair of them */
    /* A class is an exposed pair and the sums of its busiest axes, `axes_most` of them, filled up with empty ones.
     * Those of exposed pair e are classes class_from[e] .. class_from[e + 1] - 1. */
    int32_t class_count, *class_from;
    int axes_most;
    int32_t *class_axis; /* [class][axes_most] */
    int32_t *class_of;   /* [placement] */
} KernelProgram;

/* In the arena. Groups that are not named are taken to move, or to hide, nothing. False: memory is out. */
bool kernel_program(const Rates *rates, int64_t count, KernelGroups groups, Arena *arena, KernelProgram *out,
                    Error *error);

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
