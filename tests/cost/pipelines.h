/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tests/cost/pipelines.h: the lists of passes of each schedule, as its source orders them. */
#ifndef SHARDOPT_TESTS_COST_PIPELINES_H
#define SHARDOPT_TESTS_COST_PIPELINES_H

#include "tests/cost/player.h"

static inline Play *play_of(int ranks, int microbatches, int chunks) {
    static Play play;
    cr_assert(ranks <= PLAY_RANKS && microbatches <= PLAY_MICROBATCHES && chunks <= PLAY_CHUNKS);
    memset(&play, 0, sizeof play);
    play.ranks = ranks, play.microbatches = microbatches, play.chunks = chunks;
    return &play;
}

/* The k-th chunk pass of a rank when microbatches go through all chunks in groups of `group`. */
static inline void chunk_order(const Play *play, int group, int k, int *microbatch, int *chunk) {
    int whole = k / (group * play->chunks), first = whole * group, rest = k - first * play->chunks;
    int size = play->microbatches - first < group ? play->microbatches - first : group;
    *chunk = rest / size, *microbatch = first + rest % size;
}

/* All forwards, in groups; then all backwards, the last forward first (reverse differentiation of the loop). GPipe:
 * Huang et al. 2019, figure 2, with one chunk. MaxText's circular pipeline (layers/pipeline.py): groups of all
 * microbatches, each round of them through the next chunk. */
static inline Play *forwards_first(int ranks, int microbatches, int chunks, int group) {
    Play *play = play_of(ranks, microbatches, chunks);
    for (int rank = 0; rank < ranks; rank++) {
        int total = microbatches * chunks, i, c;
        for (int k = 0; k < total; k++) chunk_order(play, group, k, &i, &c), play_add(play, rank, PASS_FORWARD, i, c);
        for (int k = total; k-- > 0;) chunk_order(play, group, k, &i, &c), play_add(play, rank, PASS_BACKWARD, i, c);
    }
    return play;
}

/* Narayanan et al. 2021, figure 4: warm-up forwards, then one forward and one backward in turn. Interleaved, groups of
 * as many microbatches as there are ranks; warm-up as in Megatron-Core's schedules.py: 2 (p - rank - 1) + (v - 1) p. */
static inline Play *one_forward_one_backward(int ranks, int microbatches, int chunks) {
    Play *play = play_of(ranks, microbatches, chunks);
    for (int rank = 0; rank < ranks; rank++) {
        int total = microbatches * chunks, i, c;
        int warm = chunks > 1 ? 2 * (ranks - rank - 1) + (chunks - 1) * ranks : ranks - rank - 1;
        for (int k = 0; k < total + warm; k++) {
            if (k < total) chunk_order(play, ranks, k, &i, &c), play_add(play, rank, PASS_FORWARD, i, c);
            if (k < warm) continue;
            chunk_order(play, ranks, k - warm, &i, &c);
            play_add(play, rank, PASS_BACKWARD, i, chunks - 1 - c);
        }
    }
    return play;
}

/* Qi et al. 2023, figure 3, top: 1F1B whose weight gradients wait, on rank r for r microbatches, so that all ranks hold
 * as many; they fill the end. */
static inline Play *zero_bubble_h1(int ranks, int microbatches) {
    Play *play = play_of(ranks, microbatches, 1);
    for (int rank = 0; rank < ranks; rank++) {
        int warm = ranks - rank - 1;
        for (int k = 0; k < microbatches + warm; k++) {
            if (k < microbatches) play_add(play, rank, PASS_FORWARD, k, 0);
            if (k < warm) continue;
            play_add(play, rank, PASS_INPUT, k - warm, 0);
            if (k - warm >= rank) play_add(play, rank, PASS_WEIGHTS, k - warm - rank, 0);
        }
        for (int i = microbatches - rank; i < microbatches; i++) play_add(play, rank, PASS_WEIGHTS, i, 0);
    }
    return play;
}

/* ---- DualPipe: DeepSeek-V3, figure 5; the eight phases of deepseek-ai/DualPipe, dualpipe.py, DualPipe.step() ---- */

typedef struct {
    Play *play;
    int rank, forwards[2], backwards[2];
    bool second_half;
    Pass waiting[PLAY_MICROBATCHES]; /* weight gradients, first in first out */
    int first, last;
} DualRank;

/* Way 0 is that of the rank's own half. */
static inline int dual_way(const DualRank *at, int way) { return at->second_half ? 1 - way : way; }

static inline void dual_forward(DualRank *at, int way) {
    int d = dual_way(at, way);
    play_add(at->play, at->rank, PASS_FORWARD, at->forwards[d]++, d);
}

static inline void dual_backward(DualRank *at, int way, bool split) {
    int d = dual_way(at, way), i = at->backwards[d]++;
    play_add(at->play, at->rank, split ? PASS_INPUT : PASS_BACKWARD, i, d);
    if (split) at->waiting[at->last++] = (Pass){PASS_WEIGHTS, i, d, 0, 0};
}

static inline void dual_weights(DualRank *at) {
    const Pass *pass = &at->waiting[at->first++];
    play_add(at->play, at->rank, PASS_WEIGHTS, pass->microbatch, pass->chunk);
}

static inline void dual_both(DualRank *at, int forward, int backward) {
    int d = dual_way(at, forward), e = dual_way(at, backward);
    play_add_both(at->play, at->rank, at->forwards[d]++, d, at->backwards[e]++, e);
}

static inline void dual_rank(DualRank *at) {
    int ranks = at->play->ranks, half = ranks / 2, to_end = ranks - 1 - at->rank;
    int near = at->rank < to_end ? at->rank : to_end, far = half - near - 1, each = at->play->microbatches / 2;
    for (int i = 0; i < 2 * far; i++) dual_forward(at, 0);
    for (int i = 0; i <= near; i++) dual_forward(at, 0), dual_forward(at, 1);
    for (int i = 0; i < far; i++) dual_backward(at, 1, true), dual_weights(at), dual_forward(at, 1);
    for (int i = 0; i < each - ranks + near + 1; i++) {
        /* The two ranks in the middle do their first pair one after the other. */
        if (i == 0 && far == 0)
            dual_forward(at, 0), dual_backward(at, 1, false);
        else
            dual_both(at, 0, 1);
        dual_both(at, 1, 0);
    }
    for (int i = 0; i < far; i++) dual_backward(at, 1, false), dual_both(at, 1, 0);
    bool split = false;
    for (int i = 0; i <= near; i++) {
        if (i == (near + 1) / 2 && near % 2 == 1) split = true;
        dual_backward(at, 1, split);
        if (i == (near + 1) / 2 && near % 2 == 0) split = true;
        dual_backward(at, 0, split);
    }
    for (int i = 0; i < far; i++) dual_weights(at), dual_backward(at, 0, true);
    for (int i = 0; i <= near; i++) dual_weights(at);
    cr_expect(at->first == at->last && at->forwards[0] == each && at->forwards[1] == each && at->backwards[0] == each &&
                  at->backwards[1] == each,
              "rank %d", at->rank);
}

static inline Play *dual_pipe(int ranks, int microbatches) {
    Play *play = play_of(ranks, microbatches, 2);
    play->two_ways = true;
    for (int rank = 0; rank < ranks; rank++) {
        DualRank at = {.play = play, .rank = rank, .second_half = rank >= ranks / 2};
        dual_rank(&at);
    }
    return play;
}

#endif
