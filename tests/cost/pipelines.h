/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tests/cost/pipelines.h: the pipelines of cost/time/schedule_simulation.c by name; each lives until the next one is
 * requested. */
#pragma once

#include "tests/cost/player.h"

static Arena pipelines_arena;
static Play pipelines_play;

static inline Play *pipeline_of(Schedule schedule, int ranks, int microbatches, int chunks) {
    arena_free(&pipelines_arena);
    play_even();
    cr_assert(play_schedule(schedule, ranks, microbatches, chunks, &pipelines_arena, &pipelines_play));
    return &pipelines_play;
}

static inline Play *forwards_first(int ranks, int microbatches, int chunks, int group) {
    arena_free(&pipelines_arena);
    play_even();
    cr_assert(play_new(ranks, microbatches, chunks, &pipelines_arena, &pipelines_play));
    play_forwards_first(&pipelines_play, group);
    return &pipelines_play;
}

static inline Play *one_forward_one_backward(int ranks, int microbatches, int chunks) {
    return pipeline_of(chunks > 1 ? SCHEDULE_INTERLEAVED : SCHEDULE_1F1B, ranks, microbatches, chunks);
}

static inline Play *zero_bubble_h1(int ranks, int microbatches) {
    return pipeline_of(SCHEDULE_ZB_H1, ranks, microbatches, 1);
}

static inline Play *dual_pipe(int ranks, int microbatches) {
    return pipeline_of(SCHEDULE_DUALPIPE, ranks, microbatches, 1);
}
