/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/kernel/pairs.h: numbers pairs of whole numbers by the order in which they first come: equal pairs have one
 * number. Chains of such pairs, each of which begins with the number of another, are sums that share what they begin
 * with. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    int32_t first, second; /* both >= 0 */
} Pair;

typedef struct {
    Pair *pair; /* [number], in the arena */
    int32_t count;
    /* of pairs.c */
    int32_t *slots;
    uint32_t slot_count; /* a power of two */
} Pairs;

/* Begins with one pair, number 0, that no search finds: the empty chain. False: memory is out. */
bool pairs_begin(Pairs *pairs, Arena *arena);

/* The number of a pair, a new one where it comes for the first time. Negative: memory is out. */
int32_t pairs_number(Pairs *pairs, Pair pair, Arena *arena);
