/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/measured/reliability.h"

#include "base/util.h"
#include "cost/measured/rank.h"

#include <math.h>
#include <stdlib.h>

/* A plan of a group: repeats joined, its doubts those of the first. */
typedef struct {
    const Doubted *first;
    double measured, predicted; /* of a token */
    int64_t repeats;
} Member;

static double tokens_of(const Run *run) { return (double)run->global_batch * (double)run->seq; }

static int by_predicted(const void *a, const void *b) {
    const Member *x = a, *y = b;
    if (x->predicted != y->predicted) return x->predicted < y->predicted ? -1 : 1;
    return (x->first->run->line > y->first->run->line) - (x->first->run->line < y->first->run->line);
}

/* The plans of the group of rows[from], those predicted best first. `members` has room for all rows. */
static int64_t gather(const Doubted *rows, int64_t count, int64_t from, bool *done, Member *members) {
    int64_t n = 0;
    for (int64_t i = from; i < count; i++) {
        if (done[i] || !rank_same_group(rows[from].run, rows[i].run)) continue;
        done[i] = true;
        double tokens = tokens_of(rows[i].run);
        int64_t at = 0;
        while (at < n && !rank_same_plan(members[at].first->run, rows[i].run)) at++;
        if (at == n) members[n++] = (Member){.first = &rows[i]};
        members[at].measured += rows[i].measured_seconds / tokens;
        members[at].predicted += rows[i].predicted_seconds / tokens;
        members[at].repeats++;
    }
    for (int64_t k = 0; k < n; k++) {
        members[k].measured /= (double)members[k].repeats;
        members[k].predicted /= (double)members[k].repeats;
    }
    qsort(members, (size_t)n, sizeof *members, by_predicted);
    return n;
}

static void count_group(const double *chances, int n, int64_t best, int64_t plans, Reliability *out) {
    static const double LEAST = 1e-3; /* what so many draws can tell from nothing */
    out->groups++;
    for (int i = 0; i < n; i++) {
        int bin = 0;
        while (bin < RELIABILITY_BINS - 1 && chances[i] > RELIABILITY_ENDS[bin]) bin++;
        out->plans[bin]++;
        out->expected[bin] += chances[i];
        out->best[bin] += i == best;
    }
    out->score += log(max_real(best < n ? chances[best] : 0, LEAST));
    out->score_without += -log((double)plans);
}

static bool take_group(const Member *members, int64_t plans, const ReliabilityPrices *prices, Reliability *out) {
    DoubtedPrice doubted[DOUBT_PRICES_MAX] = {0};
    double chances[DOUBT_PRICES_MAX];
    int64_t best = 0;
    int n = (int)min_whole(plans, DOUBT_PRICES_MAX);
    for (int64_t i = 0; i < plans; i++)
        if (members[i].measured < members[best].measured) best = i;
    for (int i = 0; i < n; i++) {
        const Doubted *first = members[i].first;
        if (!prices->prepare(prices->context, i, first->run, &doubted[i])) return true;
        doubted[i].factor = members[i].predicted / first->predicted_seconds;
    }
    if (!doubt_chances(doubted, n, prices->threads, chances)) return false;
    count_group(chances, n, best, plans, out);
    return true;
}

bool reliability_of(const Doubted *rows, int64_t count, const ReliabilityPrices *prices, Arena *arena, Reliability *out,
                    Error *error) {
    bool *done = ARENA_NEW(arena, bool, (size_t)count + 1);
    Member *members = ARENA_NEW(arena, Member, (size_t)count + 1);
    *out = (Reliability){0};
    if (!done || !members) return error_memory(error);
    for (int64_t i = 0; i < count; i++) done[i] = !(tokens_of(rows[i].run) > 0);
    for (int64_t i = 0; i < count; i++) {
        if (done[i]) continue;
        int64_t n = gather(rows, count, i, done, members);
        if (n > 1 && !take_group(members, n, prices, out)) return error_memory(error);
    }
    if (out->groups > 0) {
        out->score /= (double)out->groups;
        out->score_without /= (double)out->groups;
    }
    return true;
}
