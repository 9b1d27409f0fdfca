/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/bound/tuple_bound.h: the degree bound.
 *
 * Theorem (docs/search.md, "Degree bound"). For fixed degrees every input of the step is at least its value here: all
 * sequences of a replica in one microbatch (largest matmuls, fewest messages, weights gathered once and kept), the
 * lower-bound rates of each group over all footprints, gradients in bf16 reduced in one pass, optimizer state over the
 * replicas, the least bubble of any schedule, overlap at no price, least totals over the shardings; for each expert
 * grid, each way of the parameters over sequence and each split of the layers. To that comes the exposed part of what
 * the cheapest context method moves: it is the same under every grid, and it is exposed whatever else is hidden. Hiding
 * is bounded by one part in place of two: A + B >= max(C_A + C_B, busy_A + busy_B) on every axis. */
#pragma once

#include "cost/time/step.h"
#include "search/engine/bound/lower_rates.h"
#include "search/engine/bound/totals_cache.h"

typedef struct {
    double seconds;       /* no plan of the tuple takes less */
    PaddingSet forbidden; /* not 0: no plan of the tuple divides; what padding would have to be allowed */
    bool unusable;        /* nothing divides: more stages than layers and the like */
    bool refused;         /* no launcher that has to take a plan takes one of the tuple */
    bool too_large;       /* parameters and optimizer alone do not fit in HBM */
    double least_bytes;   /* of parameters and optimizer */
} TupleBound;

TupleBound tuple_bound(const Bounds *bounds, const LowerBoundRates *table, const Degrees *degrees);

/* What the launchers of a search refuse whatever the knobs, so that nothing has to be bounded
 * there (docs/search.md, "Range bound"). */

/* Whether a launcher requested may take these degrees with any methods and knobs; true where none is requested. */
bool degrees_admitted(const Bounds *bounds, const Degrees *degrees);

/* Whether a launcher requested may take any knob setting of these degrees with these methods and this split of the
 * layers; true where none is requested. */
bool methods_admitted(const Bounds *bounds, const Degrees *degrees, const Methods *methods, StageSplit split);

/* The same with any of the context methods of a space in place of that of `methods`. */
bool contexts_admitted(const Bounds *bounds, const Degrees *degrees, const MethodSpace *space, const Methods *methods,
                       StageSplit split);

/* context_bound.c: what context parallelism exposes at least. The degree bound and the range bound are worked out with
 * nothing moved over `sequence`, and this is added to both.
 *
 * Theorem (docs/search.md, "Context"). In the step the exposed seconds of the sequence group are a term of their own,
 * which depends on the degrees, the context method and the tokens of a stage, and not on expert grids. All sequences
 * of a replica in one microbatch have the fewest messages and the same bytes, so no plan exposes less, whatever its
 * microbatches. */

/* The bound of a range of microbatches.
 *
 * Theorem (docs/search.md, "Range bound"). What one microbatch of b sequences takes, over b, falls as b rises: matmuls
 * are larger, and weights and messages are shared. So n / high microbatches of `high` sequences take no more than any
 * plan of the range, and idle time is least for the most microbatches, n / low rounded up. What one microbatch takes
 * rises with b, so no idle time is less than that alongside one of `low` sequences. Of what context parallelism moves
 * only the least of all methods is counted, so the bound holds for every context method. */

/* All knob settings with these methods and this split of the layers, and with microbatches of low .. high sequences. */
typedef struct {
    const Degrees *degrees;
    const Methods *methods;
    StageSplit split;
    double context_seconds; /* context_bound() of the degrees and the split, or less */
    int64_t low, high;
} MicrobatchRange;

/* Whether any knob setting with these methods and this split divides. What holds for a microbatch of one sequence under
 * the first context method, in one chunk and without overlap, holds for all: one sequence divides every number, that
 * method exchanges no heads, and chunks and overlap only ask for more. */
bool methods_divide(const Bounds *bounds, const Degrees *degrees, const Methods *methods, StageSplit split);

/* Seconds that no plan of the range goes below at rates of at least `least`; INFINITY means that nothing divides.
 * *least_bytes: the bytes of one microbatch of `low` sequences whose gradient is not accumulated, or 0 where the
 * seconds are above `enough` already. */
double range_bound(const Bounds *bounds, const MicrobatchRange *range, const Rates *least, double enough,
                   double *least_bytes);

/* Seconds of a step that every context method of `space`, which is that of the degrees, exposes with this split of the
 * layers; 0 where there is no sequence group. `each`: those of each method, or 0 where it is not worked out, since it
 * does not divide; NULL: they are not requested. */
double context_bound(const Bounds *bounds, const LowerBoundRates *table, const Degrees *degrees,
                     const MethodSpace *space, StageSplit split, double each[CONTEXTS_MAX]);
