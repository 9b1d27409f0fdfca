/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/measured/reliability.h"

#include "base/util.h"

#include <math.h>
#include <stdlib.h>

static int by_predicted(const void *a, const void *b) {
    const MeasuredPlan *x = a, *y = b;
    if (x->predicted != y->predicted) return x->predicted < y->predicted ? -1 : 1;
    return (x->first->run->line > y->first->run->line) - (x->first->run->line < y->first->run->line);
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

/* What counts one group after another. */
typedef struct {
    const ReliabilityPrices *prices;
    Reliability *out;
} Counting;

static bool visit(void *context, MeasuredPlan *plans, int64_t count, Error *error) {
    const Counting *counting = context;
    const ReliabilityPrices *prices = counting->prices;
    DoubtedPrice doubted[DOUBT_PRICES_MAX] = {0};
    double chances[DOUBT_PRICES_MAX];
    int64_t best = 0;
    int n = (int)min_whole(count, DOUBT_PRICES_MAX);
    qsort(plans, (size_t)count, sizeof *plans, by_predicted);
    for (int64_t i = 0; i < count; i++)
        if (plans[i].measured < plans[best].measured) best = i;
    for (int i = 0; i < n; i++) {
        const Ranked *first = plans[i].first;
        if (!prices->prepare(prices->context, i, first->run, &doubted[i])) return true;
        doubted[i].factor = plans[i].predicted / first->predicted_seconds;
    }
    if (!doubt_chances(doubted, n, prices->threads, chances)) return error_memory(error);
    count_group(chances, n, best, count, counting->out);
    return true;
}

bool reliability_of(const Ranked *rows, int64_t count, const ReliabilityPrices *prices, Reliability *out,
                    Error *error) {
    *out = (Reliability){0};
    if (!groups_each(rows, count, NULL, visit, &(Counting){prices, out}, error)) return false;
    if (out->groups > 0) {
        out->score /= (double)out->groups;
        out->score_without /= (double)out->groups;
    }
    return true;
}
