/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mesh/collective_memo.h"

#include <stdlib.h>
#include <string.h>

/* A span is a factor and a stride in one word: both are below 2^32, as axes are. */
typedef struct {
    uint64_t spans[MESH_AXES_MAX];
    uint64_t asked; /* 1 + site, and the collective; 0 means empty */
} Key;

typedef struct {
    Key key;
    CollectiveCost cost;
} Slot;

enum { SLOT_BITS = 12 };
struct CollectiveMemo {
    Slot slots[1 << SLOT_BITS]; /* direct-mapped */
};

CollectiveMemo *collective_memo_new(void) { return calloc(1, sizeof(CollectiveMemo)); }
void collective_memo_free(CollectiveMemo *memo) { free(memo); }

CollectiveCost collective_cost_kept(CollectiveMemo *memo, int site, Collective op, const Mesh *mesh,
                                    const Footprint *footprint) {
    Key key = {.asked = (uint64_t)(site + 1) << 8 | (uint64_t)op};
    uint64_t hash = key.asked;
    for (int axis = 0; axis < mesh->axis_count; axis++) {
        key.spans[axis] = (uint64_t)footprint->on[axis].factor << 32 | (uint64_t)footprint->on[axis].stride;
        hash = (hash ^ key.spans[axis]) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 32;
    }
    Slot *slot = &memo->slots[(hash * 0x9E3779B97F4A7C15u) >> (64 - SLOT_BITS)];
    if (memcmp(&slot->key, &key, sizeof key) != 0) {
        slot->key = key;
        slot->cost = collective_cost(op, mesh, footprint);
    }
    return slot->cost;
}
