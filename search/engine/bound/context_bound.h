/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/bound/context_bound.h: what context parallelism exposes at least. The degree bound and the range bound are
 * worked out with nothing moved over `sequence`, and this is added to both.
 *
 * Theorem (docs/search.md, "Context"). In the step the exposed seconds of the sequence group are a term of their own,
 * which depends on the degrees, the context method and the tokens of a stage, and not on expert grids. All sequences of
 * a replica in one microbatch have the fewest messages and the same bytes, so no plan exposes less, whatever its
 * microbatches. */
#pragma once

#include "search/engine/bound/lower_rates.h"
#include "search/engine/bound/totals_cache.h"

/* Seconds of a step that every context method of `space`, which is that of the degrees, exposes with this split of the
 * layers; 0 where there is no sequence group. `each`: those of each method, or 0 where it is not worked out, since it
 * does not divide; NULL: they are not asked for. */
double context_bound(const Bounds *bounds, const LowerBoundRates *table, const Degrees *degrees,
                     const MethodSpace *space, StageSplit split, double each[CONTEXTS_MAX]);
