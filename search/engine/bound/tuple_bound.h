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
