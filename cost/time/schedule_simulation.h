/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/time/schedule_simulation.h: pipelines played pass by pass. Every rank does its own list of passes in order, each
 * as soon as what it needs is there; nothing is known here of the formulas of cost/time/schedule.h, which tests hold
 * against it. What a rank waits for at a boundary is part of its pass; beyond that sends take no time.
 *
 * A chunk is a rank's n-th visit of a microbatch: forward goes through ranks 0 .. p - 1, then through the same ranks in
 * chunk 1, and so on; backward the other way. With `two_ways` chunk 0 runs that way once, chunk 1 from the last rank to
 * the first: DualPipe's directions. Pure. */
#pragma once

#include "base/arena.h"
#include "cost/plan/plan.h"

typedef enum {
    PASS_FORWARD,
    PASS_BACKWARD, /* whole: gradients of the input and of the weights */
    PASS_INPUT,    /* gradient of the input alone */
    PASS_WEIGHTS,  /* the rest of it */
    PASS_BOTH,     /* a forward alongside the whole backward of another microbatch */
    PASS_COUNT
} PassKind;

typedef struct {
    PassKind kind;
    int microbatch, chunk;
    int back_microbatch, back_chunk; /* of BOTH */
} Pass;

enum { PLAY_PASSES_MAX = 1 << 20 }; /* microbatches x chunks x ranks */

/* Seconds of one microbatch: forward, whole backward, weight gradients in it. */
typedef struct {
    double F, B, W;
} PassSeconds;

typedef struct {
    int ranks, microbatches, chunks;
    bool two_ways;
    Pass **passes; /* of each rank, in its order */
    int *count;
    PassSeconds **seconds; /* [rank][chunk] of a microbatch's passes there; 0 until they are given */
    double **arrives;      /* [rank][chunk]: when the weights are there without which a chunk's first forward does
                                 * not end; 0 */
} Play;

/* Without passes; in the arena. False: memory is out, or there would be more than PLAY_PASSES_MAX. */
bool play_new(int ranks, int microbatches, int chunks, Arena *arena, Play *out);

/* The passes of a schedule that schedule_allowed() takes, ordered as its source does:
 * GPipe: Huang et al. 2019, figure 2. Circular: MaxText, layers/pipeline.py. 1F1B and interleaved: Narayanan et al.
 * 2021, figure 4, with the warm-up of Megatron-Core's schedules.py. ZB-H1: Qi et al. 2023, figure 3, top. DualPipe:
 * DeepSeek-V3, figure 5, the eight phases of deepseek-ai/DualPipe, dualpipe.py, DualPipe.step(). */
bool play_schedule(Schedule schedule, int ranks, int microbatches, int chunks, Arena *arena, Play *out);

/* All forwards, microbatches in groups that go through all chunks one group after the other; then all backwards, the
 * last forward first. Into a play without passes. */
void play_forwards_first(Play *play, int group);

/* Ranks that are alike: each takes so many seconds for a microbatch, in all its chunks (of DualPipe, in each). */
void play_alike(Play *play, PassSeconds seconds);

typedef struct {
    bool stuck; /* the lists wait for each other */
    double end;
    double **begins, **ends; /* of each pass, [rank][number] */
} Played;

/* False: memory is out. */
bool play_run(const Play *play, Arena *arena, Played *out);
