/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/graph/kernel.h: the inner loops of messages and of dynamic programming over trees. Vectors are at least
 * CORE_LANES long, in whole lanes; they use elementwise sums and minima alone, so that every width of SIMD gives the
 * same digits. */
#pragma once

#include "search/graph/core.h"

#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define WIDE __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define WIDE
#endif
#define INLINE static inline __attribute__((always_inline))

INLINE void vector_add(double *restrict to, const double *restrict more, int width) {
    for (int k = 0; k < width; k += CORE_LANES)
        for (int l = 0; l < CORE_LANES; l++) to[k + l] += more[k + l];
}

INLINE void vector_subtract(double *restrict to, const double *restrict less, int width) {
    for (int k = 0; k < width; k += CORE_LANES)
        for (int l = 0; l < CORE_LANES; l++) to[k + l] -= less[k + l];
}

INLINE double vector_least(const double *vector, int count) {
    double least = vector[0];
    for (int s = 1; s < count; s++) least = vector[s] < least ? vector[s] : least;
    return least;
}

/* The index of the first least entry. */
INLINE int vector_least_at(const double *vector, int count) {
    int at = 0;
    for (int s = 1; s < count; s++)
        if (vector[s] < vector[at]) at = s;
    return at;
}

/* Four doubles as one, of any alignment. The compiler turns comparison and choice into the processor's minimum. */
typedef double Lanes __attribute__((vector_size(CORE_LANES * sizeof(double)), aligned(sizeof(double)), may_alias));
typedef int64_t LaneMask __attribute__((vector_size(CORE_LANES * sizeof(double))));

#define LANES_AT(pointer) (*(const Lanes *)(pointer))
#define LANES_LESSER(a, b) ((Lanes)(((LaneMask)(a) & ((a) < (b))) | ((LaneMask)(b) & ~((a) < (b)))))

/* to[t] = min over s of from[s] + matrix[s][t]. */
INLINE void min_plus(const double *restrict from, int rows, const double *restrict matrix, int width,
                     double *restrict to) {
    int k = 0;
    for (; k + 2 * CORE_LANES <= width; k += 2 * CORE_LANES) {
        const double *row = matrix + k;
        Lanes low = LANES_AT(row) + from[0], high = LANES_AT(row + CORE_LANES) + from[0];
        for (int s = 1; s < rows; s++) {
            row += width;
            Lanes a = LANES_AT(row) + from[s], b = LANES_AT(row + CORE_LANES) + from[s];
            low = LANES_LESSER(a, low);
            high = LANES_LESSER(b, high);
        }
        *(Lanes *)(to + k) = low;
        *(Lanes *)(to + k + CORE_LANES) = high;
    }
    if (k < width) {
        const double *row = matrix + k;
        Lanes low = LANES_AT(row) + from[0];
        for (int s = 1; s < rows; s++) {
            row += width;
            Lanes a = LANES_AT(row) + from[s];
            low = LANES_LESSER(a, low);
        }
        *(Lanes *)(to + k) = low;
    }
}
