/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/time/schedule_simulation.h"

#include "base/util.h"

/* ---- lists of passes ---- */

bool play_new(int ranks, int microbatches, int chunks, Arena *arena, Play *out) {
    *out = (Play){.ranks = ranks, .microbatches = microbatches, .chunks = chunks};
    int64_t each = (int64_t)microbatches * chunks;
    if (ranks < 1 || each < 1 || each > PLAY_PASSES_MAX / ranks) return false;
    out->passes = ARENA_NEW(arena, Pass *, (size_t)ranks);
    out->count = ARENA_NEW(arena, int, (size_t)ranks);
    out->seconds = ARENA_NEW(arena, PassSeconds *, (size_t)ranks);
    out->arrives = ARENA_NEW(arena, double *, (size_t)ranks);
    if (!out->passes || !out->count || !out->seconds || !out->arrives) return false;
    for (int rank = 0; rank < ranks; rank++) {
        out->passes[rank] = ARENA_NEW(arena, Pass, (size_t)(3 * each));
        out->seconds[rank] = ARENA_NEW(arena, PassSeconds, (size_t)chunks);
        out->arrives[rank] = ARENA_NEW(arena, double, (size_t)chunks);
        if (!out->passes[rank] || !out->seconds[rank] || !out->arrives[rank]) return false;
    }
    return true;
}

static void add(Play *play, int rank, PassKind kind, int microbatch, int chunk) {
    play->passes[rank][play->count[rank]++] = (Pass){kind, microbatch, chunk, 0, 0};
}

/* The k-th chunk pass of a rank when microbatches go through all chunks in groups of `group`. */
static void chunk_order(const Play *play, int group, int k, int *microbatch, int *chunk) {
    *microbatch = k, *chunk = 0;
    if (play->chunks == 1) return;
    int whole = k / (group * play->chunks), first = whole * group, rest = k - first * play->chunks;
    int size = play->microbatches - first < group ? play->microbatches - first : group;
    *chunk = rest / size, *microbatch = first + rest % size;
}

void play_forwards_first(Play *play, int group) {
    for (int rank = 0; rank < play->ranks; rank++) {
        int total = play->microbatches * play->chunks, i, c;
        for (int k = 0; k < total; k++) chunk_order(play, group, k, &i, &c), add(play, rank, PASS_FORWARD, i, c);
        for (int k = total; k-- > 0;) chunk_order(play, group, k, &i, &c), add(play, rank, PASS_BACKWARD, i, c);
    }
}

/* Warm-up forwards, then one forward and one backward in turn; interleaved, in groups of as many microbatches as there
 * are ranks. */
static void one_forward_one_backward(Play *play) {
    int ranks = play->ranks, chunks = play->chunks;
    for (int rank = 0; rank < ranks; rank++) {
        int total = play->microbatches * chunks, i, c;
        int warm = chunks > 1 ? 2 * (ranks - rank - 1) + (chunks - 1) * ranks : ranks - rank - 1;
        for (int k = 0; k < total + warm; k++) {
            if (k < total) chunk_order(play, ranks, k, &i, &c), add(play, rank, PASS_FORWARD, i, c);
            if (k < warm) continue;
            chunk_order(play, ranks, k - warm, &i, &c);
            add(play, rank, PASS_BACKWARD, i, chunks - 1 - c);
        }
    }
}

/* Weight gradients wait, on rank r for r microbatches, so that all ranks hold as many; they fill the end. */
static void zero_bubble_h1(Play *play) {
    for (int rank = 0; rank < play->ranks; rank++) {
        int warm = play->ranks - rank - 1, microbatches = play->microbatches;
        for (int k = 0; k < microbatches + warm; k++) {
            if (k < microbatches) add(play, rank, PASS_FORWARD, k, 0);
            if (k < warm) continue;
            add(play, rank, PASS_INPUT, k - warm, 0);
            if (k - warm >= rank) add(play, rank, PASS_WEIGHTS, k - warm - rank, 0);
        }
        for (int i = (int)max_whole(0, microbatches - rank); i < microbatches; i++) add(play, rank, PASS_WEIGHTS, i, 0);
    }
}

/* A rank of DualPipe, and what weight gradients of it wait, first in first out. */
typedef struct {
    Play *play;
    int rank, forwards[2], backwards[2];
    bool second_half;
    Pass *waiting;
    int first, last;
} DualRank;

/* Way 0 is that of the rank's own half. */
static int dual_way(const DualRank *at, int way) { return at->second_half ? 1 - way : way; }

static void dual_forward(DualRank *at, int way) {
    int d = dual_way(at, way);
    add(at->play, at->rank, PASS_FORWARD, at->forwards[d]++, d);
}

static void dual_backward(DualRank *at, int way, bool split) {
    int d = dual_way(at, way), i = at->backwards[d]++;
    add(at->play, at->rank, split ? PASS_INPUT : PASS_BACKWARD, i, d);
    if (split) at->waiting[at->last++] = (Pass){PASS_WEIGHTS, i, d, 0, 0};
}

static void dual_weights(DualRank *at) {
    const Pass *pass = &at->waiting[at->first++];
    add(at->play, at->rank, PASS_WEIGHTS, pass->microbatch, pass->chunk);
}

static void dual_both(DualRank *at, int forward, int backward) {
    int d = dual_way(at, forward), e = dual_way(at, backward), rank = at->rank;
    at->play->passes[rank][at->play->count[rank]++] = (Pass){PASS_BOTH, at->forwards[d]++, d, at->backwards[e]++, e};
}

static void dual_rank(DualRank *at) {
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
}

static bool dual_pipe(Play *play, Arena *arena) {
    play->two_ways = true;
    for (int rank = 0; rank < play->ranks; rank++) {
        DualRank at = {.play = play, .rank = rank, .second_half = rank >= play->ranks / 2};
        at.waiting = ARENA_NEW(arena, Pass, (size_t)play->microbatches);
        if (!at.waiting) return false;
        dual_rank(&at);
    }
    return true;
}

bool play_schedule(Schedule schedule, int ranks, int microbatches, int chunks, Arena *arena, Play *out) {
    if (!play_new(ranks, microbatches, schedule == SCHEDULE_DUALPIPE ? 2 : chunks, arena, out)) return false;
    switch (schedule) {
    case SCHEDULE_GPIPE:
    case SCHEDULE_CIRCULAR:
        play_forwards_first(out, microbatches);
        return true;
    case SCHEDULE_ZB_H1:
        zero_bubble_h1(out);
        return true;
    case SCHEDULE_DUALPIPE:
        return dual_pipe(out, arena);
    default:
        one_forward_one_backward(out);
        return true;
    }
}

/* ---- playing ---- */

/* When a chunk's pass of a microbatch ended; negative: not yet. */
typedef struct {
    const Play *play;
    double *forward, *backward; /* [rank][chunk][microbatch] */
} Ends;

static size_t slot(const Play *play, int rank, int chunk, int microbatch) {
    return ((size_t)rank * (size_t)play->chunks + (size_t)chunk) * (size_t)play->microbatches + (size_t)microbatch;
}

/* Where a microbatch was before it came here; false: it begins here. */
static bool before(const Play *play, int *rank, int *chunk) {
    *rank += play->two_ways && *chunk == 1 ? 1 : -1;
    if (*rank >= 0 && *rank < play->ranks) return true;
    if (play->two_ways || *chunk == 0) return false;
    *rank = play->ranks - 1, *chunk -= 1;
    return true;
}

/* Where it goes next; false: its loss is computed here. */
static bool behind(const Play *play, int *rank, int *chunk) {
    *rank += play->two_ways && *chunk == 1 ? -1 : 1;
    if (*rank >= 0 && *rank < play->ranks) return true;
    if (play->two_ways || *chunk == play->chunks - 1) return false;
    *rank = 0, *chunk += 1;
    return true;
}

static double forward_ready(const Ends *ends, int rank, int chunk, int microbatch) {
    return before(ends->play, &rank, &chunk) ? ends->forward[slot(ends->play, rank, chunk, microbatch)] : 0;
}

static double backward_ready(const Ends *ends, int rank, int chunk, int microbatch) {
    double own = ends->forward[slot(ends->play, rank, chunk, microbatch)];
    if (own < 0 || !behind(ends->play, &rank, &chunk)) return own;
    double other = ends->backward[slot(ends->play, rank, chunk, microbatch)];
    return other < 0 ? other : max_real(own, other);
}

/* When what a pass needs is there; negative: not yet. */
static double ready(const Ends *ends, int rank, const Pass *pass) {
    double first, second;
    switch (pass->kind) {
    case PASS_FORWARD:
        return forward_ready(ends, rank, pass->chunk, pass->microbatch);
    case PASS_BACKWARD:
    case PASS_INPUT:
        return backward_ready(ends, rank, pass->chunk, pass->microbatch);
    case PASS_WEIGHTS:
        return ends->backward[slot(ends->play, rank, pass->chunk, pass->microbatch)];
    default:
        first = forward_ready(ends, rank, pass->chunk, pass->microbatch);
        second = backward_ready(ends, rank, pass->back_chunk, pass->back_microbatch);
        return first < 0 || second < 0 ? -1 : max_real(first, second);
    }
}

static void note_end(const Ends *ends, int rank, const Pass *pass, double done) {
    if (pass->kind == PASS_FORWARD || pass->kind == PASS_BOTH)
        ends->forward[slot(ends->play, rank, pass->chunk, pass->microbatch)] = done;
    if (pass->kind == PASS_BACKWARD || pass->kind == PASS_INPUT)
        ends->backward[slot(ends->play, rank, pass->chunk, pass->microbatch)] = done;
    if (pass->kind == PASS_BOTH) ends->backward[slot(ends->play, rank, pass->back_chunk, pass->back_microbatch)] = done;
}

static bool new_ends(const Play *play, Arena *arena, Ends *ends, Played *out) {
    size_t size = slot(play, play->ranks, 0, 0), ranks = (size_t)play->ranks;
    *ends = (Ends){play, ARENA_NEW(arena, double, size), ARENA_NEW(arena, double, size)};
    *out = (Played){.begins = ARENA_NEW(arena, double *, ranks), .ends = ARENA_NEW(arena, double *, ranks)};
    if (!ends->forward || !ends->backward || !out->begins || !out->ends) return false;
    for (size_t i = 0; i < size; i++) ends->forward[i] = ends->backward[i] = -1;
    for (int rank = 0; rank < play->ranks; rank++) {
        out->begins[rank] = ARENA_NEW(arena, double, (size_t)play->count[rank]);
        out->ends[rank] = ARENA_NEW(arena, double, (size_t)play->count[rank]);
        if (!out->begins[rank] || !out->ends[rank]) return false;
    }
    return true;
}

void play_alike(Play *play, PassSeconds seconds) {
    double share = play->two_ways ? 1 : 1. / play->chunks;
    for (int rank = 0; rank < play->ranks; rank++)
        for (int chunk = 0; chunk < play->chunks; chunk++)
            play->seconds[rank][chunk] = (PassSeconds){share * seconds.F, share * seconds.B, share * seconds.W};
}

static double pass_lasts(const Play *play, int rank, const Pass *pass) {
    const PassSeconds *own = &play->seconds[rank][pass->chunk];
    switch (pass->kind) {
    case PASS_FORWARD:
        return own->F;
    case PASS_BACKWARD:
        return own->B;
    case PASS_INPUT:
        return own->B - own->W;
    case PASS_WEIGHTS:
        return own->W;
    default:
        return own->F + play->seconds[rank][pass->back_chunk].B;
    }
}

/* The first forward of a chunk waits for its weights. */
static double weights_arrive(const Play *play, int rank, const Pass *pass) {
    bool forward = pass->kind == PASS_FORWARD || pass->kind == PASS_BOTH;
    return forward && pass->microbatch == 0 ? play->arrives[rank][pass->chunk] : 0;
}

bool play_run(const Play *play, Arena *arena, Played *out) {
    Ends ends;
    int *next = ARENA_NEW(arena, int, (size_t)play->ranks);
    double *free_at = ARENA_NEW(arena, double, (size_t)play->ranks);
    if (!next || !free_at || !new_ends(play, arena, &ends, out)) return false;
    for (bool moved = true; moved;) {
        moved = false;
        for (int rank = 0; rank < play->ranks; rank++) {
            for (; next[rank] < play->count[rank]; next[rank]++, moved = true) {
                const Pass *pass = &play->passes[rank][next[rank]];
                double from = ready(&ends, rank, pass);
                if (from < 0) break;
                double begins = max_real(from, free_at[rank]);
                double done = max_real(begins + pass_lasts(play, rank, pass), weights_arrive(play, rank, pass));
                note_end(&ends, rank, pass, done);
                out->begins[rank][next[rank]] = begins;
                out->ends[rank][next[rank]] = done;
                free_at[rank] = done, out->end = max_real(out->end, done);
            }
        }
    }
    for (int rank = 0; rank < play->ranks; rank++) out->stuck = out->stuck || next[rank] < play->count[rank];
    return true;
}
