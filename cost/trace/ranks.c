/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/trace/rank_trace.h"

#include "base/util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Clocks whose ends of one collective still differ by more than this (median) after they are set tell nothing. */
static const double RESIDUAL_MOST = 100e-6;

/* The instance of one rank, gathered with those of the others. */
typedef struct {
    uint64_t key;
    int64_t ordinal, start_ns, end_ns;
    int32_t rank;
    uint8_t term, kind;
} Seen;

static int by_instance(const void *a, const void *b) {
    const Seen *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    if (x->ordinal != y->ordinal) return x->ordinal < y->ordinal ? -1 : 1;
    return x->rank - y->rank;
}

static double median(double *values, int64_t count) {
    if (count == 0) return 0;
    qsort(values, (size_t)count, sizeof *values, order_real);
    return values[count / 2];
}

/* Messages between two ranks end when the receiver has them: they tell nothing of clocks, nor of the last to come. */
static bool is_matched(const Seen *first, int64_t count) {
    return count >= 2 && first->kind != COLLECTIVE_KIND_SEND_RECV && first->kind != COLLECTIVE_KIND_BROADCAST;
}

static int64_t same(const Seen *seen, int64_t from, int64_t count) {
    int64_t to = from + 1;
    while (to < count && seen[to].key == seen[from].key && seen[to].ordinal == seen[from].ordinal) to++;
    return to;
}

/* Every rank that has a key has it equally often; else ordinals say nothing. Removes what does not, and returns what is
 * left. */
static int64_t keep_even(Seen *seen, int64_t count) {
    int64_t kept = 0;
    for (int64_t from = 0, to; from < count; from = to) {
        int64_t first = same(seen, from, count) - from;
        bool even = true;
        for (to = from; to < count && seen[to].key == seen[from].key;) {
            int64_t next = same(seen, to, count);
            even = even && next - to == first;
            to = next;
        }
        if (!even) continue;
        memmove(seen + kept, seen + from, (size_t)(to - from) * sizeof *seen);
        kept += to - from;
    }
    return kept;
}

/* How far each rank's clock is ahead: the median of its ends over those of the collective's median rank. */
static bool set_clocks(Seen *seen, int64_t count, int ranks, Arena *arena, RankMatch *out, Error *error) {
    double *ends = ARENA_NEW(arena, double, (size_t)ranks + 1), *spread = ARENA_NEW(arena, double, (size_t)count + 1);
    double *ahead = ARENA_NEW(arena, double, (size_t)count + 1), *offset = ARENA_NEW(arena, double, (size_t)ranks);
    int64_t *middle = ARENA_NEW(arena, int64_t, (size_t)count + 1);
    if (!ends || !spread || !ahead || !offset || !middle) return error_memory(error);
    for (int64_t from = 0, to; from < count; from = to) {
        to = same(seen, from, count);
        int64_t n = 0;
        for (int64_t i = from; i < to && n < ranks; i++) ends[n++] = (double)(seen[i].end_ns - seen[from].end_ns);
        int64_t at = seen[from].end_ns + (int64_t)median(ends, n);
        for (int64_t i = from; i < to; i++) middle[i] = at;
    }
    for (int rank = 0; rank < ranks; rank++) {
        int64_t n = 0;
        for (int64_t i = 0; i < count; i++)
            if (seen[i].rank == rank) ahead[n++] = (double)(seen[i].end_ns - middle[i]);
        offset[rank] = median(ahead, n);
    }
    int64_t groups = 0;
    for (int64_t from = 0, to; from < count; from = to) {
        double least = INFINITY, most = -INFINITY;
        to = same(seen, from, count);
        for (int64_t i = from; i < to; i++) {
            double end = (double)(seen[i].end_ns - seen[from].end_ns) - offset[seen[i].rank];
            least = min_real(least, end);
            most = max_real(most, end);
        }
        spread[groups++] = 1e-9 * (most - least);
    }
    out->end_median = median(spread, groups);
    out->end_most = groups > 0 ? spread[groups - 1] : 0;
    return true;
}

static void add_collective(const Seen *seen, int64_t count, RankMatch *out) {
    int64_t least = INT64_MAX, most = 0, sum = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t length = seen[i].end_ns - seen[i].start_ns;
        least = min_whole(least, length);
        most = max_whole(most, length);
        sum += length;
    }
    out->matched++;
    out->transfer[seen->term] += 1e-9 * (double)least;
    out->lasted[seen->term] += 1e-9 * (double)sum / (double)count;
    for (int64_t i = 0; i < count; i++) {
        int64_t length = seen[i].end_ns - seen[i].start_ns;
        out->waited[seen[i].rank] += 1e-9 * (double)(length - least);
        out->caused[seen[i].rank] += 1e-9 * (double)(most - length);
    }
}

static Seen *gather(const RankTrace *ranks, int count, int64_t *total, Arena *arena) {
    *total = 0;
    for (int r = 0; r < count; r++) *total += ranks[r].instance_count;
    Seen *seen = ARENA_NEW(arena, Seen, (size_t)*total + 1);
    int64_t at = 0;
    for (int r = 0; seen && r < count; r++)
        for (int64_t i = 0; i < ranks[r].instance_count; i++) {
            const CollectiveInstance *own = &ranks[r].instances[i];
            seen[at++] = (Seen){own->key, own->ordinal, own->start_ns, own->end_ns, r, own->term, own->kind};
        }
    return seen;
}

/* Leaves the collectives that several ranks saw. */
static int64_t keep_matched(Seen *seen, int64_t count) {
    int64_t kept = 0;
    for (int64_t from = 0, to; from < count; from = to) {
        to = same(seen, from, count);
        if (!is_matched(&seen[from], to - from)) continue;
        memmove(seen + kept, seen + from, (size_t)(to - from) * sizeof *seen);
        kept += to - from;
    }
    return kept;
}

bool ranks_match(const RankTrace *ranks, int count, Arena *arena, RankMatch *out, Error *error) {
    int64_t total;
    *out = (RankMatch){.straggler = -1, .why_not = "one rank alone does not tell transfer from waiting"};
    out->waited = ARENA_NEW(arena, double, (size_t)count);
    out->caused = ARENA_NEW(arena, double, (size_t)count);
    if (!out->waited || !out->caused) return error_memory(error);
    if (count < 2) return true;
    Seen *seen = gather(ranks, count, &total, arena);
    if (!seen) return error_memory(error);
    qsort(seen, (size_t)total, sizeof *seen, by_instance);
    int64_t kept = keep_matched(seen, keep_even(seen, total));
    out->why_not =
        total == 0 ? "the ranks have no collectives" : "the ranks have no collectives in common, one for one";
    if (kept == 0) return true;
    if (!set_clocks(seen, kept, count, arena, out, error)) return false;
    out->why_not = "the ends of one collective lie too far apart on its ranks: their clocks cannot be set by them";
    if (out->end_median > RESIDUAL_MOST) return true;
    for (int64_t from = 0, to; from < kept; from = to) {
        to = same(seen, from, kept);
        add_collective(seen + from, to - from, out);
    }
    out->known = true;
    for (int r = 0; r < count; r++)
        if (out->caused[r] > 0 && (out->straggler < 0 || out->caused[r] > out->caused[out->straggler]))
            out->straggler = r;
    return true;
}

/* The shortest message of a size, on any rank. */
static double least_seconds(const RankTrace *ranks, int count, double bytes) {
    double least = -1;
    for (int r = 0; r < count; r++)
        for (int i = 0; i < ranks[r].messages.count; i++) {
            double own = 1e-9 * (double)ranks[r].messages.least_ns[i];
            if (ranks[r].messages.bytes[i] == bytes && (least < 0 || own < least)) least = own;
        }
    return least;
}

void ranks_settle_messages(RankTrace *ranks, int count) {
    for (int r = 0; r < count; r++) {
        RankTrace *rank = &ranks[r];
        double waits = 0, whole = rank->length[TERM_PIPELINE];
        for (int i = 0; i < rank->messages.count; i++) {
            double least = least_seconds(ranks, count, rank->messages.bytes[i]);
            if (message_waits(1e-9 * (double)rank->messages.least_ns[i], least))
                waits += rank->message_seconds[i] - rank->message_count[i] * least;
        }
        if (!(waits > 0) || !(whole > 0)) continue;
        double share = min_real(1, waits / whole), shown = share * rank->exposed[TERM_PIPELINE];
        rank->length[TERM_PIPELINE] -= share * whole;
        rank->exposed[TERM_PIPELINE] -= shown;
        rank->exposed[TERM_BUBBLE] += shown;
    }
}
