/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tests/cost/player.h: the questions of tests about a pipeline that cost/time/schedule_simulation.c has played: how
 * long it idles, and how many microbatches each rank holds. It uses no formula. */
#pragma once

#include "cost/time/schedule_simulation.h"

#include <criterion/criterion.h>
#include <math.h>

enum { PLAY_RANKS = 16, PLAY_MICROBATCHES = 48, PLAY_CHUNKS = 4 };

typedef struct {
    bool stuck;
    double idle;             /* length of the whole less the busiest rank's compute */
    double held[PLAY_RANKS]; /* most microbatches between forward and the end of their backward, in whole stages */
    double end;
    /* when a chunk's last backward begins and ends: from then on its gradients are whole */
    double last_begins[PLAY_RANKS][PLAY_CHUNKS], last_ends[PLAY_RANKS][PLAY_CHUNKS];
} Playback;

static inline double play_held(const Play *play, int rank) {
    bool split = false;
    int now = 0, most = 0;
    for (int i = 0; i < play->count[rank]; i++) split = split || play->passes[rank][i].kind == PASS_WEIGHTS;
    for (int i = 0; i < play->count[rank]; i++) {
        PassKind kind = play->passes[rank][i].kind;
        if (kind == PASS_FORWARD || kind == PASS_BOTH) now++;
        if (now > most) most = now;
        if (kind == PASS_BACKWARD || kind == PASS_BOTH || (split && kind == PASS_WEIGHTS)) now--;
    }
    cr_expect_eq(now, 0, "rank %d keeps %d microbatches for ever", rank, now);
    return (double)most / (play->two_ways ? 1 : play->chunks);
}

/* Of a chunk's passes over those of an even one, where they differ; pipeline_of() makes them 1. */
static double play_pace[PLAY_RANKS][PLAY_CHUNKS];

static inline void play_even(void) {
    for (int r = 0; r < PLAY_RANKS; r++)
        for (int c = 0; c < PLAY_CHUNKS; c++) play_pace[r][c] = 1;
}

static inline Playback play_out(Play *play, PassSeconds seconds) {
    Arena arena = {0};
    Played played;
    Playback outcome = {0};
    double busy = 0;
    bool even = true;
    cr_assert(play->ranks <= PLAY_RANKS && play->microbatches <= PLAY_MICROBATCHES && play->chunks <= PLAY_CHUNKS);
    play_alike(play, seconds);
    for (int r = 0; r < play->ranks; r++)
        for (int c = 0; c < play->chunks; c++) {
            PassSeconds *own = &play->seconds[r][c];
            double pace = play_pace[r][c];
            *own = (PassSeconds){pace * own->F, pace * own->B, pace * own->W};
            even = even && pace == 1;
        }
    cr_assert(play_run(play, &arena, &played));
    for (int rank = 0; rank < play->ranks; rank++) {
        double computes = 0;
        for (int i = 0; i < play->count[rank]; i++) {
            const Pass *pass = &play->passes[rank][i];
            computes += played.ends[rank][i] - played.begins[rank][i];
            if (pass->kind != PASS_BACKWARD) continue;
            outcome.last_begins[rank][pass->chunk] = played.begins[rank][i];
            outcome.last_ends[rank][pass->chunk] = played.ends[rank][i];
        }
        busy = rank == 0 ? computes : fmax(busy, computes);
        cr_expect(!even || fabs(computes - busy) < 1e-9 * busy, "rank %d computes %g s, rank 0 %g s", rank, computes,
                  busy);
        outcome.held[rank] = play_held(play, rank);
    }
    outcome.stuck = played.stuck;
    outcome.end = played.end;
    outcome.idle = played.end - busy;
    arena_free(&arena);
    return outcome;
}
