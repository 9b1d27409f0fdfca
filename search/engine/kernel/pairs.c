/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/kernel/pairs.h"

#include <string.h>

enum { SLOTS_FIRST = 256 };

static uint32_t slot_of(const Pairs *pairs, Pair pair) {
    uint64_t mixed = ((uint64_t)(uint32_t)pair.first << 32 | (uint32_t)pair.second) * 0x9E3779B97F4A7C15u;
    return (uint32_t)(mixed >> 32) & (pairs->slot_count - 1);
}

/* Slots hold numbers; 0, the empty chain, stands for none. They are at most half full, so that one is always empty. */
static void put(Pairs *pairs, int32_t number) {
    uint32_t slot = slot_of(pairs, pairs->pair[number]);
    while (pairs->slots[slot] != 0) slot = (slot + 1) & (pairs->slot_count - 1);
    pairs->slots[slot] = number;
}

static bool grow(Pairs *pairs, uint32_t slots, Arena *arena) {
    Pair *larger = ARENA_NEW(arena, Pair, slots / 2);
    pairs->slots = ARENA_NEW(arena, int32_t, slots);
    if (!larger || !pairs->slots) return false;
    if (pairs->count > 0) memcpy(larger, pairs->pair, (size_t)pairs->count * sizeof(Pair));
    pairs->pair = larger;
    pairs->slot_count = slots;
    for (int32_t number = 1; number < pairs->count; number++) put(pairs, number);
    return true;
}

bool pairs_begin(Pairs *pairs, Arena *arena) {
    *pairs = (Pairs){0};
    if (!grow(pairs, SLOTS_FIRST, arena)) return false;
    pairs->count = 1;
    return true;
}

int32_t pairs_number(Pairs *pairs, Pair pair, Arena *arena) {
    for (uint32_t slot = slot_of(pairs, pair); pairs->slots[slot] != 0; slot = (slot + 1) & (pairs->slot_count - 1)) {
        int32_t number = pairs->slots[slot];
        if (pairs->pair[number].first == pair.first && pairs->pair[number].second == pair.second) return number;
    }
    if (pairs->count >= INT32_MAX / 4) return -1;
    if ((uint32_t)pairs->count == pairs->slot_count / 2 && !grow(pairs, 2 * pairs->slot_count, arena)) return -1;
    pairs->pair[pairs->count] = pair;
    put(pairs, pairs->count);
    return pairs->count++;
}
