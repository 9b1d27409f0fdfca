/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tests/cost/player.h: pipelines played pass by pass. Every rank does its own list of passes in order, each as soon as
 * what it needs is there; nothing is known here of formulas. Communication takes no time.
 *
 * A chunk is a rank's n-th visit of a microbatch: forward goes through ranks 0 .. p - 1, then through the same ranks in
 * chunk 1, and so on; backward the other way. With `two_ways` chunk 0 runs that way once, chunk 1 from the last rank to
 * the first: DualPipe's directions. */
#ifndef SHARDOPT_TESTS_COST_PLAYER_H
#define SHARDOPT_TESTS_COST_PLAYER_H

#include <criterion/criterion.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { PLAY_RANKS = 16, PLAY_MICROBATCHES = 48, PLAY_CHUNKS = 4 };
enum { PLAY_PASSES = 3 * PLAY_MICROBATCHES * PLAY_CHUNKS };

typedef enum {
    PASS_FORWARD,
    PASS_BACKWARD, /* whole: gradients of the input and of the weights */
    PASS_INPUT,    /* gradient of the input alone */
    PASS_WEIGHTS,  /* the rest of it */
    PASS_BOTH,     /* a forward beside the whole backward of another microbatch */
    PASS_COUNT
} PassKind;

typedef struct {
    PassKind kind;
    int microbatch, chunk;
    int back_microbatch, back_chunk; /* of BOTH */
} Pass;

typedef struct {
    int ranks, microbatches, chunks;
    bool two_ways;
    Pass passes[PLAY_RANKS][PLAY_PASSES];
    int count[PLAY_RANKS];
    double pace[PLAY_RANKS][PLAY_CHUNKS]; /* of a chunk's passes, over those of an even one; 0 as 1 */
} Play;

/* Seconds of one microbatch on one rank, all its chunks: forward, whole backward, weight gradients in it. */
typedef struct {
    double F, B, W;
} PassSeconds;

typedef struct {
    bool stuck;              /* the lists wait for each other */
    double idle;             /* length of the whole - what the busiest rank computes */
    double held[PLAY_RANKS]; /* most microbatches between forward and the end of their backward, in whole stages */
    double end;
    /* when a chunk's last backward begins and ends: from then on its gradients are whole */
    double last_begins[PLAY_RANKS][PLAY_CHUNKS], last_ends[PLAY_RANKS][PLAY_CHUNKS];
} Played;

static inline void play_add(Play *play, int rank, PassKind kind, int microbatch, int chunk) {
    cr_assert(play->count[rank] < PLAY_PASSES);
    play->passes[rank][play->count[rank]++] = (Pass){kind, microbatch, chunk, 0, 0};
}

static inline void play_add_both(Play *play, int rank, int microbatch, int chunk, int back_microbatch, int back_chunk) {
    play_add(play, rank, PASS_BOTH, microbatch, chunk);
    Pass *pass = &play->passes[rank][play->count[rank] - 1];
    pass->back_microbatch = back_microbatch, pass->back_chunk = back_chunk;
}

/* Where a microbatch was before it came here; false: it begins here. */
static inline bool play_before(const Play *play, int *rank, int *chunk) {
    *rank += play->two_ways && *chunk == 1 ? 1 : -1;
    if (*rank >= 0 && *rank < play->ranks) return true;
    if (play->two_ways || *chunk == 0) return false;
    *rank = play->ranks - 1, *chunk -= 1;
    return true;
}

/* Where it goes next; false: its loss is computed here. */
static inline bool play_behind(const Play *play, int *rank, int *chunk) {
    *rank += play->two_ways && *chunk == 1 ? -1 : 1;
    if (*rank >= 0 && *rank < play->ranks) return true;
    if (play->two_ways || *chunk == play->chunks - 1) return false;
    *rank = 0, *chunk += 1;
    return true;
}

typedef double PlayTimes[PLAY_RANKS][PLAY_CHUNKS][PLAY_MICROBATCHES]; /* ends; negative: not yet */

static inline double play_forward_ready(const Play *play, PlayTimes forward, int rank, int chunk, int microbatch) {
    return play_before(play, &rank, &chunk) ? forward[rank][chunk][microbatch] : 0;
}

static inline double play_backward_ready(const Play *play, PlayTimes forward, PlayTimes backward, int rank, int chunk,
                                         int microbatch) {
    double own = forward[rank][chunk][microbatch];
    if (own < 0 || !play_behind(play, &rank, &chunk)) return own;
    double other = backward[rank][chunk][microbatch];
    return other < 0 ? other : fmax(own, other);
}

/* When what a pass needs is there; negative: not yet. */
static inline double play_ready(const Play *play, PlayTimes forward, PlayTimes backward, int rank, const Pass *pass) {
    double first, second;
    switch (pass->kind) {
    case PASS_FORWARD:
        return play_forward_ready(play, forward, rank, pass->chunk, pass->microbatch);
    case PASS_BACKWARD:
    case PASS_INPUT:
        return play_backward_ready(play, forward, backward, rank, pass->chunk, pass->microbatch);
    case PASS_WEIGHTS:
        return backward[rank][pass->chunk][pass->microbatch];
    default:
        first = play_forward_ready(play, forward, rank, pass->chunk, pass->microbatch);
        second = play_backward_ready(play, forward, backward, rank, pass->back_chunk, pass->back_microbatch);
        return first < 0 || second < 0 ? -1 : fmax(first, second);
    }
}

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

static inline double play_pace(const Play *play, int rank, int chunk) {
    return play->pace[rank][chunk] > 0 ? play->pace[rank][chunk] : 1;
}

static inline Played play_run(const Play *play, PassSeconds seconds) {
    static PlayTimes forward, backward;
    double share = play->two_ways ? 1 : 1. / play->chunks, free_at[PLAY_RANKS] = {0}, end = 0, busy = 0;
    const double lasts[PASS_COUNT] = {[PASS_FORWARD] = share * seconds.F,
                                      [PASS_BACKWARD] = share * seconds.B,
                                      [PASS_INPUT] = share * (seconds.B - seconds.W),
                                      [PASS_WEIGHTS] = share * seconds.W,
                                      [PASS_BOTH] = share * (seconds.F + seconds.B)};
    Played played = {.stuck = false};
    int next[PLAY_RANKS] = {0};
    bool even = true;
    for (int r = 0; r < play->ranks; r++)
        for (int c = 0; c < play->chunks; c++) even = even && play_pace(play, r, c) == 1;
    for (int r = 0; r < PLAY_RANKS; r++)
        for (int c = 0; c < PLAY_CHUNKS; c++)
            for (int i = 0; i < PLAY_MICROBATCHES; i++) forward[r][c][i] = backward[r][c][i] = -1;
    for (bool moved = true; moved;) {
        moved = false;
        for (int rank = 0; rank < play->ranks; rank++) {
            while (next[rank] < play->count[rank]) {
                const Pass *pass = &play->passes[rank][next[rank]];
                double ready = play_ready(play, forward, backward, rank, pass);
                if (ready < 0) break;
                double begins = fmax(ready, free_at[rank]);
                double done = begins + lasts[pass->kind] * play_pace(play, rank, pass->chunk);
                if (pass->kind == PASS_FORWARD || pass->kind == PASS_BOTH)
                    forward[rank][pass->chunk][pass->microbatch] = done;
                if (pass->kind == PASS_BACKWARD || pass->kind == PASS_INPUT)
                    backward[rank][pass->chunk][pass->microbatch] = done;
                if (pass->kind == PASS_BACKWARD)
                    played.last_begins[rank][pass->chunk] = begins, played.last_ends[rank][pass->chunk] = done;
                if (pass->kind == PASS_BOTH) backward[rank][pass->back_chunk][pass->back_microbatch] = done;
                free_at[rank] = done, end = fmax(end, done);
                next[rank]++, moved = true;
            }
        }
    }
    for (int rank = 0; rank < play->ranks; rank++) {
        double computes = 0;
        for (int i = 0; i < play->count[rank]; i++)
            computes += lasts[play->passes[rank][i].kind] * play_pace(play, rank, play->passes[rank][i].chunk);
        busy = rank == 0 ? computes : fmax(busy, computes);
        cr_expect(!even || fabs(computes - busy) < 1e-9 * busy, "rank %d computes %g s, rank 0 %g s", rank, computes,
                  busy);
        played.stuck = played.stuck || next[rank] < play->count[rank];
        played.held[rank] = play_held(play, rank);
    }
    played.idle = end - busy;
    played.end = end;
    return played;
}

#endif
