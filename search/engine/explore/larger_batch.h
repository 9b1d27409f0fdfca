/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/explore/larger_batch.h: microbatches that a larger batch has more of. Where the batch may change, the same
 * plan with some microbatches more is faster per sequence, as whatever happens once a step is shared by more of
 * them, and takes no more memory once as many are in flight as ever are (docs/search.md, "Larger batches"). Then
 * the smaller number of microbatches need not be looked at. */
#pragma once

#include "search/engine/bound/knob_bound.h"
#include "search/engine/explore/explorer.h"
#include "search/engine/explore/tuple_node.h"

/* The families of one microbatch that differ in the context method alone, bounded together.
 *
 * Theorem (docs/search.md, "Microbatch bound"). Rows of the first context method, in which nothing moves over sequence,
 * ask for no more time and memory than those of any other one. What a method exposes at least is added to them. */

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

/* What decides it for one tuple of degrees. */
typedef struct {
    bool any;         /* false: nothing is beaten so */
    int64_t stages;   /* a schedule in chunks goes round in groups of so many microbatches */
    int64_t least;    /* from so many microbatches on as many are in flight as with more */
    int64_t most;     /* sequences of a replica in the largest batch */
    bool whole_steps; /* only where groups are full: a launcher has rules about others */
} LargerBatch;
LargerBatch larger_batch(const ExploreProblem *problem, const Degrees *degrees);

/* From so many microbatches on a pipeline holds no more of them, in any schedule that does not keep all, and
 * gradients are accumulated (cost/time/schedule.h, schedule_in_flight). */
static inline int64_t larger_batch_fills(int64_t stages) { return stages > 1 ? 2 * stages + 2 : 2; }

/* Whether memory may grow with the microbatches under these methods and this split of the layers, because a
 * schedule that keeps all of them is among those that are admitted: then nothing is beaten. */
bool larger_batch_takes_more(const ExploreProblem *problem, const Degrees *degrees, const Methods *methods,
                             StageSplit split);

/* Whether microbatches of `size` sequences, `sequences` to a replica, are beaten by more of them. */
bool larger_batch_beats(const LargerBatch *larger, int64_t sequences, int64_t size);

/* The least size of a microbatch that may not be beaten, in batches of up to `sequences` to a replica; 1 where none
 * is. */
int64_t larger_batch_least_size(const LargerBatch *larger, int64_t fewest, int64_t sequences);
