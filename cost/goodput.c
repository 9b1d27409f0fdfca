/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/goodput.h"

#include "base/util.h"

#include <math.h>

double goodput_at(const Failures *failures, double interval) {
    double mean = failures->between_failures;
    return interval / mean * exp(-failures->restart / mean) / expm1((interval + failures->blocking) / mean);
}

/* With x = T/M and y = d/M the goodput is highest where (1 - x) e^(x + y) = 1: the left side falls from e^y >= 1 at 0
 * to 0 at 1. */
double goodput_best_interval(const Failures *failures) {
    enum { HALVINGS = 60 };
    double mean = failures->between_failures, low = 0, high = 1;
    for (int i = 0; i < HALVINGS; i++) {
        double x = (low + high) / 2;
        if (log1p(-x) + x + failures->blocking / mean > 0)
            low = x;
        else
            high = x;
    }
    double least = failures->least_interval > 0 ? failures->least_interval : 1;
    return max_real(failures->blocking > 0 ? (low + high) / 2 * mean : 0, least);
}

/* The binomial sum from its first term on, each from the one before; the logarithm of the first keeps thousands of
 * units within range. */
double units_up(int64_t needed, int64_t spare, double between_failures, double repair) {
    double down = repair / (between_failures + repair), all = (double)(needed + spare), sum = 0;
    if (!(down > 0)) return 1;
    double term = exp(all * log1p(-down));
    for (int64_t k = 0; k <= spare; k++) {
        sum += term;
        term *= (all - (double)k) / ((double)k + 1) * down / (1 - down);
    }
    return min_real(1, sum);
}

int64_t spares_needed(int64_t needed, double between_failures, double repair, double probability) {
    int64_t low = 0, high = needed; /* more spares never make it less likely */
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (units_up(needed, middle, between_failures, repair) >= probability)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}
