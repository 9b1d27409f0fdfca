/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/space.h: the knobs of a degree tuple, as rules: counted in closed form, listed one by one. */
#ifndef SHARDOPT_SEARCH_SPACE_H
#define SHARDOPT_SEARCH_SPACE_H

#include "search/search.h"

/* The independent choices of one degree tuple with `per_replica` sequences in each replica. A role of degree 1 has its
 * knobs off. */
typedef struct {
    /* b: the least for each distinct number of microbatches m = ceil(n / b); m falls as b rises */
    int64_t *microbatch_sequences;
    int64_t microbatch_count;
    /* v: the least for each distinct ceil(l / v), l = floor(layers / stages); 1 is 1F1B (or no pipeline) */
    int64_t *virtual_stages;
    int64_t virtual_count;
    int zero_count; /* stages 0 .. zero_count - 1 */
    int context_count;
    ContextMethod contexts[2];
    int regather_count; /* 1: always again; 2: both */
    int64_t per_replica;
    bool pipelined;
} KnobSpace;

/* False: memory is out. */
bool knob_space(const Model *model, const Degrees *degrees, int64_t sequences, Arena *arena, KnobSpace *out,
                Error *error);

/* How many knob settings it has, and setting number `index` of them. */
int64_t knob_space_size(const KnobSpace *space);
Knobs knob_space_at(const KnobSpace *space, int64_t index);

/* The size alone, without listing. */
int64_t knob_count(const Model *model, const Degrees *degrees, int64_t sequences);

#endif
