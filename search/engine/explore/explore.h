/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/explore/explore.h: everything inside one degree tuple: its knobs by rising bound, the placements of those that
 * may win, and their layouts. docs/search.md, "Levels, blocks and threads". */
#pragma once

#include "search/engine/explore/explorer.h"
#include "search/engine/space/plan_count.h"

/* Why nothing is left of a range of batches. */
typedef struct {
    bool refused;          /* no launcher that was requested takes the degrees */
    bool beaten;           /* some are worse than plans of a larger batch (larger_batch.h) */
    double bound, missing; /* the least bound above the threshold, and the least bytes above the limit, or INFINITY */
} RangeVerdict;

/* Whether no plan of these degrees with the problem's batch, or with a smaller one that its replicas divide, of
 * `fewest` sequences at least, can be the best, within `threshold` (ranked), and fit. Theorem: with fewer sequences a
 * microbatch takes the same time, and idle time, updates and reductions are shared by fewer sequences, so that nothing
 * gets faster per sequence; memory is requested with the gradients of one microbatch. False also where the search was
 * interrupted. */
bool tuple_range_is_cut(Explorer *explorer, const Degrees *degrees, int64_t fewest, double threshold,
                        RangeVerdict *out);

/* How many plans (knobs and placements) of a plan's degrees and schedule have a relaxed time within `limit`
 * (ranked). */
bool explore_count_within(Explorer *explorer, const BestPlan *plan, double limit, Count *within);

/* One degree tuple in every order of its roles that was requested. */

/* explore_tuple() in the request's order of roles or, with --nesting all, in all of them, the canonical one first. What
 * the first order leaves out before anything was requested that depends on the order is out in all. Where one plan is
 * wanted, the best of an order is the limit of the next: *limit (ranked) falls to it. */
bool explore_orders(Explorer *explorer, const Degrees *degrees, double *limit);

/* The same with what was left, in the one order that was requested: explore_left(). */
bool explore_orders_left(Explorer *explorer, const Degrees *degrees, const Deferred *left, int64_t count,
                         double *limit);
