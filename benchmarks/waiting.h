/* SPDX-License-Identifier: GPL-3.0-or-later */
/* benchmarks/waiting.h: knob settings of one way to exchange that wait until the kernel of brute force has as many
 * rows as it takes at once. Each is checked to the last bit against relaxed_seconds() where that is requested. */
#pragma once

#include "benchmarks/kernel/evaluate.h"
#include "benchmarks/space.h"

enum { WAITING_MOST = 256, WAITING_BATCHES = WAITING_MOST };

/* One of them: its rows are lanes `first` .. `first` + rows - 1 of one batch. */
typedef struct {
    Knobs knobs;
    Shard shard;
    BoundRows rows;
    int batch, first;
    double least; /* seconds on its best placement; the waiting have none yet */
} WaitingKnobs;

typedef struct {
    WaitingKnobs knobs[WAITING_MOST];
    KernelLanes batch[WAITING_BATCHES];
    int count, batch_count;
    int64_t way;
    KernelGroups groups; /* of all batches */
    /* Of the way: made anew where more groups move than those it was made for. */
    KernelProgram program;
    Arena arena;
    bool programmed;
    KernelRoom room;
    KernelNumbers *seconds; /* [class], of one batch */
    int64_t seconds_room;
} Waiting;

static inline Waiting *waiting_new(void) {
    Waiting *waiting = aligned_alloc(64, (sizeof(Waiting) + 63) / 64 * 64);
    if (waiting) memset(waiting, 0, sizeof(*waiting));
    return waiting;
}

/* The next knob settings are those of another way. */
static inline void waiting_start(Waiting *waiting, int64_t way) {
    arena_free(&waiting->arena);
    waiting->way = way;
    waiting->programmed = false;
    waiting->count = waiting->batch_count = 0;
    waiting->groups = (KernelGroups){0};
}

static inline void waiting_free(Waiting *waiting) {
    if (!waiting) return;
    arena_free(&waiting->arena);
    kernel_room_free(&waiting->room);
    free(waiting->seconds);
    free(waiting);
}

static inline bool waiting_is_full(const Waiting *waiting) { return waiting->count == WAITING_MOST; }

/* The place for one more: its knobs, shard and rows are the caller's to fill before waiting_add(). */
static inline WaitingKnobs *waiting_next(Waiting *waiting) { return &waiting->knobs[waiting->count]; }

static inline void waiting_add(Waiting *waiting) {
    WaitingKnobs *knobs = &waiting->knobs[waiting->count++];
    if (waiting->batch_count == 0 || waiting->batch[waiting->batch_count - 1].count + knobs->rows.count > KERNEL_LANES)
        kernel_lanes_clear(&waiting->batch[waiting->batch_count++]);
    KernelLanes *batch = &waiting->batch[waiting->batch_count - 1];
    knobs->batch = waiting->batch_count - 1;
    knobs->first = batch->count;
    for (int row = 0; row < knobs->rows.count; row++)
        kernel_lanes_add(batch, &knobs->rows.row[row].rule, &knobs->rows.row[row].relaxation, 0);
    waiting->groups.moving |= batch->groups.moving;
    waiting->groups.hiding |= batch->groups.hiding;
}

/* Makes the program of the way, unless that of before still serves. */
static inline bool waiting_program(Waiting *waiting, const struct Way *way, int64_t count, Error *error) {
    if (waiting->programmed && kernel_groups_hold(waiting->program.groups, waiting->groups)) return true;
    arena_free(&waiting->arena);
    if (!kernel_program(way->rates, count, waiting->groups, &waiting->arena, &waiting->program, error)) return false;
    waiting->programmed = true;
    if (waiting->program.class_count <= waiting->seconds_room) return true;
    free(waiting->seconds);
    waiting->seconds = aligned_alloc(64, (size_t)waiting->program.class_count * sizeof(KernelNumbers));
    waiting->seconds_room = waiting->seconds ? waiting->program.class_count : 0;
    return waiting->seconds || error_memory(error);
}

/* The least seconds of all that wait. */
static inline bool waiting_evaluate(Waiting *waiting, Error *error) {
    double least[KERNEL_LANES];
    for (int i = 0, batch = -1; i < waiting->count; i++) {
        WaitingKnobs *knobs = &waiting->knobs[i];
        if (knobs->batch != batch) {
            batch = knobs->batch;
            if (!kernel_evaluate(&waiting->program, &waiting->batch[batch], &waiting->room, least, NULL))
                return error_memory(error);
        }
        knobs->least = INFINITY;
        for (int row = 0; row < knobs->rows.count; row++)
            knobs->least = min_real(knobs->least, least[knobs->first + row]);
    }
    return true;
}

/* The seconds of one that waits, on all placements. */
static inline bool waiting_seconds(Waiting *waiting, const WaitingKnobs *knobs, double *out, Error *error) {
    double least[KERNEL_LANES];
    if (!kernel_evaluate(&waiting->program, &waiting->batch[knobs->batch], &waiting->room, least, waiting->seconds))
        return error_memory(error);
    for (int64_t i = 0; i < waiting->program.placement_count; i++) {
        const double *of = waiting->seconds[waiting->program.class_of[i]];
        out[i] = INFINITY;
        for (int row = 0; row < knobs->rows.count; row++) out[i] = min_real(out[i], of[knobs->first + row]);
    }
    return true;
}

/* On how many placements the kernel and relaxed_seconds() differ in a bit; the least counts as one more. */
static inline int64_t waiting_differences(const WaitingKnobs *knobs, const struct Way *way, const double *seconds,
                                          int64_t count) {
    int64_t different = 0;
    double least = INFINITY;
    for (int64_t i = 0; i < count; i++) {
        double plain = INFINITY;
        for (int row = 0; row < knobs->rows.count; row++)
            plain = min_real(
                plain, relaxed_seconds(&knobs->rows.row[row].rule, &knobs->rows.row[row].relaxation, &way->rates[i]));
        different += memcmp(&plain, &seconds[i], sizeof plain) != 0;
        least = min_real(least, plain);
    }
    return different + (memcmp(&least, &knobs->least, sizeof least) != 0);
}
