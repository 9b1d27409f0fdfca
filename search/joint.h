/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/joint.h: least rates that respect that the inner roles cannot all have the best axes.
 *
 * Theorem. Tensor, expert, sequence and fsdp nest innermost, so the footprints of their groups depend on their own
 * factors alone. Whatever the placement of data and pipeline, the costs of these groups are those of one way to place
 * the four, and each of these is component-wise >= one of the points kept here. A bound that is monotone in the rates,
 * minimised over the points with the other groups at their least, is a bound. */
#ifndef SHARDOPT_SEARCH_JOINT_H
#define SHARDOPT_SEARCH_JOINT_H

#include "cost/rates_walk.h"

enum { JOINT_POINTS_MAX = 48, JOINT_GROUPS = 6 };

typedef struct {
    CollectiveCost cost[JOINT_GROUPS]; /* tensor, expert, sequence, ulysses, weights, expert weights */
} JointPoint;

typedef struct {
    int count;
    JointPoint points[JOINT_POINTS_MAX];
} JointRates;

/* Points by site (a number that stands for the mesh and its nesting), the four degrees and the methods. One per
 * thread. */
typedef struct JointCache JointCache;
JointCache *joint_cache_new(CollectiveMemo *memo); /* NULL: memory is out; free with joint_cache_free before the memo */
void joint_cache_free(JointCache *cache);

/* How many groups are taken together: without fsdp there are few ways to place the rest, with it the bound is
 * sharper. */
typedef enum { JOINT_ACTIVATIONS, JOINT_WEIGHTS, JOINT_DEPTHS } JointDepth;

/* Whether the roles that a depth takes together are the innermost ones. */
bool joint_holds(const Nesting *nesting, JointDepth depth);

/* Pareto-least points of the degrees' inner roles; where there are more than fit, the last one is the component-wise
 * least of the rest. Valid until the next call with this cache. NULL: memory is out, or the tuple cannot be placed. */
const JointRates *joint_rates(JointCache *cache, int site, const Wiring *wiring, const Degrees *degrees,
                              const Methods *methods, JointDepth depth, Error *error);

/* `least` with the inner groups at one point; experts of a folded grid lie on other ranks, and stay at their least. */
Rates joint_apply(const JointRates *joint, int point, const Methods *methods, JointDepth depth, const Rates *least);

#endif
