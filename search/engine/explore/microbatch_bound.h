/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/explore/microbatch_bound.h: the families of one microbatch that differ in the context method alone, bounded
 * together.
 *
 * Theorem (docs/search.md, "Microbatch bound"). Rows of the first context method, in which nothing moves over sequence,
 * ask for no more time and memory than those of any other one. What a method exposes at least stands beside them. */
#pragma once

#include "search/engine/bound/knob_bound.h"
#include "search/engine/explore/tuple_node.h"

/* What all context methods with one microbatch take at least, ranked. */
typedef struct {
    double of[CONTEXTS_MAX]; /* by context method, in the order of the tuple's space */
    double least_bytes;      /* that every one of them holds, in its worst moment */
} MicrobatchBounds;

/* `knobs` and `shard` are those of the first family, which divides. `context_each` are the seconds of context_bound(),
 * and `threshold` is the ranked time beyond which it does not matter by how much they are too slow. `scratch`: rows to
 * write to. */
typedef struct {
    const Knobs *knobs;
    const Shard *shard;
    const double *context_each;
    double threshold;
    BoundRows *scratch;
} MicrobatchQuestion;
void microbatch_bounds(TupleNode *tuple, int64_t methods_index, const MicrobatchQuestion *question,
                       MicrobatchBounds *out);
